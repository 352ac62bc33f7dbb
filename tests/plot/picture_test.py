#!/usr/bin/env python3
"""photon-perf --plot from end to end with tiny inputs, and what stands in the pictures.

    picture_test.py BIN_FOLDER      exit status 77: no matplotlib here, nothing was tested
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import samples
from samples import BARS, LATENCIES, ORDERS, RUNGS, cell, row

from photon_plot import model, netsim

SYSTEM_PYTHON = '/usr/bin/python3'  # has the distribution's matplotlib where another comes first
try:
    from matplotlib import image
    from photon_plot import drawing, netsim_drawing
except ImportError as error:
    if not sys.flags.ignore_environment and os.access(SYSTEM_PYTHON, os.X_OK):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, '-EB', *sys.argv])
    print(f'skipped: {error}; scripts/install-deps plot installs it')
    sys.exit(77)

BIN = Path(sys.argv.pop(1)).resolve()
WIDTH_PIXELS = 1200


def figure_of(rows):
    return drawing.figure_of(model.panels_of([model.Run('a', rows)]),
                             model.heading([model.Run('a', rows)]))


def lines_of(axes):
    """The points of all lines with more than one."""
    return [[tuple(point) for point in line.get_xydata()] for line in axes.lines
            if len(line.get_xydata()) > 1]


def axes_named(figure, start):
    return next(axes for axes in figure.axes
                if start in (axes.get_ylabel() + ' ' + axes.get_xlabel()))


class Lines(unittest.TestCase):
    def setUp(self):
        self.axes = axes_named(figure_of(LATENCIES), 'latency (ns')

    def test_stand_for_the_figures_and_their_limits(self):
        p50 = [(each['size_bytes'], each['latency_ns']['p50']) for each in LATENCIES]
        limits = [(each['size_bytes'], each['limit']) for each in LATENCIES]
        self.assertEqual(lines_of(self.axes), [limits, p50])

    def test_have_a_band_up_to_p99(self):
        corners = {tuple(point) for path in self.axes.collections[0].get_paths()
                   for point in path.vertices}
        for each in LATENCIES:
            self.assertIn((each['size_bytes'], each['latency_ns']['p99']), corners)
            self.assertIn((each['size_bytes'], each['latency_ns']['p50']), corners)

    def test_stand_over_logarithmic_axes(self):
        self.assertEqual((self.axes.get_xscale(), self.axes.get_yscale()), ('log', 'log'))

    def test_stay_large_where_a_p99_is_enormous(self):
        rows = json.loads(json.dumps(LATENCIES))
        rows[0]['latency_ns']['p99'] = 1e9
        low, high = axes_named(figure_of(rows), 'latency (ns').get_ylim()
        self.assertTrue(low < 150 and 900 < high <= 9000, (low, high))

    def test_have_their_ratios_below(self):
        axes = axes_named(figure_of(LATENCIES), 'ratio')
        self.assertEqual(lines_of(axes)[0],
                         [(each['size_bytes'], each['limit_ratio']) for each in LATENCIES])

    def test_reach_to_a_size_of_nought(self):
        rows = [row('limits', 'ping', size, p50=9.0) for size in (0, 8, 4096)]
        axes = axes_named(figure_of(rows), 'latency')
        left, right = axes.get_xlim()
        self.assertTrue(left < 0 and right > 4096, (left, right))


class Bars(unittest.TestCase):
    def test_stand_for_the_figures_and_their_limits(self):
        figure = figure_of(BARS)
        widths = [[bar.get_width() for bar in axes_named(figure, name).patches]
                  for name in ('rate', 'latency')]
        self.assertEqual(widths, [[9e6, 6e6, 9e6], [5200.0, 700.0]])

    def test_are_labelled_with_their_modes(self):
        labels = axes_named(figure_of(BARS), 'rate').get_yticklabels()
        self.assertEqual([label.get_text() for label in labels], ['2 ranks', '8 ranks, all pairs'])

    def test_of_nothing_at_all_are_drawn(self):
        figure_of([row('waiting', 'asleep', 0, rate=0.0), row('memory', 'never contacted', 0)])


class Layout(unittest.TestCase):
    def test_cuts_no_words(self):
        wordy = row('oversubscribe', 'what is measured, at length', p50=9876543.21, limit=1234567.8,
                    limit_name='process_vm_writev, in turns', spoilt=True)
        slow = [row('put-latency', 'direct', size, p50=100.0 * size)  # up to a tenth of a second
                for size in (1, 99, 1 << 20)]
        for rows in (LATENCIES, BARS, [wordy], slow[:2], slow):
            figure = figure_of(rows)
            figure.draw_without_rendering()  # places the words
            box = figure.get_tightbbox(figure.canvas.get_renderer())
            width, height = figure.get_size_inches()
            self.assertTrue(box.x0 >= 0 and box.x1 <= width, box)
            self.assertTrue(box.y0 >= 0 and box.y1 <= height, box)

    def test_keeps_legends_off_the_figures(self):
        figure = figure_of(LATENCIES)
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()
        data = axes_named(figure, 'latency').get_window_extent(renderer)
        for axes in figure.axes:
            if axes.get_legend():
                self.assertFalse(axes.get_legend().get_window_extent(renderer).overlaps(data))


def netsim_figure(cells):
    return netsim_drawing.figure_of(netsim.results_in([('a.json', each) for each in cells]))


class Netsim(unittest.TestCase):
    def tearDown(self):
        drawing.plt.close('all')

    def test_speed_ups_are_bars_of_a_network_and_a_rate(self):
        fast = [cell(protocol, time, network__link_GBps=250.0)
                for protocol, time in (('rdma-usual', 300), ('rvma', 100))]
        axes = axes_named(netsim_figure(RUNGS + fast), 'speed-up')
        self.assertEqual([bar.get_height() for bar in axes.patches], [400 / 160, 3])
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()],
                         ['hyperx\nstatic'])
        self.assertEqual(len({bar.get_facecolor() for bar in axes.patches}), 2)

    def test_a_step_of_the_ladder_reaches_from_the_rung_before_to_its_own(self):
        figure = netsim_figure(RUNGS + ORDERS)
        ladders = [axes for axes in figure.axes if axes.get_ylabel().startswith('time in %')]
        self.assertEqual(len(ladders), 2)
        ends = [[(round(bar.get_y(), 6), round(bar.get_y() + bar.get_height(), 6))
                 for bar in axes.patches] for axes in ladders]
        self.assertEqual(ends, [[(0, 100), (100, 50), (50, 75), (75, 55), (55, 52.5), (52.5, 40)],
                                [(0, 100), (100, 96), (96, 80)]])

    def test_no_speed_ups_are_drawn_where_a_side_is_missing(self):
        figure = netsim_figure([cell('rdma-put-ack', 5)])
        self.assertEqual([axes for axes in figure.axes if 'speed-up' in axes.get_ylabel()], [])

    def test_times_are_drawn_where_nothing_can_be_compared(self):
        axes = axes_named(netsim_figure([cell('rdma-put-ack', 5e6), cell('bare', 3e6),
                                         cell('bare', 2e6, network__link_GBps=25.0)]), 'last rank')
        self.assertEqual(sorted(bar.get_height() for bar in axes.patches), [2, 3, 5])
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()],
                         ['hyperx\nstatic\nrdma-put-ack', 'hyperx\nstatic\nbare'])

    def test_cuts_no_words(self):
        figure = netsim_figure(RUNGS + ORDERS)
        figure.draw_without_rendering()
        box = figure.get_tightbbox(figure.canvas.get_renderer())
        width, height = figure.get_size_inches()
        self.assertTrue(box.x0 >= 0 and box.x1 <= width, box)
        self.assertTrue(box.y0 >= 0 and box.y1 <= height, box)

    def test_is_drawn_by_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            for index, each in enumerate(RUNGS):
                Path(folder, f'{index}.json').write_text(json.dumps(each), encoding='utf-8')
            done = subprocess.run([BIN / 'photon-plot', *sorted(os.listdir(folder)), '-o', 'c.png'],
                                  cwd=folder, timeout=60, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b''))
            self.assertTrue(Path(folder, 'c.png').read_bytes().startswith(b'\x89PNG'))


class Perf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def draw(self, ranks_count, arguments):
        """The rows that were measured, and the picture's path."""
        rows, picture = self.folder / 'rows.json', self.folder / 'picture.png'
        done = subprocess.run([BIN / 'photonrun', '-n', str(ranks_count), BIN / 'photon-perf',
                               *arguments.split(), '--json', rows, '--plot', picture],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        return json.loads(rows.read_text(encoding='utf-8')), picture

    def assert_is_picture_of(self, rows, picture):
        self.assertEqual(picture.read_bytes()[:8], b'\x89PNG\r\n\x1a\n')
        pixels = image.imread(picture)
        height_inches = figure_of(rows).get_size_inches()[1]
        self.assertEqual(pixels.shape[:2],
                         (int(height_inches * drawing.DOTS_PER_INCH), WIDTH_PIXELS))
        few = (pixels[::3, ::3, :3].reshape(-1, 3) * 255 + 0.5).astype(int)
        colours = {tuple(colour) for colour in few.tolist()}
        for needed in (drawing.COLOURS[0], drawing.LIMIT, '#FFFFFF'):
            self.assertIn(tuple(bytes.fromhex(needed[1:])), colours)

    def test_draws_lines_over_the_sizes_it_measured(self):
        rows, picture = self.draw(2, 'put-latency --sizes 8,64,4K --iterations 10')
        self.assert_is_picture_of(rows, picture)
        panel = model.panels_of([model.Run('a', rows)])[0]
        self.assertTrue(panel.has_lines())
        self.assertEqual(lines_of(axes_named(figure_of(rows), 'latency'))[1],
                         [(each['size_bytes'], each['latency_ns']['p50']) for each in rows])

    def test_draws_bars_beside_their_limits(self):
        rows, picture = self.draw(2, 'put-rate --iterations 100')
        self.assert_is_picture_of(rows, picture)
        bars = axes_named(figure_of(rows), 'rate').patches
        self.assertEqual([bar.get_width() for bar in bars],
                         [rows[0]['rate_per_s'], rows[0]['limit']])

    def test_replaces_a_picture_that_was_there(self):
        (self.folder / 'picture.png').write_text('old', encoding='utf-8')
        self.assert_is_picture_of(*self.draw(2, 'notify-latency --iterations 10'))


class Script(unittest.TestCase):
    def test_compares_files_in_every_format(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ('a', 'b'):
                Path(folder, f'{name}.json').write_text(json.dumps(LATENCIES), encoding='utf-8')
            for suffix, start in (('png', b'\x89PNG'), ('pdf', b'%PDF'), ('svg', b'<?xml')):
                done = subprocess.run([BIN / 'photon-plot', 'a.json', 'b.json',
                                       '-o', f'c.{suffix}'],
                                      cwd=folder, timeout=60, capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, b''))
                self.assertTrue(Path(folder, f'c.{suffix}').read_bytes().startswith(start))

    def test_says_what_it_cannot_write(self):
        done = subprocess.run([BIN / 'photon-plot', '-', '-o', '/no/such/folder/c.png'], timeout=60,
                              input=json.dumps(LATENCIES), capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'photon-plot: cannot write /no/such/folder/c.png: '
                             'No such file or directory\n'))


if __name__ == '__main__':
    assert samples.ROOT.is_dir()
    unittest.main()
