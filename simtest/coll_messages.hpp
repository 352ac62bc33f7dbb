// Messages of one operation, found by (sender, receiver, tag).
// Invariant: each is sent once and received once; a message stays where it is until clear().
// Owner: a Machine. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "simtest/coll_clocks.hpp"

namespace photon::simtest::coll {

struct Message {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
  std::uint32_t tag = 0;
  std::uint32_t block = schedule::kNoBlock;
  bool is_sent = false;
  bool is_awaited = false;
  bool is_taken = false;
  std::uint32_t sent_phase = 0;
  Clocks::Point received_by = 0;  // the receiver's first point behind it
  Clocks::Stamp stamp;
  schedule::Range from;
  schedule::Range to;
};

class Messages {
 public:
  void clear();
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
  Message& at(std::uint32_t index) noexcept { return all_[index]; }
  const Message& at(std::uint32_t index) const noexcept { return all_[index]; }
  // The message of this name, new or not.
  std::uint32_t find(std::uint32_t sender, std::uint32_t receiver, std::uint32_t tag);

 private:
  static constexpr std::size_t kLeast = 64;

  std::size_t slot_of(const Message& name) const noexcept;
  void grow();

  std::vector<Message> all_;
  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(kLeast);  // message + 1
};

}  // namespace photon::simtest::coll
