// The pool of a PE: blocks are used again, come home from siblings, and are freed once.
#include "task/pool/pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace photon::task {
namespace {

constexpr std::uint64_t kMi = std::uint64_t{1} << 20;

// Counts what is taken, and refuses beyond a limit.
struct CountedMemory {
  std::uint64_t calls = 0;
  std::uint64_t held_bytes = 0;
  std::uint64_t limit_bytes = ~std::uint64_t{0};

  Memory memory() noexcept {
    return {[](void* user, std::size_t bytes) noexcept -> Piece {
              auto& own = *static_cast<CountedMemory*>(user);
              if (own.held_bytes + bytes > own.limit_bytes) return {nullptr, Origin::heap};
              ++own.calls;
              own.held_bytes += bytes;
              const Memory heap = heap_memory();
              return heap.take(heap.user, bytes);
            },
            [](void* user, const Piece& piece, std::size_t bytes) noexcept {
              static_cast<CountedMemory*>(user)->held_bytes -= bytes;
              const Memory heap = heap_memory();
              heap.give(heap.user, piece, bytes);
            },
            this};
  }
};

struct Pes {
  explicit Pes(std::uint16_t count, std::uint64_t kept_bytes = 64 * kMi) : returns(count) {
    for (std::uint16_t i = 0; i < count; ++i)
      pools.push_back(std::make_unique<Pool>(i, counted.memory(), returns, kept_bytes));
  }
  Pool& operator[](std::size_t i) { return *pools[i]; }

  CountedMemory counted;
  Returns returns;
  std::vector<std::unique_ptr<Pool>> pools;
};

TEST(TaskPool, a_message_has_its_room_at_a_line_and_a_header_that_says_nothing_yet) {
  Pes pes(1);
  for (const std::uint64_t bytes :
       {0ULL, 1ULL, 40ULL, 64ULL, 65ULL, 32704ULL, 32705ULL, 3000000ULL}) {
    Message* message = pes[0].alloc(bytes);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->size_bytes, bytes);
    EXPECT_EQ(message->wire.handler, 0u);
    EXPECT_GE(chunk_of(*message).room_bytes, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(body_of(*message)) % kLineBytes, 0u);
    EXPECT_EQ(reinterpret_cast<std::byte*>(&message->wire) + 8, body_of(*message));
    std::memset(body_of(*message), 0xab, chunk_of(*message).room_bytes);
    EXPECT_EQ(pes[0].free(*message), Pool::Freed::over);
  }
}

TEST(TaskPool, a_warm_pool_takes_nothing_from_its_memory) {
  Pes pes(1);
  std::vector<Message*> held;
  std::uint64_t calls = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t bytes = 0; bytes < 100000; bytes += 331) held.push_back(pes[0].alloc(bytes));
    for (Message* message : held) ASSERT_EQ(pes[0].free(*message), Pool::Freed::over);
    held.clear();
    if (round == 0) calls = pes.counted.calls;
  }
  EXPECT_EQ(pes.counted.calls, calls);
}

TEST(TaskPool, blocks_in_use_never_overlap) {
  Pes pes(1);
  std::mt19937_64 random(1);
  std::vector<Message*> held;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 || held.empty()) {
      Message* message = pes[0].alloc(random() % 3000);
      ASSERT_NE(message, nullptr);
      std::memset(body_of(*message), static_cast<int>(step % 251), message->size_bytes);
      message->source = static_cast<std::uint32_t>(step % 251);
      held.push_back(message);
      continue;
    }
    std::swap(held[random() % held.size()], held.back());
    Message& message = *held.back();
    for (std::uint64_t i = 0; i < message.size_bytes; ++i)
      ASSERT_EQ(static_cast<std::uint32_t>(body_of(message)[i]), message.source);
    ASSERT_EQ(pes[0].free(message), Pool::Freed::over);
    held.pop_back();
  }
}

TEST(TaskPool, the_last_of_several_references_gives_it_back) {
  Pes pes(1);
  Message* message = pes[0].alloc(100);
  chunk_of(*message).references.add();
  EXPECT_FALSE(chunk_of(*message).references.is_single());
  EXPECT_EQ(pes[0].free(*message), Pool::Freed::kept);
  EXPECT_EQ(pes[0].free(*message), Pool::Freed::over);
  EXPECT_EQ(pes[0].free(*message), Pool::Freed::unheld) << "freed under zero references";
}

TEST(TaskPool, what_is_no_message_is_told_apart) {
  Pes pes(1);
  alignas(64) std::array<std::byte, 256> other{};
  EXPECT_EQ(pes[0].free(*reinterpret_cast<Message*>(other.data() + 64)), Pool::Freed::no_message);
}

TEST(TaskPool, embedded_messages_free_their_enclosing_block_once) {
  Pes pes(1);
  Message* outer = pes[0].alloc(1024);
  std::vector<Message*> parts;
  for (std::uint64_t at = 0; at < 3 * 256; at += 256) {
    Chunk& chunk = *new (body_of(*outer) + at) Chunk{};
    Message& part = *new (&chunk + 1) Message{};
    chunk.mark = Mark::embedded;
    chunk.room_bytes = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&part) -
                                                  reinterpret_cast<std::byte*>(outer));
    parts.push_back(&part);
  }
  chunk_of(*outer).references.start(3);
  EXPECT_EQ(pes[0].free(*parts[1]), Pool::Freed::kept);
  EXPECT_EQ(pes[0].free(*parts[0]), Pool::Freed::kept);
  EXPECT_EQ(pes[0].free(*parts[2]), Pool::Freed::over);
  EXPECT_EQ(pes[0].alloc(1024), outer) << "it is in its list again";
}

