// The generations of a job. A rank that leaves (ph_finalize) may join again, by a channel that it
// hands over as it leaves: that is of the next generation, whose ranks know nothing of those of the
// one before. Each has an exchange of its own.
//
//   rank's channel:  generation 0 --LEAVE with the next channel--> generation 1 --> ...
//   generation:      begun by the first rank that leaves the one before -- its last channel is over
//                    --> over, once all before it are; not the newest one
//
// Invariants: a process that has ended, or whose channel is over and brought no other one, is over
// in every later generation, also in those begun later. A rank leaves generations in their order.
// Owner: Hosts. What it holds is bounded: of the generations that run the first kMostServed are
// served, so who is so far ahead waits for the others. In the others nothing is read but the last
// words of ranks that have ended.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "exchange.hpp"

namespace photonrun {

class Generations {
 public:
  using Make = std::function<std::unique_ptr<Exchange>(unsigned generation)>;
  static constexpr std::size_t kMostServed = 64;

  // Makes the first one with it.
  explicit Generations(Make make);

  // As Exchange's; of all that are not over.
  Fd open(unsigned rank) { return running_.front()->open(rank); }
  void want(std::vector<pollfd>& entries);
  void handle(const std::vector<pollfd>& entries);
  bool handle_frame(Frame frame);
  void rank_ended(unsigned rank, ph_launch_gone how);
  std::vector<std::string> take_complaints();
  // The oldest generation's first.
  std::vector<Exchange::Report> take_reports();

 private:
  void begin_next();
  void end(std::size_t i, unsigned rank, ph_launch_gone how);
  // Takes those who left the i-th of the running ones into the next, or out of all later ones;
  // unless it is who is ending anyway.
  void pass_on(std::size_t i, std::optional<unsigned> ending = std::nullopt);
  // Forgets those that are over and serves those that are among the first now.
  void advance();

  Make make_;
  unsigned first_ = 0;  // number of the first that runs
  std::deque<std::unique_ptr<Exchange>> running_;
  std::map<unsigned, ph_launch_gone> ended_;  // ranks, and how: they come into no later one
  std::vector<std::string> complaints_;       // of those that were forgotten
  std::vector<Exchange::Report> reports_;     // the same
};

}  // namespace photonrun
