#include "boot/callback_boot.hpp"

#include <sys/un.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <set>
#include <sstream>

#include "boot/proof.hpp"
#include "boot_ranks.hpp"
#include "few_descriptors.hpp"

namespace photon::test {
namespace {

using Kind = boot::Message::Kind;

// Inodes of this process's sockets, as /proc/net/unix lists them.
std::set<std::string> own_sockets() {
  std::set<std::string> inodes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string link = std::filesystem::read_symlink(entry.path(), error).string();
    if (link.starts_with("socket:[")) inodes.insert(link.substr(8, link.size() - 9));
  }
  return inodes;
}

// The name of the one message socket of this process, which everybody on the host can list.
std::string message_socket_name() {
  const std::set<std::string> inodes = own_sockets();
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word, inode, name;
    for (int i = 0; i < 6; ++i) words >> word;
    words >> inode >> name;
    if (inodes.contains(inode) && name.starts_with("@photon-")) return name;
  }
  return {};
}

// Somebody who found the name of a rank's socket.
base::UniqueFd connect_as_stranger(const std::string& name) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1, 1);  // the @ stands for a zero
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), address_bytes), 0);
  return socket;
}

TEST(CallbackBoot, ranks_share_one_secret_and_count_each_other) {
  CallbackRanks ranks(3);
  for (ph_rank rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks[rank].rank(), rank);
    EXPECT_EQ(ranks[rank].size(), 3u);
    EXPECT_EQ(ranks[rank].local_size(), 3u);
    EXPECT_EQ(ranks[rank].secret(), ranks[0].secret());
  }
  EXPECT_NE(ranks[0].secret(), boot::Secret{});
}

TEST(CallbackBoot, a_rank_that_leaves_tells_those_whose_messages_it_has_not_read) {
  CallbackRanks ranks(4);
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("never read"), {}));
  ASSERT_TRUE(*ranks[2].send(1, as_bytes("never read"), {}));
  ASSERT_TRUE(ranks[1].leave());
  // Refused, as it has left; told by its bye; told although it is closed by now.
  EXPECT_FALSE(*ranks[3].send(1, as_bytes("too late"), {}));
  for (const ph_rank rank : {0u, 3u}) {
    const auto told = await_message(ranks[rank]);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->kind, Kind::gone);
    EXPECT_TRUE(ranks[rank].has_left(1));
  }
  EXPECT_TRUE(ranks[1].idle());
  ranks.drop(1);
  const auto told = await_message(ranks[2]);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Kind::gone);
  EXPECT_TRUE(ranks[2].has_left(1));
}

TEST(CallbackBoot, a_message_and_its_descriptor_arrive) {
  CallbackRanks ranks(2);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  const std::array<int, 1> fds{writing.get()};
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("take this"), fds));
  writing.reset();
  EXPECT_TRUE(is_readable(ranks[1].poll_fd()));
  const auto message = await_message(ranks[1]);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->from, 0u);
  EXPECT_EQ(as_text(message->bytes), "take this");
  ASSERT_EQ(message->fds.size(), 1u);
  ASSERT_EQ(::write(message->fds[0].get(), "x", 1), 1);
  EXPECT_TRUE(is_readable(reading.get()));
  EXPECT_FALSE(is_readable(ranks[1].poll_fd()));
}

// It was dropped as malformed, and who had sent it waited for ever.
TEST(CallbackBoot, a_message_whose_descriptors_find_no_room_arrives_without_them) {
  CallbackRanks ranks(2);
  const std::array<int, 1> fds{STDERR_FILENO};
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("first"), {}));  // they have met
  ASSERT_TRUE(await_message(ranks[1]));
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("take this"), fds));
  const FewDescriptors none(0);
  const auto message = await_message(ranks[1]);
  ASSERT_TRUE(message);
  EXPECT_EQ(as_text(message->bytes), "take this");
  EXPECT_TRUE(message->fds.empty());
  EXPECT_EQ(ranks[1].dropped_count(), 0u);
}

TEST(CallbackBoot, more_than_the_receivers_queue_holds_arrives_in_order) {
  CallbackRanks ranks(2);
  constexpr int kCount = 3000;
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(*ranks[0].send(1, std::as_bytes(std::span(&i, 1)), {}));
  }
  EXPECT_TRUE(ranks[0].sends_wait());
  for (int expected = 0; expected < kCount; ++expected) {
    auto message = ranks[1].receive();
    ASSERT_TRUE(message);
    if (!*message) {
      // Room at the receiver wakes the sender.
      ASSERT_TRUE(is_readable(ranks[0].poll_fd()));
      ASSERT_FALSE(*ranks[0].receive());
      message = ranks[1].receive();
    }
    ASSERT_TRUE(*message);
    int number = -1;
    std::memcpy(&number, (*message)->bytes.data(), sizeof number);
    ASSERT_EQ(number, expected);
  }
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_FALSE(ranks[0].sends_wait());
  EXPECT_FALSE(is_readable(ranks[0].poll_fd()));
}

