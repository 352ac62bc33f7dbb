#!/usr/bin/env python3
"""Each rule of tidy.py fires on a bad sample and is silent on a good one."""
import tempfile
import unittest
from pathlib import Path

import cpp_text
import tidy

GOOD_CPP = '#include "base/x.hpp"\n'
GOOD_HPP = '// Purpose. Invariant: none. Owner: none.\n#pragma once\n'


def findings(files):
    """What tidy finds in a tree of these files, beside a good src/base/x.cpp."""
    with tempfile.TemporaryDirectory() as folder:
        tree = {'src/base/x.cpp': GOOD_CPP, 'tests/unit/base/x_test.cpp': '\n', **files}
        for name, text in tree.items():
            if text is not None:
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return tidy.check(folder)


class Rules(unittest.TestCase):
    def assert_fires(self, rule, files):
        found = findings(files)
        self.assertTrue(found, f'{rule} is silent')
        for finding in found:
            self.assertIn(f': {rule}: ', finding)

    def assert_silent(self, files):
        self.assertEqual(findings(files), [])

    def test_a_good_tree_has_no_findings(self):
        self.assert_silent({'src/base/x.hpp': GOOD_HPP})

    def test_file_size(self):
        self.assert_silent({'src/base/x.cpp': '\n' * 400})
        self.assert_fires('file-size', {'src/base/x.cpp': '\n' * 401})
        self.assert_fires('file-size', {'scripts/x': 'true\n' * 401})

    def test_columns(self):
        self.assert_silent({'src/base/x.cpp': '//' + 'x' * 98 + '\n'})
        self.assert_fires('columns', {'src/base/x.cpp': '//' + 'x' * 99 + '\n'})

    def test_columns_of_pages(self):
        long, link = 'word ' * 20 + 'x', '[a page](docs/' + 'x' * 90 + '.md)'
        for page in ('README.md', 'docs/a.md', 'docs/b/a.md', 'src/README.md', 'tests/a/README.md'):
            self.assert_silent({page: long[:100] + '\n'})
            self.assert_fires('columns', {page: long + '\n'})
        for exempt in (f'| {long} |', f'  | {long} |', f'```\n{long}\n```',
                       f'~~~~ c\n```\n{long}\n~~~~', link, f'- {link}.',
                       f'[page]: docs/{"x" * 100}.md', f'<https://{"x" * 100}>'):
            self.assert_silent({'docs/a.md': exempt + '\n'})
        for bad in (f'- {long}', f'# {long}', f'> {long}', f'```\n```\n{long}', f'see {link}'):
            self.assert_fires('columns', {'docs/a.md': bad + '\n'})

    def test_function_size(self):
        def body(lines_count):
            return 'void f() {\n' + '  g();\n' * (lines_count - 2) + '}\n'
        self.assert_silent({'src/base/x.cpp': body(60)})
        self.assert_fires('function-size', {'src/base/x.cpp': body(61)})
        self.assert_fires('function-size', {
            'src/base/x.cpp': 'namespace a {\nclass B {\n public:\n' + body(61) + '};\n}\n'})

    def test_parameters(self):
        self.assert_silent({'src/base/x.cpp': 'void f(int a, int b, int c, int d, M<A, B> e);\n'})
        self.assert_fires('parameters', {
            'src/base/x.cpp': 'void f(int a, int b, int c, int d, int e, int g);\n'})
        self.assert_fires('parameters', {
            'src/base/x.cpp': 'struct A { A(int a, int b, int c, int d, int e, int f)'
                              ' : a_{a} {} };\n'})

    def test_atomics(self):
        for bad in ('std::atomic<int> a;', 'volatile int a;', '#include <atomic>',
                    'auto m = std::memory_order_relaxed;', 'int a = __atomic_load_n(&b, 0);'):
            self.assert_fires('atomics', {'src/base/x.cpp': bad + '\n'})
        self.assert_silent({'src/base/x.cpp': '// std::atomic is volatile\n'})
        self.assert_silent({'tests/unit/base/x_test.cpp': 'std::atomic<int> a;\n'})

    def test_condition(self):
        for bad in ('#if 1', '#ifdef NDEBUG', '#ifndef X'):
            self.assert_fires('condition', {
                'src/base/x.cpp': None, 'src/sync/x.cpp': bad + '\n#endif\n',
                'tests/unit/sync/x_test.cpp': '\n'})
        self.assert_silent({'src/base/x.cpp': '#if 1\n#endif\n'})
        self.assert_silent({'include/photon/a.h': '#ifndef PHOTON_A_H\n#ifdef __cplusplus\n'})
        self.assert_fires('condition', {'include/photon/a.h': '#ifdef _WIN32\n#endif\n'})

    def test_macro(self):
        self.assert_fires('macro', {'src/base/x.cpp': '#define TWO 2\n'})
        self.assert_fires('macro', {'include/photon/a.h': '#define PH_MAX(a, b) a\n'})
        self.assert_silent({'include/photon/a.h': '#define PH_FOREVER INT64_MAX\n'})
        given = '#define PHOTON_ALIGNED(bytes) __attribute__((__aligned__(bytes)))\n'
        self.assert_silent({'include/compat/photon_attributes.h': given})
        self.assert_fires('macro', {'include/compat/photon_api.h': given})

    def test_environment(self):
        self.assert_fires('environment', {'src/base/x.cpp': 'auto a = std::getenv("A");\n'})
        self.assert_silent({
            'src/boot/y.cpp': 'auto a = std::getenv("A");\n', 'tests/unit/boot/y_test.cpp': '\n'})

    def test_quiet(self):
        for loud in ('#include <iostream>\n', 'void f() { exit(1); }\n', 'void f() { abort(); }\n'):
            self.assert_fires('quiet', {'netsim/net/x.cpp': loud})
            self.assert_silent({'netsim/command/x.cpp': loud})

    def test_the_network_simulator(self):
        self.assert_fires('atomics', {'netsim/net/x.cpp': 'std::atomic<int> a;\n'})
        self.assert_fires('header', {'netsim/net/x.hpp': '#pragma once\n'})
        self.assert_fires('environment', {'netsim/run/x.cpp': 'auto a = std::getenv("A");\n'})
        self.assert_fires('file-size', {'netsim/net/x.cpp': '\n' * 401})

    def test_header(self):
        self.assert_fires('header', {'src/base/x.hpp': '#pragma once\n'})

    def test_label(self):
        store = 'a.store(1, std::memory_order_release);'
        load = 'a.load(std::memory_order_acquire);'
        self.assert_fires('label', {'src/sync/a.hpp': f'// A.\n{store}\n'})
        self.assert_fires('label', {'src/sync/a.hpp': f'// A.\n{store}  // [full]\n'})
        self.assert_silent({'src/sync/a.hpp': f'// A.\n{store}  // [full]\n\n{load}  // [full]\n'})

    def test_unit_test(self):
        self.assert_fires('unit-test', {'tests/unit/base/x_test.cpp': None})
        self.assert_fires('unit-test', {
            'tests/unit/base/x_test.cpp': None, 'tests/unit/sync/x_test.cpp': '\n'})
        self.assert_fires('unit-test', {'src/wire/x.cpp': GOOD_CPP})  # one test file for two
        self.assert_fires('unit-test', {'task/pool/y.cpp': GOOD_CPP})
        self.assert_silent({'task/pool/y.cpp': GOOD_CPP, 'tests/unit/task/pool/y_test.cpp': '\n'})


