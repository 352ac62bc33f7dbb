#!/usr/bin/env python3
"""scripts/call-cycles sees a circle of files, one that is larger than a known one, and a call to a
higher floor; and none of them where there is none, in objects made here.

    call_cycles_test.py [C++ compiler]
"""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / 'scripts/call-cycles'
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else 'c++'

TWO_WAYS = {'src/base/a.cpp': 'void f(); void h(); void g() { f(); } void i() { h(); }\n',
            'src/base/b.cpp': 'void g(); void f() { g(); }\n'}


def check(files, *options):
    """(exit status, output) of the script on a tree of these files, compiled. {root} in an option
    is the tree's folder."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / 'scripts').mkdir()
        shutil.copy(SCRIPT, root / 'scripts')
        commands = []
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for path in sorted(root.rglob('*.cpp')):
            output = f'photon_layer_{path.parent.name}.dir/{path.name}.o'
            (root / 'build' / output).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([COMPILER, '-std=c++20', '-O1', f'-I{root}/src', '-c', path,
                            '-o', root / 'build' / output], check=True)
            commands.append({'file': str(path), 'command': f'c++ -o {output} -c {path}'})
        (root / 'build/compile_commands.json').write_text(json.dumps(commands))
        done = subprocess.run([sys.executable, '-B', root / 'scripts/call-cycles',
                               '--build', root / 'build',
                               *(option.format(root=root) for option in options)],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class Circles(unittest.TestCase):
    def assert_none(self, files):
        status, output = check(files)
        self.assertEqual(status, 0, output)
        self.assertIn('0 files in circles', output)

    def assert_circle(self, files, call):
        status, output = check(files)
        self.assertEqual(status, 1, output)
        self.assertIn('2 files call each other in a circle', output)
        self.assertIn(call, output)

    def test_calls_both_ways_are_one(self):
        self.assert_circle(TWO_WAYS, 'b -> a: f -> g')

    def test_calls_one_way_are_none(self):
        self.assert_none({**TWO_WAYS, 'src/base/b.cpp': 'void f() {}\n'})

    def test_calls_between_folders_are_none(self):
        self.assert_none({'src/base/a.cpp': TWO_WAYS['src/base/a.cpp'],
                          'src/wire/b.cpp': TWO_WAYS['src/base/b.cpp']})

    def test_overloads_and_names_local_to_a_file_are_told_apart(self):
        self.assert_none({**TWO_WAYS, 'src/base/b.cpp':
                          'void g(int); void f() { g(1); }\n'})
        self.assert_none({**TWO_WAYS, 'src/base/b.cpp':
                          'namespace { [[gnu::noinline]] void g() {} } void f() { g(); }\n'})

    def test_a_call_by_an_inline_function_is_one_of_who_uses_it(self):
        header = '#pragma once\nvoid g();\ninline void by_header() { g(); }\n'
        user = '#include "base/c.hpp"\nvoid f() { by_header(); }\n'
        self.assert_circle({**TWO_WAYS, 'src/base/c.hpp': header, 'src/base/b.cpp': user},
                           'b -> a: ')
        self.assert_none({**TWO_WAYS, 'src/base/c.hpp': header, 'src/base/b.cpp':
                          '#include "base/c.hpp"\nvoid f() {}\n'})

    def test_calls_by_table_and_virtual_ones_are_none(self):
        self.assert_none({**TWO_WAYS, 'src/base/b.cpp':
                          'void g(); void (*table[])() = {g}; void f() { table[0](); }\n'})
        self.assert_none({
            'src/base/one.hpp': 'struct One { virtual void v(); virtual void w(); };\nvoid k();\n',
            'src/base/a.cpp': '#include "base/one.hpp"\nvoid One::v() {}\nvoid k() {}\n',
            'src/base/b.cpp': '#include "base/one.hpp"\nvoid One::w() { k(); }\n'})

    def test_only_folders_that_are_named_are_looked_at(self):
        files = {**TWO_WAYS, 'src/wire/c.cpp': 'void k() {}\n'}
        self.assertEqual(check(files, 'src/wire')[0], 0)
        self.assertEqual(check(files, 'src/base')[0], 1)


class Known(unittest.TestCase):
    def run_with(self, listed, files=None):
        return check({**(files or TWO_WAYS), 'known.txt': listed}, '--known', '{root}/known.txt')

    def test_a_circle_that_is_listed_is_no_finding(self):
        status, output = self.run_with('# of old\nsrc/base: a b  # both ways\n')
        self.assertEqual(status, 0, output)

    def test_a_circle_that_has_grown_is_one(self):
        files = {'src/base/a.cpp': 'void f(); void g() { f(); }\n',
                 'src/base/b.cpp': 'void h(); void f() { h(); }\n',
                 'src/base/c.cpp': 'void g(); void h() { g(); }\n'}
        status, output = self.run_with('src/base: a b\n', files)
        self.assertEqual(status, 1, output)
        self.assertIn('3 files call each other in a circle', output)
        self.assertEqual(self.run_with('src/base: a b c\n', files)[0], 0)

    def test_a_list_that_says_more_than_there_is_must_shrink(self):
        status, output = self.run_with('src/base: a b c\n')
        self.assertEqual(status, 1, output)
        self.assertIn('src/base: c is in no circle any more', output)
        status, output = self.run_with('src/base: a b\n',
                                       {**TWO_WAYS, 'src/base/b.cpp': 'void f() {}\n'})
        self.assertEqual(status, 1, output)
        self.assertIn('src/base: a is in no circle any more', output)
        self.assertIn('src/gone is no folder', self.run_with('src/gone: a b\n')[1])

    def test_another_folder_of_the_list_does_not_help(self):
        files = {**TWO_WAYS, 'src/wire/c.cpp': 'void k() {}\n'}
        self.assertEqual(self.run_with('src/wire: a b\n', files)[0], 1)


class Floors(unittest.TestCase):
    HIGH = 'void low(); void high() { low(); }\n'

    def run_with(self, page, low='void low() {}\n'):
        files = {'src/engine/high.cpp': self.HIGH, 'src/engine/low.cpp': low, 'page.md': page}
        return check(files, '--floors', '{root}/page.md')

    def test_a_call_that_leads_down_is_none(self):
        page = '| floor | file | what |\n|---|---|---|\n| upper | `high.cpp` |\n' \
               '| lower | `low.{hpp,cpp}` |\n'
        status, output = self.run_with(page)
        self.assertEqual(status, 0, output)

    def test_a_call_that_leads_up_is_a_finding(self):
        page = '| floor | file | what |\n|---|---|---|\n| upper | `low.cpp` |\n' \
               '| lower | `high.cpp` |\n'
        status, output = self.run_with(page)
        self.assertEqual(status, 1, output)
        self.assertIn('high (lower) calls low (upper), which stands above it', output)

    def test_a_file_without_a_floor_is_a_finding(self):
        page = '| floor | file | what |\n|---|---|---|\n| upper | `high.cpp` `gone.cpp` |\n' \
               '\n`low.cpp`\n'
        status, output = self.run_with(page)
        self.assertEqual(status, 1, output)
        self.assertIn('low stands on no floor of page.md', output)


if __name__ == '__main__':
    sys.exit(unittest.main())