TEST(CallbackBoot, a_rank_sends_to_itself) {
  CallbackRanks ranks(2);
  ASSERT_TRUE(*ranks[1].send(1, as_bytes("me"), {}));
  EXPECT_EQ(await_message(ranks[1])->from, 1u);
}

TEST(CallbackBoot, a_rank_whose_socket_is_closed_is_gone_after_its_last_message) {
  CallbackRanks ranks(2);
  ASSERT_TRUE(*ranks[1].send(0, as_bytes("last"), {}));
  ranks.drop(1);
  EXPECT_FALSE(*ranks[0].send(1, as_bytes("anybody there?"), {}));
  EXPECT_EQ(as_text(await_message(ranks[0])->bytes), "last");
  EXPECT_EQ(await_message(ranks[0])->kind, Kind::gone);
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_FALSE(*ranks[0].send(1, {}, {}));
}

TEST(CallbackBoot, messages_that_wait_for_a_closing_rank_end_in_gone) {
  CallbackRanks ranks(2);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(*ranks[0].send(1, {}, {}));
  ASSERT_TRUE(ranks[0].sends_wait());
  ranks.drop(1);
  const auto message = await_message(ranks[0]);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, Kind::gone);
  EXPECT_FALSE(is_readable(ranks[0].poll_fd()));
}

TEST(CallbackBoot, strangers_datagrams_are_dropped_and_counted) {
  CallbackRanks ranks(1);
  const base::UniqueFd socket = connect_as_stranger(message_socket_name());
  const std::string garbage(2000, 'g');
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{48}, garbage.size()}) {
    ASSERT_EQ(::send(socket.get(), garbage.data(), size, 0), static_cast<ssize_t>(size));
  }
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 4u);
}

TEST(CallbackBoot, a_right_looking_message_counts_only_with_the_secret) {
  CallbackRanks ranks(1);
  const base::UniqueFd socket = connect_as_stranger(message_socket_name());
  struct {
    std::uint32_t magic = 0x44424850, from = 0, body_bytes = 0, reserved = 0;
    boot::Secret secret{};
  } header;
  ASSERT_EQ(::send(socket.get(), &header, sizeof header, 0), 48);
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 1u);
  header.secret = ranks[0].secret();
  ASSERT_EQ(::send(socket.get(), &header, sizeof header, 0), 48);
  EXPECT_TRUE(*ranks[0].receive());
  header.body_bytes = 1;
  ASSERT_EQ(::send(socket.get(), &header, sizeof header, 0), 48);
  header.from = 1;
  ASSERT_EQ(::send(socket.get(), &header, sizeof header, 0), 48);
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 3u);
}

TEST(CallbackBoot, gathers_and_meets_through_the_callbacks) {
  CallbackRanks ranks(4);
  ranks.on_all([&](ph_rank rank) {
    std::array<std::uint32_t, 4> all{};
    const std::uint32_t mine = rank * 10;
    ASSERT_TRUE(ranks[rank].allgather(std::as_bytes(std::span(&mine, 1)),
                                      std::as_writable_bytes(std::span(all)), [] {}));
    EXPECT_EQ(all, (std::array<std::uint32_t, 4>{0, 10, 20, 30}));
    ASSERT_TRUE(ranks[rank].barrier([] {}));
  });
}

// A barrier that ends when its rank has served often enough.
struct Patient {
  std::mutex mutex;
  std::condition_variable news;
  int served = 0;

  int barrier() {
    std::unique_lock lock(mutex);
    return news.wait_for(lock, std::chrono::seconds(20), [&] { return served >= 5; }) ? 0 : 1;
  }
};

TEST(CallbackBoot, serves_while_a_callback_runs_and_no_more_afterwards) {
  CallbackRanks ranks(2);
  Patient patient;
  const auto serve = [&] {
    const std::scoped_lock lock(patient.mutex);
    ++patient.served;
    patient.news.notify_one();
  };
  ranks.set_barrier(0, [&] { return patient.barrier(); });
  EXPECT_TRUE(ranks[0].barrier(serve));
  const int served = patient.served;  // under no lock: nobody else is left
  EXPECT_GE(served, 5);
  EXPECT_THROW((void)ranks[0].barrier([&] {
    serve();
    throw std::bad_alloc();
  }),
               std::bad_alloc);
  EXPECT_GT(patient.served, served);
}

