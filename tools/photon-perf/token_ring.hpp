// Dependent rounds: a token that goes from rank to rank, each waiting for its neighbour; through
// the library and, as the floor, through a shared word and sched_yield among the same processes.
// All members call each in step; index 0 gets the average time of one hop in batches of laps.
// Owner: none.
#pragma once

#include "inbox.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace photon::perf {

enum class Waiting : std::uint8_t { probing, asleep };  // between two tokens

Outcome pass_token(const Job& job, Team& team, std::uint64_t laps, Waiting waiting);
Outcome yield_token(Team& team, std::uint64_t laps);

}  // namespace photon::perf
