// The messages of one PE: blocks by size, without a lock, and without the allocator once it is
// warm.
//
//   block: memory -- alloc() --> live -- free() by its home --> in its list -- alloc() --> live
//                                     -- free() by a sibling --> in the sibling's chain
//                                     -- the chain is full, flush() --> in the home's returns
//                                     -- the home's list is empty, flush() --> in its list
//          large: in its list -- more than `kept_bytes` are free --> given back to the memory
//
// Invariant: a block is in one place at a time, and of the pool that has made it as long as that
// lives. So blocks of a PE are never the free memory of another one.
// Owner: its PE, whose thread makes every call; its Returns are pushed to by all siblings.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sync/mpsc_queue.hpp"
#include "task/pool/layout.hpp"
#include "task/pool/memory.hpp"
#include "task/pool/size_class.hpp"

namespace photon::task {

// Blocks on their way home, of all PEs of a process; a line for each.
class Returns {
 public:
  explicit Returns(std::size_t pes) : of_(pes) {}
  std::size_t count() const noexcept { return of_.size(); }
  void push(std::size_t home, Message* newest, Message* oldest) noexcept {
    static_cast<void>(of_[home].queue.push_chain(name_of(newest), name_of(oldest)));
  }
  Message* take(std::size_t home) noexcept { return named(of_[home].queue.take()); }

 private:
  struct alignas(kLineBytes) One {
    sync::MpscQueue<sync::HardwarePolicy, MessageLinks> queue;
  };
  std::vector<One> of_;
};

class Pool {
 public:
  enum class Freed : std::uint8_t { kept, over, no_message, unheld };

  // The pool of the PE of rank `home`. `returns` outlives all pools of the process; all of these
  // are idle when the first of them is destroyed.
  Pool(std::uint16_t home, const Memory& memory, Returns& returns, std::uint64_t kept_bytes);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // With one reference. The header is zero, but for the size; null: there is no memory.
  Message* alloc(std::uint64_t body_bytes) noexcept {
    if (body_bytes > SizeClass::kMostBytes - kFrontBytes) [[unlikely]]
      return nullptr;
    const unsigned size_class = SizeClass::class_of(body_bytes + kFrontBytes);
    Message* message = lists_[size_class];
    if (message == nullptr) [[unlikely]] {
      message = refill(size_class);
      if (message == nullptr) return nullptr;
    } else {
      lists_[size_class] = named(message->link);
      if (is_large(size_class)) kept_bytes_ -= SizeClass::size_of(size_class);
    }
    begin(*message, body_bytes);
    return message;
  }

  // One reference less; the last one gives the block back.
  Freed free(Message& one) noexcept {
    if (!is_message(one)) [[unlikely]]
      return Freed::no_message;
    Message& message = enclosing(one);
    switch (chunk_of(message).references.drop()) {
      case sync::Drop::kept: return Freed::kept;
      case sync::Drop::unheld: return Freed::unheld;
      case sync::Drop::last: break;
    }
    give(message);
    return Freed::over;
  }
  // What siblings wait for goes to them, and what they have sent comes in. Before a sleep.
  void flush() noexcept;

  std::uint64_t kept_bytes() const noexcept { return kept_bytes_; }
  std::uint64_t taken_bytes() const noexcept { return taken_bytes_; }  // of its memory

  static bool is_large(unsigned size_class) noexcept { return size_class > kLastSmall; }

 private:
  static constexpr std::uint64_t kSlabBytes = std::uint64_t{256} << 10;
  static constexpr unsigned kLastSmall = SizeClass::class_of(std::uint64_t{32} << 10);
  static constexpr unsigned kChainBlocks = 32;
  static constexpr std::uint64_t kChainBytes = std::uint64_t{64} << 10;

  // In front of a slab, and of each large block.
  struct alignas(kLineBytes) Taken {
    Taken* next;
    Taken* before;
    std::uint64_t size_bytes;
    Origin origin;
  };
  struct Chain {
    Message* newest = nullptr;
    Message* oldest = nullptr;
    unsigned blocks = 0;
    std::uint64_t size_bytes = 0;
  };

  static bool is_message(const Message& message) noexcept {
    const Mark mark = chunk_of(message).mark;
    return mark == Mark::live || mark == Mark::embedded || mark == Mark::free;
  }
  static void begin(Message& message, std::uint64_t body_bytes) noexcept {
    Chunk& chunk = chunk_of(message);
    chunk.mark = Mark::live;
    chunk.is_queued = 0;
    chunk.references.start(1);
    message = {.link = 0, .size_bytes = body_bytes, .target = 0, .source = 0, .wire = {}};
  }
  void give(Message& message) noexcept {
    Chunk& chunk = chunk_of(message);
    chunk.mark = Mark::free;
    if (chunk.home != home_) return send_home(message, chunk);
    if (is_large(chunk.size_class)) [[unlikely]]
      return keep_large(message, chunk);
    message.link = name_of(lists_[chunk.size_class]);
    lists_[chunk.size_class] = &message;
  }

  Message* refill(unsigned size_class) noexcept;
  Message* make_large(unsigned size_class) noexcept;
  Message* carve(unsigned size_class) noexcept;
  Message& shape(void* at, unsigned size_class) noexcept;
  Taken* take_piece(std::uint64_t size_bytes) noexcept;
  void give_piece(Taken* piece) noexcept;
  void keep_large(Message& message, Chunk& chunk) noexcept;
  bool drop_other(unsigned size_class) noexcept;
  void send_home(Message& message, const Chunk& chunk) noexcept;
  void push_home(std::size_t home) noexcept;
  void take_returns() noexcept;

  std::array<Message*, SizeClass::kCount> lists_{};
  std::uint16_t home_;
  Memory memory_;
  Returns& returns_;
  std::vector<Chain> chains_;  // for each sibling
  Taken pieces_{};             // a ring of all that was taken from the memory
  std::byte* slab_ = nullptr;  // what is left of the last one
  std::uint64_t slab_bytes_ = 0;
  std::uint64_t kept_limit_;
  std::uint64_t kept_bytes_ = 0;   // of large blocks that are free
  std::uint64_t taken_bytes_ = 0;  // of all pieces
};

}  // namespace photon::task
