#!/usr/bin/env python3
"""photon-netsim paper: its tables and its page beside the results of its cells.

    paper_test.py COMMAND     the path of photon-netsim
"""
import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'tools' / 'photon-plot'))
from photon_plot import netsim  # noqa: E402  (found through the path above)

COMMAND = ''
SIDES = [('rdma-usual', 'known'), ('rdma-equal', 'known'), ('rdma-put-ack', 'known'),
         ('rdma-put-behind', 'known'), ('rdma-put-imm', 'known'), ('rdma-put', 'known'),
         ('rdma-put-ack', 'asked')]  # in the order of the page's columns
PLACE = ('form', 'topology', 'routing', 'Gbps')


def paper(*arguments):
    done = subprocess.run([COMMAND, 'paper', *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=200)
    return done.returncode, done.stdout, done.stderr


def place_of(row):
    return tuple(row[name] for name in PLACE)


class Paper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.into = Path(cls.folder.name) / 'cells'
        cls.words = ('--figure', 8, '--nodes', 64, '--into', cls.into, '--jobs', 2)
        cls.first = paper(*cls.words)
        cls.rows = cls.table('figure8.csv')
        cls.steps = cls.table('figure8-ladder.csv')
        cls.page = (cls.into / 'figure8.md').read_text()

    @classmethod
    def table(cls, name):
        with open(cls.into / name, newline='') as file:
            return list(csv.DictReader(file))

    def result(self, name):
        return json.loads((self.into / f'{name}.json').read_text())

    def test_it_runs_each_cell_once(self):
        status, out, error = self.first
        self.assertEqual((status, error), (0, ''))
        self.assertIn('336 cells, 336 run now', out)
        self.assertEqual(len({row['settings'] for row in self.rows}), 336)
        self.assertEqual(len(self.rows), 448)
        self.assertEqual(len(list(self.into.glob('*.json'))), 336)

    def test_it_resumes_and_writes_the_same(self):
        (self.into / f"{self.rows[5]['settings']}.json").unlink()
        status, out, error = paper(*self.words)
        self.assertEqual((status, error), (0, ''))
        self.assertIn('336 cells, 1 run now', out)
        self.assertEqual(self.table('figure8.csv'), self.rows)
        self.assertEqual((self.into / 'figure8.md').read_text(), self.page)

    def test_lines_are_their_results(self):
        for row in self.rows[::7]:
            result = self.result(row['settings'])
            settings = result['settings']
            self.assertEqual(row['last_ns'], f"{result['last_ps'] / 1000:.3f}")
            self.assertEqual(row['hops'], str(result['hops']))
            if row['protocol'] not in ('rdma-equal', 'rdma-put-imm'):  # taken from rvma's
                self.assertEqual(row['protocol'], settings['nic.protocol'])
            for column, key in (('order', 'nic.order'),
                                ('addresses', 'nic.addresses'), ('topology', 'network.topology'),
                                ('routing', 'network.routing'), ('shape', 'network.shape')):
                self.assertEqual(row[column], settings[key])
            self.assertEqual(settings['network.link_GBps'] * 8, float(row['Gbps']))

    def test_a_speed_up_is_the_ratio_of_its_two_files(self):
        for row in self.rows[::5]:
            ours, rvma = self.result(row['settings']), self.result(row['settings_of_rvma'])
            self.assertEqual(rvma['settings']['nic.protocol'], 'rvma')
            self.assertEqual(row['speed_up_of_rvma'], f"{ours['last_ps'] / rvma['last_ps']:.4f}")
            differing = {key for key, value in ours['settings'].items()
                         if rvma['settings'][key] != value}
            self.assertLessEqual(differing, {'nic.protocol', 'nic.order', 'nic.addresses'})

    def test_the_page_has_the_means(self):
        for form in ('halo3d', 'halo3d26'):
            rows = [row for row in self.rows if row['form'] == form]
            rvma = {place_of(row): float(row['last_ns']) for row in rows
                    if row['protocol'] == 'rvma'}
            self.assertEqual(len(rvma), 28)
            means = []
            for side in SIDES:
                ratios = [float(row['last_ns']) / rvma[place_of(row)] for row in rows
                          if (row['protocol'], row['addresses']) == side]
                self.assertEqual(len(ratios), 28)
                means.append(f'**{sum(ratios) / 28:.2f}**')
            self.assertIn('| **mean** |  |  |  | ' + ' | '.join(means) + ' |', self.page)

    def test_a_verdict_stands_beside_each_claim(self):
        table = self.page.split('| verdict |\n')[1].split('\n\n')[0].splitlines()[1:]
        self.assertEqual(len(table), 7)
        for line in table:
            self.assertRegex(line, r'\*\*(confirmed|not confirmed|only with .+)\*\* \|$')

    def test_ladders_sum_to_the_whole(self):
        ladders = {}
        for step in self.steps:
            ladders.setdefault((place_of(step), step['ladder']), []).append(step)
        self.assertEqual(len(ladders), 2 * (28 + 12 + 28))
        for steps in ladders.values():
            first = self.result(steps[0]['settings_from'])['last_ps']
            last = self.result(steps[-1]['settings_to'])['last_ps']
            gains = [round(float(step['gain_ns']) * 1000) for step in steps]
            self.assertEqual(sum(gains), first - last)
            for one, next_ in zip(steps, steps[1:]):
                self.assertEqual(one['settings_to'], next_['settings_from'])

    def test_photon_plot_reads_the_cells(self):
        files = [(path.name, json.loads(path.read_text())) for path in self.into.glob('*.json')]
        places = netsim.places_of(netsim.results_in(files))
        usual = {place_of(row)[1:]: row['speed_up_of_rvma'] for row in self.rows
                 if (row['form'], row['protocol']) == ('halo3d26', 'rdma-usual')}
        drawn = {(place.network, place.routing, str(int(place.gbps))): f'{place.speed_up():.4f}'
                 for place in places if place.form == 'halo3d26'}
        self.assertEqual(drawn, usual)
        self.assertEqual(len(netsim.shares_of(places)), 2 * 28)
        self.assertEqual(len(netsim.order_shares_of(places)), 2 * 12)

    def test_bad_input_is_refused(self):
        for words, allowed in ((('--figure', 9, '--into', self.into), '7 or 8'),
                               (('--figure', 7, '--nodes', 65, '--into', self.into), '512'),
                               (('--figure', 7), '--into DIR'),
                               (('--into', self.into), '--figure 7|8'),
                               (('--figure', 7, '--into', '/none/x'), 'cannot be written')):
            status, out, error = paper(*words)
            self.assertEqual((status, out, error.count('\n')), (2, '', 1), error)
            self.assertIn(allowed, error)


if __name__ == '__main__':
    COMMAND = sys.argv.pop(1)
    unittest.main()