class Reading(unittest.TestCase):
    def names(self, text):
        return [(f.name, f.lines_count, f.parameters_count) for f in cpp_text.functions(text)]

    def test_declarations_and_definitions(self):
        self.assertEqual(self.names('int f(int a);\nint g() {\n}\n'), [('f', 0, 1), ('g', 2, 0)])

    def test_literals_and_comments_hide_braces(self):
        self.assertEqual(self.names('void f() { "}"; \'}\'; /* } */ }\nvoid g();'),
                         [('f', 1, 0), ('g', 0, 0)])

    def test_constructors_with_brace_initializers(self):
        self.assertEqual(self.names('A::A(int a) : b_{a}, c_(a) {\n}\n'), [('A', 2, 1)])

    def test_attributes_templates_and_operators(self):
        self.assertEqual(self.names('[[gnu::format(printf, 2, 3)]] void f(int a, ...);'),
                         [('f', 0, 2)])
        self.assertEqual(self.names('template <class T, class U = A<T>>\nvoid f(M<T, U> m) {\n}\n'),
                         [('f', 3, 1)])
        self.assertEqual(self.names('bool operator()(int a) const { return a; }'),
                         [('operator_call', 1, 1)])

    def test_initializers_and_enums_are_no_functions(self):
        self.assertEqual(self.names('int a[] = {f(1, 2)};\nenum E { b = g(1) };\nvoid h();'),
                         [('h', 0, 0)])


if __name__ == '__main__':
    unittest.main()
