"""docs/architecture.md says of the tree what is so: the layers and what they may include, the files
of the engine, and in which file a function stands. And each of these comparisons sees a fault.
"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs/architecture.md').read_text(encoding='utf-8')
LAYERS = (ROOT / 'src/layers.cmake').read_text(encoding='utf-8')
PARTS = {path.name for path in (ROOT / 'src/engine/parts').iterdir()}
ENGINE = {path.name for path in (ROOT / 'src/engine').iterdir() if path.is_file()} | PARTS

QUOTED = re.compile(r'`([^`]+)`')
COMING = '(coming)'
FOLDERS = 'include|src|compat|tools|examples|bench|simtest|tests|cmake|scripts|docs'


def rows(page, first_columns):
    """The rows of all tables whose header begins so, as lists of cells."""
    found, inside = [], False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')] if line[:1] == '|' else []
        if cells[:len(first_columns)] == first_columns:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(line) <= set('|-'):
            found.append(cells)
    return found


def wrong_layers(page, layers):
    """Layers whose row is missing, says something else, or stands for none."""
    uses = {}
    for name, rest in re.findall(r'photon_layer\(([\w/]+)([^)]*)\)', layers):
        uses[name] = set(rest.partition('USES')[2].split())
    said, coming = {}, set()
    for cells in rows(page, ['layer', 'may include']):
        name = QUOTED.search(cells[0])[1]
        if COMING in cells[0]:
            coming.add(name)
        else:
            said[name] = set(QUOTED.findall(cells[1]))
    return sorted({name for name in said | uses if said.get(name) != uses.get(name)} |
                  coming & set(uses))


def files_of(page, floors):
    """The files that the table of floors names on these, again for each time."""
    named = []
    for cells in rows(page, ['floor', 'file']):
        for name in QUOTED.findall(cells[1]) if cells[0] in floors else ():
            stem, _, suffixes = name.partition('.')
            named += [f'{stem}.{suffix}' for suffix in suffixes.strip('{}').split(',')]
    return named


def wrong_files(page, files, floors=('parts', 'core', 'verbs', 'traffic', 'calls')):
    """Files of the engine that the table of floors does not name once, and names of none."""
    named = files_of(page, floors)
    return sorted(name for name in set(named) | files
                  if named.count(name) != 1 or name not in files)


def stands_in(function, file):
    """True if the file declares or defines it: a call has no type or class before its name."""
    text = (ROOT / file).read_text(encoding='utf-8')
    declared = re.compile(rf' *(?!return\b|else\b)(?:[\w:<>*&\[\], ]+ \*?)?(?:\w+::)*{function}\(')
    called = re.compile(rf' *{function}\(')
    return any(declared.match(line) and not called.match(line) for line in text.splitlines())


def wrong_functions(page):
    """Functions of the walks that do not stand in the file of their row."""
    found = []
    for cells in rows(page, ['file', 'functions']):
        file = QUOTED.search(cells[0])[1]
        if not (ROOT / file).is_file():
            found.append(file)
            continue
        functions = [name.removesuffix('()') for name in QUOTED.findall(cells[1])]
        found += [f'{file}: {name}' for name in functions if not stands_in(name, file)]
        if not functions:
            found.append(f'{file}: none')
    return found


def wrong_paths(page):
    """Files and folders that are named anywhere and are missing, but for those that are coming."""
    names = set(re.findall(rf'`((?:{FOLDERS})/[^`<>\s]*)`', page))
    return sorted(name for name in names
                  if not (ROOT / name).exists() and not name.startswith('src/service'))


class Page(unittest.TestCase):
    def test_the_layers_are_those_of_the_build(self):
        self.assertEqual(wrong_layers(PAGE, LAYERS), [])

    def test_every_file_of_the_engine_stands_on_one_floor(self):
        self.assertEqual(wrong_files(PAGE, ENGINE), [])

    def test_the_parts_are_the_files_of_their_layer(self):
        self.assertEqual(wrong_files(PAGE, PARTS, ['parts']), [])

    def test_every_function_of_the_walks_stands_in_its_file(self):
        self.assertEqual(wrong_functions(PAGE), [])
        self.assertGreater(len(rows(PAGE, ['file', 'functions'])), 50)

    def test_every_path_is_there(self):
        self.assertEqual(wrong_paths(PAGE), [])


class Comparisons(unittest.TestCase):
    def test_a_layer_that_may_include_more_is_seen(self):
        more = LAYERS.replace('photon_layer(wire          USES base)',
                              'photon_layer(wire USES base sync)')
        self.assertEqual(wrong_layers(PAGE, more), ['wire'])

    def test_a_new_layer_is_seen_also_one_that_was_coming(self):
        more = LAYERS + 'photon_layer(service USES base sync wire)\nphoton_layer(extra USES base)\n'
        self.assertEqual(wrong_layers(PAGE, more), ['extra', 'service'])

    def test_a_file_of_the_engine_without_a_floor_is_seen(self):
        self.assertEqual(wrong_files(PAGE, ENGINE | {'extra.cpp'}), ['extra.cpp'])

    def test_a_file_that_is_gone_or_stands_on_two_floors_is_seen(self):
        self.assertEqual(wrong_files(PAGE, ENGINE - {'arena.cpp'}), ['arena.cpp'])
        twice = PAGE.replace('| core | `send.cpp` |', '| core | `send.cpp` `wait.cpp` |')
        self.assertEqual(wrong_files(twice, ENGINE), ['wait.cpp'])

    def test_a_part_that_stands_on_another_floor_is_seen(self):
        moved = PAGE.replace('| parts | `lane.{hpp,cpp}` |', '| core | `lane.{hpp,cpp}` |')
        self.assertEqual(wrong_files(moved, PARTS, ['parts']), ['lane.cpp', 'lane.hpp'])

    def test_a_function_that_moved_is_seen_though_it_is_called_there(self):
        moved = PAGE.replace('| `src/engine/send.cpp` | `kick_peer()` |',
                             '| `src/engine/put.cpp` | `kick_peer()` |')
        self.assertEqual(wrong_functions(moved), ['src/engine/put.cpp: kick_peer'])

    def test_a_path_to_nothing_is_seen(self):
        self.assertEqual(wrong_paths(PAGE + '\n`src/engine/extra.cpp`\n'), ['src/engine/extra.cpp'])


if __name__ == '__main__':
    sys.exit(unittest.main())
