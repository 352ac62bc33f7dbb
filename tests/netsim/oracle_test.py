#!/usr/bin/env python3
"""The plain model of netsim: the rows that another simulator gave, sums by hand, and its tools.

The rows of 10 steps take 1.1 to 1.2 s of one core each, the exchange on the torus 0.1 s.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cases
import oracle

HERE = Path(__file__).resolve().parent
BASE = {'routing': 'static', 'link_GBps': 12.5, 'crossbar_GBps': 18.75, 'flit_bytes': 16,
        'packet_bytes': 2048, 'buffer_bytes': 16000, 'link_ns': 40, 'input_ns': 50,
        'output_ns': 50, 'delivery': 'head', 'steps': 1}
ONE_MESSAGE = {**BASE, 'motif': 'incast', 'ranks': '2', 'target': 1}
EXCHANGE = {**BASE, 'motif': 'exchange', 'ranks': '4x4x4', 'bytes': 19200}
TORUS = {'topology': 'torus', 'shape': '4x4x4', 'hosts_per_router': 1}
HYPERX = {'topology': 'hyperx', 'shape': '4x4', 'width': 1, 'hosts_per_router': 4}


class Rows(unittest.TestCase):
    """Completion of the last rank in the router model of SST, in picoseconds."""

    def expect(self, last_ps, case, **changes):
        self.assertEqual(oracle.run({**case, **changes})['last_ps'], last_ps)

    def test_one_router_a_message_of_one_packet(self):
        self.expect(183_404, ONE_MESSAGE, topology='router', shape='2', bytes=64)
        self.expect(183_404, ONE_MESSAGE, topology='router', shape='2', bytes=2048)

    def test_one_router_a_message_of_ten_packets(self):
        self.expect(1_657_964, ONE_MESSAGE, topology='router', shape='2', bytes=19200)

    def test_torus_one_packet(self):
        self.expect(325_002, {**ONE_MESSAGE, **TORUS}, bytes=2048)

    def test_torus_exchange(self):
        self.expect(9_479_562, {**EXCHANGE, **TORUS})

    def test_hyperx_exchange(self):
        self.expect(127_567_082, {**EXCHANGE, **HYPERX}, steps=10)

    def test_fattree_exchange(self):
        self.expect(115_864_428, EXCHANGE, topology='fattree', shape='8,8:8', steps=10)

    def test_dragonfly_exchange(self):
        self.expect(255_770_076, EXCHANGE, topology='dragonfly', shape='4:4:1:4', steps=10)


class Wires(unittest.TestCase):
    SHAPES = [('router', '5', 'static'), ('torus', '4x3x2', 'static'), ('torus', '1x3', 'static'),
              ('hyperx', '3x1x4', 'static'), ('hyperx', '4x2', 'adaptive'),
              ('fattree', '2,3:4', 'static'), ('fattree', '2,2:3,4:2', 'static'),
              ('dragonfly', '2:3:1:4', 'static'), ('dragonfly', '1:4:3:3', 'static'),
              ('dragonfly', '1:1:2:3', 'ugal')]

    def test_lead_back_from_their_other_end(self):
        for topology, shape, routing in self.SHAPES:
            case = {'topology': topology, 'shape': shape, 'routing': routing,
                    'hosts_per_router': 2, 'width': 2}
            net = oracle.topology_of(case, None)
            hosts = []
            for router in range(net.routers_count):
                for port in range(net.ports_count(router)):
                    kind, *there = net.peer(router, port)
                    if kind == 'host':
                        hosts += there
                        self.assertEqual(net.home(there[0]), (router, port), shape)
                    else:
                        self.assertEqual(net.peer(*there), ('router', router, port), shape)
            self.assertEqual(hosts, list(range(net.hosts_count)), shape)


class Times(unittest.TestCase):
    def test_of_tail_delivery_are_the_flits_later(self):
        case = {**ONE_MESSAGE, 'topology': 'router', 'shape': '2', 'bytes': 2000}
        tail = oracle.run({**case, 'delivery': 'tail'})
        self.assertEqual(tail['completion_ps'], [0, 183_404 + 125 * 1280])

    def test_of_a_sender_wait_for_the_credit_of_its_first_packet(self):
        # The input has room for one packet. It leaves at edge 108 (92,124); the credit is back
        # O + L later, the look F after that, and the second head L + I after the look: 273,404,
        # seen at edge 321 (273,813), sent F later, there O + L after that.
        case = {**ONE_MESSAGE, 'topology': 'router', 'shape': '2', 'bytes': 128,
                'packet_bytes': 64, 'buffer_bytes': 64}
        self.assertEqual(92_124 + 90_000 + 1_280 + 90_000, 273_404)
        self.assertEqual(oracle.run(case)['last_ps'], 273_813 + 1_280 + 90_000)


class EveryEdge(oracle.Model):
    """Looks at the heads at every crossbar edge while there are any."""

    def wake_again(self, router):
        if any(fifo for port in router.inputs for fifo in port):
            self.wake(router)


class Edges(unittest.TestCase):
    def test_that_are_left_out_change_nothing(self):
        for number in range(16):
            case = {**cases.case_of(2, number), 'link_ns': 1.5, 'output_ns': 0, 'steps': 1}
            case['bytes'] = min(case['bytes'], 2 * case['packet_bytes'])
            self.assertEqual(EveryEdge(case).run(), oracle.run(case), case)


class Counts(unittest.TestCase):
    def test_detours_overtake_in_an_adaptive_hyperx(self):
        case = {**EXCHANGE, **HYPERX, 'motif': 'shift', 'ranks': '64', 'offset': 21,
                'routing': 'adaptive'}
        result = oracle.run(case)
        self.assertGreater(result['out_of_order'], 0)
        self.assertEqual(result['packets'], 640)

    def test_draws_use_all_packets_up(self):
        for routing in ('ugal', 'valiant'):
            case = {**EXCHANGE, 'topology': 'dragonfly', 'shape': '2:4:1:4', 'routing': routing,
                    'motif': 'alltoall', 'ranks': '16', 'bytes': 3000}
            first, again = (oracle.run(case, oracle.draw_from(7)) for _ in range(2))
            self.assertEqual(first, again)
            self.assertEqual(first['packets'], 16 * 15 * 2)
            self.assertNotEqual(first, oracle.run(case, oracle.draw_from(8)))


class Wedges(unittest.TestCase):
    CASE = {**EXCHANGE, 'topology': 'torus', 'shape': '5', 'hosts_per_router': 1, 'ranks': '5',
            'motif': 'shift', 'offset': 2, 'bytes': 6400, 'packet_bytes': 64, 'buffer_bytes': 64}

    def test_a_ring_with_one_vc_is_told_to_wedge(self):
        model = oracle.Model(self.CASE)
        route = model.topology.route
        model.topology.route = lambda at, packet, view: (route(at, packet, view)[0], 0)
        self.assertRaises(oracle.Wedged, model.run)

    def test_the_same_ring_with_two_does_not(self):
        self.assertEqual(oracle.run(self.CASE)['hops'], 500 * 3)


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def run_it(self, program, *arguments):
        return subprocess.run([sys.executable, '-B', HERE / program, *map(str, arguments)],
                              capture_output=True, text=True, timeout=300)

    def fake_command(self, change):
        """A command that answers as the oracle does, after `change`."""
        command = self.path / 'command'
        command.write_text(f'#!{sys.executable} -B\nimport json, sys\n'
                           f'sys.path.insert(0, {str(HERE)!r})\nimport oracle\n'
                           'assert sys.argv[1::2] == ["run", sys.argv[3], "-"], sys.argv\n'
                           'result = oracle.run(json.load(open(sys.argv[3])))\n'
                           f'{change}\nprint(json.dumps(result))\n')
        command.chmod(0o755)
        return command

    def test_cases_of_a_seed_are_the_same_again_and_run(self):
        for folder in ('a', 'b'):
            self.assertEqual(self.run_it('cases.py', 5, 6, '--into', self.path / folder).stderr, '')
        names = sorted(each.name for each in (self.path / 'a').iterdir())
        self.assertEqual(len(names), 6)
        for name in names:
            text = (self.path / 'a' / name).read_text()
            self.assertEqual(text, (self.path / 'b' / name).read_text())
            self.assertGreater(oracle.run(json.loads(text))['packets'], 0)

    def test_all_topologies_routings_and_motifs_are_drawn(self):
        drawn = [cases.case_of(1, number) for number in range(200)]
        self.assertEqual(len({(each['topology'], each['routing']) for each in drawn}), 7)
        self.assertEqual(len({each['motif'] for each in drawn}), 4)

    def test_a_command_that_agrees_passes(self):
        command = self.fake_command('result["more"] = 1')
        done = self.run_it('compare.py', command, '--seed', 3, '--count', 4)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('4 cases agree', done.stdout)

    def test_the_first_difference_is_named(self):
        self.run_it('cases.py', 3, 2, '--into', self.path / 'some')
        command = self.fake_command('result["completion_ps"][1] += 1')
        done = self.run_it('compare.py', command, self.path / 'some')
        self.assertEqual(done.returncode, 1)
        self.assertIn('some/3-0.json: completion_ps of rank 1', done.stdout)

    def test_a_bad_case_is_refused_in_one_sentence(self):
        case = {**EXCHANGE, **TORUS, 'crossbar_GBps': 12}
        path = self.path / 'case.json'
        path.write_text(json.dumps(case))
        done = self.run_it('oracle.py', path)
        self.assertEqual(done.returncode, 2)
        self.assertIn('the crossbar is slower than the link', done.stderr)


if __name__ == '__main__':
    unittest.main()
