#!/usr/bin/env python3
"""photon-netsim as its users meet it: files of settings, results, bad input.

    command_test.py COMMAND     the path of photon-netsim
"""
import json
import random
import resource
import subprocess
import sys
import unittest
from pathlib import Path

from command_case import Case, plain, toml


class Results(Case):
    def test_any_partition_gives_the_same_bytes(self):
        for topology, shape, *routings in (
                ('router', '12', 'static'), ('torus', '3x4', 'static'),
                ('hyperx', '3x4', 'static', 'adaptive'), ('fattree', '2,2:6', 'static', 'adaptive'),
                ('dragonfly', '2:3:2:3', 'static', 'ugal', 'valiant')):
            for routing in routings:
                self.write(toml(network={'topology': f'"{topology}"', 'shape': f'"{shape}"',
                                         'routing': f'"{routing}"', 'buffer_bytes': '4096'},
                                nic={'protocol': '"rvma"'}, motif={'ranks': '"12"'}))
                texts = set()
                for threads in (1, 2, 3, 4):
                    status, out, error = self.run_it('run', self.file, '--threads', threads,
                                                     '--json', '-')
                    self.assertEqual((status, error), (0, ''))
                    texts.add(out[:out.index('"this_run"')])
                self.assertEqual(len(texts), 1, (topology, routing))

    def test_checks_change_nothing(self):
        self.write(toml())
        status, out, error = self.run_it('run', self.file, '--check', '--json', '-')
        self.assertEqual((status, error), (0, ''))
        self.assertEqual(plain(out), plain(self.run_it('run', self.file, '--json', '-')[1]))

    def test_a_result_has_all_settings(self):
        self.write(toml())
        out = self.run_it('run', self.file, '--json', '-', '--set', 'run.seed=5')[1]
        keys = self.run_it('keys')[1].splitlines()[1:]
        names = {line.split()[0] for line in keys} - {'run.threads'}
        self.assertEqual(set(json.loads(out)['settings']), names)
        self.assertEqual(json.loads(out)['settings']['run.seed'], 5)

    def test_a_result_has_the_defaults_that_depend_on_other_settings(self):
        self.write(toml(motif={'name': '"sweep3d"', 'ranks': '"4x4"'}))
        settings = json.loads(self.run_it('run', self.file, '--json', '-')[1])['settings']
        for key, value in (('motif.fields', 8), ('motif.compute_ns', 140), ('nic.mtu', 2048),
                           ('nic.dma_GBps', 18.75), ('network.crossbar_GBps', 18.75)):
            self.assertEqual(settings[key], value)

    def test_the_use_of_links_is_right_in_a_run_of_hours(self):
        self.write(toml(network={'topology': '"torus"', 'shape': '"16x16x16"',
                                 'routing': '"static"'},
                        motif={'name': '"sweep3d"', 'ranks': '"2x2"', 'compute_ns': '1e9'},
                        run={'iterations': '4'}))
        result = json.loads(self.run_it('run', self.file, '--json', '-')[1])
        span = result['span_ps']
        for its in (result['links'][name] for name in ('from_hosts', 'to_hosts', 'dimension_0')):
            self.assertGreater(its['links'] * span, 2**64)
            self.assertGreater(its['flits'], 0)
            self.assertAlmostEqual(its['use_mean'] * its['links'] * span / (its['flits'] * 1280), 1)

    def test_a_rank_that_waits_for_ever_is_named(self):
        # Messages that no receive takes fill the buffers, and that which is waited for is behind.
        lines = [f'0: s{tag} send 1 100 {tag}' for tag in range(10)]
        lines += ['1: r9 receive 0 100 9'] + [f'1: r{t} receive 0 100 {t} after r9'
                                              for t in range(9)]
        schedule = self.path / 'schedule.txt'
        schedule.write_text('\n'.join(['ranks 2'] + lines) + '\n')
        for protocol in ('rvma', 'rdma-usual', 'rdma-put-ack'):
            self.write(toml(network={'routing': '"static"'}, nic={'protocol': f'"{protocol}"'},
                            motif={'name': '"schedule"', 'file': f'"{schedule}"'}))
            status, out, error = self.run_it('run', self.file)
            self.assertEqual((status, out), (1, ''))
            self.assertIn('waits for ever; cards wait for buffers of their peers with 200 B', error)


