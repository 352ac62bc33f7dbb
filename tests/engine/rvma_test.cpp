// RVMA over every transport: buffers, thresholds, epochs and notification pointers, as the paper
// has them, seen from both sides.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <rvma.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/rvma_calls.hpp"

namespace photon::test::rvma_calls {
namespace {

// Section III.A: the receiver knows how many operations come, whoever sends them.
TEST_P(RvmaOver, many_send_to_one_and_the_threshold_says_when_it_is_complete) {
  constexpr std::uint32_t kRanks = 4;
  run(kRanks, [&](ph_context* context, ph_rank rank) {
    std::array<std::uint64_t, kRanks> memory{};
    RVMA_Notification told{};
    if (rank == 0) {
      const RVMA_Win win = opened(kRanks - 1, EPOCH_OPS);
      ASSERT_EQ(post(win, memory, told), RVMA_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank != 0) {
      ASSERT_EQ(put(0, 100 + rank, rank * sizeof(std::uint64_t)), RVMA_OK);
    } else {
      ASSERT_EQ(polled(told), memory.data());
      EXPECT_EQ(told.length, sizeof memory);
      for (ph_rank one = 1; one < kRanks; ++one) EXPECT_EQ(memory[one], 100 + one);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Nobody calls anything at the receiver: its progress thread writes the pointer.
TEST_P(RvmaOver, a_program_that_polls_the_pointer_alone_sees_it_written) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t value = 0;
    RVMA_Notification told{};
    if (rank == 1) {
      ASSERT_EQ(RVMA_Init(context, 0), RVMA_OK) << RVMA_Error();
      ASSERT_EQ(RVMA_Init(context, 0), PH_ERR_STATE);
      const RVMA_Win win = opened();
      ASSERT_EQ(RVMA_Post_buffer(&value, sizeof value, &told.buffer, win), RVMA_OK);
    } else {
      ASSERT_EQ(RVMA_Use(context), RVMA_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(put(1, 42), RVMA_OK);
      addr_in there{1};
      ASSERT_EQ(RVMA_Flush(&there, -1), RVMA_OK);
      ASSERT_EQ(RVMA_Use(nullptr), RVMA_OK);
    } else {
      while (std::atomic_ref(told.buffer).load(std::memory_order_acquire) == nullptr)
        std::this_thread::yield();
      EXPECT_EQ(value, 42u);
      EXPECT_EQ(told.length, sizeof value);
      ASSERT_EQ(RVMA_Finalize(), RVMA_OK);
      ASSERT_EQ(RVMA_Finalize(), PH_ERR_STATE);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Section III.B: two messages that each reach the threshold come as two buffers of the bucket.
TEST_P(RvmaOver, buffers_of_a_window_are_filled_one_after_the_other) {
  constexpr std::size_t kBuffers = 4;
  run(2, [&](ph_context* context, ph_rank rank) {
    std::array<std::uint64_t, kBuffers> memory{};
    std::array<RVMA_Notification, kBuffers> told{};
    RVMA_Win win = RVMA_WIN_NULL;
    if (rank == 1) {
      win = opened(sizeof(std::uint64_t));
      for (std::size_t i = 0; i < kBuffers; ++i) {
        std::span one(&memory[i], 1);
        ASSERT_EQ(post(win, one, told[i]), RVMA_OK);
      }
      EXPECT_EQ(RVMA_Win_get_epoch(win), 0);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kBuffers; ++i) ASSERT_EQ(put(1, 7 + i), RVMA_OK);
    } else {
      for (std::size_t i = 0; i < kBuffers; ++i) {
        ASSERT_EQ(polled(told[i]), &memory[i]);
        EXPECT_EQ(memory[i], 7 + i);
      }
      EXPECT_EQ(RVMA_Win_get_epoch(win), std::int64_t{kBuffers});
      std::array<void*, kBuffers + 1> pointers{};
      ASSERT_EQ(RVMA_Win_get_buf_ptrs(win, pointers.data(), kBuffers + 1), int{kBuffers});
      for (std::size_t i = 0; i < kBuffers; ++i)
        EXPECT_EQ(pointers[i], &told[kBuffers - 1 - i].buffer) << "the newest first";
      EXPECT_EQ(RVMA_Win_get_buf_ptrs(win, pointers.data(), 1), 1);
      std::span newest(&memory[kBuffers - 1], 1);
      ASSERT_EQ(post(win, newest, told[kBuffers - 1]), RVMA_OK);
      EXPECT_EQ(told[kBuffers - 1].buffer, nullptr) << "it is posted again, and not complete";
      ASSERT_EQ(RVMA_Win_get_buf_ptrs(win, pointers.data(), kBuffers), int{kBuffers} - 1);
      EXPECT_EQ(pointers[0], &told[kBuffers - 2].buffer);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// The sender starts before there is a buffer, and the receiver takes other memory each time.
TEST_P(RvmaOver, a_sender_knows_neither_addresses_nor_when_buffers_are_posted) {
  constexpr std::uint64_t kRounds = 40;
  run(2, [&](ph_context* context, ph_rank rank) {
    RVMA_Win win = RVMA_WIN_NULL;
    if (rank == 1) win = opened();
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kRounds; ++i) ASSERT_EQ(put(1, i), RVMA_OK);
    } else {
      std::vector<std::unique_ptr<std::array<std::uint64_t, 1>>> memory;
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        memory.push_back(std::make_unique<std::array<std::uint64_t, 1>>());
        RVMA_Notification told{};
        ASSERT_EQ(post(win, *memory.back(), told), RVMA_OK);
        ASSERT_EQ(polled(told), memory.back()->data());
        ASSERT_EQ(memory.back()->front(), i);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Each message has the size and the source of its own; after a flush the source may be reused.
TEST_P(RvmaOver, a_source_may_be_reused_after_a_flush) {
  constexpr std::array<std::size_t, 5> kSizes = {8, 1024, 1025, 10'000, 65'536};
  run(2, [&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(65'536);
    const RVMA_Win win = rank == 1 ? opened(1, EPOCH_OPS) : RVMA_Win{RVMA_WIN_NULL};
    ASSERT_EQ(ph_barrier(context), PH_OK);
    addr_in there{1};
    for (const std::size_t size : kSizes) {
      if (rank == 0) {
        fill(std::span(memory).first(size), size);
        ASSERT_EQ(insist([&] {
                    return RVMA_Put(memory.data(), static_cast<std::int64_t>(size), &there,
                                    kWindow);
                  }),
                  RVMA_OK)
            << RVMA_Error();
        ASSERT_EQ(RVMA_Flush(&there, -1), RVMA_OK);
        std::ranges::fill(memory, std::byte{0xee});
      } else {
        RVMA_Notification told{};
        ASSERT_EQ(post(win, memory, told), RVMA_OK) << RVMA_Error();
        ASSERT_EQ(RVMA_Wait(win, &told.buffer, kTakeTimeoutUs), RVMA_OK);
        EXPECT_EQ(told.length, size);
        EXPECT_EQ(first_difference({memory.data(), size}, size), size);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Sections III.C and IV.B: a stream's reader takes what has come so far.
TEST_P(RvmaOver, what_was_appended_so_far_is_handed_over_on_demand) {
  run(2, [&](ph_context* context, ph_rank rank) {
    std::array<char, 64> memory{};
    RVMA_Notification told{};
    RVMA_Win win = RVMA_WIN_NULL;
    if (rank == 1) {
      win = opened_managed(0, EPOCH_BYTES);
      EXPECT_EQ(RVMA_Win_inc_epoch(win), RVMA_AGAIN);
      ASSERT_EQ(post(win, memory, told), RVMA_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      addr_in there{1};
      for (const char* const words : {"one ", "two ", "three"}) {
        std::string text(words);
        ASSERT_EQ(insist([&] {
                    return RVMA_Append(text.data(), static_cast<std::int64_t>(text.size()), &there,
                                       kWindow);
                  }),
                  RVMA_OK);
      }
      ASSERT_EQ(put(1, 1, 0, kOther), RVMA_OK);
    } else {
      std::uint64_t last = 0;
      RVMA_Notification all_came{};
      const RVMA_Win other = opened(0, EPOCH_BYTES, kOther);
      ASSERT_EQ(RVMA_Post_buffer(&last, sizeof last, &all_came.buffer, other), RVMA_OK);
      polled(all_came);
      EXPECT_EQ(told.buffer, nullptr);
      ASSERT_EQ(RVMA_Win_inc_epoch(win), RVMA_OK);
      EXPECT_EQ(RVMA_Test(&told.buffer), memory.data());
      EXPECT_EQ(std::string_view(memory.data(), told.length), "one two three");
      EXPECT_EQ(RVMA_Win_get_epoch(win), 1);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Each thread waits for a buffer of its own, and the one that hears of it may be another.
TEST_P(RvmaOver, each_of_many_threads_wakes_for_its_own_buffer) {
  constexpr std::size_t kThreads = 4;
  constexpr std::uint64_t kRounds = 20;
  run(2, [&](ph_context* context, ph_rank rank) {
    const RVMA_Win win = rank == 1 ? opened(sizeof(std::uint64_t)) : RVMA_Win{RVMA_WIN_NULL};
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      std::array<std::uint64_t, kThreads> memory{};
      std::array<RVMA_Notification, kThreads> told{};
      for (std::size_t i = 0; rank == 1 && i < kThreads; ++i) {
        std::span one(&memory[i], 1);
        ASSERT_EQ(post(win, one, told[i]), RVMA_OK) << RVMA_Error();
      }
      std::vector<std::thread> threads;
      for (std::size_t i = 0; rank == 1 && i < kThreads; ++i)
        threads.emplace_back([&, i] {
          RVMA_Use(context);
          EXPECT_EQ(RVMA_Wait(win, &told[i].buffer, kTakeTimeoutUs), RVMA_OK);
          EXPECT_EQ(memory[i], round + i);
        });
      for (std::size_t i = 0; rank == 0 && i < kThreads; ++i) ASSERT_EQ(put(1, round + i), RVMA_OK);
      for (std::thread& thread : threads) thread.join();
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, RvmaOver, testing::ValuesIn(grounds()), setting_name);

}  // namespace
}  // namespace photon::test::rvma_calls
