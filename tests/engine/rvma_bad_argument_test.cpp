// RVMA's calls with what they cannot be given: each says so in words, and nothing else is touched.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <rvma.h>

#include <array>
#include <string>

#include "support/thread_job.hpp"

namespace photon::test {
namespace {

void* const kWindow = reinterpret_cast<void*>(0x11ff0011);

TEST(RvmaBadArgument, says_what_is_wrong_with_a_window_or_a_buffer) {
  ThreadJob job(1, {{"transport", "shm"}});
  job.run([&](ph_context* context, ph_rank) {
    RVMA_Use(context);
    const auto fails = [](RVMA_Status got, ph_status wanted, const std::string& part) {
      EXPECT_EQ(got, wanted);
      EXPECT_NE(std::string(RVMA_Error()).find(part), std::string::npos) << RVMA_Error();
    };
    EXPECT_EQ(RVMA_Init_window(kWindow, nullptr, -1, EPOCH_BYTES), RVMA_Win{RVMA_WIN_NULL});
    fails(PH_ERR_ARGUMENT, PH_ERR_ARGUMENT, "negative");
    EXPECT_EQ(RVMA_Init_window(kWindow, nullptr, 1, static_cast<epoch_type>(9)), 0u);
    EXPECT_EQ(RVMA_Init_window_with(kWindow, nullptr, 1, EPOCH_OPS, nullptr), 0u);
    const RVMA_Win_options odd{sizeof odd, nullptr, 1u << 9, 0};
    EXPECT_EQ(RVMA_Init_window_with(kWindow, nullptr, 1, EPOCH_OPS, &odd), 0u);
    fails(PH_ERR_ARGUMENT, PH_ERR_ARGUMENT, "flags");
    const RVMA_Win win = RVMA_Init_window(kWindow, nullptr, 0, EPOCH_BYTES);
    ASSERT_NE(win, RVMA_Win{RVMA_WIN_NULL});
    EXPECT_EQ(RVMA_Init_window(kWindow, nullptr, 0, EPOCH_BYTES), 0u) << "it is open";
    fails(PH_ERR_STATE, PH_ERR_STATE, "open");

    std::array<std::byte, 64> memory{};
    RVMA_Notification told{};
    fails(RVMA_Post_buffer(nullptr, 8, &told.buffer, win), PH_ERR_ARGUMENT, "null");
    fails(RVMA_Post_buffer(memory.data(), 0, &told.buffer, win), PH_ERR_ARGUMENT, "bytes");
    fails(RVMA_Post_buffer(memory.data(), -8, &told.buffer, win), PH_ERR_ARGUMENT, "bytes");
    fails(RVMA_Post_buffer(memory.data(), 8, nullptr, win), PH_ERR_ARGUMENT, "null");
    fails(RVMA_Post_buffer(memory.data(), 8, reinterpret_cast<void**>(&told.length), win),
          PH_ERR_ARGUMENT, "64");
    fails(RVMA_Post_buffer(memory.data(), 64, &told.buffer, 0), PH_ERR_STATE, "");
    ASSERT_EQ(RVMA_Post_buffer(memory.data(), 64, &told.buffer, win), RVMA_OK);
    RVMA_Notification second{memory.data(), 3, {}};
    EXPECT_EQ(RVMA_Post_buffer(memory.data(), 64, &second.buffer, win), PH_ERR_STATE)
        << "it is posted";
    EXPECT_EQ(second.buffer, memory.data());
    EXPECT_EQ(second.length, 3u);

    void* pointers[1];
    fails(RVMA_Win_get_buf_ptrs(win, nullptr, 1), PH_ERR_ARGUMENT, "null");
    fails(RVMA_Win_get_buf_ptrs(win, pointers, -1), PH_ERR_ARGUMENT, "negative");
    EXPECT_EQ(RVMA_Win_get_buf_ptrs(win, pointers, 1), 0);
    EXPECT_EQ(RVMA_Win_rewind(win, 0, nullptr), PH_ERR_STATE);
    EXPECT_EQ(RVMA_Win_rewind(win, -1, nullptr), PH_ERR_STATE);
    fails(RVMA_Wait(win, nullptr, 0), PH_ERR_ARGUMENT, "null");
    EXPECT_EQ(RVMA_Wait(win, &told.buffer, 0), RVMA_TIMEOUT);
    EXPECT_EQ(RVMA_Wait(win, &told.buffer, 1000), RVMA_TIMEOUT);
    EXPECT_EQ(RVMA_Test(nullptr), nullptr);
    RVMA_Use(nullptr);
  });
}

TEST(RvmaBadArgument, says_what_is_wrong_with_a_message) {
  ThreadJob job(1, {{"transport", "shm"}});
  job.run([&](ph_context* context, ph_rank) {
    RVMA_Use(context);
    std::uint64_t value = 0;
    addr_in self{0}, nobody{7};
    EXPECT_EQ(RVMA_Put(&value, 8, nullptr, kWindow), PH_ERR_ARGUMENT);
    EXPECT_EQ(RVMA_Put(&value, -8, &self, kWindow), PH_ERR_ARGUMENT);
    EXPECT_NE(std::string(RVMA_Error()).find("negative"), std::string::npos);
    EXPECT_EQ(RVMA_Put(nullptr, 8, &self, kWindow), PH_ERR_ARGUMENT);
    EXPECT_EQ(RVMA_Put(&value, std::int64_t{1} << 40, &self, kWindow), PH_ERR_ARGUMENT);
    EXPECT_EQ(RVMA_Put(&value, 8, &nobody, kWindow), PH_ERR_RANK);
    EXPECT_EQ(RVMA_Append(&value, 8, nullptr, kWindow), PH_ERR_ARGUMENT);
    EXPECT_EQ(RVMA_Put_with(&self, nullptr), PH_ERR_ARGUMENT);
    const std::int64_t past = -3;
    RVMA_Put_args args{};
    args.size = sizeof args;
    args.epoch = &past;
    EXPECT_EQ(RVMA_Put_with(&self, &args), PH_ERR_ARGUMENT);
    EXPECT_EQ(RVMA_Flush(&nobody, 0), PH_ERR_RANK);
    RVMA_Use(nullptr);
  });
}

TEST(RvmaBadArgument, without_a_rank_every_call_says_so) {
  void* pointer = nullptr;
  std::uint64_t value = 0;
  addr_in self{0};
  EXPECT_EQ(RVMA_Init(nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(RVMA_Finalize(), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Init_window(kWindow, nullptr, 0, EPOCH_BYTES), RVMA_Win{RVMA_WIN_NULL});
  EXPECT_NE(std::string(RVMA_Error()).find("RVMA_Init"), std::string::npos);
  EXPECT_EQ(RVMA_Post_buffer(&value, 8, &pointer, 1), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Close_Win(1), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Win_inc_epoch(1), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Win_get_epoch(1), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Win_get_buf_ptrs(1, &pointer, 1), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Win_rewind(1, 0, nullptr), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Test(&pointer), nullptr);
  EXPECT_EQ(RVMA_Wait(1, &pointer, 0), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Put(&value, 8, &self, kWindow), PH_ERR_STATE);
  EXPECT_EQ(RVMA_Flush(nullptr, 0), PH_ERR_STATE);
}

}  // namespace
}  // namespace photon::test
