// Messages that cannot go yet, copied, in the order of the calls; and how many bytes of them this
// rank holds (docs/active-messages.md, "What bounds memory").
//
//   made -- push --> queued -- its turn, a slot, room --> gone: freed
//                           -- its turn, a slot, no room --> lent to the port -- on_local --> freed
//
// Invariant: what is taken of the budget is what all entries hold, and what replies to come and
// promises made in handlers stand for. Owner: the sender, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "service/am/carrying.hpp"

namespace photon::service::am {

// Who sends: a call outside handlers may be told PH_AGAIN, one in a handler of this lane queues in
// its place, and a reply is never refused.
enum class Asker : std::uint8_t { user, handler, reply };

// `am_queue_bytes`. Each kind of asker may go over its bound by the last message that it lets in,
// so that no setting makes a message impossible.
class Budget {
 public:
  explicit Budget(std::uint64_t most) noexcept : most_(most) {}

  bool has_room(Asker asker) const noexcept {
    return asker == Asker::reply || used_ < (asker == Asker::user ? most_ / 2 : most_);
  }
  void take(std::uint64_t bytes) noexcept {
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  void give(std::uint64_t bytes) noexcept { used_ -= bytes; }
  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t peak() const noexcept { return peak_; }

 private:
  std::uint64_t most_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

// What is to be told when a message is over.
struct Note {
  enum class Kind : std::uint8_t {
    none,
    id,         // the first bytes of its local id: of an error alone
    promise,    // it waits for its handlers
    pull,       // its offer tells
    aggregate,  // so many items
  };
  static constexpr std::uint64_t kPromiseBytes = 512;  // that one made in a handler counts

  Kind kind = Kind::none;
  bool is_counted = false;  // a promise, in the budget
  std::uint64_t value = 0;
  bool has_ids = false;  // of an aggregate: an item had a local id

  // Whether somebody has to hear that its message will not be handled.
  bool is_told_of_loss() const noexcept {
    return kind == Kind::promise || kind == Kind::id || (kind == Kind::aggregate && has_ids);
  }
};

struct Entry {
  static constexpr std::uint64_t kBytes = 192;  // that it counts, beside those of the message

  Head head;
  Note note;
  std::uint64_t size_bytes = 0;
  std::uint64_t counted = 0;  // in the budget
  std::uint64_t token = 0;    // while it is lent
  std::array<std::byte, PH_AM_SMALL_BYTES> line{};
  std::unique_ptr<std::byte[]> memory;  // of what is no line
  std::unique_ptr<Entry> next;

  std::byte* data() noexcept { return memory ? memory.get() : line.data(); }
  std::span<const std::byte> bytes() const noexcept {
    return {memory ? memory.get() : line.data(), size_bytes};
  }
};

class EntryList {
 public:
  EntryList() = default;
  EntryList(const EntryList&) = delete;
  EntryList& operator=(const EntryList&) = delete;
  ~EntryList() {
    while (!empty()) static_cast<void>(pop());
  }

  bool empty() const noexcept { return first_ == nullptr; }
  std::uint64_t size() const noexcept { return size_; }
  const Entry& front() const noexcept { return *first_; }
  Entry& front() noexcept { return *first_; }
  void push(std::unique_ptr<Entry> entry) noexcept {
    Entry* const last = entry.get();
    (last_ == nullptr ? first_ : last_->next) = std::move(entry);
    last_ = last;
    ++size_;
  }
  void push_front(std::unique_ptr<Entry> entry) noexcept {
    if (last_ == nullptr) last_ = entry.get();
    entry->next = std::move(first_);
    first_ = std::move(entry);
    ++size_;
  }
  std::unique_ptr<Entry> pop() noexcept {
    std::unique_ptr<Entry> entry = std::move(first_);
    first_ = std::move(entry->next);
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return entry;
  }
  // The one with that token, which is nearly always the first. Null: there is none.
  std::unique_ptr<Entry> take(std::uint64_t token) noexcept;

 private:
  std::unique_ptr<Entry> first_;
  Entry* last_ = nullptr;
  std::uint64_t size_ = 0;
};

// Entries that are over, for the next ones: a flood of lines allocates nothing.
class EntryPool {
 public:
  explicit EntryPool(std::uint64_t most) noexcept : most_(most) {}

  // Of a line without flags or header. Throws bad_alloc, as does make(), which copies.
  std::unique_ptr<Entry> take() {
    if (!free_.empty()) return free_.pop();
    return std::make_unique<Entry>();
  }
  std::unique_ptr<Entry> make(const Draft& draft);
  // Nobody needs it any more.
  void give(std::unique_ptr<Entry> entry) noexcept;

 private:
  EntryList free_;
  const std::uint64_t most_;  // that are kept
};

}  // namespace photon::service::am
