// What the network transport is measured against: a bare TCP connection between the same two
// processes, both spinning on it, on the same buffers.
// Invariant: both members of a team construct and run each in step. Owner: the question.
#pragma once

#include <vector>

#include "contest.hpp"
#include "limits.hpp"

namespace photon::perf {

// Latency of a message, one way: send() and recv() of as many bytes (one for an empty message),
// summed by the receiver.
std::vector<Entry> socket_latency_limits(Team& team, const Buffers& buffers);
// Messages of 8 bytes a second, a send() each; the receiver takes what is there at once, and sums
// it.
std::vector<Entry> socket_rate_limits(Team& team);
// Messages a second, each received in its place and read there.
std::vector<Entry> socket_bandwidth_limits(Team& team, const Buffers& buffers);

}  // namespace photon::perf
