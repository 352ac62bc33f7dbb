#!/usr/bin/env python3
"""What bench/papers/common makes of rows: verdicts, pages, what is kept of a run."""
import dataclasses
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / 'bench/papers/common'))
import page  # noqa: E402: they lie there
import papers  # noqa: E402
import plan  # noqa: E402
import store  # noqa: E402

ROWS = [{'panel': 'time', 'series': 'ours', 'x': 8, 'value': 2.0},
        {'panel': 'time', 'series': 'ours', 'x': 64, 'value': 3.0},
        {'panel': 'time', 'series': 'theirs', 'x': 8, 'value': 4.0}]


def no_steps(_):
    return []


EXPERIMENT = plan.Experiment('times', 'Times.', 'a command', no_steps, {'time': 'us'})


def claim(judge, experiment='times'):
    return plan.Claim('IV', 'ours | theirs', '2', experiment, judge)


class Judges(unittest.TestCase):
    def test_values_and_ratios_are_of_the_rows_that_have_the_keys(self):
        rows = plan.Rows(ROWS)
        self.assertEqual(rows.value(series='ours', x=64), 3.0)
        self.assertEqual(rows.values(series='ours'), {8: 2.0, 64: 3.0})
        self.assertEqual(rows.ratios({'series': 'theirs'}, {'series': 'ours'}), {8: 2.0})

    def test_a_verdict_without_its_rows_is_not_measured_and_says_why(self):
        rows = plan.Rows(ROWS, ['MPICH: not installed'])
        found = {'times': rows}
        verdict = page.judge(claim(lambda rows: plan.confirmed(f'{rows.value(x=512)}')), found)
        self.assertEqual(verdict.word, plan.NOT_MEASURED)
        self.assertIn('x 512', verdict.why)
        self.assertIn('MPICH: not installed', verdict.why)
        for failing in (lambda rows: max(()), lambda rows: 1 / 0, lambda rows: {}[8]):
            self.assertEqual(page.judge(claim(failing), found).word, plan.NOT_MEASURED)
        verdict = page.judge(claim(lambda rows: plan.confirmed('yes')), {'times': plan.Rows([])})
        self.assertEqual(verdict.word, plan.NOT_MEASURED)

    def test_two_rows_of_one_key_are_no_value(self):
        with self.assertRaises(plan.Missing):
            plan.Rows(ROWS).value(series='ours')

    def test_a_claim_without_an_experiment_asks_nothing(self):
        verdict = page.judge(claim(lambda: plan.cannot('no such card'), None), {})
        self.assertEqual((verdict.word, verdict.why), (plan.CANNOT, 'no such card'))


class Pages(unittest.TestCase):
    def test_the_made_part_is_replaced_and_the_rest_stays(self):
        once = page.replace_part('# Title\n\nProse.\n', ['first'])
        self.assertIn('Prose.', once)
        again = page.replace_part(once + 'Behind.\n', ['second'])
        self.assertNotIn('first', again)
        self.assertIn('second', again)
        self.assertTrue(again.startswith('# Title\n\nProse.\n'))
        self.assertTrue(again.endswith('Behind.\n'))

    def test_half_a_mark_is_an_error(self):
        with self.assertRaises(ValueError):
            page.replace_part(page.BEGIN + '\nno end', ['x'])

    def test_cells_of_tables_hold_any_text(self):
        paper = plan.Paper('pwc', 'Title', (EXPERIMENT,), (),
                           (claim(lambda rows: plan.better('half')),))
        table = list(page.table_of_claims(paper, {'times': plan.Rows(ROWS)}))
        self.assertIn('ours \\| theirs', table[-1])
        self.assertIn('**better**', table[-1])


class Kept(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.paper = plan.Paper('pwc', 'Title', (EXPERIMENT,), (), ())
        self.step = plan.Step('one', None, {'tiny': 1})

    def keep(self, stamp):
        return store.Store(self.folder.name, stamp)

    def test_a_step_is_taken_on_the_same_machine_and_version_alone(self):
        stamp = {'processor': 'this', 'versions': [['Photon', '1']]}
        self.keep(stamp).save(self.paper, EXPERIMENT, self.step, ROWS, ['a note'], 1.5)
        found = self.keep(dict(stamp)).load(self.paper, EXPERIMENT, self.step)
        self.assertEqual((found['rows'], found['notes']), (ROWS, ['a note']))
        other = dict(stamp, versions=[['Photon', '2']])
        self.assertIsNone(self.keep(other).load(self.paper, EXPERIMENT, self.step))

    def test_half_a_file_is_none(self):
        kept = self.keep({})
        kept.save(self.paper, EXPERIMENT, self.step, ROWS, [], 1)
        path = kept.path_of(self.paper, EXPERIMENT, self.step)
        os.truncate(path, 20)
        self.assertIsNone(kept.load(self.paper, EXPERIMENT, self.step))
        for text in ('[]', '{"stamp": {}}'):
            Path(path).write_text(text, encoding='utf-8')
            self.assertIsNone(kept.load(self.paper, EXPERIMENT, self.step))

    def test_a_table_has_all_keys_of_all_rows(self):
        path = os.path.join(self.folder.name, 'rows.csv')
        store.write_csv(path, [dict(ROWS[0], unit='us'), dict(ROWS[1], unit='us', state='far')])
        lines = Path(path).read_text(encoding='utf-8').splitlines()
        self.assertEqual(lines, ['panel,series,x,value,unit,state', 'time,ours,8,2.0,us,',
                                 'time,ours,64,3.0,us,far'])


class Definitions(unittest.TestCase):
    """Of the papers themselves."""

    def test_every_name_that_is_used_is_defined(self):
        for name in papers.NAMES:
            paper = papers.load(name)
            self.assertEqual(paper.name, name)
            known = {each.name for each in paper.experiments}
            self.assertEqual(len(known), len(paper.experiments))
            for figure in paper.figures:
                self.assertIn(figure.experiment, known, figure.name)
            for each in paper.claims:
                self.assertIn(each.experiment, known | {None}, each.says)
            self.assertTrue((ROOT / 'docs/papers' / f'{name}.md').exists())

    def test_steps_have_names_of_their_own_and_an_estimate_for_each_mode(self):
        for name in papers.NAMES:
            for experiment in papers.load(name).experiments:
                for mode in plan.MODES:
                    steps = experiment.steps(mode)
                    self.assertEqual(len({step.name for step in steps}), len(steps))
                    for step in steps:
                        self.assertIn(mode, step.seconds, f'{name}, {step.name}')
                        self.assertNotIn('/', step.name)

    def test_a_paper_without_rows_has_a_page_in_which_nothing_is_confirmed(self):
        for name in papers.NAMES:
            paper = papers.load(name)
            empty = {each.name: plan.Rows([], ['nothing']) for each in paper.experiments}
            for each in paper.claims:
                verdict = page.judge(each, empty)
                self.assertIn(verdict.word, (plan.NOT_MEASURED, plan.CANNOT), each.says)

    def test_data_classes_are_frozen(self):
        with self.assertRaises(dataclasses.FrozenInstanceError):
            EXPERIMENT.name = 'other'


if __name__ == '__main__':
    unittest.main()
