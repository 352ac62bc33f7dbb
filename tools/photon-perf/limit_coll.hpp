// The limits of collective operations: what two bare processes take for the same result in the same
// buffers, and what it takes to let all ranks of a processor run once.
// Owner: none (functions); `data` and `buffers` live as long as the entries.
#pragma once

#include "coll_data.hpp"
#include "limits.hpp"

namespace photon::perf {

inline constexpr std::uint64_t kCollLineBytes = 48;  // of a block that travels in its flag's line

// Where two members have the buffers of `data`. Both call it, when the library has connected them.
Buffers coll_buffers(Team& team, const CollData& data);

// Each of the three gives none where there is no such way.
//
// Blocks up to kCollLineBytes, all kinds: a line each way, or a ring of lines one way.
std::vector<Entry> coll_line_limits(Team& team, CollData& data);
// A larger bcast: all means that there are (means.hpp).
std::vector<Entry> coll_bcast_limits(Team& team, CollData& data, const Buffers& buffers,
                                     MemoryKind kind);
// A larger allreduce: pulls with the fold in them, rings of chunks that are folded out of the ring,
// and copies by the kernel, folded piece by piece.
std::vector<Entry> coll_allreduce_limits(Team& team, CollData& data, const Buffers& buffers);

// More ranks than processors: each rank yields once.
Entry coll_turn_limit(Team& team);

}  // namespace photon::perf
