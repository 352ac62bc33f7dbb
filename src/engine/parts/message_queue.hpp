// What one service has said to one peer and what has not gone: messages that must go and found no
// line stand in their sender's memory, in the order of the calls.
//
//   none -- a message that must go, no line --> queued -- a line --> sent
//                                               queued -- unsay() --> void: skipped at its turn
//
// Messages with a body, and those that wait behind what was posted before, stand in the peer's work
// instead. The two keep their order: an entry waits for the work that was begun before it, and work
// for the entries before it (end()).
//
// An entry is a word that says how long its parts are, one that says which work goes before it,
// then their words. Invariant: words are bounded by what the service accepts
// (docs/adding-a-service.md). Owner: a Peer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/ring_queue.hpp"
#include "wire/owner.hpp"

namespace photon::engine {

struct QueuedMessage {
  std::uint32_t header_bytes = 0;
  std::uint32_t payload_bytes = 0;
  bool is_void = false;

  std::uint64_t words() const noexcept {
    return 2 + (std::uint64_t{header_bytes} + 7) / 8 + (std::uint64_t{payload_bytes} + 7) / 8;
  }
};

class MessageQueue {
 public:
  bool empty() const noexcept { return words_.empty(); }
  std::uint64_t size() const noexcept { return count_; }
  // A message may go now: nothing of its service's goes before it.
  bool is_open() const noexcept { return words_.empty() && work_begun_ == work_ended_; }
  // There is nothing to be done for it in a turn, but what stands in the work.
  bool idle() const noexcept { return words_.empty() && !room_wanted; }

  // Its ticket, which is not 0. Throws bad_alloc, and then nothing was done.
  std::uint64_t push(const QueuedMessage& message, std::span<const std::byte> header,
                     std::span<const std::byte> payload) {
    words_.make_room(message.words());
    const std::uint64_t ticket = words_.end() + 1;
    words_.push_unchecked(encode(message));
    words_.push_unchecked(work_begun_);
    for (const auto& part : {header, payload})
      for (std::size_t at = 0; at < part.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, &part[at], std::min(sizeof word, part.size() - at));
        words_.push_unchecked(word);
      }
    ++count_;
    return ticket;
  }
  // False: it does not stand here any more.
  bool unsay(std::uint64_t ticket) noexcept {
    if (ticket == 0 || ticket - 1 < words_.begin() || ticket - 1 >= words_.end()) return false;
    words_.at(ticket - 1) |= kVoid;
    return true;
  }
  QueuedMessage front() const noexcept { return decode(words_.front()); }
  // Whether the work before the front one has left.
  bool may_go() const noexcept { return work_ended_ >= words_.at(words_.begin() + 1); }
  // The i-th word of the front one's parts.
  std::uint64_t word(std::uint64_t i) const noexcept { return words_.at(words_.begin() + 2 + i); }
  void pop() noexcept {
    for (std::uint64_t left = front().words(); left > 0; --left) words_.pop();
    --count_;
    words_.trim();
  }
  void clear() noexcept {
    words_.clear();
    words_.trim();
    count_ = 0;
    room_wanted = false;
    bulk_wanted_ = 0;
  }

  // Work of this service: has_passed(end()) of when it was begun says when it may go.
  std::uint64_t begin_work() noexcept {
    ++work_begun_;
    return words_.end();
  }
  bool has_passed(std::uint64_t end) const noexcept { return words_.begin() >= end; }
  void end_work() noexcept { ++work_ended_; }
  std::uint64_t end() const noexcept { return words_.end(); }

  // Its service was told to try again: for want of a line, or of so many bytes of the bulk ring.
  void want_room(std::uint64_t bulk_bytes = 0) noexcept {
    bulk_wanted_ = room_wanted ? std::min(bulk_wanted_, bulk_bytes) : bulk_bytes;
    room_wanted = true;
  }
  std::uint64_t bulk_wanted() const noexcept { return bulk_wanted_; }

  bool room_wanted = false;

 private:
  static constexpr std::uint64_t kVoid = std::uint64_t{1} << 63;

  static std::uint64_t encode(const QueuedMessage& message) noexcept {
    return std::uint64_t{message.header_bytes} << 32 | message.payload_bytes;
  }
  static QueuedMessage decode(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>((word & ~kVoid) >> 32), static_cast<std::uint32_t>(word),
            (word & kVoid) != 0};
  }

  base::RingQueue<std::uint64_t> words_;
  std::uint64_t count_ = 0;
  std::uint64_t bulk_wanted_ = 0;  // while room_wanted; 0: a line is
  std::uint64_t work_begun_ = 0;
  std::uint64_t work_ended_ = 0;
};

// Those of all services.
class MessageQueues {
 public:
  MessageQueue& of(wire::Owner owner) noexcept { return queues_[static_cast<std::size_t>(owner)]; }
  bool idle() const noexcept {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const MessageQueue& queue) { return queue.idle(); });
  }
  bool are_open() const noexcept {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const MessageQueue& queue) { return queue.is_open(); });
  }
  // A fence waits for what stands here when it is posted, and for no more: what is queued later may
  // wait for work behind that fence. They end in the order of their posting. Throws bad_alloc.
  void begin_fence() {
    Ends ends;
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = queues_[i].end();
    fences_.push(ends);
  }
  void undo_fence() noexcept { fences_.pop_back(); }
  bool may_end_fence() const noexcept {
    for (std::size_t i = 0; i < queues_.size(); ++i)
      if (!queues_[i].has_passed(fences_.front()[i])) return false;
    return true;
  }
  void end_fence() noexcept {
    fences_.pop();
    fences_.trim();
  }
  void clear() noexcept {
    for (MessageQueue& queue : queues_) queue.clear();
    fences_.clear();
  }

 private:
  using Ends = std::array<std::uint64_t, wire::kOwners>;

  std::array<MessageQueue, wire::kOwners> queues_;
  base::RingQueue<Ends> fences_;
};

}  // namespace photon::engine
