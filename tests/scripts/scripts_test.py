#!/usr/bin/env python3
"""scripts/test finds the tests of files, scripts/slowest the times that suites left."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMES = '''<testsuites><testsuite name="A">
<testcase classname="A" name="slow" time="2.5"/><testcase classname="A" name="quick" time="0.1"/>
</testsuite></testsuites>'''


def run(script, *arguments):
    return subprocess.run([sys.executable, '-B', script, *arguments], cwd=ROOT, text=True,
                          capture_output=True, check=False)


def planned(*arguments):
    return run('scripts/test', '--print', *arguments).stdout


class Test(unittest.TestCase):
    def test_a_file_has_its_own_tests_its_layers_and_those_of_what_stands_on_it(self):
        said = planned('src/engine/receive.cpp')
        self.assertIn("photon_unit_engine_tests '--gtest_filter=Receive.*", said)
        self.assertLess(said.index('^(engine)$'), said.index('^(api|compat|simtest|stream)$'))

    def test_all_stands_on_the_lowest_layer(self):
        said = planned('src/base/config.cpp')
        for layer in ('api', 'boot', 'engine', 'service', 'transport'):
            self.assertIn(layer, said.splitlines()[-1])

    def test_a_program_stands_on_the_layer_that_is_lent_to_it(self):
        self.assertIn('photonrun', planned('src/system/random.cpp').splitlines()[-1])
        self.assertNotIn('photonrun', planned('src/base/config.cpp').splitlines()[-1])

    def test_only_stops_where_it_says(self):
        self.assertNotIn('ctest', planned('--only', 'file', 'src/engine/receive.cpp'))
        self.assertNotIn('compat', planned('--only', 'layer', 'src/engine/receive.cpp'))

    def test_a_test_finds_itself(self):
        self.assertIn('Receive.*', planned('tests/unit/engine/receive_test.cpp'))

    def test_other_programs_have_labels_of_their_own(self):
        self.assertIn('photon_launcher_tests', planned('tools/photonrun/muster.cpp'))

    def test_tasks_stand_on_the_atomics(self):
        self.assertIn("photon_unit_task_tests '--gtest_filter=TaskRelay.*",
                      planned('task/run/relay.cpp'))
        self.assertIn('task', planned('src/sync/policy.cpp').splitlines()[-1])

    def test_each_label_is_that_of_a_suite(self):
        labels = (ROOT / 'tests/CMakeLists.txt').read_text() + ' '.join(
            folder.name for folder in (ROOT / 'tests/unit').iterdir() if folder.is_dir())
        for folder in ('compat', 'tools/photonrun', 'tools/photon-perf', 'src/base', 'src/engine'):
            file = next((ROOT / folder).glob('*.cpp')).relative_to(ROOT)
            last = planned('--only', 'layer', str(file)).splitlines()[-1]
            self.assertIn(last.split('^(')[1].split(')')[0], labels)

    def test_what_has_no_layer_is_refused(self):
        for name in ('README.md', 'src/engine/none.cpp'):
            refused = run('scripts/test', '--print', name)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(name, refused.stderr)


class Slowest(unittest.TestCase):
    def test_the_slowest_come_first_and_a_torn_file_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            times = pathlib.Path(folder, 'build/release/times')
            times.mkdir(parents=True)
            (times / 'a.xml').write_text(TIMES)
            (times / 'b.xml').write_text(TIMES[:40])
            scripts = pathlib.Path(folder, 'scripts')
            scripts.mkdir()
            script = shutil.copy(ROOT / 'scripts/slowest', scripts)
            lines = run(script, '1').stdout.splitlines()
        self.assertEqual(lines[0].split(), ['2.50', 's', 'release', 'a', 'A.slow'])
        self.assertIn('all 2 tests', lines[1])

    def test_what_is_no_number_is_refused(self):
        self.assertIn("'x'", run('scripts/slowest', 'x').stderr)


if __name__ == '__main__':
    unittest.main()
