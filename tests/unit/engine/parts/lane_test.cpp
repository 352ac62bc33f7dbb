// The gate of an engine: one at a time, closed for good, and shut for a fork's child.
#include "engine/parts/lane.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <thread>
#include <vector>

#include "watchdog.hpp"

namespace photon::engine {
namespace {

class LaneTest : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Lane> lane_ =
      std::move(*Lane::create(GetParam() && sync::register_heavy_barrier()));
};

TEST_P(LaneTest, threads_are_inside_one_at_a_time) {
  std::uint64_t count = 0;  // a plain number: a race would lose some
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 20000; ++k) {
        LaneGuard guard(*lane_);
        ASSERT_EQ(guard.status(), PH_OK);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80000u);
}

TEST_P(LaneTest, a_closed_lane_lets_only_those_in_who_say_so) {
  LaneGuard guard(*lane_);
  guard.release();
  {
    LaneGuard closer(*lane_, LaneGuard::Kind::visit);
    lane_->close();
  }
  guard.retake();
  EXPECT_FALSE(guard.still_open());
  EXPECT_EQ(guard.status(), PH_ERR_STATE);
  EXPECT_EQ(LaneGuard(*lane_).status(), PH_ERR_STATE);
  LaneGuard late(*lane_, LaneGuard::Kind::closed_too);
  EXPECT_EQ(late.status(), PH_OK);
  EXPECT_TRUE(late.still_open());
  EXPECT_TRUE(lane_->closed());
}

TEST_P(LaneTest, a_guard_that_was_let_go_leaves_the_lane_to_others) {
  LaneGuard guard(*lane_);
  guard.release();
  std::thread other([this] { EXPECT_EQ(LaneGuard(*lane_).status(), PH_OK); });
  other.join();
  guard.retake();
  EXPECT_TRUE(guard.still_open());
}

TEST_P(LaneTest, who_stands_in_gives_up_where_somebody_is_inside_and_comes_back_when_he_is_not) {
  LaneGuard guest(*lane_, LaneGuard::Kind::stand_in);
  EXPECT_EQ(guest.status(), PH_OK);
  guest.release();
  LaneGuard guard(*lane_, LaneGuard::Kind::visit);
  std::atomic<bool> tried = false;
  std::thread other([&] {
    EXPECT_EQ(LaneGuard(*lane_, LaneGuard::Kind::stand_in).status(), PH_AGAIN);
    tried = true;
    guest.retake();  // waits
    EXPECT_TRUE(lane_->closed());
    guest.release();
  });
  while (!tried) std::this_thread::yield();
  lane_->close();
  guard.release();
  other.join();
}

TEST_P(LaneTest, who_looks_in_leaves_the_lane_to_its_thread_and_is_refused_once_it_is_closed) {
  // Its thread comes alone until it has the bias, if it can be had.
  bool is_biased = false;
  for (int i = 0; i < 1000 && !is_biased; ++i) is_biased = LaneGuard(*lane_).is_biased();
  EXPECT_EQ(is_biased, GetParam());
  const auto look_in = [this] {
    ph_status status = PH_OK;
    std::thread other([&] { status = LaneGuard(*lane_, LaneGuard::Kind::look_in).status(); });
    other.join();
    return status;
  };
  EXPECT_EQ(look_in(), PH_OK);
  {
    LaneGuard guard(*lane_);
    EXPECT_EQ(guard.is_biased(), GetParam()) << "a look has taken the lane away";
    EXPECT_EQ(look_in(), PH_AGAIN) << "somebody is inside";
  }
  LaneGuard guest(*lane_, LaneGuard::Kind::look_in);
  guest.release();
  {
    LaneGuard closer(*lane_, LaneGuard::Kind::visit);
    lane_->close();
  }
  guest.retake();
  EXPECT_FALSE(guest.still_open());
  EXPECT_EQ(look_in(), PH_ERR_STATE);
  EXPECT_EQ(LaneGuard(*lane_, LaneGuard::Kind::closed_too).status(), PH_OK) << "it was let go";
}

// Threads that come again and again, until this is destroyed.
class Callers {
 public:
  Callers(Lane& lane, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([this, &lane] {
        for (bool is_first = true; !is_over_; is_first = false) {
          const LaneGuard guard(lane);
          ++turns_;
          if (is_first) ++come_;
        }
      });
    while (come_ != count) std::this_thread::yield();
  }
  ~Callers() { stop(); }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // How many turns they have had.
  std::uint64_t stop() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return turns_;
  }

 private:
  std::uint64_t turns_ = 0;         // under the lock
  std::atomic<unsigned> come_ = 0;  // callers that have had a turn
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

// Of a thread that comes again and again, and of more of them than there are cores.
TEST_P(LaneTest,
       who_comes_back_beside_threads_that_never_rest_need_not_find_them_outside_by_chance) {
  const photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  for (const unsigned callers : {1U, 4U}) {
    Callers others(*lane_, callers);
    for (std::uint64_t laps = callers == 1 ? 1000 : 100; laps != 0;) {
      LaneGuard guest(*lane_, LaneGuard::Kind::look_in);
      if (guest.status() != PH_OK) {
        std::this_thread::yield();  // there may be no core for who is inside
        continue;
      }
      guest.release();
      guest.retake();
      ASSERT_TRUE(guest.still_open());
      --laps;
    }
    EXPECT_GE(others.stop(), callers);
  }
}

int status_in_child(Lane& lane, bool while_held) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool both = LaneGuard(lane).status() == PH_ERR_FORKED &&
                      LaneGuard(lane, LaneGuard::Kind::closed_too).status() == PH_ERR_FORKED &&
                      lane.forked();
    ::_exit(both ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return while_held || WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST_P(LaneTest, a_forks_child_is_refused_also_if_the_lane_was_held_at_the_fork) {
  EXPECT_EQ(status_in_child(*lane_, false), 0);
  {
    LaneGuard guard(*lane_);
    EXPECT_EQ(status_in_child(*lane_, true), 0);
  }
  EXPECT_FALSE(lane_->forked());
  EXPECT_EQ(LaneGuard(*lane_).status(), PH_OK) << "the parent goes on";
}

// As a sandbox does that lets nobody use madvise(2).
bool refuse_madvise() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

TEST_P(LaneTest, a_forks_child_is_refused_also_where_the_kernel_does_not_wipe_its_page) {
  const pid_t sandboxed = ::fork();
  if (sandboxed == 0) {
    if (!refuse_madvise()) ::_exit(77);
    auto lane = Lane::create(GetParam() && sync::register_heavy_barrier());
    const bool is_guarded = lane && !(*lane)->wiped_by_fork() && !(*lane)->forked() &&
                            status_in_child(**lane, false) == 0 &&
                            LaneGuard(**lane).status() == PH_OK;
    ::_exit(is_guarded ? 0 : 1);
  }
  int status = 0;
  ::waitpid(sandboxed, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

INSTANTIATE_TEST_SUITE_P(Locks, LaneTest, testing::Bool(), [](const auto& one) {
  return std::string(one.param ? "with_bias" : "without_bias");
});

}  // namespace
}  // namespace photon::engine
