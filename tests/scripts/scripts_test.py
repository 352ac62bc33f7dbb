#!/usr/bin/env python3
"""scripts/test finds the tests of files, scripts/slowest the times that suites left, and
scripts/bench asks each question, scripts/check.d/static_checks looks again at what has changed,
.ci/leaves_nothing ends and names what a command leaves behind.
"""
import json
import pathlib
import re
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
        self.assertIn('photon_launcher_tests', planned('tools/photonrun/host_acceptor.cpp'))

    def test_a_test_of_any_suite_finds_itself_and_nothing_stands_on_it(self):
        for file, program, suite in (
                ('tests/engine/put_get_test.cpp', 'photon_engine_tests', 'PutGet'),
                ('tests/launcher/host_acceptor_test.cpp', 'photon_launcher_tests', 'HostAcceptor'),
                ('tests/process/tcp_test.cpp', 'photon_process_tests', 'Tcp'),
                ('tests/compat/pwc_api_test.cpp', 'photon_compat_tests', 'Pwc'),
                ('tests/conformance/bulk_test.cpp', 'photon_conformance_tests', '')):
            lines = planned(file).splitlines()
            self.assertEqual(len(lines), 3, lines)
            self.assertIn(f"{program} '--gtest_filter={suite}", lines[1])
            self.assertIn('ctest', lines[2])

    def test_a_file_without_a_test_of_its_own_has_those_of_the_list(self):
        said = planned('--only', 'file', 'compat/rvma_api.cpp', 'tools/photonrun/exchange.cpp')
        self.assertIn('--target photon_engine_tests photon_process_tests', said)
        self.assertIn('Rvma', said)
        self.assertIn('LaunchGenerations.*', said)

    def test_a_tool_without_units_is_tested_as_a_program(self):
        self.assertIn('Info.*', planned('--only', 'file', 'tools/photon-info/report.cpp'))
        self.assertIn('Perf.*', planned('--only', 'file', 'tools/photon-perf/question_am.cpp'))
        self.assertIn("-R '^plot_'", planned('--only', 'file', 'tools/photon-plot/photon-plot'))

    def test_every_file_of_compat_and_photonrun_has_tests(self):
        files = [str(path.relative_to(ROOT)) for folder in ('compat', 'tools/photonrun')
                 for path in sorted((ROOT / folder).glob('*.cpp'))]
        self.assertGreater(len(files), 70)
        for file in (files[0], files[-1]):
            self.assertIn('gtest_filter', planned('--only', 'file', file))
        self.assertGreaterEqual(planned('--only', 'file', *files).count('gtest_filter'), len(files))

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


class Bench(unittest.TestCase):
    def test_every_question_of_photon_perf_is_asked_once(self):
        known = re.findall(r'^    \{"([a-z-]+)", "',
                           (ROOT / 'tools/photon-perf/questions.cpp').read_text(), re.MULTILINE)
        asked = re.findall(r"^questions='\n(.*?)'", (ROOT / 'scripts/bench').read_text(),
                           re.MULTILINE | re.DOTALL)[0].split()
        self.assertGreater(len(known), 40)
        self.assertEqual(sorted(asked[::2]), sorted(known))
        self.assertTrue(all(ranks.isdigit() and int(ranks) >= 2 for ranks in asked[1::2]))


@unittest.skipUnless(shutil.which('clang-tidy-16'), 'no clang-tidy-16 here')
class StaticChecks(unittest.TestCase):
    WRONG = 'inline int doubled(int a) { if (a) return 2 * a; return 0; }\n'
    GOOD = 'inline int doubled(int a) { return 2 * a; }\n'

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.configure('readability-braces-around-statements')
        (self.folder / 'a.hpp').write_text(self.GOOD)
        (self.folder / 'a.cpp').write_text('#include "a.hpp"\nint f() { return doubled(1); }\n')
        (self.folder / 'compile_commands.json').write_text(json.dumps([{
            'directory': str(self.folder), 'file': 'a.cpp',
            'command': 'clang++-16 -std=c++20 -o a.o -c a.cpp'}]))

    def configure(self, checks):
        (self.folder / '.clang-tidy').write_text(
            f"Checks: '-*,{checks}'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n")

    def check(self):
        return run('scripts/check.d/static_checks', self.folder, self.folder / 'a.cpp')

    def test_what_was_fine_is_looked_at_again_when_it_or_the_checks_change(self):
        self.assertIn('1 of 1', self.check().stdout)
        self.assertIn('0 of 1', self.check().stdout)
        (self.folder / 'a.hpp').write_text('// new\n' + self.GOOD)
        self.assertIn('1 of 1', self.check().stdout)
        self.configure('readability-braces-around-statements,bugprone-*')
        self.assertIn('1 of 1', self.check().stdout)

    def test_what_was_wrong_is_wrong_again(self):
        (self.folder / 'a.hpp').write_text(self.WRONG)
        for _ in range(2):
            checked = self.check()
            self.assertEqual(checked.returncode, 1)
            self.assertIn('a.hpp:1:', checked.stdout)


class LeavesNothing(unittest.TestCase):
    def leave(self, command, patience_s):
        return run('.ci/leaves_nothing', '--patience', patience_s, 'sh', '-c', command)

    def test_the_status_is_that_of_the_command(self):
        self.assertEqual(self.leave('exit 3', '20').returncode, 3)
        self.assertEqual(self.leave('exit 0', '20').returncode, 0)

    def test_what_ends_by_itself_is_waited_for(self):
        done = self.leave('{ read line; } < /dev/null & exit 0', '20')
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_what_is_left_is_named_and_ended_even_in_a_session_of_its_own(self):
        done = self.leave('setsid sh -c "echo left behind; exec tail -f /dev/null" & exit 0', '0.5')
        self.assertEqual(done.returncode, 1)
        [pid] = re.findall(r'pid (\d+), \d+ s of processors: .*tail -f /dev/null', done.stdout)
        self.assertFalse(pathlib.Path('/proc', pid).exists())


if __name__ == '__main__':
    unittest.main()
