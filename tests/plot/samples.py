"""Rows as photon-perf --json writes them, and the modules under test on Python's path."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools' / 'photon-plot'))

RUN = {'date': '2026-01-31T23:59:58Z', 'version': '0.1.0', 'processor': 'A 64', 'system': 'Linux 6',
       'cores': 2, 'ranks': 3}


def row(question, mode, size_bytes=8, **figures):
    """A row with one figure: p50=, bandwidth=, rate= or none, then the size is the figure."""
    p50 = figures.get('p50')
    figure = next((figures[key] for key in ('p50', 'bandwidth', 'rate') if key in figures),
                  size_bytes)
    limit = figures.get('limit')
    return {'question': question, 'transport': 'shm', 'mode': mode, 'memory': 'alloc',
            'size_bytes': size_bytes, 'iterations': 500,
            'latency_ns': p50 and {'min': p50 / 2, 'p50': p50, 'p99': p50 * 3},
            'rate_per_s': figures.get('rate'), 'bandwidth_MBps': figures.get('bandwidth'),
            'limit': limit, 'limit_ratio': limit and figure / limit,
            'limit_name': limit and figures.get('limit_name', 'two-line ping-pong'),
            'machine': {'ping_before_ns': 60.4, 'ping_after_ns': 64.0,
                        'state': figures.get('state', 'near'), 'steady': not figures.get('spoilt')},
            'run': RUN}


LATENCIES = [row('put-latency', 'packed', 8, p50=200.5, limit=150.25),
             row('put-latency', 'packed', 64, p50=230.0, limit=160.0),
             row('put-latency', 'bulk', 4096, p50=900.0, limit=850.0,
                 limit_name='put+flag, copy-out', spoilt=True)]
BARS = [row('oversubscribe', '2 ranks', rate=9e6),
        row('oversubscribe', '8 ranks, all pairs', rate=6e6, limit=9e6, limit_name='2 ranks'),
        row('oversubscribe', 'rounds, ph_wait', 0, p50=5200.0, limit=700.0,
            limit_name='sched_yield')]


def cell(protocol, last_ps, routing='static', **changes):
    """A result as photon-netsim --json writes it, with few of its settings."""
    settings = {'network.topology': 'hyperx', 'network.shape': '4x4', 'network.routing': routing,
                'network.link_GBps': 12.5, 'network.link_ns': 40, 'nic.protocol': protocol,
                'nic.order': 'none', 'nic.addresses': 'known', 'nic.lookup_ns': 0, 'nic.cq_ns': 0,
                'motif.name': 'sweep3d', 'motif.ranks': '8x8', 'motif.compute_ns': 1,
                'run.iterations': 1, 'run.ranks_per_node': 1}
    settings.update({key.replace('__', '.'): value for key, value in changes.items()})
    return {'format': 'photon-netsim result', 'version': 1, 'model': 1, 'settings': settings,
            'last_ps': last_ps, 'mean_ps': last_ps / 2}


RUNGS = [cell('rdma-usual', 400), cell('rdma-equal', 200), cell('rdma-put-ack', 300),
         cell('rdma-put-behind', 220), cell('rdma-put-imm', 210), cell('rvma', 160)]
ORDERS = [cell('rdma-put', 250), cell('rdma-put', 240, 'adaptive', nic__order='hold'),
          cell('rvma', 200, 'adaptive')]
