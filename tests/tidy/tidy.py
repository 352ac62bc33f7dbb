#!/usr/bin/env python3
"""The house rules that a program can check. Two have a list of exceptions: the size of classes, a
table of docs/architecture.md that may only shrink, and the test of each file of compat/ and of
photonrun, tests/tidy/tested_elsewhere.txt.

    tidy.py [tree]      prints file:line: rule: what is wrong; exit status 1 if anything is
"""
import re
import sys
from pathlib import Path

import cpp_text

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 5
MAX_CLASS_LINES = 150
MAX_CLASS_FUNCTIONS = 40
MAX_COLUMNS = 100

FOLDERS = ('include', 'src', 'compat', 'task', 'converse', 'interop', 'netsim', 'simtest', 'tools',
           'examples', 'bench', 'tests', 'cmake', 'scripts', '.ci')
WITH_CLASSES = ('src', 'compat', 'task', 'converse', 'interop', 'netsim', 'tools')
WITH_TESTS = {'compat': 'tests/compat', 'tools/photonrun': 'tests/launcher'}
TESTED_ELSEWHERE = 'tests/tidy/tested_elsewhere.txt'  # file | tests | reason
LARGE_CLASSES = 'docs/architecture.md'  # its table names those that were larger than the rule
LARGE_HEAD = '| class | file | lines | functions |'
LARGE_ROW = re.compile(r'\| `([\w:]+)` \| `([^`]+)` \| (\d+) \| (\d+) \|')
CPP = ('.h', '.hpp', '.c', '.cpp')
OTHER = ('.py', '.cmake', '.sh', '.map', '')

ATOMICS = re.compile(r'\b(std::atomic\w*|(?:std::)?memory_order\w*|__atomic_\w+|__sync_\w+|volatile'
                     r'|_Atomic)\b|<(?:std)?atomic(?:\.h)?>')
ORDER = re.compile(r'\bmemory_order_(acquire|release|acq_rel)\b')
LABEL = re.compile(r'\[([a-z][a-z0-9_-]*)\]')
CONDITION = re.compile(r'^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)\b[ \t]*(.*)$', re.M)
DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)', re.M)
LOUD = re.compile(r'<(?:iostream|fstream|cstdio)>|\bstd::(?:cout|cerr|clog)\b|\bprintf\b'
                  r'|\b(?:std::)?(?:quick_)?exit\(|\babort\(')
RETIRED = Path(__file__).with_name('retired.txt')
IDENTIFIER = re.compile(r'\w+')
CODE_SPAN = re.compile(r'`([^`]+)`')
GETENV = re.compile(r'\b(secure_getenv|getenv|environ)\b')
CLOCK = re.compile(r'\bbase::now_ns\b|\bTimeSource\b|\b\w+_clock\b'
                   r'|(?<![\w.>])(?:clock_gettime|gettimeofday|timespec_get|time|clock|__rdtscp?)\('
                   r'|<(?:chrono|ctime|time\.h)>')
FENCE = re.compile(r'\s*(```+|~~~+)')
LONE_LINK = re.compile(r'\s*([-*+]\s+|\d+[.)]\s+)?'
                       r'(!?\[[^]]*\]\(\S+\)|<?https?://\S+|\[[^]]+\]:\s*\S+)[.,:;]?$')


class Tree:
    def __init__(self, root):
        self.root = Path(root).resolve()
        self.findings = []

    def files(self):
        for folder in FOLDERS:
            for path in sorted((self.root / folder).rglob('*')):
                is_code = path.suffix in CPP + OTHER and '__pycache__' not in path.parts
                if path.is_file() and is_code and 'corpus' not in path.parts:
                    yield path

    def pages(self):
        """What is written in Markdown, wherever it stands."""
        yield from sorted(self.root.glob('*.md'))
        for folder in ('docs', *FOLDERS):
            for path in sorted((self.root / folder).rglob('*.md')):
                if 'corpus' not in path.parts:
                    yield path

    def find(self, path, line, rule, what):
        self.findings.append(f'{path.relative_to(self.root)}:{line}: {rule}: {what}')


def line_of(text, match):
    return text.count('\n', 0, match.start()) + 1


