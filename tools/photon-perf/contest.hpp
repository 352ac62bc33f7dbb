// One row: ours against its limit, interleaved, since the cost between two cores of a virtual
// machine changes from one moment to the next.
//
//   ping-pong | short run of each limit | limits, ours, limits, ours | ... | ping-pong
//
// Where there are many limits, the short runs choose those that are measured further.
// If the two ping-pongs differ by more than a fifth the machine changed its state in between and
// the row is measured again (a bounded number of times).
// Owner: the question.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "questions.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace photon::perf {

// Runs on both members in step with the same count; index 0 returns figures.
using Run = std::function<Outcome(std::uint64_t count)>;

struct Entry {
  std::string name;
  Run run;
  std::string family = {};  // of forms of one program, which has one row among the limits
};

struct Contest {
  Unit unit = Unit::nanoseconds;
  std::uint64_t size_bytes = 0;
  Entry ours;                    // its name is the row's mode; empty `run`: the limits alone
  std::vector<Entry> limits;     // forms of the same work without the library; the best one counts
  std::uint64_t least = 4;       // operations of a run, however long they take
  std::uint64_t first = kBatch;  // of the run that finds how many fill the time of one
};

// Best of several runs, on index 0; elsewhere empty.
struct Verdict {
  Outcome ours;
  double limit = 0;
  std::string limit_name;
  std::uint64_t iterations = 0;
  double ping_before_ns = 0;  // two-line ping-pong, one way
  double ping_after_ns = 0;
};

// `iterations` 0: chosen so that a row takes one to four seconds. A handful of them, on the other
// hand, asks whether it works, not how fast: one repetition, and nothing is measured again.
Verdict compete(Team& team, const Contest& contest, std::uint64_t iterations);

// The row of a verdict, with the state of the machine in its note.
Row row_of(const Bench& bench, const Contest& contest, const Verdict& verdict);

}  // namespace photon::perf
