// What has come for handlers of this lane, and what is being run (docs/active-messages.md, "Running
// handlers").
//
//   due: filled under the lock -- swap() --> running: looked at without it, by the thread that has
//   the right to run -- taken back under the lock, in order --> gone
//
// Where the bytes of an entry lie: in the entry (of a line), in a block (of a record), in memory of
// its own (copied from a chunk, gathered from several), or in the bulk ring (lent).
// Invariants: nobody adds to `running`; what an entry points to stays until release().
// Owner: Am, under the lane's lock; between collect() and ran() the entries of `running` belong to
// the runner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/block_pool.hpp"
#include "service/am/word.hpp"
#include "service/message.hpp"

namespace photon::service::am {

struct Pull;

// A message whose turn has not come, or that has had it.
struct Arrived {
  enum class Bytes : std::uint8_t { line, block, own, lent };

  Word word;
  Rank from = 0;
  Bytes where = Bytes::line;
  bool was_replied = false;       // left by the handler
  ph_status status = PH_OK;       // left by the handler: of its sender
  std::uint32_t block = 0;        // of the inbox's pool
  std::uint32_t items = 0;        // of an aggregate: how many it holds
  std::uint32_t items_wrong = 0;  // left by the handlers: how many of them have an error
  std::uint64_t number = 0;       // at its source
  std::uint64_t immediate = 0;
  std::uint64_t payload_bytes = 0;  // here; of one that is pulled: of its table of blocks
  Pull* pull = nullptr;             // what its payload is read by; null: it is here
  std::unique_ptr<std::byte[]> own;
  const std::byte* bytes = nullptr;  // payload, a gap up to the next multiple of 8, header
  alignas(8) std::array<std::byte, 56> line{};  // the same

  // As one that has just come; what it holds was released.
  void begin(Rank source, const Word& of) noexcept {
    word = of;
    from = source;
    was_replied = false;
    status = PH_OK;
    items = 0;
    items_wrong = 0;
    pull = nullptr;
  }
  // A line of a payload and nothing else.
  bool is_plain() const noexcept {
    return word.op == Op::line && word.flags == 0 && word.header_bytes == 0 && where == Bytes::line;
  }
  // Whether nothing of it is to be settled but that its handler has returned.
  bool was_plain() const noexcept { return is_plain() && status == PH_OK; }
  // At a multiple of 8, both.
  const std::byte* payload() const noexcept { return where == Bytes::line ? line.data() : bytes; }
  const std::byte* header() const noexcept { return payload() + round_up(payload_bytes); }
};

// Entries in order, whose memory is used again: nothing is made or ended with a message.
class Batch {
 public:
  Batch() : entries_(1) {}

  // Throws bad_alloc.
  Arrived& add() {
    if (count_ == entries_.size()) [[unlikely]]
      entries_.emplace_back();
    return entries_[count_++];
  }
  Arrived& back() noexcept { return entries_[count_ - 1]; }
  void pop_back() noexcept { --count_; }
  void clear() noexcept { count_ = 0; }
  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  std::span<Arrived> all() noexcept { return {entries_.data(), count_}; }
  void swap(Batch& other) noexcept {
    entries_.swap(other.entries_);
    std::swap(count_, other.count_);
  }

 private:
  std::vector<Arrived> entries_;  // those behind count_ hold nothing
  std::size_t count_ = 0;
};

class Inbox {
 public:
  Inbox() : records_(kRecordBytes) {}

  // An entry of that message, which is due; its bytes are still to be named. Throws bad_alloc.
  Arrived& add(Rank from, const Word& word) {
    Arrived& entry = due_.add();
    entry.begin(from, word);
    return entry;
  }
  // What was run without an entry gets one, as the only one of `running`.
  Arrived& add_ran(Rank from, const Word& word) noexcept {
    Arrived& entry = running_.add();  // each batch has room for one from the beginning
    entry.begin(from, word);
    return entry;
  }
  // The entry that was added last, after all.
  void take_back() noexcept {
    release(due_.back());
    due_.pop_back();
  }
  // Copies what is laid out as in a record or body. Throws bad_alloc.
  void copy(Arrived& entry, std::span<const std::byte> bytes);

  bool empty() const noexcept { return due_.empty() && running_.empty(); }
  std::size_t size() const noexcept { return due_.size() + running_.size(); }
  // What is due is to be run. Nothing happens while something of the last batch is left.
  void swap() noexcept {
    if (running_.empty()) due_.swap(running_);
  }
  std::span<Arrived> running() noexcept { return running_.all(); }
  // All of `running` was released.
  void clear_running() noexcept { running_.clear(); }
  // All of `due` was released: it will not run.
  std::span<Arrived> waiting() noexcept { return due_.all(); }
  void clear_waiting() noexcept { due_.clear(); }
  // Its bytes are not needed any more; what is lent is among the loans.
  void release(Arrived& entry) noexcept {
    if (entry.where == Arrived::Bytes::block) records_.give(entry.block);
    entry.own.reset();
    entry.where = Arrived::Bytes::line;
  }

 private:
  static constexpr std::size_t kRecordBytes = 1024;

  Batch due_;
  Batch running_;
  base::BlockPool records_;
};

}  // namespace photon::service::am
