// One descriptor for all news: loops that wait for nothing else lose nothing.
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class EventsOrNone : public OverSettings {};

class Events : public OverSettings {
 protected:
  void SetUp() override {
    OverSettings::SetUp();
    if (is_sim()) GTEST_SKIP() << "simulated time has no descriptor";
  }
};

// Arms, and waits for the descriptor alone.
class EventLoop {
 public:
  explicit EventLoop(ph_context* context) : context_(context) {
    EXPECT_EQ(ph_event_fd(context, &fd_), PH_OK) << last_error(context).text;
  }
  int fd() const { return fd_; }

  // `done` looks at all that it waits for, by calls that make progress.
  template <class Done>
  bool until(Done done) {
    while (!done()) {
      const ph_status armed = ph_event_arm(context_);
      if (armed == PH_AGAIN) continue;
      if (armed != PH_OK) return false;
      pollfd one{fd_, POLLIN, 0};
      if (::poll(&one, 1, kTimeoutMs) != 1) return false;  // news was slept through
    }
    return true;
  }
  // The next of these.
  ph_completion take(std::uint32_t kinds) {
    ph_completion found{};
    std::size_t count = 0;
    const bool taken = until([&] {
      EXPECT_EQ(ph_probe(context_, {PH_ANY_RANK, kinds, nullptr}, &found, 1, &count), PH_OK);
      return count == 1;
    });
    if (!taken) throw std::runtime_error("nothing came by events");
    return found;
  }

 private:
  static constexpr int kTimeoutMs = 20'000;
  ph_context* context_;
  int fd_ = -1;
};

TEST_P(EventsOrNone, a_transport_that_has_no_descriptor_says_so) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank) {
    int fd = 7;
    if (!is_sim()) {
      EXPECT_EQ(ph_event_fd(context, &fd), PH_OK);
      EXPECT_GE(fd, 0);
      return;
    }
    expect_error(context, ph_event_fd(context, &fd), PH_ERR_NOT_FOUND, "transport sim");
    EXPECT_EQ(fd, -1);
    expect_error(context, ph_event_arm(context), PH_ERR_NOT_FOUND, "ph_event_fd");
  });
}

TEST_P(Events, ten_thousand_ping_pongs_by_poll_alone_lose_nothing) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    EventLoop loop(context);
    const std::uint64_t count = rounds(10'000, 2'000);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i % 2 == rank) {
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1 - rank, i); }), PH_OK);
      } else {
        ASSERT_EQ(loop.take(PH_REMOTE).id, i);
      }
    }
    job.meet(context);
  });
}

TEST_P(Events, streams_both_ways_by_poll_alone_lose_nothing_and_keep_their_order) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    EventLoop loop(context);
    const std::uint64_t count = rounds(5'000, 1'000);
    std::uint64_t sent = 0, locals = 0, remotes = 0;
    EXPECT_TRUE(loop.until([&] {
      while (sent < count && sent < locals + 8 &&
             ph_put_u64(context, 1 - rank, {nullptr, 0}, {}, {sent, sent}) == PH_OK)
        ++sent;
      ph_completion found{};
      std::size_t one = 0;
      EXPECT_EQ(ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &found, 1, &one), PH_OK);
      if (one == 1) {
        EXPECT_EQ(found.id, (found.kind == PH_LOCAL ? locals : remotes)++);
      }
      return locals == count && remotes == count;
    }));
    job.meet(context);
  });
}

TEST_P(Events, a_get_of_a_mebibyte_is_served_and_ends_by_events_alone) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    constexpr std::size_t kSize = 1 << 20;
    EventLoop loop(context);
    auto memory = filled(kSize, 1 + rank);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), kSize, PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const auto regions = exchange(context, mine);
    if (rank == 0) {
      for (int round = 0; round < 10; ++round) {
        std::vector<std::byte> got(kSize);
        ph_request request = PH_REQUEST_NONE;
        ph_get_args args{};
        args.size = sizeof args;
        args.destination = got.data();
        args.size_bytes = kSize;
        args.source = ph_at(&regions[1], 0);
        args.flags = PH_NO_RCE;
        args.request = &request;
        ASSERT_EQ(ph_get(context, 1, &args), PH_OK);
        ph_status ended = PH_AGAIN;
        ASSERT_TRUE(loop.until([&] {
          ended = ph_test(context, &request, nullptr);
          return ended != PH_AGAIN;
        }));
        EXPECT_EQ(ended, PH_OK);
        EXPECT_EQ(first_difference(got, 2), kSize);
      }
      ASSERT_EQ(ph_notify(context, 1, 9), PH_OK);
    } else {
      EXPECT_EQ(loop.take(PH_REMOTE).id, 9u);
    }
    job.meet(context);
  });
}

TEST_P(Events, another_thread_that_waits_and_one_that_wakes_end_no_sleep_for_good) {
  ThreadJob job(2, options({{"spin_us", "0"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    EventLoop loop(context);
    std::atomic<bool> over = false;
    std::thread waiter([&] {
      while (!over) static_cast<void>(ph_wait(context, {PH_ANY_RANK, PH_LOCAL, nullptr}, 200));
    });
    std::thread waker([&] {
      while (!over) {
        EXPECT_EQ(ph_wake(context), PH_OK);
        std::this_thread::yield();
      }
    });
    const std::uint64_t count = rounds(1'000, 200);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i % 2 == rank) {
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1 - rank, i); }), PH_OK);
      } else {
        ASSERT_EQ(loop.take(PH_REMOTE).id, i);
      }
    }
    over = true;
    waiter.join();
    waker.join();
    job.meet(context);
  });
}

// The caller's own epoll set holds ours, which holds the transport's and the bootstrap's.
TEST_P(Events, the_descriptor_may_stand_in_a_set_of_the_callers) {
  ThreadJob job(2, options({{"progress_thread", "on"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    EventLoop loop(context);
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, loop.fd(), &event), 0);
    for (std::uint64_t i = 0; i < 200; ++i) {
      if (i % 2 == rank) {
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1 - rank, i); }), PH_OK);
        continue;
      }
      ph_completion found{};
      std::size_t count = 0;
      while (count == 0) {
        ASSERT_EQ(ph_probe(context, kAnyRemote, &found, 1, &count), PH_OK);
        if (count == 0 && ph_event_arm(context) == PH_OK) {
          ASSERT_EQ(::epoll_wait(set, &event, 1, 20'000), 1);
        }
      }
      ASSERT_EQ(found.id, i);
    }
    ::close(set);
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, EventsOrNone, testing::ValuesIn(all_settings()), setting_name);
INSTANTIATE_TEST_SUITE_P(Transports, Events, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
