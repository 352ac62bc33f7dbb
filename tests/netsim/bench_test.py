#!/usr/bin/env python3
"""photon-netsim bench: what it prints, with inputs that are small.

    bench_test.py COMMAND     the path of photon-netsim
"""
import re
import subprocess
import sys
import unittest

COMMAND = ''


def run_it(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False,
                          timeout=200)
    return done.returncode, done.stdout, done.stderr


class Bench(unittest.TestCase):
    ROWS = ['hops-512', 'hops-8192', 'threads-512', 'threads-8192', 'sweep-rvma', 'sweep-usual',
            'check', 'sweep-262144']

    def test_each_row_runs_with_small_inputs(self):
        status, out, error = run_it('bench', '--small', *self.ROWS)
        self.assertEqual((status, error), (0, ''))
        lines = out.splitlines()
        begins = [line.split(':')[0] for line in lines if not line.startswith(' ')]
        self.assertEqual([name for name in begins if name in self.ROWS], self.ROWS)
        judged = [line for line in lines if line.endswith(': small')]
        self.assertEqual(len(judged), 13)
        for line in judged:
            value = re.fullmatch(r'  .* ([0-9.]+) .* at (least|most) [0-9.]+, aim .*', line)[1]
            self.assertGreater(float(value), 0)

    def test_an_unknown_row_is_refused(self):
        status, _, error = run_it('bench', 'hops-513')
        self.assertEqual(status, 2)
        self.assertIn('bench hops-513: allowed are hops-512, ', error)


if __name__ == '__main__':
    COMMAND = sys.argv.pop(1)
    unittest.main()
