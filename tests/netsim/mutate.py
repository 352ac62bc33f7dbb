#!/usr/bin/env python3
"""Changes one line of netsim/net at a time: each such mutation must break a test.

    mutate.py [--only WORD] [--share PERCENT] [--jobs N]

The tree is copied into a temporary folder, configured there and built once. Then each mutation is
made, built and given to the tests of photon-netsim until one of them fails or takes too long.
Exit status 1 if a mutation survives, or if the tests fail without any. It takes some ten minutes.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST_TIMEOUT_S = 600

# (what is wrong, file in netsim/net, what stands there once, what stands there instead)
MUTATIONS = (
    ('weight of a detour in a HyperX', 'hyperx.cpp',
     '2 * here.queues.length(port, 1) + 1', '2 * here.queues.length(port, 1)'),
    ('the last of equal ports of a HyperX wins', 'hyperx.cpp', 'weight < least', 'weight <= least'),
    ('the longest of the straight links after a detour', 'hyperx.cpp',
     'here.queues.length(port, 1) < here.queues.length(best, 1)',
     'here.queues.length(port, 1) > here.queues.length(best, 1)'),
    ('threshold of the fat tree', 'fat_tree.cpp',
     '>= here.queues.room()) return', '> here.queues.room()) return'),
    ('the last of equal up ports wins', 'fat_tree.cpp', 'length < shortest', 'length <= shortest'),
    ('weight of a detour in a dragonfly', 'dragonfly.hpp',
     'kDetourFlits = 50', 'kDetourFlits = 49'),
    ('threshold inside a group', 'dragonfly_adaptive.cpp',
     'here.queues.length(straight, place.vc) <=', 'here.queues.length(straight, place.vc) <'),
    ('threshold at the owner of both links', 'dragonfly_adaptive.cpp',
     'here.queues.length(global_port(straight), place.vc) >',
     'here.queues.length(global_port(straight), place.vc) >='),
    ('weight of a neighbour in the middle group', 'dragonfly_adaptive.cpp',
     'is_own ? length : 2 * length', 'is_own ? length : length'),
    ('equals are not drawn alike', 'dragonfly_adaptive.cpp',
     'random.below(equals) != 0', 'random.below(equals) == 0'),
    ('a ring of a torus has no dateline', 'torus.cpp',
     'return {port, here.vc ^ 1};', 'return {port, here.vc};'),
    ('ties of a torus go the other way', 'torus.cpp', '2 * ahead <= size', '2 * ahead < size'),
    ('the first granted of an edge stands first', 'crossbar.cpp',
     'for (std::size_t i = granted_.size(); i-- > 0;)',
     'for (std::size_t i = 0; i < granted_.size(); ++i)'),
    ('grants are carried out in the order of granting', 'crossbar.cpp',
     'std::sort(granted_.begin(), granted_.end());', ''),
    ('a head that comes at an edge is routed by the packet before it', 'crossbar.cpp',
     'if (at < now_) {', 'if (at <= now_) {'),
    ('the crossbar has no speed-up', 'crossbar.cpp',
     'input_free = output_free = now_ + input.flits * p_.crossbar_ps',
     'input_free = output_free = now_ + input.flits * p_.flit_ps'),
    ('credits between routers come early', 'crossbar.cpp',
     'const Credit credit{now_ + p_.router_to_router_ps()',
     'const Credit credit{now_ + p_.router_to_card_ps()'),
    ('what arrives at an edge is seen at it', 'part.hpp',
     '(now_ / p_.crossbar_ps + 1) * p_.crossbar_ps',
     '(now_ + p_.crossbar_ps - 1) / p_.crossbar_ps * p_.crossbar_ps'),
    ('a card gives back its room 1 ns early', 'parameters.hpp',
     'return kPicosecondsPerNs + link_ps + input_ps;', 'return link_ps + input_ps;'),
    ('the turn of VCs begins anew', 'output.cpp',
     'std::uint32_t vc = port.send.last_vc;', 'std::uint32_t vc = p_.vcs - 1;'),
    ('a card has an account of credits for each VC', 'output.cpp',
     'const bool is_to_card = (port.peer & kCardBit) != 0;', 'const bool is_to_card = false;'),
    ('a port looks at once', 'output.cpp',
     'if (send.is_waiting(now_, false)) send.arm(now_, p_.flit_ps);',
     'if (send.is_waiting(now_, false)) send.arm(now_, 0);'),
    ('a card\'s FIFO has no last flit', 'card.cpp',
     'card.fifo.used + packet.flits > p_.card_flits',
     'card.fifo.used + packet.flits >= p_.card_flits'),
    ('a stalled port is one from its last packet on', 'output.cpp',
     'sender.stalled_since = std::min(sender.stalled_since, now_);',
     'sender.stalled_since = std::min(sender.stalled_since, send.from);'),
)


def copy_tree(into):
    names = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split('\0')):
        source = ROOT / name
        if not source.is_file():
            continue
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, into / name)


class Copy:
    """A copy of the tree, its build folder and its tests."""

    def __init__(self, folder, jobs):
        self.folder = folder
        self.build_folder = folder / 'build' / 'mutate'
        self.jobs = jobs
        copy_tree(folder)
        self.call(['cmake', '-S', folder, '-B', self.build_folder, '-G', 'Ninja',
                   '-DCMAKE_BUILD_TYPE=Release', '-DPHOTON_BUILD_TESTS=ON'], 600)

    def call(self, words, timeout_s):
        """None, or what went wrong."""
        try:
            done = subprocess.run([str(word) for word in words], cwd=self.folder, check=False,
                                  capture_output=True, text=True, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return 'it takes too long'
        return None if done.returncode == 0 else done.stdout + done.stderr

    def build(self):
        return self.call(['cmake', '--build', self.build_folder, '-j', self.jobs, '--target',
                          'photon-netsim', 'photon_netsim_tests'], 1800)

    def broken_test(self):
        """The first test that fails, or None."""
        command = self.build_folder / 'bin' / 'photon-netsim'
        tests = self.folder / 'tests' / 'netsim'
        what = self.call([self.build_folder / 'tests' / 'photon_netsim_tests', '--gtest_brief=1',
                          '--gtest_fail_fast'], TEST_TIMEOUT_S)
        if what:
            failed = re.search(r'\[  FAILED  \] (\S+)', what)
            return failed[1] if failed else f'photon_netsim_tests ({what[-60:].strip()})'
        if self.call([command, 'check'], TEST_TIMEOUT_S):
            return 'photon-netsim check'
        for words in (['compare.py', command, '--seed', 1, '--count', 200],
                      ['compare_draws.py', command]):
            if self.call([sys.executable, '-B', tests / words[0], *words[1:]], TEST_TIMEOUT_S):
                return words[0]
        return None


def try_mutation(copy, mutation):
    """The test that it breaks, or None."""
    name, file, before, after = mutation
    path = copy.folder / 'netsim' / 'net' / file
    text = path.read_text(encoding='utf-8')
    if text.count(before) != 1:
        sys.exit(f'mutate.py: {name}: netsim/net/{file} has not one line with: {before}')
    path.write_text(text.replace(before, after), encoding='utf-8')
    what = copy.build()
    if what:
        sys.exit(f'mutate.py: {name}: it does not build\n{what}')
    broken = copy.broken_test()
    path.write_text(text, encoding='utf-8')
    return broken


def chosen(options):
    named = [each for each in MUTATIONS if options.only in each[0] or options.only in each[1]]
    count = max(1, len(named) * min(options.share, 100) // 100)
    return random.sample(named, min(count, len(named)))


def main():
    parser = argparse.ArgumentParser(description='Mutations of netsim/net must break tests.')
    parser.add_argument('--only', default='', help='mutations whose file or name has this word')
    parser.add_argument('--share', type=int, default=100, help='so many percent of them, drawn')
    parser.add_argument('--jobs', default=os.cpu_count())
    options = parser.parse_args()
    survived = []
    with tempfile.TemporaryDirectory(prefix='netsim-mutate-') as folder:
        copy = Copy(Path(folder), options.jobs)
        what = copy.build() or copy.broken_test()
        if what:
            sys.exit(f'mutate.py: without a mutation: {what}')
        for mutation in chosen(options):
            broken = try_mutation(copy, mutation)
            print(f'{mutation[0]}: {"breaks " + broken if broken else "SURVIVES"}', flush=True)
            survived += [] if broken else [mutation[0]]
    if survived:
        sys.exit(f'mutate.py: {len(survived)} survived: {"; ".join(survived)}')


if __name__ == '__main__':
    main()