def check_size(tree, path, text):
    lines = text.splitlines()
    if len(lines) > MAX_FILE_LINES:
        tree.find(path, len(lines), 'file-size', f'{len(lines)} lines, at most {MAX_FILE_LINES}')
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            tree.find(path, number, 'columns', f'{len(line)} columns, at most {MAX_COLUMNS}')


def check_page(tree, path, text):
    """Prose is wrapped; a row of a table, a block of code and a lone link stay as they are."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
            continue
        is_whole = fence is not None or line.lstrip().startswith('|') or LONE_LINK.match(line)
        if len(line) > MAX_COLUMNS and not is_whole:
            tree.find(path, number, 'columns', f'{len(line)} columns, at most {MAX_COLUMNS}')


def check_functions(tree, path, text):
    folders = path.relative_to(tree.root).parts[:-1]
    for function in cpp_text.functions(text):
        if function.lines_count > MAX_FUNCTION_LINES:
            tree.find(path, function.line, 'function-size', f'{function.name} has '
                      f'{function.lines_count} lines, at most {MAX_FUNCTION_LINES}')
        # What an old interface dictates, in the folder that provides it.
        is_given = ('compat' in folders and function.name.startswith('photon_') or
                    folders[:2] == ('interop', 'mpi') and
                    function.name.startswith(('photon_MPI', 'MPIX_')) or
                    folders[:2] == ('tests', 'mpi') and function.name.startswith('MPI_') or
                    'reconverse' in folders and function.name.startswith('issue'))
        if function.parameters_count > MAX_PARAMETERS and not is_given:
            tree.find(path, function.line, 'parameters', f'{function.name} takes '
                      f'{function.parameters_count}, at most {MAX_PARAMETERS} (then a struct)')


def large_classes(tree):
    """{(file, class): (line of the page, lines, functions)} of those that may be too large."""
    page = tree.root / LARGE_CLASSES
    found, inside = {}, False
    lines = page.read_text(encoding='utf-8').splitlines() if page.exists() else ()
    for number, line in enumerate(lines, 1):
        inside = line == LARGE_HEAD or inside and line.startswith('|')
        row = LARGE_ROW.fullmatch(line) if inside else None
        if row:
            found[row[2], row[1]] = number, int(row[3]), int(row[4])
    return found


def check_classes(tree, path, text, listed):
    """A class that is listed is as large as the list says; what is left of the list at the end is
    not needed."""
    place = path.relative_to(tree.root)
    if place.parts[0] not in WITH_CLASSES:
        return
    for found in cpp_text.classes(text):
        size = found.lines_count, found.functions_count
        if size[0] <= MAX_CLASS_LINES and size[1] <= MAX_CLASS_FUNCTIONS:
            continue
        row, *most = listed.pop((place.as_posix(), found.name),
                                (0, MAX_CLASS_LINES, MAX_CLASS_FUNCTIONS))
        if size[0] > most[0] or size[1] > most[1]:
            tree.find(path, found.line, 'class-size', f'{found.name} has {size[0]} lines and '
                      f'{size[1]} functions, at most {most[0]} and {most[1]}')
        elif size != tuple(most):
            tree.find(tree.root / LARGE_CLASSES, row, 'class-size', f'{found.name} has shrunk to '
                      f'{size[0]} lines and {size[1]} functions; lower its row')


def check_large_classes(tree, listed):
    for (file, name), (line, *_) in listed.items():
        tree.find(tree.root / LARGE_CLASSES, line, 'class-size',
                  f'{name} of {file} is not too large any more, or is gone; take out its row')


def check_clock(tree, path, code):
    """Services know one time, that of the transport, which a simulated network has, too."""
    if path.relative_to(tree.root).parts[:2] != ('src', 'service'):
        return
    for match in CLOCK.finditer(code):
        tree.find(path, line_of(code, match), 'clock', f'{match.group(0)}: ask Port::now_ns()')


def check_atomics(tree, path, code):
    # tools/ and bench/ may measure what the machine does without the library.
    place = path.relative_to(tree.root).parts
    watched = ('src', 'compat', 'task', 'converse', 'include', 'examples', 'netsim')
    if place[0] not in watched or place[:2] == ('src', 'sync'):
        return
    for match in ATOMICS.finditer(code):
        tree.find(path, line_of(code, match), 'atomics', f'{match.group(0)} outside src/sync')


# An interface that programs dictate, macros and all.
def is_of_converse(place):
    return place[:2] == ('include', 'converse')


# Where the names and handles of two MPIs meet: lists of calls, and what one of them lacks.
def is_of_mpi(place):
    return (place[:3] in (('tests', 'mpi', 'tools'), ('tests', 'mpi', 'linked')) or
            place[:2] == ('interop', 'mpi') and
            place[2] in ('lock', 'real', 'call', 'preload', 'mpix', 'photon_mpi.h'))


def check_conditions(tree, path, code):
    place = path.relative_to(tree.root).parts
    if place[:2] == ('src', 'base') or is_of_converse(place) or is_of_mpi(place):
        return
    guard = path.name.upper().replace('-', '_').replace('.', '_')
    in_public_header = place[0] == 'include'
    for match in CONDITION.finditer(code):
        directive, condition = match.groups()
        if in_public_header and (condition.endswith(guard) or directive == 'else' or
                                 '__cplusplus' in condition or '__GNUC__' in condition or
                                 '__clang__' in condition):
            continue
        tree.find(path, line_of(code, match), 'condition',
                  f'#{directive} outside src/base; use a capability of the build or a type')


def check_macros(tree, path, code):
    place = path.relative_to(tree.root)
    for match in DEFINE.finditer(code):
        name, opening = match.groups()
        is_constant = place.parts[0] == 'include' and name.startswith(('PH_', 'PHOTON_'))
        is_log_site = str(place) == 'src/base/log.hpp' and name == 'PHOTON_LOG'
        # Attributes that an old interface gave to its programs.
        is_given = str(place) == 'include/compat/photon_attributes.h'
        if is_log_site or (is_constant and (is_given or not opening)):
            continue
        if is_of_converse(place.parts) or is_of_mpi(place.parts):
            continue
        tree.find(path, line_of(code, match), 'macro', f'{name}: a function or constant instead')


def check_environment(tree, path, code):
    place = path.relative_to(tree.root)
    if place.parts[0] not in ('src', 'netsim') or place.parts[1] == 'boot':
        return
    if place.parts[:2] == ('src', 'base') and path.stem == 'config':
        return
    for match in GETENV.finditer(code):
        tree.find(path, line_of(code, match), 'environment',
                  f'{match.group(0)}: settings go through base/config')


def check_quiet(tree, path, code):
    """The simulator's library hands its results to its caller: it neither prints nor exits."""
    place = path.relative_to(tree.root).parts
    if place[0] != 'netsim' or place[1] == 'command':
        return
    for match in LOUD.finditer(code):
        tree.find(path, line_of(code, match), 'quiet',
                  f'{match.group(0)}: return it to the caller')


