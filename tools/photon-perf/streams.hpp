// Our side of the contests: the library doing the work of the limit programs.
// Both members of the link's team call each in step; index 0 sends (or gets) and returns figures.
// Owner: none.
#pragma once

#include "link.hpp"

namespace photon::perf {

// Half the round trip of a put whose remote id triggers the reply; of a notification for size 0.
Outcome ping_pong(Link& link, std::uint64_t round_trips);

// Puts with as many in flight as the link has slots. The receiver checks the order of the ids,
// reads every byte and hands back a credit each `credit_interval` messages.
Outcome put_stream(Link& link, std::uint64_t count, std::size_t credit_interval);
// The same with a probe for each completion.
Outcome put_stream_one_by_one(Link& link, std::uint64_t count, std::size_t credit_interval);

// Gets one after the other: from the call until the bytes were read.
Outcome get_each(Link& link, std::uint64_t count);
// Gets with kWindow in flight.
Outcome get_stream(Link& link, std::uint64_t count);

}  // namespace photon::perf
