// Windows of RVMA over every transport: closed, rewound, read, and the catch-all.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <rvma.h>

#include <array>
#include <string>
#include <vector>

#include "engine/rvma_calls.hpp"

namespace photon::test::rvma_calls {
namespace {

class RvmaWindowsOver : public RvmaOver {};

// Section III.C: what is sent to a closed window is discarded, and its sender gets a NACK.
TEST_P(RvmaWindowsOver, a_closed_window_gives_its_buffers_back_and_refuses_what_comes) {
  run(2, [&](ph_context* context, ph_rank rank) {
    std::array<std::uint64_t, 2> memory{};
    RVMA_Notification told{};
    if (rank == 1) {
      const RVMA_Win win = opened();
      ASSERT_EQ(post(win, memory, told), RVMA_OK);
      ASSERT_EQ(RVMA_Close_Win(win), RVMA_OK);
      EXPECT_EQ(told.buffer, memory.data());
      EXPECT_EQ(told.length, 0u);
      EXPECT_EQ(RVMA_Close_Win(win), PH_ERR_STATE);
      EXPECT_NE(std::string(RVMA_Error()), "");
      EXPECT_EQ(RVMA_Win_get_epoch(win), PH_ERR_STATE);
      EXPECT_EQ(RVMA_Win_inc_epoch(win), PH_ERR_STATE);
      EXPECT_EQ(post(win, memory, told), PH_ERR_STATE);
      EXPECT_EQ(told.buffer, memory.data()) << "a call that fails changes nothing";
      void* nothing = nullptr;
      EXPECT_EQ(RVMA_Wait(win, &nothing, -1), PH_ERR_STATE);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(put(1, 5), RVMA_OK);
      const ph_completion nack = take(context, PH_LOCAL, 1);
      EXPECT_EQ(nack.status, PH_ERR_NOT_FOUND);
      EXPECT_EQ(nack.id, reinterpret_cast<std::uint64_t>(kWindow));
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(memory[0], 0u);
  });
}

// Section IV.F: back to the last good epoch; what was sent before with the old key is refused.
TEST_P(RvmaWindowsOver, a_window_is_rewound_to_an_epoch_that_it_retains) {
  constexpr std::size_t kSteps = 3;
  run(2, [&](ph_context* context, ph_rank rank) {
    std::array<std::uint64_t, kSteps + 1> memory{};
    std::array<RVMA_Notification, kSteps + 1> told{};
    std::int32_t old_key = 0, new_key = 0;
    RVMA_Win win = RVMA_WIN_NULL;
    const auto post_step = [&](std::size_t step) {
      std::span one(&memory[step], 1);
      return post(win, one, told[step]);
    };
    if (rank == 1) {
      win = RVMA_Init_window(kWindow, &old_key, 0, EPOCH_BYTES);
      EXPECT_NE(old_key, 0);
      for (std::size_t i = 0; i < kSteps; ++i) ASSERT_EQ(post_step(i), RVMA_OK);
    }
    std::array<std::int32_t, 2> keys{};
    ASSERT_EQ(ph_allgather(context, &old_key, keys.data(), sizeof old_key), PH_OK);
    old_key = keys[1];
    for (std::uint64_t i = 0; rank == 0 && i < kSteps; ++i) ASSERT_EQ(put(1, 10 + i), RVMA_OK);
    if (rank == 1) {
      polled(told[kSteps - 1]);
      EXPECT_EQ(RVMA_Win_rewind(win, std::int64_t{kSteps}, nullptr), PH_ERR_STATE);
      ASSERT_EQ(RVMA_Win_rewind(win, 0, &new_key), RVMA_OK) << RVMA_Error();
      EXPECT_NE(new_key, old_key);
      EXPECT_EQ(RVMA_Win_get_epoch(win), 1);
      void* pointer = nullptr;
      ASSERT_EQ(RVMA_Win_get_buf_ptrs(win, &pointer, 1), 1);
      EXPECT_EQ(pointer, &told[0].buffer) << "the last complete epoch is that one";
      EXPECT_EQ(memory[0], 10u);
      ASSERT_EQ(post_step(1), RVMA_OK) << "a void buffer is the caller's";
    }
    ASSERT_EQ(ph_allgather(context, &new_key, keys.data(), sizeof new_key), PH_OK);
    if (rank == 0) {
      const std::uint64_t value = 77;
      const std::int64_t epoch = 1;
      ph_request request = PH_REQUEST_NONE;
      RVMA_Put_args args{};
      args.size = sizeof args;
      args.send_buffer = &value;
      args.size_bytes = sizeof value;
      args.virtual_addr = kWindow;
      args.epoch = &epoch;
      args.key = old_key;
      args.request = &request;
      addr_in there{1};
      ph_result result{};
      ASSERT_EQ(insist([&] { return RVMA_Put_with(&there, &args); }), RVMA_OK);
      EXPECT_EQ(ph_wait_request(context, &request, &result, kTakeTimeoutUs), PH_ERR_EPOCH);
      args.key = keys[1];
      ASSERT_EQ(insist([&] { return RVMA_Put_with(&there, &args); }), RVMA_OK);
      EXPECT_EQ(ph_wait_request(context, &request, &result, kTakeTimeoutUs), PH_OK);
    } else {
      EXPECT_EQ(polled(told[1]), &memory[1]);
      EXPECT_EQ(memory[1], 77u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Section III.C: what names no window comes here, and says what it has named.
TEST_P(RvmaWindowsOver, a_catch_all_tells_who_sent_what_to_which_address) {
  run(2, [&](ph_context* context, ph_rank rank) {
    std::array<std::uint64_t, 1> memory{};
    RVMA_Notification told{};
    RVMA_Win win = RVMA_WIN_NULL;
    if (rank == 1) {
      const RVMA_Win_options options{sizeof options, nullptr, RVMA_CATCH_ALL, 2};
      win = RVMA_Init_window_with(kWindow, nullptr, 1, EPOCH_OPS, &options);
      ASSERT_NE(win, RVMA_Win{RVMA_WIN_NULL}) << RVMA_Error();
      ASSERT_EQ(post(win, memory, told), RVMA_OK);
      EXPECT_EQ(RVMA_Win_get_sender(win, &told.buffer, nullptr, nullptr), PH_ERR_NOT_FOUND);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(put(1, 8, 0, kOther), RVMA_OK);
    } else {
      polled(told);
      addr_in from{9};
      void* named = nullptr;
      ASSERT_EQ(RVMA_Win_get_sender(win, &told.buffer, &from, &named), RVMA_OK) << RVMA_Error();
      EXPECT_EQ(from.rank, 0u);
      EXPECT_EQ(named, kOther);
      EXPECT_EQ(memory[0], 8u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// A window for reading is complete when it was read so often; a large message needs a request.
TEST_P(RvmaWindowsOver, a_window_is_read_and_a_large_message_says_when_its_source_is_free) {
  constexpr std::size_t kBytes = 300'000;
  run(2, [&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kBytes), large(kBytes);
    RVMA_Notification read{}, written{};
    RVMA_Win win = RVMA_WIN_NULL;
    if (rank == 1) {
      fill(memory, 4);
      const RVMA_Win_options options{sizeof options, nullptr, RVMA_READ, 2};
      const RVMA_Win block = RVMA_Init_window_with(kWindow, nullptr, 1, EPOCH_OPS, &options);
      ASSERT_EQ(post(block, memory, read), RVMA_OK) << RVMA_Error();
      win = opened(1, EPOCH_OPS, kOther);
      ASSERT_EQ(post(win, large, written), RVMA_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      addr_in there{1};
      ph_request request = PH_REQUEST_NONE;
      RVMA_Get_args get{};
      get.size = sizeof get;
      get.receive_buffer = memory.data();
      get.size_bytes = kBytes;
      get.virtual_addr = kWindow;
      EXPECT_EQ(RVMA_Get(&there, &get), PH_ERR_ARGUMENT) << "without a request";
      get.request = &request;
      ASSERT_EQ(insist([&] { return RVMA_Get(&there, &get); }), RVMA_OK) << RVMA_Error();
      ASSERT_EQ(ph_wait_request(context, &request, nullptr, kTakeTimeoutUs), PH_OK);
      EXPECT_EQ(first_difference(memory, 4), kBytes);
      EXPECT_EQ(RVMA_Put(memory.data(), kBytes, &there, kOther), PH_ERR_ARGUMENT);
      EXPECT_NE(std::string(RVMA_Error()).find("request"), std::string::npos);
      RVMA_Put_args args{};
      args.size = sizeof args;
      args.send_buffer = memory.data();
      args.size_bytes = kBytes;
      args.virtual_addr = kOther;
      args.request = &request;
      ASSERT_EQ(insist([&] { return RVMA_Put_with(&there, &args); }), RVMA_OK) << RVMA_Error();
      ASSERT_EQ(ph_wait_request(context, &request, nullptr, kTakeTimeoutUs), PH_OK);
      std::ranges::fill(memory, std::byte{0});
    } else {
      EXPECT_EQ(polled(read), memory.data());
      EXPECT_EQ(polled(written), large.data());
      EXPECT_EQ(first_difference(large, 4), kBytes);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(All, RvmaWindowsOver, testing::ValuesIn(grounds()), setting_name);

}  // namespace
}  // namespace photon::test::rvma_calls