def check_header_opening(tree, path, text):
    place = path.relative_to(tree.root).parts
    folders = ('src', 'compat', 'task', 'converse', 'netsim')
    is_internal = place[0] in folders and path.suffix == '.hpp'
    if is_internal and not text.startswith('//'):
        tree.find(path, 1, 'header', 'open with purpose, invariant and owner')


def check_orders(tree, path, text, labels):
    """Collects where src/sync uses each label; an acquire or release without one is a finding."""
    code = cpp_text.without_comments(text).splitlines()
    named = {}
    for number, comment in cpp_text.comments(text):
        named.setdefault(number, set()).update(LABEL.findall(comment))
    for number, line in enumerate(code, 1):
        if line.strip():
            for label in named.get(number, ()):
                labels.setdefault(label, []).append((path, number))
        if not ORDER.search(line):
            continue
        # The label stands on the line or on one that the statement continues to.
        if not any(named.get(near) for near in (number - 1, number, number + 1)):
            tree.find(path, number, 'label', 'an ordering without its [label]')


def check_labels(tree, labels):
    for label, places in sorted(labels.items()):
        if len(places) < 2:
            path, number = places[0]
            tree.find(path, number, 'label', f'[{label}] stands at one end only')


def retired_names():
    """Of retired.txt: old identifiers and files, to what to write instead and in which folder."""
    identifiers, files = {}, {}
    for line in RETIRED.read_text(encoding='utf-8').splitlines():
        words = line.partition('#')[0].split()
        if words and words[0] == 'file':
            files[words[1]] = words[2]
        elif words:
            identifiers.setdefault(words[0], []).append((words[1], words[2:]))
    return identifiers, files


