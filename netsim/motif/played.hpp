// The motif that plays a schedule. An operation of a rank is
//
//   waiting --all that it comes after are over--> ready --begun; it takes its time--> over
//
// What is ready at one time begins in the order of the text. A compute is over at its end, a send
// when its source may be written again, a receive when a message with its peer and tag has been
// taken; messages that come before their receive is ready are kept. A rank is done when all of its
// operations are over.
// Invariant: a channel (rank, peer, tag, direction) and an operation belong to one rank and are
// touched by its calls alone. Owner: run/.
#pragma once

#include <unordered_map>
#include <vector>

#include "netsim/clock/list.hpp"
#include "netsim/motif/schedule.hpp"

namespace photon::netsim {

class Played final : public Motif {
 public:
  explicit Played(Schedule schedule);
  std::uint32_t ranks() const override { return static_cast<std::uint32_t>(states_.size()); }
  std::uint32_t most_bytes() const override;
  void start(std::uint32_t rank, Ranks& ranks) override;
  void on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_sent(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_computed(std::uint32_t rank, Ranks& ranks) override;

 private:
  struct State {  // its lists are of operations
    List computing;
    List ending;  // over, but those after them have not begun
    bool is_ending = false;
    std::uint32_t left = 0;  // operations that are not over
  };
  struct Channel {
    List begun;              // sends that were posted; receives that wait
    std::uint32_t come = 0;  // messages that no receive has taken
  };
  struct Node {
    std::uint32_t waits = 0;
    std::uint32_t next = kNone;
    std::uint32_t channel = kNone;
  };

  void begin(std::uint32_t operation, Ranks& ranks);
  void end(std::uint32_t operation, Ranks& ranks);

  Schedule schedule_;
  std::vector<Node> nodes_;                 // operation
  std::vector<std::uint32_t> first_after_;  // operation: where its part of after_ begins
  std::vector<std::uint32_t> after_;        // operations that come after
  std::vector<std::uint32_t> first_of_;     // rank: where its part of of_rank_ begins
  std::vector<std::uint32_t> of_rank_;      // operations, in the order of the text
  std::vector<State> states_;
  std::unordered_map<std::uint64_t, std::uint32_t> channel_at_[2];  // receives, sends
  std::vector<Channel> channels_;
};

}  // namespace photon::netsim
