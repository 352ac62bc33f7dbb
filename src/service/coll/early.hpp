// Messages that came before this member has reached their step: payloads, and notes that say where
// bytes are ready to be read. Each operation has a list of them; all nodes come from one pool.
// Invariant: the payloads of one peer take at most coll_early_bytes, which Post counts. Of notes
// there is at most one for each message that a peer has under way. Owner: Collectives, under the
// lane's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "service/coll/words.hpp"
#include "service/service.hpp"

namespace photon::service::coll {

// One message. A payload has `bytes`, and a note has `target`, from which its bytes can be read.
struct Arrival {
  std::uint32_t member = 0;  // its sender
  std::uint32_t tag = 0;
  std::uint32_t digest = 0;
  bool is_note = false;
  std::uint64_t size_bytes = 0;
  ph_target target{};
  const std::byte* bytes = nullptr;
};

class EarlyPool {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct List {
    std::uint32_t first = kNone;
    bool empty() const noexcept { return first == kNone; }
  };

  // Copies the payload. Throws bad_alloc before anything is changed.
  void add(List& list, const Arrival& what) {
    const std::uint32_t index = make();
    Node& node = nodes_[index];
    if (!what.is_note && what.size_bytes > sizeof node.small)
      node.large = std::make_unique_for_overwrite<std::byte[]>(what.size_bytes);
    node.arrival = what;
    std::byte* const room = node.large != nullptr ? node.large.get() : node.small;
    if (!what.is_note && what.size_bytes != 0) std::memcpy(room, what.bytes, what.size_bytes);
    node.next = list.first;
    list.first = index;
    free_ = spare_;
    ++used_;
  }

  // If the message of that member and tag is there, takes it out and calls `use(arrival)`.
  template <class Use>
  bool take(List& list, std::uint32_t member, std::uint32_t tag, Use use) {
    for (std::uint32_t* at = &list.first; *at != kNone; at = &nodes_[*at].next) {
      const std::uint32_t index = *at;
      if (nodes_[index].arrival.member != member || nodes_[index].arrival.tag != tag) continue;
      *at = nodes_[index].next;
      spend(index, use);
      return true;
    }
    return false;
  }

  template <class Test>
  const Arrival* find(const List& list, Test test) const noexcept {
    for (std::uint32_t at = list.first; at != kNone; at = nodes_[at].next)
      if (test(nodes_[at].arrival)) return &nodes_[at].arrival;
    return nullptr;
  }

  template <class Use>
  void take_all(List& list, Use use) {
    while (!list.empty()) {
      const std::uint32_t index = list.first;
      list.first = nodes_[index].next;
      spend(index, use);
    }
  }

  std::uint64_t used() const noexcept { return used_; }

 private:
  struct Node {
    Arrival arrival;
    std::uint32_t next = kNone;
    std::byte small[kMostWordBytes] = {};
    std::unique_ptr<std::byte[]> large;
  };

  // Finds a free node. It stays free until add() has got all the memory that it needs.
  std::uint32_t make() {
    if (free_ == kNone) {
      nodes_.emplace_back();
      free_ = static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    spare_ = nodes_[free_].next;
    return free_;
  }

  // Frees the node and calls `use` with a copy of it: `use` may add others, and move all nodes.
  template <class Use>
  void spend(std::uint32_t index, Use use) {
    Arrival arrival = nodes_[index].arrival;
    std::byte small[kMostWordBytes];
    std::memcpy(small, nodes_[index].small, sizeof small);
    const std::unique_ptr<std::byte[]> large = std::move(nodes_[index].large);
    arrival.bytes = large != nullptr ? large.get() : small;
    nodes_[index].next = free_;
    free_ = index;
    --used_;
    use(arrival);
  }

  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::uint32_t spare_ = kNone;  // from make() to the end of add(): what free_ will be then
  std::uint64_t used_ = 0;
};

}  // namespace photon::service::coll
