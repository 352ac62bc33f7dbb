#!/usr/bin/env python3
"""Writes the schedule of an allreduce: `allreduce.py doubling|ring RANKS BYTES [COMPUTE_NS]`.

doubling: recursive doubling, RANKS a power of two; BYTES go to a partner in each round.
ring: reduce-scatter and allgather around a ring; BYTES in RANKS parts, rounded up.
COMPUTE_NS: of a rank for adding up what came. The format: docs/netsim-schedules.md.
"""
import sys


def doubling(ranks, size, compute):
    if ranks & (ranks - 1):
        sys.exit(f"RANKS = {ranks}: allowed is a power of two for doubling")
    for rank in range(ranks):
        after = ""
        for number in range(ranks.bit_length() - 1):
            peer = rank ^ 1 << number
            yield f"{rank}: s{number} send {peer} {size} {number}{after}"
            yield f"{rank}: r{number} receive {peer} {size} {number}{after}"
            yield f"{rank}: c{number} compute {compute} after s{number} r{number}"
            after = f" after c{number}"


def ring(ranks, size, compute):
    part = -(-size // ranks)
    for rank in range(ranks):
        after = ""
        for number in range(2 * (ranks - 1)):
            yield f"{rank}: s{number} send {(rank + 1) % ranks} {part} {number}{after}"
            yield f"{rank}: r{number} receive {(rank - 1) % ranks} {part} {number}{after}"
            cost = compute if number < ranks - 1 else 0
            yield f"{rank}: c{number} compute {cost} after s{number} r{number}"
            after = f" after c{number}"


def main(words):
    kinds = {"doubling": doubling, "ring": ring}
    if len(words) not in (3, 4) or words[0] not in kinds or not all(w.isdigit() for w in words[1:]):
        sys.exit(__doc__)
    ranks, size, compute = [int(word) for word in (words[1:] + ["0"])[:3]]
    if not 2 <= ranks <= 32768 or size == 0:
        sys.exit("RANKS: allowed is 2 to 32768; BYTES: 1 and more")
    print(f"# {words[0]} allreduce of {size} B: allreduce.py {' '.join(words)}")
    print(f"ranks {ranks}")
    for line in kinds[words[0]](ranks, size, compute):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
