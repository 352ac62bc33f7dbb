#!/usr/bin/env python3
"""Runs cases in the oracle and in photon-netsim, and compares the results to the picosecond.

    compare.py COMMAND CASE...                  CASE: a file, or a folder with files
    compare.py COMMAND --seed N --count N       cases drawn by cases.py

COMMAND is the path of photon-netsim. Each case is given to `COMMAND run --case CASE --json -`.
Compared are completion_ps, last_ps, packets, hops and out_of_order, as oracle.py describes them.
The first difference ends the comparison: its case and both values are printed, and the exit status
is 1. A drawn case that differs is kept in the working folder.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cases
import oracle

COUNTS = ('packets', 'hops', 'out_of_order', 'last_ps')
TIMEOUT_S = 120


def result_of_command(command, path):
    """The command's result, or a sentence that says why there is none."""
    done = subprocess.run([command, 'run', '--case', str(path), '--json', '-'],
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        return None, f'the command ended with {done.returncode}: {done.stderr.strip()}'
    try:
        return json.loads(done.stdout), ''
    except ValueError as error:
        return None, f'the command printed no JSON: {error}'


def difference(ours, theirs):
    """The first difference in words, or an empty text."""
    for key in ('completion_ps', *COUNTS):
        if key not in theirs:
            return f'{key} is missing in the result of the command'
    if len(ours['completion_ps']) != len(theirs['completion_ps']):
        return (f'oracle {len(ours["completion_ps"])} ranks, '
                f'command {len(theirs["completion_ps"])}')
    for rank, pair in enumerate(zip(ours['completion_ps'], theirs['completion_ps'])):
        if pair[0] != pair[1]:
            return f'completion_ps of rank {rank}: oracle {pair[0]}, command {pair[1]}'
    for key in COUNTS:
        if ours[key] != theirs[key]:
            return f'{key}: oracle {ours[key]}, command {theirs[key]}'
    return ''


def compare(command, path):
    ours = oracle.run(json.loads(path.read_text(encoding='utf-8')))
    theirs, what = result_of_command(command, path)
    return what if theirs is None else difference(ours, theirs)


def paths_of(names):
    for path in map(Path, names):
        yield from sorted(path.glob('*.json')) if path.is_dir() else [path]


def compare_all(command, paths):
    """The first path that differs, or None."""
    count = 0
    for path in paths:
        what = compare(command, path)
        if what:
            print(f'{path}: {what}')
            return path
        count += 1
    print(f'{count} cases agree')
    return None


def main():
    parser = argparse.ArgumentParser(description='Compare photon-netsim with the oracle.')
    parser.add_argument('command')
    parser.add_argument('cases', nargs='*', metavar='CASE')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=0)
    options = parser.parse_args()
    if bool(options.cases) == bool(options.count):
        parser.error('give cases, or a count of cases to draw')
    if options.cases:
        return 1 if compare_all(options.command, paths_of(options.cases)) else 0
    with tempfile.TemporaryDirectory() as folder:
        paths = cases.write(options.seed, options.count, Path(folder))
        bad = compare_all(options.command, paths)
        if bad is None:
            return 0
        kept = Path(bad.name)
        kept.write_text(bad.read_text(encoding='utf-8'), encoding='utf-8')
        print(f'the case is kept as {kept}')
        return 1


if __name__ == '__main__':
    sys.exit(main())
