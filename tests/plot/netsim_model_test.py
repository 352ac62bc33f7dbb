#!/usr/bin/env python3
"""What photon-plot makes of results of photon-netsim. Needs no matplotlib."""
import unittest

from samples import ORDERS, RUNGS, cell

from photon_plot import netsim
from photon_plot.model import Problem


def results_of(cells):
    return netsim.results_in([(f'{index}.json', each) for index, each in enumerate(cells)])


def places_of(cells):
    return netsim.places_of(results_of(cells))


class Places(unittest.TestCase):
    def test_hold_the_times_of_their_cards(self):
        [place] = places_of(RUNGS)
        self.assertEqual((place.form, place.network, place.routing, place.gbps),
                         ('sweep3d', 'hyperx', 'static', 100))
        self.assertEqual([place.times[rung] for rung in netsim.RUNGS],
                         [each['last_ps'] for each in RUNGS])
        self.assertEqual(place.speed_up(), 400 / 160)

    def test_have_no_speed_up_where_a_side_is_missing(self):
        self.assertIsNone(places_of(RUNGS[:5])[0].speed_up())
        self.assertIsNone(places_of(RUNGS[1:])[0].speed_up())

    def test_tell_cards_apart_that_hold_or_ask(self):
        cells = [cell('rdma-put', 1, 'adaptive', nic__order='hold'),
                 cell('rdma-put-ack', 2, 'adaptive', nic__addresses='asked'),
                 cell('rdma-put-ack', 3, 'adaptive')]
        self.assertEqual(places_of(cells)[0].times,
                         {'rdma-put, held': 1, 'rdma-put-ack, asking': 2, 'rdma-put-ack': 3})

    def test_stand_in_rank_of_rates(self):
        cells = [cell('rvma', rate, network__link_GBps=rate) for rate in (50, 12.5, 250)]
        self.assertEqual([place.gbps for place in places_of(cells)], [100, 400, 2000])

    def test_that_nothing_shown_tells_apart_are_refused(self):
        with self.assertRaisesRegex(Problem, 'differ in network.link_ns: draw one value'):
            places_of([cell('rvma', 1), cell('rvma', 2, network__link_ns=50)])


class StandIns(unittest.TestCase):
    def test_take_the_time_of_rvma_where_queue_entries_and_lookups_are_free(self):
        [place] = places_of([RUNGS[0], RUNGS[5]])
        self.assertEqual((place.times['rdma-equal'], place.times['rdma-put-imm']), (160, 160))

    def test_do_not_where_they_cost(self):
        [place] = places_of([cell('rvma', 5, nic__cq_ns=1)])
        self.assertNotIn('rdma-equal', place.times)

    def test_do_not_replace_results_that_are_there(self):
        self.assertEqual(places_of(RUNGS)[0].times['rdma-equal'], 200)


class Forms(unittest.TestCase):
    def test_are_told_apart_by_what_differs(self):
        cells = [cell('rvma', 1), cell('rvma', 2, motif__compute_ns=140),
                 cell('rvma', 3, run__ranks_per_node=32, motif__ranks='64x32'),
                 cell('rvma', 4, motif__name='halo3d')]
        self.assertEqual([form for form, _ in netsim.forms_of(places_of(cells))],
                         ['halo3d', 'sweep3d, compute_ns 1, ranks_per_node 1',
                          'sweep3d, compute_ns 1, ranks_per_node 32',
                          'sweep3d, compute_ns 140, ranks_per_node 1'])

    def test_are_told_apart_by_ranks_if_nothing_else_differs(self):
        cells = [cell('rvma', 1), cell('rvma', 2, motif__ranks='4x4')]
        self.assertEqual([form for form, _ in netsim.forms_of(places_of(cells))],
                         ['sweep3d, ranks 4x4', 'sweep3d, ranks 8x8'])


class Ladders(unittest.TestCase):
    def test_are_shares_of_the_first_rung(self):
        self.assertEqual(netsim.shares_of(places_of(RUNGS)), [[1, .5, .75, .55, .525, .4]])
        self.assertEqual(netsim.shares_of(places_of([RUNGS[0]])), [])

    def test_of_order_begin_at_the_static_place(self):
        self.assertEqual(netsim.order_shares_of(places_of(ORDERS)), [[1, 240 / 250, 200 / 250]])
        self.assertEqual(netsim.order_shares_of(places_of(ORDERS[1:])), [])

    def test_have_means_over_places(self):
        self.assertEqual(netsim.mean_of([[1, .5], [1, .25]]), [1, .375])

    def test_of_the_command_ladder_are_read(self):
        ladder = {'format': 'photon-netsim ladder', 'version': 1, 'model': 1,
                  'ladders': [{'rungs': RUNGS}, {'rungs': ORDERS}]}
        self.assertEqual(places_of([ladder]), places_of(RUNGS + ORDERS))


class Files(unittest.TestCase):
    def test_of_other_versions_are_refused(self):
        with self.assertRaisesRegex(Problem, '0.json is of version 2'):
            results_of([{**RUNGS[0], 'version': 2}])

    def test_that_are_torn_are_refused(self):
        with self.assertRaisesRegex(Problem, '1.json holds no whole result'):
            results_of([RUNGS[0], {'format': 'photon-netsim result', 'version': 1}])

    def test_of_photon_perf_among_them_are_refused(self):
        with self.assertRaisesRegex(Problem, '1.json holds no result of photon-netsim'):
            results_of([RUNGS[0], [{'question': 'put-latency'}]])

    def test_twice_the_same_count_once(self):
        self.assertEqual(len(results_of([RUNGS[0], RUNGS[0]])), 1)


class Heading(unittest.TestCase):
    def test_has_the_settings_of_both_sides(self):
        title, lines = netsim.heading(results_of(RUNGS))
        self.assertIn('differ in nic.protocol alone', lines[0])
        for words in ('network.link_ns 40', 'nic.lookup_ns 0', 'run.iterations 1'):
            self.assertIn(words, lines[2])
        self.assertIn('hyperx 4x4', lines[1])


if __name__ == '__main__':
    unittest.main()
