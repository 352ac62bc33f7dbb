#!/usr/bin/env python3
"""bench/papers/zero_copy/run with tiny inputs, and what it makes of its figures.

    zero_copy_test.py BIN_FOLDER
"""
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

RUN = Path(__file__).parents[2] / 'bench/papers/zero_copy/run'
BIN = sys.argv.pop(1)

sys.dont_write_bytecode = True
loader = SourceFileLoader('zero_copy_run', str(RUN))
script = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(script)

ROW = re.compile(r' +(64|1K) +(\d+\.\d{3}) +(\d+\.\d{3}) +(\d+\.\d{2})  '
                 r'(near|far|sharing a core|UNSTEADY)')


def rows_of(*ratios):
    return [{'size_bytes': 64 << at, 'ratio': ratio} for at, ratio in enumerate(ratios)]


class Thresholds(unittest.TestCase):
    def test_it_is_the_smallest_size_from_which_on_all_are_faster(self):
        self.assertEqual(script.threshold_of(rows_of(0.5, 1.2, 0.9, 1.1, 3.0)), 512)
        self.assertEqual(script.threshold_of(rows_of(1.1, 1.2)), 64)

    def test_there_is_none_where_the_largest_is_not_faster(self):
        self.assertIsNone(script.threshold_of(rows_of(1.5, 1.0)))
        self.assertEqual(script.gain_of(rows_of(1.5, 1.0)), ('-', 'none'))

    def test_speed_ups_are_those_from_the_threshold_on(self):
        self.assertEqual(script.gain_of(rows_of(0.3, 0.9, 1.25, 4, 2)), ('1.25x - 4.00x', '256'))


class States(unittest.TestCase):
    def test_a_run_has_a_state_if_it_was_the_same_before_and_after(self):
        looks = [{'machine': {'ping_before_ns': before, 'ping_after_ns': after}}
                 for before, after in ((60, 300), (170, 80), (240, 180))]
        self.assertEqual(script.state_of(looks[:2]), 'near')
        self.assertEqual(script.state_of(looks[2:]), 'far')
        self.assertIsNone(script.state_of(looks[1:]))

    def test_figures_of_a_row_are_of_the_state_that_was_seen_most_often(self):
        row = script.row_of(64, [('far', [9, 3]), ('near', [2, 1]), ('far', [8, 4]),
                                 (None, [1, 1])])
        self.assertEqual((row['regular_us'], row['zero_copy_us'], row['state'], row['runs']),
                         (8, 3, 'far', 2))

    def test_where_the_cores_never_kept_theirs_the_row_says_so(self):
        row = script.row_of(64, [(None, [4, 3]), (None, [5, 2])])
        self.assertEqual((row['regular_us'], row['zero_copy_us'], row['state']), (4, 2, 'UNSTEADY'))

    def test_sizes_are_measured_in_groups_without_a_gap(self):
        self.assertEqual(list(script.groups_of(64, 64 << 20)),
                         [(64, 4096), (8192, 512 << 10), (1 << 20, 64 << 20)])
        self.assertEqual(list(script.groups_of(64, 100)), [(64, 100)])


class Tiny(unittest.TestCase):
    def run_tiny(self, folder, *options, bin_dir=BIN):
        """One turn, whether or not the machine was quiet: what else runs is no fault of it."""
        return subprocess.run(
            [RUN, bin_dir, '--to', '1K', '--turns', '1', '--most-turns', '1', '--batches', '1',
             '--trips', '4', '--output', folder, *options],
            capture_output=True, text=True, check=False, timeout=250)

    def check_way(self, rows, name, lines):
        heading = re.compile(re.escape(name) + ': (two_hosts )?photonrun -')
        at = next(at for at, line in enumerate(lines) if heading.match(line))
        self.assertEqual([row['size_bytes'] for row in rows], [64, 128, 256, 512, 1024])
        for row, line in zip((rows[0], rows[-1]), (lines[at + 2], lines[at + 6])):
            printed = ROW.fullmatch(line)
            self.assertIsNotNone(printed, line)
            self.assertAlmostEqual(float(printed[4]), row['regular_us'] / row['zero_copy_us'], 1)
            self.assertGreater(row['regular_us'], 0)
        threshold = script.threshold_of(rows)
        text = 'none' if threshold is None else script.size_text(threshold)
        self.assertEqual(lines[at + 7], f'threshold: {text}')
        summary = [line for line in lines if line.startswith(name + '  ')]
        self.assertEqual([line.split()[-1] for line in summary], [text])

    def test_all_ways_have_a_table_a_threshold_and_a_row_beside_the_papers(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_tiny(folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = done.stdout.splitlines()
            ways = json.loads(Path(folder, 'zero_copy.json').read_text(encoding='utf-8'))['ways']
            hosts = [] if script.why_no_hosts() else ['hosts']
            self.assertEqual(list(ways), ['process', 'mapped', 'cma', 'served', 'tcp'] + hosts)
            self.assertEqual('# hosts: left out: ' in done.stdout, not hosts)
            for key, name, *_ in script.WAYS:
                if key in ways:
                    self.check_way(ways[key], name, lines)
            self.assertEqual(sum(bool(re.match('  table [23], ', line)) for line in lines),
                             15 if hosts else 10)
            if 'figures 4 and 5 are not drawn' not in done.stdout:
                self.assertTrue(Path(folder, 'figure4.png').read_bytes().startswith(b'\x89PNG'))
                svg = Path(folder, 'figure4.svg').read_text(encoding='utf-8')
                self.assertIn('regular API', svg)

    def test_a_way_that_cannot_be_measured_says_why_and_the_others_are_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            real = Path(BIN).resolve()
            wrapper = Path(folder, 'bin/photonrun')
            wrapper.parent.mkdir()
            wrapper.write_text('#!/bin/sh\ncase "$*" in *CMA=off*) echo no >&2; exit 3;; esac\n'
                            f'exec {real}/photonrun "$@"\n', encoding='utf-8')
            wrapper.chmod(0o755)
            Path(folder, 'bin/photon-perf').symlink_to(real / 'photon-perf')
            Path(folder, 'bench').symlink_to(real.parent / 'bench')
            done = self.run_tiny(folder, '--ways', 'process,served', bin_dir=wrapper.parent)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, r'FAILED: served: .* ends with 3: no')
            self.assertRegex(done.stdout, r'within a process  .*(x|-) +(none|\d+K?)')

    def test_mistakes_in_the_call_are_refused(self):
        for options, words in ((('--from', '2G'), "'2G' is no size"),
                               (('--ways', 'far'), 'some of'), (('--turns', '0'), 'at least 1')):
            done = self.run_tiny('.', *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == '__main__':
    unittest.main()
