// Buffers that receivers have granted to this rank ahead of its messages: where the next large
// message to an address may be stored before its receiver looks (docs/mailbox.md, Granted ahead).
//
//   grant: granted -- messages of its threshold were stored in it --> used up
//                  -- its key is stale when it is tried --> dropped
//
// Invariant: what is stored under a grant, and told in that order, is all that counts in it; so
// both sides know alike when it is complete. No byte is stored twice under a grant: what was
// counted stays as it is, whatever becomes of a later store. A store is a guess that its receiver
// may turn down: then it reads the source, which is unchanged. Owner: Sender.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "base/ring_queue.hpp"
#include "service/mailbox/letter.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Ahead {
 public:
  explicit Ahead(Port& port) noexcept : port_(port) {}

  bool empty() const noexcept { return boxes_.empty(); }
  std::uint64_t granted() const noexcept { return count_; }
  // `next`: the number of the next mail to that rank. Throws bad_alloc.
  void on_grant(const Granted& granted, std::uint64_t next);
  void clear() noexcept {
    boxes_.clear();
    count_ = empty_ = 0;
  }
  // Mail `number` to that address goes another way: nothing is stored in front of it.
  void goes_otherwise(std::uint64_t address, std::uint64_t number) noexcept;
  // True: such a mail is worth a try. `is_over(number)`: that mail is over.
  template <class IsOver>
  bool wants(std::uint64_t address, std::uint64_t bytes, IsOver is_over) const noexcept {
    if (bytes < kLeastBytes) return false;
    const auto found = boxes_.find(address);
    return found != boxes_.end() && !found->second.grants.empty() &&
           (!found->second.has_other || is_over(found->second.other));
  }
  // Stores it, and says so in the letter. False: it was not; the receiver has to read it.
  bool store(Rank to, Letter& letter, std::span<const std::byte> bytes);

 private:
  static constexpr std::uint64_t kLeastBytes = 4096;
  static constexpr std::uint64_t kMostGrants = 65'536;  // of one receiver, and addresses

  struct Grant {
    Granted granted;
    std::uint64_t stored = 0;  // of what the threshold counts
    std::uint64_t top = 0;     // one past the highest byte that was stored
  };
  struct Box {
    base::RingQueue<Grant> grants;
    std::uint64_t other = 0;  // the last mail that went another way
    bool has_other = false;
  };

  void drop_front(Box& box) noexcept {
    box.grants.pop();
    --count_;
    if (box.grants.empty()) ++empty_;
  }

  Port& port_;
  std::unordered_map<std::uint64_t, Box> boxes_;
  std::uint64_t count_ = 0;
  std::uint64_t empty_ = 0;  // of boxes_
};

}  // namespace photon::service::mailbox
