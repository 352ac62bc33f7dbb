#!/usr/bin/env python3
"""bench/papers/run with tiny inputs: all papers, an interrupted run, a machine of one core, one
without MPI, and calls that make no sense.

    run_test.py BUILD_FOLDER
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN = ROOT / 'bench/papers/run'
BUILD = Path(sys.argv.pop(1)).resolve()
NAMES = ('pwc', 'nbc', 'am', 'zero-copy', 'rvma')
MPI_COMPILERS = ('mpicc.mpich', 'mpicc.openmpi')


def begin(build, *arguments, before=(), **options):
    return subprocess.Popen([*before, sys.executable, '-B', str(RUN), str(build), *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def call(build, *arguments, **options):
    """Its exit status and what it said."""
    started = begin(build, *arguments, **options)
    said, _ = started.communicate()
    return started.returncode, said


def build_beside(folder):
    """A build folder with the programs of this one, and results of its own."""
    for name in ('bin', 'lib', 'bench', 'examples', 'share'):
        if (BUILD / name).exists():
            os.symlink(BUILD / name, Path(folder) / name)
    return folder


def path_without(names, folder):
    """A PATH whose one folder has links to all programs but those."""
    for each in reversed(os.environ['PATH'].split(':')):
        for program in Path(each).glob('*') if os.path.isdir(each) else ():
            link = Path(folder) / program.name
            if program.name in names or not os.access(program, os.X_OK):
                continue
            if link.is_symlink():
                link.unlink()
            os.symlink(program, link)
    return str(folder)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / 'build').mkdir()
        self.build = build_beside(self.folder / 'build')
        self.pages = self.folder / 'pages'

    def page(self, name):
        return (self.pages / f'{name}.md').read_text(encoding='utf-8')

    def test_all_papers_get_a_page_and_a_second_run_measures_nothing(self):
        status, said = call(self.build, '--tiny', '--into', str(self.pages))
        self.assertEqual(status, 0, said)
        for name in NAMES:
            page = self.page(name)
            self.assertIn('| where | the paper says |', page)
            self.assertRegex(page, r'\*\*(confirmed|better|not confirmed)\*\*')
            tables = re.findall(r'\[All figures of it\]\((.*)\)', page)
            self.assertTrue(tables, name)
            pictures = re.findall(r'!\[.*\]\((.*)\)', page)
            self.assertTrue(pictures or 'matplotlib is missing' in page, name)
            for path in tables + pictures:
                self.assertGreater((self.pages / path).stat().st_size, 0, path)
            for link in re.findall(r'\]\(([^)\s#]+)[^)\s]*\)', page):
                if '://' not in link:
                    self.assertTrue((self.pages / link).exists(), f'{name}: {link}')
        status, said = call(self.build, '--tiny', '--into', str(self.pages))
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r'(\d+) of \1 steps were measured before')
        self.assertNotIn('left', said)

    def test_an_interrupted_run_goes_on_behind_its_last_whole_step(self):
        started = begin(self.build, '--tiny', '--paper', 'pwc', '--into', str(self.pages),
                        start_new_session=True)
        for line in started.stdout:  # the first step is whole when the second one begins
            if line.startswith('[  2/'):
                break
        os.killpg(started.pid, signal.SIGINT)
        said, _ = started.communicate()
        self.assertEqual(started.returncode, 130, said)
        self.assertFalse((self.pages / 'pwc.md').exists())
        status, said = call(self.build, '--tiny', '--paper', 'pwc', '--into', str(self.pages))
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r'\d+ of \d+ steps were measured before')

    def test_a_machine_of_one_core_says_which_rows_it_cannot_give(self):
        taskset = shutil.which('taskset')
        if taskset is None:
            self.skipTest('there is no taskset')
        core = str(sorted(os.sched_getaffinity(0))[0])
        status, said = call(self.build, '--tiny', '--paper', 'pwc', '--into', str(self.pages),
                            before=[taskset, '-c', core])
        self.assertEqual(status, 0, said)
        self.assertIn('it takes 2 cores, and this machine has 1', self.page('pwc'))

    def test_an_mpi_that_is_missing_is_said_in_its_rows(self):
        (self.folder / 'path').mkdir()
        path = path_without(MPI_COMPILERS, self.folder / 'path')
        status, said = call(self.build, '--tiny', '--paper', 'nbc', '--into', str(self.pages),
                            env=dict(os.environ, PATH=path))
        self.assertEqual(status, 0, said)
        self.assertIn('MPICH: not installed', self.page('nbc'))
        self.assertIn('Open MPI: not installed', self.page('nbc'))


class MistakesInTheCall(unittest.TestCase):
    def said_of(self, *arguments, build=BUILD):
        status, said = call(build, *arguments)
        self.assertEqual(status, 2, said)
        return said

    def test_a_paper_or_an_experiment_that_there_is_not(self):
        self.assertIn("there is no 'mpi'; some of pwc", self.said_of('--paper', 'mpi'))
        self.assertIn("there is no 'speed'; some of", self.said_of('--experiment', 'speed'))

    def test_a_folder_without_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn('no photonrun in', self.said_of('--tiny', build=folder))

    def test_two_modes(self):
        self.assertIn('not allowed with', self.said_of('--tiny', '--quick'))


if __name__ == '__main__':
    unittest.main()
