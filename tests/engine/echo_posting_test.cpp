// Calls that post run no handler, whatever is due: the next call that makes progress does.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "engine/settings.hpp"

namespace photon::test {
namespace {

class EchoPosting : public OverSettings {};

using Scratch = std::array<std::byte, 16>;

// All of them, to ourselves, with bytes that outlive what they begin.
void post_all(ph_context* context, ph_rank self, const ph_region& region, Scratch& bytes) {
  std::uint64_t id = 1;
  ph_put_args put{};
  put.size = sizeof put;
  put.source = bytes.data();
  put.size_bytes = bytes.size();
  put.target = ph_at(&region, 0);
  put.local = put.remote = {&id, sizeof id};
  static_cast<void>(ph_put(context, self, &put));
  static_cast<void>(ph_put(context, self, nullptr));
  static_cast<void>(ph_put_u64(context, self, {bytes.data(), 8}, ph_at(&region, 0), {1, 2}));
  static_cast<void>(ph_get_u64(context, self, {bytes.data(), 8}, ph_at(&region, 0), {1, 2}));
  static_cast<void>(ph_notify(context, self, 1));
  ph_atomic_args atomic{};
  atomic.size = sizeof atomic;
  static_cast<void>(ph_atomic(context, self, &atomic));
  static_cast<void>(ph_put_vector(context, self, nullptr));
  static_cast<void>(ph_fence(context, self));
  static_cast<void>(ph_announce(context, self, nullptr));
  static_cast<void>(ph_mailbox_put(context, self, nullptr));
  static_cast<void>(ph_mailbox_put_u64(context, self, 1, 0, {bytes.data(), 8}));
  static_cast<void>(ph_echo(context, self, 1));
}

// It is the progress thread that has met what was told.
TEST_P(EchoPosting, runs_no_handler_and_the_next_probe_does) {
  std::atomic<bool> is_told = false;
  Scratch scratch{};  // of rank 1 alone
  ThreadJob job(2, options({{"progress_thread", "on"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    int heard = 0;
    const auto hear = [](void* user, ph_rank, std::uint64_t) { ++*static_cast<int*>(user); };
    ASSERT_EQ(ph_echo_listen(context, hear, &heard), PH_OK);
    std::array<std::byte, 64> memory{};
    ph_region region{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_READ | PH_ACCESS_WRITE,
                          &region),
              PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(insist(context, [&] { return ph_echo_tell(context, 1, 7); }), PH_OK);
      ASSERT_EQ(ph_flush(context, 1, kTakeTimeoutUs), PH_OK);
      is_told = true;
    } else {
      while (!is_told) std::this_thread::yield();
      for (int i = 0; i < 50; ++i) {
        post_all(context, rank, region, scratch);
        EXPECT_EQ(heard, 0) << "in round " << i;
      }
      ph_completion one{};
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, kAnyLocal, &one, 1, &count), PH_OK);
      EXPECT_EQ(heard, 1);
    }
    while (count_now(context, PH_EITHER) != 0) {
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, EchoPosting,
                         testing::Values(Setting{"shm", {{"transport", "shm"}}},
                                         Setting{"tcp", {{"transport", "tcp"}}}),
                         setting_name);

}  // namespace
}  // namespace photon::test
