// The library's client against photonrun.
#include <photon/launch.h>

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "launch_ranks.hpp"

namespace photon::test {
namespace {

// Of the same host, this one among them.
std::size_t near_ranks(const boot::Boot& boot) {
  std::size_t count = 0;
  for (ph_rank rank = 0; rank < boot.size(); ++rank) count += boot.passes_descriptors(rank);
  return count;
}

const RankBody gathers_body("gathers", [] {
  const auto boot = join();
  const std::string variable = std::getenv(PH_LAUNCH_RANK_VARIABLE);
  EXPECT_EQ(std::to_string(boot->rank()), variable);
  EXPECT_EQ(near_ranks(*boot), boot->local_size());
  for (const std::size_t size_bytes : {0, 1, 1000, 65536}) {
    const std::vector<std::byte> mine(size_bytes, std::byte(boot->rank() + size_bytes % 7));
    std::vector<std::byte> all(size_bytes * boot->size());
    const auto gathered = boot->allgather(mine, all, [] {});
    ASSERT_TRUE(gathered) << gathered.error().what;
    for (std::size_t at = 0; at < all.size(); ++at) {
      ASSERT_EQ(all[at], std::byte(at / size_bytes + size_bytes % 7));
    }
  }
  std::vector<std::byte> secrets(sizeof(boot::Secret) * boot->size());
  ASSERT_TRUE(boot->allgather(boot->secret(), secrets, [] {}));
  for (std::size_t rank = 0; rank < boot->size(); ++rank) {
    EXPECT_EQ(std::memcmp(&secrets[rank * sizeof(boot::Secret)], boot->secret().data(),
                          sizeof(boot::Secret)),
              0);
  }
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(boot->barrier([] {}));
});

// Every rank sends everybody a numbered series, with the writing end of an own pipe in each to a
// rank of its host; these receivers answer through the pipe.
const RankBody exchanges_body("exchanges", [] {
  constexpr int kSeries = 50;
  const auto boot = join();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::array<int, 1> fds{ends[1]};
  for (int number = 0; number < kSeries; ++number) {
    for (ph_rank to = 0; to < boot->size(); ++to) {
      if (boot->passes_descriptors(to)) {
        send_number(*boot, to, number, fds);
      } else {
        EXPECT_EQ(boot->send(to, {}, fds).error().status, PH_ERR_ARGUMENT);
        send_number(*boot, to, number);
      }
    }
  }
  std::vector<int> next(boot->size(), 0);
  for (std::size_t i = 0; i < kSeries * boot->size(); ++i) {
    auto message = await_message(*boot);
    ASSERT_TRUE(message);
    ASSERT_EQ(number_in(*message), next[message->from]++);
    ASSERT_EQ(message->fds.size(), boot->passes_descriptors(message->from) ? 1u : 0u);
    for (const auto& fd : message->fds) ASSERT_EQ(::write(fd.get(), "!", 1), 1);
  }
  ::close(ends[1]);
  ASSERT_TRUE(boot->barrier([] {}));
  std::size_t answers = 0;
  char text[1024];
  while (answers < kSeries * near_ranks(*boot)) {
    const ssize_t size = ::read(ends[0], text, sizeof text);
    ASSERT_GT(size, 0);
    answers += static_cast<std::size_t>(size);
  }
  ASSERT_TRUE(boot->barrier([] {}));
});

// Rank 0 floods rank 1, which does not look until it is told to; the others are served meanwhile.
const RankBody floods_body("floods", [] {
  constexpr int kFlood = 20000;
  const auto boot = join();
  if (boot->rank() == 0) {
    for (int number = 0; number < kFlood; ++number) send_number(*boot, 1, number);
    // receive() also flushes: rank 1 says when it has all.
    ASSERT_TRUE(await_message(*boot));
  } else if (boot->rank() == 1) {
    auto go = await_message(*boot);  // from rank 2 or already the flood
    for (int expected = 0, others = 0; expected < kFlood || others == 0;) {
      ASSERT_TRUE(go);
      if (go->from == 0) {
        EXPECT_EQ(number_in(*go), expected++);
      }
      if (go->from == 2) ++others;
      if (expected < kFlood || others == 0) go = await_message(*boot);
    }
    send_number(*boot, 0, 0);
  } else {
    send_number(*boot, 1, 0);
  }
  ASSERT_TRUE(boot->barrier([] {}));
});

// Of four, each floods its neighbour and its opposite, and looks only when it has said all.
const RankBody floods_all_ways_body("floods_all_ways", [] {
  constexpr int kFlood = 20000;
  const auto boot = join();
  const ph_rank neighbour = boot->rank() ^ 1U;
  const ph_rank opposite = boot->rank() ^ 2U;
  for (int number = 0; number < kFlood; ++number) {
    send_number(*boot, neighbour, number);
    send_number(*boot, opposite, number);
  }
  std::vector<int> next(boot->size(), 0);
  for (int i = 0; i < 2 * kFlood; ++i) {
    const auto message = await_message(*boot);
    ASSERT_TRUE(message);
    ASSERT_EQ(number_in(*message), next[message->from]++);
  }
  EXPECT_EQ(next[neighbour], kFlood);
  EXPECT_EQ(next[opposite], kFlood);
  ASSERT_TRUE(boot->barrier([] {}));
});

// The last rank leaves after a message, the others hear of it and of nothing else.
const RankBody leaves_body("leaves", [] {
  const auto boot = join();
  ASSERT_TRUE(boot->barrier([] {}));
  if (boot->rank() == boot->size() - 1) {
    for (ph_rank to = 0; to + 1 < boot->size(); ++to) send_number(*boot, to, 5);
    return;
  }
  const auto last = await_message(*boot);
  ASSERT_TRUE(last);
  EXPECT_EQ(number_in(*last), 5);
  const auto gone = await_message(*boot);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->kind, boot::Message::Kind::gone);
  EXPECT_EQ(gone->from, boot->size() - 1);
  EXPECT_FALSE(*boot->send(gone->from, {}, {}));
  const auto met = boot->barrier([] {});
  ASSERT_FALSE(met);
  EXPECT_LT(met.error().rank, boot->size());  // others may have left since
  EXPECT_NE(met.error().rank, boot->rank());
});

const RankBody opens_twice_body("opens_twice", [] {
  const auto boot = join();
  EXPECT_EQ(boot::open(nullptr).error().status, PH_ERR_BOOTSTRAP);
  ASSERT_TRUE(boot->barrier([] {}));
});

const RankBody disagrees_on_sizes_body("disagrees_on_sizes", [] {
  const auto boot = join();
  std::vector<std::byte> all(boot->rank() * boot->size());
  const auto gathered = boot->allgather(std::vector<std::byte>(boot->rank()), all, [] {});
  EXPECT_EQ(gathered.error().status, PH_ERR_BOOTSTRAP);
  ASSERT_TRUE(boot->barrier([] {}));
});

// Rank 0 speaks nonsense in place of the library; the others see it go and go on.
const RankBody speaks_nonsense_body("speaks_nonsense", [] {
  if (std::string(std::getenv(PH_LAUNCH_RANK_VARIABLE)) == "0") {
    const int channel = std::atoi(std::getenv(PH_LAUNCH_FD_VARIABLE));
    const std::string nonsense(100, '?');
    ASSERT_EQ(::send(channel, nonsense.data(), nonsense.size(), 0), 100);
    pollfd entry{.fd = channel, .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&entry, 1, 10000), 1);
    ph_launch_header header{};
    ASSERT_GT(::recv(channel, &header, sizeof header, 0), 0);
    EXPECT_EQ(header.type, PH_LAUNCH_REFUSED);
    ASSERT_EQ(::poll(&entry, 1, 10000), 1);
    // Closed; with something of ours unread, the kernel says that it was reset.
    const ssize_t closed = ::recv(channel, &header, sizeof header, 0);
    EXPECT_TRUE(closed == 0 || (closed < 0 && errno == ECONNRESET)) << closed << ' ' << errno;
    return;
  }
  const auto boot = join();
  send_number(*boot, 1, 7);
  // Who joins late may hear of rank 0 after rank 2 has spoken.
  bool is_gone = false;
  int numbers = 0;
  while (!is_gone || (boot->rank() == 1 && numbers < 2)) {
    const auto message = await_message(*boot);
    ASSERT_TRUE(message);
    if (message->kind != boot::Message::Kind::gone)
      ++numbers;
    else if (message->from == 0)
      is_gone = true;
  }
});