TEST(CallbackBoot, a_failing_callback_is_a_bootstrap_error_with_its_status) {
  CallbackRanks ranks(2);
  ranks.break_up();
  const auto met = ranks[0].barrier([] {});
  EXPECT_EQ(met.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(met.error().what.find("7"), std::string::npos);
}

TEST(CallbackBoot, an_incomplete_bootstrap_is_refused) {
  MeetingPoint meeting(1);
  Seat seat{&meeting};
  ph_bootstrap bootstrap = seat.bootstrap(1);
  bootstrap.barrier = nullptr;
  EXPECT_EQ(boot::open(&bootstrap).error().status, PH_ERR_ARGUMENT);
  bootstrap = seat.bootstrap(1);
  bootstrap.rank = 1;
  EXPECT_EQ(boot::open(&bootstrap).error().status, PH_ERR_ARGUMENT);
}

TEST(CallbackBoot, an_allgather_that_mixes_up_its_data_is_refused) {
  ph_bootstrap bootstrap{nullptr, 0, 1,
                         [](void*, const void*, void* all, std::size_t size_bytes) {
                           std::memset(all, 0x55, size_bytes);
                           return 0;
                         },
                         [](void*) { return 0; }};
  EXPECT_EQ(boot::open(&bootstrap).error().status, PH_ERR_BOOTSTRAP);
}

// Ranks by turns on two hosts, as far as their endpoint infos tell.
void on_two_hosts(ph_rank rank, std::span<boot::EndpointInfo> endpoint_infos) {
  for (std::size_t other = 0; other < endpoint_infos.size(); ++other)
    if (other % 2 != rank % 2) ++endpoint_infos[other].network_namespace;
}

class CallbackBootOfHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!boot::can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
  }
};

// The next message of one rank's, while the others do their part.
std::optional<boot::Message> next_of(CallbackRanks& ranks, ph_rank rank, ph_rank other) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    auto message = ranks[rank].receive();
    if (message && *message) return std::move(*message);
    EXPECT_FALSE(*ranks[other].receive());
  }
  return std::nullopt;
}

TEST_F(CallbackBootOfHosts, messages_cross_and_descriptors_do_not) {
  CallbackRanks ranks(4, on_two_hosts);
  EXPECT_EQ(ranks[0].local_size(), 2u);
  EXPECT_TRUE(ranks[0].passes_descriptors(2));
  EXPECT_FALSE(ranks[0].passes_descriptors(1));
  const std::array<int, 1> fds{1};
  EXPECT_EQ(ranks[0].send(1, as_bytes("take this"), fds).error().status, PH_ERR_ARGUMENT);
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("far"), {}));
  EXPECT_TRUE(ranks[0].sends_wait());
  ASSERT_TRUE(*ranks[0].send(2, as_bytes("near"), {}));
  const auto message = next_of(ranks, 1, 0);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->from, 0u);
  EXPECT_EQ(as_text(message->bytes), "far");
  EXPECT_EQ(as_text(await_message(ranks[2])->bytes), "near");
  EXPECT_TRUE(ranks[0].idle());
}

TEST_F(CallbackBootOfHosts, who_leaves_and_who_ends_is_told_apart) {
  CallbackRanks ranks(4, on_two_hosts);
  for (const ph_rank to : {1u, 3u}) {
    ASSERT_TRUE(*ranks[0].send(to, as_bytes("hello"), {}));
    ASSERT_TRUE(next_of(ranks, to, 0));
  }
  ASSERT_TRUE(ranks[1].leave());
  auto told = next_of(ranks, 0, 1);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Kind::gone);
  EXPECT_EQ(told->from, 1u);
  EXPECT_TRUE(ranks[0].has_left(1));
  EXPECT_FALSE(*ranks[0].send(1, as_bytes("too late"), {}));
  ranks.drop(3);
  told = next_of(ranks, 0, 2);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Kind::gone);
  EXPECT_EQ(told->from, 3u);
  EXPECT_FALSE(ranks[0].has_left(3));
}

// Copies of one virtual machine: the same ids everywhere, and sockets that only their own host has.
TEST_F(CallbackBootOfHosts,
       endpoint_infos_that_look_alike_are_of_one_host_only_if_a_socket_answers) {
  CallbackRanks ranks(4, [](ph_rank rank, std::span<boot::EndpointInfo> endpoint_infos) {
    for (std::size_t other = 0; other < endpoint_infos.size(); ++other)
      if (other % 2 != rank % 2) endpoint_infos[other].name = {};
  });
  EXPECT_EQ(ranks[3].local_size(), 2u);
  EXPECT_TRUE(ranks[3].passes_descriptors(1));
  EXPECT_FALSE(ranks[3].passes_descriptors(0));
  ASSERT_TRUE(*ranks[3].send(0, as_bytes("far"), {}));
  EXPECT_EQ(next_of(ranks, 0, 3)->from, 3u);
}

}  // namespace
}  // namespace photon::test
