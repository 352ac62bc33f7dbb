// All-pairs traffic of the oversubscribe question: every member sends numbered words to every
// other, with a window of unacknowledged messages per pair.
// Owner: the question.
#pragma once

#include <memory>
#include <vector>

#include "inbox.hpp"
#include "team.hpp"

namespace photon::perf {

class Flood {
 public:
  static constexpr std::uint64_t kWindowMessages = 64;

  // Ranks 0 .. members - 1 take part; `team` is the whole job and used for set-up by all of it.
  Flood(Job& job, Team& team);
  ~Flood();

  // Each of `members` ranks sends `messages_each` to each other one; called by those ranks. Checks
  // order and contents. Returns when everything this rank sent and was sent is done.
  void run(std::uint32_t members, std::uint64_t messages_each);

 private:
  struct Pair {  // this rank and one other
    std::uint64_t posted = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t taken = 0;
    std::uint64_t credited = 0;
  };

  bool is_done(std::uint32_t members, std::uint64_t messages_each) const;
  bool send_to(ph_rank rank, std::uint64_t messages_each);
  void credit(ph_rank rank, std::uint64_t messages_each);
  void take(const ph_completion& completion);
  std::uint64_t* word(const Memory& memory, ph_rank rank, std::uint64_t message) const;

  Job* job_;
  Inbox inbox_;
  Memory source_;
  Memory landing_;
  std::vector<ph_region> peer_landing_;
  std::vector<Pair> pairs_;
  std::uint64_t locals_wanted_ = 0;
};

}  // namespace photon::perf