// Rank 0 is of a library of the next version.
const RankBody is_of_the_next_version_body("is_of_the_next_version", [] {
  if (std::string(std::getenv(PH_LAUNCH_RANK_VARIABLE)) != "0") return;
  const int channel = std::atoi(std::getenv(PH_LAUNCH_FD_VARIABLE));
  const ph_launch_header hello{
      .magic = PH_LAUNCH_MAGIC, .version = PH_LAUNCH_VERSION + 1, .type = PH_LAUNCH_HELLO};
  ASSERT_EQ(::send(channel, &hello, sizeof hello, 0), ssize_t{sizeof hello});
  pollfd entry{.fd = channel, .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&entry, 1, 10000), 1);
  struct {
    ph_launch_header header;
    ph_launch_refused refused;
  } said{};
  ASSERT_EQ(::recv(channel, &said, sizeof said, 0), ssize_t{sizeof said});
  EXPECT_EQ(said.header.type, PH_LAUNCH_REFUSED);
  EXPECT_EQ(said.refused.reason, PH_LAUNCH_WRONG_VERSION);
  EXPECT_EQ(said.refused.version, PH_LAUNCH_VERSION) << "of the launcher, for its words";
});

TEST(LaunchProtocol, gathers_of_all_sizes_between_8_ranks) {
  expect_success(ranks_of("gathers", "8"));
}
TEST(LaunchProtocol, a_job_of_one_rank) { expect_success(ranks_of("gathers", "1")); }
TEST(LaunchProtocol, thirty_two_ranks_on_few_cores) { expect_success(ranks_of("gathers", "32")); }
TEST(LaunchProtocol, messages_and_descriptors_from_all_to_all_in_order) {
  expect_success(ranks_of("exchanges", "8"));
}
TEST(LaunchProtocol, through_wrappers) {
  expect_success(ranks_of("exchanges", "3", {"env", "A=B"}));
  expect_success(ranks_of("exchanges", "3", {"sh", "-c", "\"$0\" \"$@\"; exit $?"}));
}
TEST(LaunchProtocol, through_pid_namespaces) {
  Launched probe({"-n", "1", "unshare", "--pid", "--fork", "true"});
  if (probe.wait() != 0) GTEST_SKIP() << "unshare --pid is not permitted here";
  expect_success(ranks_of("exchanges", "3", {"unshare", "--pid", "--fork"}));
  expect_success(ranks_of("leaves", "3", {"unshare", "--pid", "--fork"}));
}
TEST(LaunchProtocol, a_slow_receiver_blocks_neither_sender_nor_launcher) {
  expect_success(ranks_of("floods", "4"));
}
TEST(LaunchProtocol, floods_all_ways_lose_nothing) {
  expect_success(ranks_of("floods_all_ways", "4"));
}
TEST(LaunchProtocol, on_two_hosts_gathers_of_all_sizes) {
  expect_success_on_hosts("gathers", "8", "6");
}
TEST(LaunchProtocol, on_two_hosts_messages_in_order_and_descriptors_within_each) {
  expect_success_on_hosts("exchanges", "6", "4");
}
TEST(LaunchProtocol, on_two_hosts_floods_all_ways_lose_nothing) {
  expect_success_on_hosts("floods_all_ways", "4", "2");
}
TEST(LaunchProtocol, on_two_hosts_a_rank_that_ended_is_gone_for_the_others) {
  expect_success_on_hosts("leaves", "5", "3");
}
TEST(LaunchProtocol, on_two_hosts_ranks_that_disagree_on_sizes_all_hear_of_it) {
  expect_success_on_hosts("disagrees_on_sizes", "4", "2");
}
TEST(LaunchProtocol, on_two_hosts_nonsense_ends_the_channel_it_came_through) {
  expect_success_on_hosts("speaks_nonsense", "3", "1");
}
TEST(LaunchProtocol, on_two_hosts_a_second_context_is_refused) {
  expect_success_on_hosts("opens_twice", "4", "2");
}
TEST(LaunchProtocol, a_rank_that_ended_is_gone_for_the_others) {
  expect_success(ranks_of("leaves", "5"));
}
TEST(LaunchProtocol, a_rank_that_ended_is_gone_although_its_wrapper_lives) {
  expect_success(ranks_of("leaves", "3", {"sh", "-c", "\"$0\" \"$@\" || exit 1; sleep 0.3"}));
}
TEST(LaunchProtocol, a_second_context_is_refused) { expect_success(ranks_of("opens_twice", "2")); }
TEST(LaunchProtocol, a_second_program_behind_one_wrapper_is_refused) {
  const std::string twice = "\"$0\" \"$@\" || exit 1; \"$0\" \"$@\" >/dev/null && exit 2; exit 0";
  expect_success(ranks_of("opens_twice", "2", {"sh", "-c", twice}));
}
TEST(LaunchProtocol, ranks_that_disagree_on_sizes_all_hear_of_it) {
  expect_success(ranks_of("disagrees_on_sizes", "3"));
}
TEST(LaunchProtocol, a_library_of_another_version_is_told_which_the_launcher_speaks) {
  Launched job(ranks_of("is_of_the_next_version", "2"));
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
}
TEST(LaunchProtocol, nonsense_ends_the_channel_it_came_through) {
  Launched job(ranks_of("speaks_nonsense", "3"));
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  EXPECT_NE(job.err.find("rank 0 sent the launcher a malformed packet"), std::string::npos);
}

}  // namespace
}  // namespace photon::test