def check_retired(tree, path, text, retired):
    """Words that were given up for the field's: who knows the field looks for those."""
    identifiers, files = retired
    place = str(path.relative_to(tree.root))
    stem = place.split('.')[0] if path.suffix else place
    if stem in files:
        tree.find(path, 1, 'retired', f'this file was given up for {files[stem]}')
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == '.md':  # prose may have these words in other meanings
            line = ' '.join(CODE_SPAN.findall(line))
        for word in IDENTIFIER.findall(line):
            for instead, folders in identifiers.get(word, ()):
                if not folders or place.startswith(tuple(folder + '/' for folder in folders)):
                    tree.find(path, number, 'retired', f'{word}: {instead}')


def check_unit_tests(tree):
    seen = {}
    # tests/unit mirrors src/, and has the libraries beside it by the names of their folders.
    for top, base in (('src', 'src'), ('task', '.')):
        for path in sorted((tree.root / top).rglob('*.cpp')):
            if path.name in seen:
                other = seen[path.name].relative_to(tree.root)
                tree.find(path, 1, 'unit-test', f'{path.name} is also the name of {other}')
            seen[path.name] = path
            layer = path.parent.relative_to(tree.root / base)
            test = Path('tests/unit') / layer / f'{path.stem}_test.cpp'
            if not (tree.root / test).exists():
                tree.find(path, 1, 'unit-test', f'{test} is missing')


def tested_elsewhere(tree):
    """{file: (line, tests)} of the list; a line that says less is a finding."""
    path = tree.root / TESTED_ELSEWHERE
    found = {}
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else ()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith('#'):
            continue
        file, tests, reason = ([part.strip() for part in line.split('|')] + ['', ''])[:3]
        found[file] = number, tests.split()
        if not tests or not reason:
            tree.find(path, number, 'own-test', f'{file}: say which tests run it, and why')
        for test in tests.split():
            if not (tree.root / test).exists():
                tree.find(path, number, 'own-test', f'{test} is missing')
    return found


def check_own_tests(tree):
    listed = tested_elsewhere(tree)
    for folder, tests in WITH_TESTS.items():
        for path in sorted((tree.root / folder).glob('*.cpp')):
            test = f'{tests}/{path.stem}_test.cpp'
            is_there = (tree.root / test).exists()
            is_listed = listed.pop(path.relative_to(tree.root).as_posix(), None)
            if not is_there and not is_listed:
                tree.find(path, 1, 'own-test', f'{test} is missing')
            if is_there and is_listed:
                tree.find(tree.root / TESTED_ELSEWHERE, is_listed[0], 'own-test',
                          f'{test} is there; take out its line')
    for file, (line, _) in listed.items():
        tree.find(tree.root / TESTED_ELSEWHERE, line, 'own-test', f'{file} is gone')


def check(root):
    tree = Tree(root)
    labels = {}
    listed = large_classes(tree)
    retired = retired_names()
    for path in tree.files():
        text = path.read_text(encoding='utf-8', errors='replace')
        check_size(tree, path, text)
        check_retired(tree, path, text, retired)
        if path.suffix not in CPP:
            continue
        code = cpp_text.without_comments(text)
        check_functions(tree, path, text)
        check_classes(tree, path, text, listed)
        check_clock(tree, path, code)
        check_atomics(tree, path, code)
        check_conditions(tree, path, code)
        check_macros(tree, path, code)
        check_environment(tree, path, code)
        check_quiet(tree, path, code)
        check_header_opening(tree, path, text)
        if path.relative_to(tree.root).parts[:2] == ('src', 'sync'):
            check_orders(tree, path, text, labels)
    for path in tree.pages():
        text = path.read_text(encoding='utf-8', errors='replace')
        check_page(tree, path, text)
        if path.name != 'CHANGELOG.md':  # which says what replaces the old names
            check_retired(tree, path, text, retired)
    check_labels(tree, labels)
    check_large_classes(tree, listed)
    check_unit_tests(tree)
    check_own_tests(tree)
    return tree.findings


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]
    findings = check(root)
    for finding in findings:
        print(finding)
    print(f'tidy: {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
