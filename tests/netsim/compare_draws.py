#!/usr/bin/env python3
"""Compares photon-netsim with the oracle where routings draw: means over seeds, within 2%.

    compare_draws.py COMMAND

The two draw other numbers, so that no single run can agree. Compared are the mean of all ranks'
ends and the hops, over 20 seeds of each. Exit status 1 if any differs by more.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

import oracle

SEEDS = 20
MOST = 0.02
BASE = {'topology': 'dragonfly', 'shape': '2:4:1:4', 'routing': 'ugal', 'link_GBps': 12.5,
        'crossbar_GBps': 18.75, 'flit_bytes': 16, 'packet_bytes': 512, 'buffer_bytes': 4096,
        'link_ns': 40, 'input_ns': 50, 'output_ns': 50, 'delivery': 'head', 'motif': 'shift',
        'ranks': '32', 'bytes': 8000, 'steps': 1, 'offset': 8}
CHANGES = ({}, {'routing': 'valiant'}, {'shape': '2:4:2:4'},
           {'motif': 'alltoall', 'ranks': '16', 'bytes': 2000},
           {'shape': '2:3:3:3', 'ranks': '18', 'offset': 6})


def of_command(command, path, seed):
    done = subprocess.run([command, 'run', '--case', str(path), '--set', f'run.seed={seed}',
                           '--json', '-'], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def figures(results):
    return fmean(fmean(each['completion_ps']) for each in results), \
        fmean(each['hops'] for each in results)


def compare(command, path, case):
    path.write_text(json.dumps(case), encoding='utf-8')
    ours = figures([oracle.run(case, oracle.draw_from(seed)) for seed in range(SEEDS)])
    theirs = figures([of_command(command, path, seed) for seed in range(SEEDS)])
    changes = [there / here - 1 for here, there in zip(ours, theirs)]
    print(f'{case["routing"]} {case["shape"]} {case["motif"]}: mean end {100 * changes[0]:+.2f}%, '
          f'hops {100 * changes[1]:+.2f}%', flush=True)
    return all(abs(change) <= MOST for change in changes)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'case.json')
        agree = [compare(sys.argv[1], path, {**BASE, **change}) for change in CHANGES]
    return 0 if all(agree) else 1


if __name__ == '__main__':
    sys.exit(main())
