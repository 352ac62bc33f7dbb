#!/usr/bin/env python3
"""What photon-plot makes of the rows of photon-perf. Needs no matplotlib."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import samples
from samples import BARS, LATENCIES, row

from photon_plot import model


def run_of(rows, name='a'):
    return model.Run(name, rows)


def only_panel(rows):
    panels = model.panels_of([run_of(rows)])
    assert len(panels) == 1, panels
    return panels[0]


class Points(unittest.TestCase):
    def test_hold_the_numbers_of_their_rows(self):
        panel = only_panel(LATENCIES)
        self.assertEqual(
            [(point.size_bytes, point.figure, point.p99, point.limit) for point in panel.points()],
            [(row['size_bytes'], row['latency_ns']['p50'], row['latency_ns']['p99'], row['limit'])
             for row in LATENCIES])

    def test_have_the_figure_that_the_limit_is_of(self):
        cases = [(row('put-latency', 'packed', p50=7.0, rate=9.0), model.LATENCY, 7.0),
                 (row('put-bandwidth', 'direct', rate=9.0, bandwidth=8.0), model.BANDWIDTH, 8.0),
                 (row('put-rate', 'packed', rate=9.0), model.RATE, 9.0),
                 (row('waiting', 'asleep', 0, rate=5.0), model.PROCESSOR, 5.0),
                 (row('task-waiting', 'asleep', 0, rate=5.0), model.PROCESSOR, 5.0),
                 (row('memory', 'contacted', 77), model.MEMORY, 77)]
        for each, unit, figure in cases:
            self.assertEqual(model.figure_of(each), (unit, figure))

    def test_tell_where_the_machine_was_unsteady(self):
        self.assertEqual([point.is_steady for point in only_panel(LATENCIES).points()],
                         [True, True, False])

    def test_are_in_the_order_of_sizes(self):
        self.assertEqual([point.size_bytes for point in only_panel(LATENCIES[::-1]).points()],
                         [8, 64, 4096])

    def test_of_the_limits_alone_have_no_second_line(self):
        panel = only_panel([row('limits', 'ping', size, p50=9.0, limit=9.0) for size in (0, 8)])
        self.assertFalse(panel.has_ratio())


class Panels(unittest.TestCase):
    def test_are_lines_over_several_sizes(self):
        self.assertTrue(only_panel(LATENCIES).has_lines())

    def test_are_bars_for_one_size(self):
        self.assertFalse(only_panel(LATENCIES[:1]).has_lines())
        self.assertFalse(only_panel([row('idle-peers', f'{count} silent', p50=9.0)
                                     for count in (0, 16, 64)]).has_lines())

    def test_of_memory_are_bars_because_its_bytes_are_no_sizes(self):
        panel = only_panel([row('memory', 'contacted', 7400), row('memory', 'never contacted', 9)])
        self.assertFalse(panel.has_lines())
        self.assertEqual(panel.modes(), ['contacted', 'never contacted'])

    def test_have_one_unit_each(self):
        panels = model.panels_of([run_of(BARS)])
        self.assertEqual([panel.unit for panel in panels], [model.RATE, model.LATENCY])
        self.assertEqual([len(panel.points()) for panel in panels], [2, 1])

    def test_have_one_line_whose_mode_changes_with_the_size(self):
        series = only_panel(LATENCIES).series
        self.assertEqual([each.label for each in series], ['put-latency'])
        self.assertEqual(series[0].limit_names(), ['two-line ping-pong', 'put+flag, copy-out'])

    def test_have_a_line_for_each_mode_where_modes_share_sizes(self):
        rows = [row('limits', mode, size, p50=9.0) for size in (8, 64) for mode in ('x', 'y')]
        self.assertEqual([series.label for series in only_panel(rows).series], ['x', 'y'])

    def test_of_buffers_and_messages_are_lines_over_the_size_in_one_picture(self):
        modes = ('put of a buffer', 'get of a buffer', 'message')
        rows = [row('task-zero-copy', mode, size, p50=9.0, limit=8.0)
                for size in (64, 65536, 1 << 26) for mode in modes]
        panel = only_panel(rows)
        self.assertTrue(panel.has_lines())
        self.assertEqual([series.label for series in panel.series], list(modes))
        self.assertEqual(panel.sizes(), [64, 65536, 1 << 26])

    def test_of_memory_stand_beside_what_a_question_measures(self):
        panels = model.panels_of([run_of([row('task-rate', 'next', rate=9e6),
                                          row('task-rate', 'resident memory', 4096)])])
        self.assertEqual([panel.unit for panel in panels], [model.RATE, model.MEMORY])

    def test_compare_runs_by_the_names_of_their_files(self):
        panels = model.panels_of([run_of(LATENCIES, 'before'), run_of(LATENCIES, 'after')])
        self.assertEqual([series.label for series in panels[0].series], ['before', 'after'])

    def test_compare_questions_by_their_names(self):
        gets = [dict(each, question='get-latency') for each in LATENCIES]
        panels = model.panels_of([run_of(LATENCIES, 'a'), run_of(gets, 'b')])
        self.assertEqual([series.label for series in panels[0].series],
                         ['a: put-latency', 'b: get-latency'])


class Heading(unittest.TestCase):
    def test_says_configuration_machine_state_and_date(self):
        title, lines = model.heading([run_of(LATENCIES)])
        self.assertEqual(title, 'put-latency')
        self.assertEqual(lines, [
            'transport shm, memory alloc, 3 ranks, 500 or more iterations a row',
            'A 64, 2 cores, Linux 6, Photon 0.1.0',
            'cores near (ping-pong 60 to 64 ns, 1 of 3 rows unsteady), 2026-01-31 23:59 UTC'])

    def test_names_both_states_of_the_machine(self):
        rows = [LATENCIES[0], row('put-latency', 'packed', 64, p50=1.0, state='far')]
        self.assertIn('cores near and far', model.heading([run_of(rows)])[1][2])

    def test_has_a_line_for_each_of_several_runs(self):
        lines = model.heading([run_of(LATENCIES, 'a'), run_of(BARS, 'b')])[1]
        self.assertEqual([line[:2] for line in lines], ['A ', 'a:', 'b:'])


class Files(unittest.TestCase):
    def load(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'run.json')
            path.write_text(text, encoding='utf-8')
            return model.load(str(path))

    def test_become_runs_named_after_them(self):
        run = self.load(json.dumps(LATENCIES))
        self.assertEqual((run.name, run.rows), ('run', LATENCIES))

    def test_of_older_versions_are_read(self):
        old = [{key: value for key, value in each.items()
                if key not in ('limit_name', 'machine', 'run')} for each in LATENCIES]
        run = self.load(json.dumps(old))
        self.assertEqual(len(model.panels_of([run])[0].points()), 3)
        self.assertEqual(model.heading([run])[1],
                         ['transport shm, memory alloc, 500 or more iterations a row'])

    def test_that_hold_something_else_are_refused_by_name(self):
        for text in ('', '[', '{}', '[]', '7', '"text"', '[7]', '[{}]', '{"question": 1}'):
            with self.assertRaisesRegex(model.Problem, 'run.json holds no rows', msg=text):
                self.load(text)

    def test_that_are_missing_are_named_with_the_reason(self):
        with self.assertRaisesRegex(model.Problem, 'cannot read /no/such/file: No such file'):
            model.load('/no/such/file')


class Command(unittest.TestCase):
    def refused(self, *arguments):
        script = samples.ROOT / 'tools' / 'photon-plot' / 'photon-plot'
        done = subprocess.run([sys.executable, '-B', script, *arguments], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done)
        return done.stderr

    def test_refuses_a_suffix_it_cannot_draw(self):
        self.assertIn('use one of .png, .pdf, .svg', self.refused('a.json', '-o', 'a.jpeg'))

    def test_asks_for_what_is_missing(self):
        self.assertIn('no file to draw', self.refused('-o', 'a.png'))
        self.assertIn('--output', self.refused('a.json'))


if __name__ == '__main__':
    unittest.main()
