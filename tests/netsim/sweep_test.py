#!/usr/bin/env python3
"""photon-netsim's sweeps, also killed ones, and ladders.

    sweep_test.py COMMAND     the path of photon-netsim
"""
import json
import os
import random
import signal
import sys
import time
import unittest

from command_case import Case, plain, toml


class Sweeps(Case):
    SWEEP = {'run.seed': list(range(1, 9)), 'motif.bytes': [60000, 61000, 62000]}

    def sweep(self, into, *more):
        return ('sweep', self.file, '--into', into, *more)

    def test_a_killed_sweep_resumes(self):
        self.write(toml(sweep=self.SWEEP))
        begin = time.monotonic()
        status, _, error = self.run_it(*self.sweep(self.path / 'whole', '--jobs', 2))
        took = time.monotonic() - begin
        self.assertEqual((status, error), (0, ''))
        expected = self.results_in(self.path / 'whole')
        self.assertEqual(len(expected), 24)
        draw = random.Random(2)
        killed = 0
        for _ in range(8):
            process = self.start(*self.sweep(self.path / 'killed'))
            time.sleep(draw.uniform(0, took / 2))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            for each in (self.path / 'killed').glob('*.json'):
                self.assertEqual(plain(each.read_text()), expected[each.name])
        self.assertGreater(killed, 0)
        self.assertEqual(self.run_it(*self.sweep(self.path / 'killed'))[0], 0)
        self.assertEqual(self.results_in(self.path / 'killed'), expected)
        self.assertEqual(len(list((self.path / 'killed').iterdir())), 24)
        self.assertIn(' 0 run now', self.run_it(*self.sweep(self.path / 'killed'))[1])

    def test_torn_and_foreign_files_are_no_results(self):
        self.write(toml(sweep={'run.seed': [1, 2, 3, 4]}))
        self.assertIn('4 run now', self.run_it(*self.sweep(self.path / 'cells'))[1])
        files = sorted((self.path / 'cells').glob('*.json'))
        expected = self.results_in(self.path / 'cells')
        text = files[0].read_text()
        files[0].write_text(text[:len(text) // 2])
        files[1].write_text(files[1].read_text().replace('"model": ', '"model": 9'))
        files[2].write_text(files[3].read_text())
        self.assertIn('3 run now', self.run_it(*self.sweep(self.path / 'cells'))[1])
        self.assertEqual(self.results_in(self.path / 'cells'), expected)

    def test_what_others_have_in_the_folder_stays(self):
        self.write(toml(sweep={'run.seed': [1]}))
        into = self.path / 'cells'
        into.mkdir()
        own = [f'{"0123456789abcdef" * 2}.json.123.part', 'figure7-ladder.csv.5.part']
        foreign = ['film.part', 'out.json.123.part', f'{"0" * 32}.json.part', 'figure.part']
        for name in own + foreign:
            (into / name).write_text('')
        self.assertEqual(self.run_it(*self.sweep(into))[0], 0)
        self.assertEqual(sorted(each.name for each in into.glob('*.part')), sorted(foreign))

    def test_cells_of_one_result_are_run_once(self):
        self.write(toml(sweep={'run.threads': [1, 2, 3], 'nic.pcie_ns': '[1e9, 1000000000]'}))
        status, out, error = self.run_it(*self.sweep(self.path / 'cells', '--jobs', 4))
        self.assertEqual((status, error), (0, ''))
        self.assertIn('6 cells, 1 run now', out)
        self.assertEqual(len(self.results_in(self.path / 'cells')), 1)

    def test_changed_settings_are_not_reused(self):
        self.write(toml(sweep={'run.seed': [1, 2]}))
        keys = [line.split()[0] for line in self.run_it('keys')[1].splitlines()[1:]]
        self.assertIn('2 run now', self.run_it(*self.sweep(self.path / 'cells'))[1])
        changes = ('network.link_ns=41', 'network.delivery=tail', 'nic.cq_ns=1', 'motif.bytes=3001',
                   'run.max_us=1000', 'nic.turns=packet')
        for change in changes:
            self.assertIn(change.split('=')[0], keys)
            out = self.run_it(*self.sweep(self.path / 'cells', '--set', change))[1]
            self.assertIn('2 run now', out, change)
        out = self.run_it(*self.sweep(self.path / 'cells', '--threads', 2))[1]
        self.assertIn('0 run now', out)

    def test_a_mistake_in_any_cell_is_told_before_the_first_is_run(self):
        self.write(toml(sweep={'network.routing': '["ugal", "adaptive"]'}))
        status, _, error = self.run_it(*self.sweep(self.path / 'cells'))
        self.assertEqual(status, 2)
        self.assertIn('a.toml:12: network.routing', error)
        self.assertFalse((self.path / 'cells').exists())

    def test_a_cell_that_fails_leaves_no_result(self):
        self.write(toml(run={'max_us': '0.5'}, sweep={'run.seed': [1]}))
        status, _, error = self.run_it(*self.sweep(self.path / 'cells'))
        self.assertEqual(status, 1)
        self.assertIn('the cell run.seed = 1 failed', error)
        self.assertEqual(os.listdir(self.path / 'cells'), [])


class Ladders(Case):
    PROTOCOLS = ['rdma-usual', 'rdma-equal', 'rdma-put-ack', 'rdma-put-behind', 'rdma-put-imm',
                 'rvma']

    def ladders_of(self, *arguments):
        status, out, error = self.run_it('ladder', self.file, '--json', '-', *arguments)
        self.assertEqual((status, error), (0, ''))
        return json.loads(out)

    def test_steps_are_differences_and_sum_to_the_whole(self):
        self.write(toml(motif={'bytes': '50000'}))
        json_ = self.ladders_of('--jobs', 2)
        self.assertEqual([ladder['name'] for ladder in json_['ladders']],
                         ['protocols', 'order', 'addresses'])
        self.assertEqual([rung['name'] for rung in json_['ladders'][0]['rungs']], self.PROTOCOLS)
        for ladder in json_['ladders']:
            times = [rung['last_ps'] for rung in ladder['rungs']]
            gains = [step['gain_ps'] for step in ladder['steps']]
            self.assertEqual(gains, [a - b for a, b in zip(times, times[1:])])
            self.assertEqual(sum(gains), ladder['whole_ps'])
            self.assertEqual(ladder['whole_ps'], times[0] - times[-1])
            self.assertAlmostEqual(ladder['speed_up'], times[0] / times[-1])

    def test_a_rung_is_what_run_says_of_its_settings(self):
        self.write(toml())
        for ladder in self.ladders_of()['ladders']:
            for rung in ladder['rungs']:
                sets = [word for key, value in rung['settings'].items()
                        for word in ('--set', f'{key}={json.dumps(value).strip(chr(34))}')]
                status, out, error = self.run_it('run', '--json', '-', *sets)
                self.assertEqual((status, error), (0, ''))
                self.assertEqual(json.loads(out)['last_ps'], rung['last_ps'])
                self.assertEqual(json.loads(out)['settings'], rung['settings'])

    def test_any_number_of_jobs_prints_the_same(self):
        self.write(toml())
        one = self.run_it('ladder', self.file)
        self.assertEqual(one[0], 0)
        self.assertEqual(self.run_it('ladder', self.file, '--jobs', 3), one)

    def test_a_speed_up_stands_beside_the_settings_of_both_sides(self):
        self.write(toml())
        out = self.run_it('ladder', self.file)[1]
        lines = [line for line in out.splitlines() if 'times as fast' in line]
        self.assertIn('nic.protocol = rvma against rdma-usual', lines[0])
        self.assertIn('network.routing = ugal against static', lines[1])
        self.assertIn('nic.protocol = rvma against rdma-put', lines[1])

    def test_no_ladder_of_order_where_nothing_overtakes(self):
        self.write('[network]\nshape = "4"\n[motif]\nname = "alltoall"\nranks = "4"\n')
        self.assertEqual([ladder['name'] for ladder in self.ladders_of()['ladders']],
                         ['protocols', 'addresses'])
        self.assertIn('no routing that lets packets overtake', self.run_it('ladder', self.file)[1])

    def test_bad_input_is_refused(self):
        self.write(toml(sweep={'run.seed': '[1, 2]'}))
        for words in ((), (self.file,), (self.file, '--set', 'run.seed=1', '--jobs', '0'),
                      (self.file, '--set', 'run.seed=1', '--json', self.path)):
            status, out, error = self.run_it('ladder', *words)
            self.assertEqual((status, out, error.count('\n')), (2, '', 1), error)

    def test_a_rung_that_fails_is_named(self):
        self.write(toml(run={'max_us': '0.5'}))
        status, out, error = self.run_it('ladder', self.file)
        self.assertEqual((status, out), (1, ''))
        self.assertIn('rdma-usual on ugal failed', error)


if __name__ == '__main__':
    Case.COMMAND = sys.argv.pop(1)
    unittest.main()
