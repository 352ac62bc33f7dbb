#!/usr/bin/env python3
"""scripts/call-cycles sees a circle of files, and none where there is none, in objects made here.

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
    """(exit status, output) of the script on a tree of these files, compiled."""
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
                               '--build', root / 'build', *options],
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


if __name__ == '__main__':
    sys.exit(unittest.main())
