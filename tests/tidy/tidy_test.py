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

    def test_retired_identifiers_and_files(self):
        identifiers, files = tidy.retired_names()
        bad, good = {}, {}
        for i, (old, [(instead, folders), *_]) in enumerate(identifiers.items()):
            path = f'{folders[0] if folders else "src/base"}/x{i}.hpp'
            bad[path] = GOOD_HPP + f'int {old} = 0;\n'
            good[path] = GOOD_HPP + f'int {instead} = x{old};\n'
        for old, instead in files.items():
            bad[f'{old}.hpp'] = good[f'{instead}.hpp'] = GOOD_HPP
        found = findings(bad)
        self.assertEqual({finding.split(':')[0] for finding in found}, set(bad))
        self.assertEqual([f for f in found if ': retired: ' not in f], [])
        self.assert_silent(good)
        self.assert_silent({'src/base/x.hpp': GOOD_HPP + '// A card, a word, a name, on hold.\n'})
        old = 'strangers' + '_silent'
        self.assert_fires('retired', {'docs/x.md': f'See `{old}`.\n'})
        self.assert_silent({'docs/x.md': f'See `rejected_silent`, which was {old}.\n'})
        self.assert_silent({'CHANGELOG.md': f'`rejected_silent` was `{old}`.\n'})

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

    def test_class_size(self):
        def body(lines_count, functions_count=0):
            functions = ''.join(f'  void f{i}();\n' for i in range(functions_count))
            lines = '  int a;\n' * (lines_count - 2 - functions_count)
            return f'namespace a {{\nclass B final : public C {{\n{functions}{lines}}};\n}}\n'
        for folder in ('src/base', 'compat', 'task', 'interop', 'netsim/net', 'tools/a'):
            self.assert_silent({f'{folder}/y.hpp': GOOD_HPP + body(150)})
            self.assert_fires('class-size', {f'{folder}/y.hpp': GOOD_HPP + body(151)})
        self.assert_silent({'src/base/x.cpp': body(150, 40)})
        self.assert_fires('class-size', {'src/base/x.cpp': body(150, 41)})
        self.assert_silent({'tests/unit/base/x_test.cpp': body(151), 'simtest/a.hpp': body(151),
                            'include/photon/a.hpp': body(151)})

    def test_a_listed_class_is_as_large_as_its_row_says(self):
        def page(row, head=tidy.LARGE_HEAD):
            return f'{head}\n|---|---|---|---|\n{row}\n\nWords.\n'
        def large(lines_count, functions_count):
            return ('class B {\n' + '  void f();\n' * functions_count +
                    '  int a;\n' * (lines_count - 2 - functions_count) + '};\n')
        name, listed = 'docs/architecture.md', page('| `B` | `src/base/x.cpp` | 160 | 50 |')
        self.assert_silent({'src/base/x.cpp': large(160, 50), name: listed})
        self.assert_fires('class-size', {'src/base/x.cpp': large(100, 45), name: listed})
        for grown in (large(161, 50), large(160, 51)):
            self.assert_fires('class-size', {'src/base/x.cpp': grown, name: listed})
        for mended in (large(150, 40), '\n'):
            self.assert_fires('class-size', {'src/base/x.cpp': mended, name: listed})
        for other in (page('| `B` | `src/base/y.cpp` | 160 | 50 |'),
                      page('| `C` | `src/base/x.cpp` | 160 | 50 |')):
            found = findings({'src/base/x.cpp': large(160, 50), name: other})
            self.assertEqual([place.split(':')[0] for place in found],
                             ['src/base/x.cpp', 'docs/architecture.md'])
        self.assert_fires('class-size', {
            'src/base/x.cpp': large(160, 50),
            name: page('| `B` | `src/base/x.cpp` | 160 | 50 |', '| class | file | a | b |')})

    def test_clock(self):
        service = 'src/service/a/y.cpp'
        test = {'tests/unit/service/a/y_test.cpp': '\n'}
        for bad in ('auto a = base::now_ns();', '#include <chrono>',
                    'auto a = std::chrono::steady_clock::now();', 'base::TimeSource time;',
                    'clock_gettime(CLOCK_MONOTONIC, &a);', 'auto a = std::time(nullptr);'):
            self.assert_fires('clock', {service: bad + '\n', **test})
            self.assert_silent({'src/base/x.cpp': bad + '\n'})
        for good in ('auto a = port_.now_ns();', '// reads no steady_clock', 'a.time();',
                     'void f(std::int64_t now_ns);'):
            self.assert_silent({service: good + '\n', **test})

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

    def test_own_test(self):
        for file, test in (('compat/y.cpp', 'tests/compat/y_test.cpp'),
                           ('tools/photonrun/y.cpp', 'tests/launcher/y_test.cpp')):
            there = {file: GOOD_CPP, test: '\n'}
            self.assert_silent(there)
            self.assert_fires('own-test', {file: GOOD_CPP})
            other = {file: GOOD_CPP, 'tests/process/z_test.cpp': '\n'}
            line = f'{file} | tests/process/z_test.cpp | it is a process'
            self.assert_silent({**other, tidy.TESTED_ELSEWHERE: f'# list\n\n{line}\n'})
            for bad in (f'{file}', f'{file} | tests/process/z_test.cpp', f'{file} | | a reason',
                        f'{file} | tests/process/none_test.cpp | a reason',
                        f'{line}\ncompat/gone.cpp | tests/process/z_test.cpp | a reason'):
                self.assert_fires('own-test', {**other, tidy.TESTED_ELSEWHERE: f'{bad}\n'})
            self.assert_fires('own-test', {**other, **there, tidy.TESTED_ELSEWHERE: f'{line}\n'})
        self.assert_silent({'tools/photon-perf/y.cpp': GOOD_CPP})


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

    def classes(self, text):
        return [(c.name, c.line, c.lines_count, c.functions_count)
                for c in cpp_text.classes(text)]

    def test_classes_have_lines_and_functions(self):
        self.assertEqual(self.classes('namespace a {\nclass B : public C<D> {\n public:\n  B();\n'
                                      '  int f() const {\n    return 1;\n  }\n};\n}\n'),
                         [('B', 2, 7, 2)])
        self.assertEqual(self.classes('template <class T, class U = int>\nclass alignas(64) B {\n'
                                      '  std::function<void(int)> a;\n  int b = f(1);\n};'),
                         [('B', 1, 5, 0)])

    def test_a_class_inside_has_its_own_functions(self):
        self.assertEqual(self.classes('struct A {\n  struct B {\n    void f();\n  };\n'
                                      '  void g();\n  friend void h(A a);\n};\nclass C {};\n'),
                         [('A', 1, 7, 1), ('B', 2, 3, 1), ('C', 8, 1, 0)])

    def test_what_is_no_class_body(self):
        for text in ('class A;', 'enum class A { b };', 'struct A f() {\n}', 'struct A a = {1};',
                     'template <class T>\nvoid f() {\n}', 'void f() { struct A {}; }',
                     'std::vector<struct A> a{1};'):
            self.assertEqual(self.classes(text), [], text)

    def test_initializers_and_enums_are_no_functions(self):
        self.assertEqual(self.names('int a[] = {f(1, 2)};\nenum E { b = g(1) };\nvoid h();'),
                         [('h', 0, 0)])


if __name__ == '__main__':
    unittest.main()