class Pages(Case):
    def test_the_page_has_the_table_of_keys(self):
        page = Path(__file__).resolve().parents[2] / 'docs' / 'netsim.md'
        self.assertIn(self.run_it('keys', '--markdown')[1], page.read_text())


    def test_the_examples_run(self):
        files = list((Path(__file__).resolve().parents[2] / 'netsim' / 'examples').glob('*.toml'))
        self.assertGreater(len(files), 0)
        for file in files:
            text = file.read_text()
            words = ['run', file]
            if '[sweep]' in text:  # one value of most keys is enough
                words = ['sweep', file, '--into', self.path / file.stem]
                for key in ('network.link_GBps=50', 'nic.cq_ns=30', 'nic.lookup_ns=10'):
                    words += ['--set', key] if f'\n{key.split("=")[0]} = [' in text else []
            ranks = '4x4x4' if '"halo3d' in text else '8x8'
            status, _, error = self.run_it(*words, '--set', f'motif.ranks={ranks}')
            self.assertEqual((status, error), (0, ''), file)


class BadInput(Case):
    CASES = [
        (toml(network={'colour': '"red"'}), ':5: network.colour', 'the key is unknown'),
        (toml(network={'link_GBps': '"250"'}), ':5: network.link_GBps = 250', 'a number from'),
        (toml(network={'link_GBps': '"250 GB"'}), ':5: network.link_GBps = 250 GB', 'GB/s'),
        (toml(network={'link_GBps': '-1'}), ':5: network.link_GBps = -1', '0.001 to'),
        (toml(network={'link_GBps': 'nan'}), ':5: network.link_GBps = nan', '0.001 to'),
        (toml(network={'crossbar_GBps': '5.0'}), ':5: network.crossbar_GBps = 5', 'the link\'s'),
        (toml(network={'buffer_bytes': '4294967296'}), ':5: network.buffer_bytes', '2^32 - 1'),
        (toml(network={'packet_bytes': '64001'}), ':5: network.packet_bytes = 64001', '64000'),
        (toml(network={'shape': '"2:4:1"'}), ':3: network.shape "2:4:1"', '4:4:1:4'),
        (toml(network={'routing': '"adaptive"'}), ':4: network.routing "adaptive"', 'ugal'),
        (toml(motif={'ranks': '"400"'}), ':8: motif.ranks "400"', 'up to 32 ranks'),
        (toml(motif={'name': '"dance"'}), ':7: motif.name = dance', 'sweep3d'),
        (toml(run={'seed': '[1, 2]'}), ':12: run.seed is a list', 'a whole number'),
        (toml(sweep={'run.seed': '[1, 2]'}), ':12: run.seed is a list in [sweep]', 'sweep'),
        (toml(network={'delivery': '"middle"'}), ':5: network.delivery = middle', 'head or tail'),
        (toml(network={'shape': '"4096:65536:1:65536"'}), ':3: network.shape', '2^24 hosts'),
        (toml(network={'shape': '"4294967296:1:1:1"'}), ':3: network.shape', '4:4:1:4'),
        (toml(network={'topology': '"fattree"', 'routing': '"static"',
                       'shape': '"1,4096:1,4096:65536"'}), ':3: network.shape', '2^26 ports'),
        (toml(network={'topology': '"ring"'}), ':2: network.topology = ring', 'torus'),
        (toml(network={'flit_bytes': '1', 'packet_bytes': '65536'}),
         ':6: network.packet_bytes = 65536', '65535 flits'),
        (toml(network={'flit_bytes': '1', 'buffer_bytes': '4294967295'}),
         ':6: network.buffer_bytes = 4294967295', '2^30 flits'),
        (toml(network={'packet_bytes': '1'}, motif={'bytes': '16777217'}),
         ':5: network.packet_bytes = 1', '2^24 packets'),
        (toml(nic={'mtu': '8'}, motif={'bytes': '134217729'}), ':12: nic.mtu = 8', '2^24 packets'),
        (toml(nic={'mtu': '4096'}), ':12: nic.mtu = 4096', 'up to network.packet_bytes = 2048'),
        (toml(network={'packet_bytes': '7'}, nic={'protocol': '"rvma"'}),
         ':5: network.packet_bytes = 7', '8 B and more'),
        (toml(nic={'protocol': '"rdma-put"'}), ':12: nic.protocol = rdma-put', 'overtake'),
        (toml(nic={'protocol': '"rdma-magic"'}), ':12: nic.protocol = rdma-magic', 'rvma'),
        (toml(nic={'order': '"hold"'}), ':12: nic.order = hold', 'none'),
        (toml(nic={'buffers_per_peer': '65'}), ':12: nic.buffers_per_peer = 65', 'from 1 to 64'),
        (toml(motif={'name': '"sweep3d"'}), ':8: motif.ranks = 16', 'a grid of two numbers'),
        (toml(motif={'name': '"halo3d"', 'ranks': '"4x4"'}), ':8: motif.ranks = 4x4', 'three'),
        (toml(motif={'name': '"sweep3d"', 'ranks': '"4x4"', 'kba': '7'}),
         ':10: motif.kba = 7', 'a divisor of motif.nz = 30'),
        (toml(motif={'name': '"halo3d"', 'ranks': '"2x2x2"', 'nx': '65535', 'ny': '65535'}),
         ':10: motif.nx = 65535', 'less than 2^32 B'),
        (toml(motif={'name': '"allreduce-ring"'}), ':7: motif.name = allreduce-ring', 'schedule'),
        (toml(network={'link_GBps': '1e6'}, motif={'name': '"uniform"', 'bytes': '4'}),
         ': motif.load = 0.5', 'a mean gap is 10 ps and more'),
        (toml(motif={'name': '"incast"', 'target': '16'}), ':10: motif.target = 16', '0 to 15'),
        (toml(motif={'name': '"schedule"', 'file': '"none.txt"'}),
         ':10: motif.file = none.txt', 'a file that can be read'),
        (toml(run={'seed': '-1'}), ':12: run.seed = -1', '2^64 - 1'),
        (toml(run={'iterations': '65536'}), ':12: run.iterations = 65536', '65535'),
        (toml(run={'placement': '"0-14"'}), ':12: run.placement = 0-14', 'each of the 16 ranks'),
        (toml(run={'placement': '"0-14,32"'}), ':12: run.placement = 0-14,32', 'nodes up to 31'),
        (toml(run={'placement': '"0-14,3"'}), ':12: run.placement = 0-14,3', 'node 3 has more'),
        (toml(run={'placement': '"0-4294967295"'}), ':12: run.placement', 'it has more'),
        (toml(run={'placement': '"3-0"'}), ':12: run.placement = 3-0', '0,4,8-11'),
        (toml(run={'"a\\nb"': '1'}), ':12: run.a\\x0ab', 'the key is unknown'),
        (toml(network={'shape': '"2\\n3"'}), ':3: network.shape "2\\x0a3"', '4:4:1:4'),
        (toml(run={'seed': ''}), ':12: no TOML', 'expected'),
        ('[network]\nshape = "2"\nshape = "3"\n', ':3: no TOML', ''),
        ('\xff', ':1: ', ''),
        ('[=]\n', ':1: no TOML', 'bare key'),
        ('[run]\n[\0x\n', ':2: no TOML', 'control'),
        ('# \xc8\xa0\nkey = "a"\n', ':2: ', 'the key is unknown'),
        ('[run]\nseed = "\xc8\xa0"\n', ':2: no TOML', 'lines that are comments'),
        ('[run]\n\xc8\xa0seed = 1\n', ':2: no TOML', 'lines that are comments'),
        ('[run]\nseed = """\n# \xc8\xa0"""\n', ':3: no TOML', 'lines that are comments'),
        ('a = ' + '[' * 5000, ':1: ', ''),
    ]

    def test_is_refused_in_one_sentence(self):
        for text, place, allowed in self.CASES:
            self.file.write_bytes(text.encode('latin-1'))
            status, out, error = self.run_it('run', self.file)
            self.assertEqual((status, out), (2, ''), text)
            self.assertIn(f'a.toml{place}', error)
            self.assertIn(allowed, error)
            self.assertEqual(error.count('\n'), 1, error)

    def test_what_the_command_line_says_is_said_to_be_there(self):
        self.write(toml())
        for change in ('network.crossbar_GBps=5', 'network.crossbar_GBps=fast', 'nic.mtu=4096'):
            status, out, error = self.run_it('run', self.file, '--set', change)
            self.assertEqual((status, out), (2, ''), change)
            self.assertIn('command line: ' + change.replace('=', ' = '), error)
        for words in (('run', self.file, '--set', 'a'), ('run', self.file, '--colour', 'red'),
                      ('run', self.file, '--threads'), ('run', self.file, self.file),
                      ('sweep', self.file), ('run', self.path / 'none.toml'), ('walk',), ()):
            status, out, error = self.run_it(*words)
            self.assertEqual((status, out), (2, ''), words)
            self.assertNotEqual(error, '')

    def test_unwritable_output_is_told_before_the_run(self):
        self.write(toml())
        for out in (self.path / 'none' / 'out.json', self.path):
            status, text, error = self.run_it('run', self.file, '--json', out)
            self.assertEqual((status, text), (2, ''))
            self.assertIn(str(out), error)
        self.assertEqual(self.run_it('run', self.file, '--json', '/dev/full')[0], 2)

    def test_a_full_standard_output_is_told(self):
        self.write(toml())
        with open('/dev/full', 'w', encoding='ascii') as full:
            for words in (('keys',), ('keys', '--markdown'), ('--help',), ('run', self.file)):
                process = subprocess.run([self.COMMAND, *words], stdout=full, timeout=100,
                                         stderr=subprocess.PIPE, text=True)
                self.assertEqual(process.returncode, 1, words)
                self.assertRegex(process.stderr, '^photon-netsim: the standard output cannot be '
                                                 'written(: No space left on device)?\n$')
            process = subprocess.run([self.COMMAND, 'walk'], stdout=full, timeout=100,
                                     stderr=subprocess.PIPE, text=True)
            self.assertEqual(process.returncode, 2)
            self.assertNotIn('standard output', process.stderr)

    def test_a_run_that_is_too_large_for_the_memory_says_so(self):
        def with_little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))

        def run_it(*arguments):
            return subprocess.run([self.COMMAND, *arguments], capture_output=True, text=True,
                                  preexec_fn=with_little_memory, timeout=100)

        if run_it('keys').returncode != 0:
            self.skipTest('sanitizers need more')
        large = run_it('run', '--set', 'network.shape=65535', '--set', 'motif.ranks=65535',
                       '--set', 'run.iterations=65535')
        self.assertEqual((large.returncode, large.stdout), (1, ''))
        self.assertIn('the memory does not suffice', large.stderr)

    def test_too_few_threads_are_told_and_nothing_hangs(self):
        def with_room_for_some_stacks():
            stack = resource.getrlimit(resource.RLIMIT_STACK)[1]
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, stack))
            resource.setrlimit(resource.RLIMIT_AS, (7 << 29, 7 << 29))

        def run_it(*arguments):
            return subprocess.run([self.COMMAND, *arguments], capture_output=True, text=True,
                                  preexec_fn=with_room_for_some_stacks, timeout=100)

        if 0 <= resource.getrlimit(resource.RLIMIT_STACK)[1] < 1 << 30:
            self.skipTest('stacks are limited')
        if run_it('keys').returncode != 0:
            self.skipTest('sanitizers need more')
        self.write(toml(sweep={'run.seed': list(range(1, 9))}))
        told = 'of 8 threads the system gives only '
        one = run_it('run', self.file, '--set', 'run.seed=1', '--threads', '8')
        self.assertEqual((one.returncode, one.stdout), (1, ''))
        self.assertIn('photon-netsim: the run failed: ' + told, one.stderr)
        many = run_it('sweep', self.file, '--into', self.path / 'cells', '--jobs', '8')
        self.assertEqual(many.returncode, 1)
        self.assertIn('photon-netsim: --jobs 8: ' + told, many.stderr)
        for each in (one, many):
            self.assertEqual(each.stderr.count('\n'), 1, each.stderr)
            self.assertGreater(int(each.stderr.split(told)[1].split(':')[0]), 1)  # some were there

    def test_damaged_files_end_in_status_0_1_or_2(self):
        draw = random.Random(1)
        whole = toml(run={'seed': '7', 'max_us': '50.0'}).encode()
        for _ in range(150):
            text = bytearray(whole)
            for _ in range(draw.randint(1, 4)):
                at = draw.randrange(len(text))
                text[at:at + draw.randint(0, 3)] = draw.choice(
                    (b'', b'"', b'[', b'=', b'9', b'\n', b'.', bytes([draw.randrange(256)])))
            self.file.write_bytes(text)
            self.assertIn(self.run_it('run', self.file)[0], (0, 1, 2), text)


if __name__ == '__main__':
    Case.COMMAND = sys.argv.pop(1)
    unittest.main()
