// When mailboxes that linger hand a buffer over that is not full: so long after its first byte.
//
//   mailbox: add() --> idle -- began() --> lingers -- its time has come: next_due() --> idle
//                           <-- stop() --
//   remove() ends each.
//
// Invariant: began(), stop() and next_due() need no memory. Owner: a Receiver. The clock is its.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace photon::service::mailbox {

class Lingers {
 public:
  // Throws bad_alloc: it is not here.
  void add(std::uint32_t box, std::uint64_t linger_us);
  void remove(std::uint32_t box) noexcept;  // also one that is not here
  // There are bytes in the buffer of that epoch; what was said of an earlier one is over.
  void began(std::uint32_t box, std::uint64_t epoch, std::int64_t now_ns) noexcept;
  bool lingers(std::uint32_t box, std::uint64_t epoch) const noexcept;
  void stop(std::uint32_t box) noexcept;
  std::uint64_t epoch_of(std::uint32_t box) const noexcept;  // the last one that began
  std::int64_t next_ns() const noexcept {
    return by_time_.empty() ? INT64_MAX : by_time_.begin()->first;
  }
  // A mailbox whose time has come.
  std::optional<std::uint32_t> next_due(std::int64_t now_ns) noexcept;

 private:
  struct State {
    std::int64_t linger_ns = 0;
    std::int64_t due_ns = INT64_MAX;  // idle
    std::uint64_t epoch = 0;
  };
  void move(std::uint32_t box, State& state, std::int64_t due_ns) noexcept;

  std::unordered_map<std::uint32_t, State> boxes_;
  std::set<std::pair<std::int64_t, std::uint32_t>> by_time_;  // all of them, with due_ns
};

}  // namespace photon::service::mailbox