TEST(TaskPool, blocks_freed_by_a_sibling_come_home_in_batches) {
  Pes pes(2);
  std::set<Message*> home;
  std::vector<Message*> lent;
  for (int i = 0; i < 32; ++i) lent.push_back(pes[0].alloc(100));
  home.insert(lent.begin(), lent.end());
  for (int i = 0; i < 31; ++i)
    ASSERT_EQ(pes[1].free(*lent[static_cast<std::size_t>(i)]), Pool::Freed::over);
  Message* fresh = pes[0].alloc(100);
  EXPECT_EQ(home.count(fresh), 0u) << "31 wait in the sibling's chain";
  ASSERT_EQ(pes[1].free(*lent[31]), Pool::Freed::over);
  std::vector<Message*> again;
  pes[0].flush();
  for (int i = 0; i < 32; ++i) again.push_back(pes[0].alloc(100));
  EXPECT_EQ(std::set<Message*>(again.begin(), again.end()), home);
  EXPECT_EQ(pes[1].taken_bytes(), 0u) << "none became the sibling's";
}

TEST(TaskPool, a_flush_sends_what_waits) {
  Pes pes(2);
  Message* message = pes[0].alloc(100);
  ASSERT_EQ(pes[1].free(*message), Pool::Freed::over);
  pes[1].flush();
  pes[0].flush();
  EXPECT_EQ(pes[0].alloc(100), message);
}

TEST(TaskPool, free_large_blocks_are_kept_up_to_the_limit) {
  Pes pes(1, 4 * kMi);
  std::vector<Message*> held;
  for (int i = 0; i < 8; ++i) held.push_back(pes[0].alloc(kMi - kFrontBytes));
  for (Message* message : held) ASSERT_EQ(pes[0].free(*message), Pool::Freed::over);
  EXPECT_EQ(pes[0].kept_bytes(), 4 * kMi);
  EXPECT_LT(pes.counted.held_bytes, 5 * kMi);
  // Blocks of another size take their room.
  Message* large = pes[0].alloc(3 * kMi);
  ASSERT_EQ(pes[0].free(*large), Pool::Freed::over);
  EXPECT_LE(pes[0].kept_bytes(), 4 * kMi);
  const std::uint64_t calls = pes.counted.calls;
  EXPECT_EQ(pes[0].alloc(3 * kMi), large);
  EXPECT_EQ(pes.counted.calls, calls);
}

TEST(TaskPool, no_memory_and_sizes_that_cannot_be_are_told) {
  Pes pes(1);
  pes.counted.limit_bytes = 0;
  EXPECT_EQ(pes[0].alloc(10), nullptr);
  EXPECT_EQ(pes[0].alloc(kMi), nullptr);
  EXPECT_EQ(pes[0].alloc(~std::uint64_t{0}), nullptr);
  EXPECT_EQ(pes[0].alloc(SizeClass::kMostBytes), nullptr);
  pes.counted.limit_bytes = kMi;
  EXPECT_NE(pes[0].alloc(10), nullptr);
}

TEST(TaskPool, a_pool_gives_all_back_when_it_ends) {
  CountedMemory counted;
  {
    Returns returns(1);
    Pool pool(0, counted.memory(), returns, kMi);
    static_cast<void>(pool.alloc(10));
    static_cast<void>(pool.alloc(kMi));
    EXPECT_GT(counted.held_bytes, 0u);
  }
  EXPECT_EQ(counted.held_bytes, 0u);
}

// One thread allocates and fills, the other checks and frees; the blocks come home meanwhile.
TEST(TaskPool, a_stream_between_two_threads_needs_a_bounded_number_of_blocks) {
  Returns returns(2);
  Pool from(0, heap_memory(), returns, kMi);
  sync::MpscQueue<sync::HardwarePolicy, MessageLinks> inbox;
  constexpr std::uint64_t kMessages = 10000;
  constexpr std::uint64_t kUnderWay = 256;
  sync::HardwarePolicy::Atomic<std::uint64_t> freed;
  std::thread sibling([&] {
    Pool own(1, heap_memory(), returns, kMi);
    std::uint64_t count = 0;
    while (count < kMessages) {
      std::uint64_t name = inbox.turned(inbox.take());
      if (name == 0) std::this_thread::yield();
      while (name != 0) {
        Message& message = *named(name);
        name = message.link;
        std::uint64_t word = 0;
        std::memcpy(&word, body_of(message), sizeof word);
        EXPECT_EQ(word, count++);
        EXPECT_EQ(own.free(message), Pool::Freed::over);
      }
      freed.store(count, std::memory_order_relaxed);
    }
    own.flush();
  });
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    while (i - freed.load(std::memory_order_relaxed) > kUnderWay) std::this_thread::yield();
    Message* message = from.alloc(200);
    std::memcpy(body_of(*message), &i, sizeof i);
    static_cast<void>(inbox.push(name_of(message)));
  }
  sibling.join();
  EXPECT_LE(from.taken_bytes(), kMi);
}

}  // namespace
}  // namespace photon::task
