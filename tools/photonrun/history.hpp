// The photonrun that decides keeps here how far each rank has come in the job, and finds which rank
// failed first: the first failure that was seen, or what that rank blames for it, and so on.
// Invariant: a rank that fails because it lost another one has blamed it before it ended
// (PH_LAUNCH_BLAME), so the order in which ends are seen never decides between the two.
// Owner: Job.
//
//   seen -blames nobody, or only ranks that ended well--------------------------> cause
//   seen -blames a rank that failed---------------------------------------------> consequence
//   seen -blames a rank that still runs-> open -that one failed-----------------> consequence
//                                         open -that one ended well, time is up-> cause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "rank_process.hpp"

namespace photonrun {

class History {
 public:
  explicit History(unsigned ranks_count) : ranks_(ranks_count) {}

  struct Failure {
    std::optional<unsigned> rank;  // none: of a host, or of what was to start one
    int status = 0;                // that photonrun exits with
    std::string text;              // who, and how
  };

  void take(const Exchange::Report& report);
  // In the order in which it was seen; of ends that were seen together the likeliest cause first.
  void ended(unsigned rank, const End& end, std::string text);
  void failed(int status, std::string text);

  std::size_t failures_count() const { return failures_.size(); }
  // The failure that came first. Nothing: there is none, or it is open, and `is_final` is false.
  std::optional<Failure> first(bool is_final) const;
  bool has_left(unsigned rank) const { return ranks_[rank].left; }
  // Ranks that never joined, in ascending order.
  std::vector<unsigned> unjoined() const;

 private:
  enum class State { running, well, failed };
  struct Rank {
    State state = State::running;
    bool has_joined = false;
    bool left = false;             // in order, and has not joined again
    std::size_t failure = 0;       // failed: which one
    std::vector<unsigned> blamed;  // in order, each once
    std::size_t blamed_at = 0;     // when the first was, as a number
  };

  // The failures that explain the first one, in the order in which they were found.
  struct Trace {
    std::vector<std::size_t> causes;
    std::vector<std::size_t> open;
    std::vector<std::size_t> consequences;
  };
  Trace trace() const;
  std::string remark_on(const Failure& failure) const;

  std::vector<Rank> ranks_;
  std::vector<Failure> failures_;
  std::size_t blames_count_ = 0;
};

}  // namespace photonrun
