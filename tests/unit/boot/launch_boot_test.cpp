// The test is the launcher: it holds the other end of the channel. What the launcher says first is
// sent before open(), as the socket keeps it.
#include "boot/launch_boot.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include "boot/packet.hpp"
#include "boot_ranks.hpp"
#include "few_descriptors.hpp"

namespace photon::test {
namespace {

using Kind = boot::Message::Kind;

class LaunchBootTest : public testing::Test {
 protected:
  LaunchBootTest() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    launcher_.reset(fds[0]);
    rank_end_ = fds[1];
  }

  void say(ph_launch_header header, std::span<const std::byte> body = {},
           std::span<const int> fds = {}) {
    header.magic = PH_LAUNCH_MAGIC;
    if (header.version == 0) header.version = PH_LAUNCH_VERSION;
    header.body_bytes = static_cast<std::uint32_t>(body.size());
    const boot::Packet packet{.header = boot::bytes_of(header), .body = body, .fds = fds};
    ASSERT_EQ(*boot::send_packet(launcher_.get(), packet), boot::Sent::taken);
  }
  void welcome(std::uint32_t rank, std::uint32_t size) {
    ph_launch_welcome body{.rank = rank, .size = size, .local_size = size};
    body.secret[0] = 42;
    say({.type = PH_LAUNCH_WELCOME}, boot::bytes_of(body));
  }
  void refuse(std::uint32_t reason, std::uint64_t sequence = 0) {
    const ph_launch_refused body{.reason = reason, .version = 9};
    say({.version = 9, .type = PH_LAUNCH_REFUSED, .sequence = sequence}, boot::bytes_of(body));
  }
  void gone(std::uint32_t rank, std::uint64_t gathers) {
    const ph_launch_gone body{.how = PH_LAUNCH_KILLED, .value = 9};
    say({.type = PH_LAUNCH_GONE, .rank = rank, .sequence = gathers}, boot::bytes_of(body));
  }

  struct Heard {
    ph_launch_header header{};
    std::string body;
    std::vector<base::UniqueFd> fds;
  };
  Heard hear() {
    auto arrival = boot::receive_packet(launcher_.get(), buffer_);
    Heard heard;
    if (!arrival || !*arrival || (*arrival)->size_bytes < sizeof heard.header) return heard;
    std::memcpy(&heard.header, buffer_.data(), sizeof heard.header);
    heard.body = as_text(std::span(buffer_).subspan(sizeof heard.header, heard.header.body_bytes));
    heard.fds = std::move((*arrival)->fds);
    return heard;
  }

  auto try_open() { return boot::LaunchBoot::open(std::to_string(rank_end_)); }
  std::unique_ptr<boot::Boot> open(std::uint32_t rank = 1, std::uint32_t size = 3) {
    welcome(rank, size);
    auto opened = try_open();
    EXPECT_TRUE(opened);
    EXPECT_EQ(hear().header.type, PH_LAUNCH_HELLO);
    return opened ? std::move(*opened) : nullptr;
  }

  base::UniqueFd launcher_;
  int rank_end_ = -1;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(70000);
};

TEST_F(LaunchBootTest, joins_by_one_packet_each_way_however_many_ranks_there_are) {
  for (const std::uint32_t size : {2U, 8U, 64U, 1024U}) {
    const auto boot = open(size - 1, size);  // WELCOME, and it has said HELLO
    EXPECT_EQ(boot->size(), size);
    EXPECT_EQ(hear().header.type, 0) << "it says more";
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    launcher_.reset(fds[0]);
    rank_end_ = fds[1];
  }
  ::close(rank_end_);
}

TEST_F(LaunchBootTest, says_that_it_leaves_and_hears_who_left_in_order_and_who_did_not) {
  const auto boot = open();
  const ph_launch_gone left{.how = PH_LAUNCH_LEFT, .value = 0};
  say({.type = PH_LAUNCH_GONE, .rank = 0}, boot::bytes_of(left));
  gone(2, 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(await_message(*boot)->kind, Kind::gone);
  EXPECT_TRUE(boot->has_left(0));
  EXPECT_FALSE(boot->has_left(2));
  ASSERT_TRUE(boot->leave());
  EXPECT_EQ(hear().header.type, PH_LAUNCH_LEAVE);
}

TEST_F(LaunchBootTest, tells_the_launcher_once_whose_loss_its_errors_are_about) {
  const auto boot = open();
  boot->blame(2);
  boot->blame(2);
  boot->blame(7);  // there is none
  const Heard blame = hear();
  EXPECT_EQ(blame.header.type, PH_LAUNCH_BLAME);
  EXPECT_EQ(blame.header.rank, 2u);
  EXPECT_EQ(hear().header.type, 0) << "it says more";
  gone(2, 0);
  EXPECT_EQ(await_message(*boot)->kind, Kind::gone);
  boot->blame(2);
  EXPECT_EQ(hear().header.type, 0) << "its end makes it no news";
}

// A process that ends now loses what waits in its memory.
TEST_F(LaunchBootTest, blames_at_once_though_the_socket_is_full_and_other_packets_wait) {
  const auto boot = open();
  const std::vector<std::byte> bytes(boot::kMaxMessageBytes);
  while (boot->idle()) ASSERT_TRUE(*boot->send(0, bytes, {}));
  boot->blame(2);
  int blames = 0;
  for (Heard heard = hear(); heard.header.type != 0; heard = hear())
    blames += heard.header.type == PH_LAUNCH_BLAME ? 1 : 0;
  EXPECT_EQ(blames, 1);
}

TEST_F(LaunchBootTest, a_gather_that_cannot_complete_blames_all_who_are_missing) {
  const auto boot = open(1, 4);
  gone(3, 0);
  gone(0, 0);
  std::vector<std::byte> all(4);
  EXPECT_EQ(boot->allgather(std::span(all).first(1), all, {}).error().rank, 0u);
  EXPECT_EQ(hear().header.type, PH_LAUNCH_GATHER);
  for (const std::uint32_t missing : {0U, 3U}) EXPECT_EQ(hear().header.rank, missing);
}

TEST_F(LaunchBootTest, hands_over_the_next_channel_as_it_leaves_and_leaves_its_own_end_in_place) {
  for (int generation = 0; generation < 3; ++generation) {
    const auto boot = open();
    ASSERT_TRUE(boot->leave());
    const Heard leave = hear();
    EXPECT_EQ(leave.header.type, PH_LAUNCH_LEAVE);
    ASSERT_EQ(leave.fds.size(), 1u);
    EXPECT_EQ(::fcntl(rank_end_, F_GETFD), FD_CLOEXEC);
    // What is still said in the old one is heard there, whatever is open at its number now.
    gone(2, 0);
    EXPECT_EQ(await_message(*boot)->from, 2u);
    launcher_.reset(::dup(leave.fds.front().get()));
  }
  ::close(rank_end_);
}

class LeavesForGood : public LaunchBootTest, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(more, LeavesForGood, testing::Values(0, 1, 2));

// A pair of sockets and another number for its own are three.
TEST_P(LeavesForGood, where_the_descriptors_left_are_too_few) {
  {
    const auto boot = open();
    {
      const FewDescriptors few(GetParam());
      ASSERT_TRUE(boot->leave());
    }
    const Heard leave = hear();
    EXPECT_EQ(leave.header.type, PH_LAUNCH_LEAVE);
    EXPECT_TRUE(leave.fds.empty());
    gone(2, 0);
    EXPECT_EQ(await_message(*boot)->from, 2u);
    EXPECT_NE(try_open().error().what.find("taken"), std::string::npos);
  }
  EXPECT_EQ(hear().header.type, 0);
  EXPECT_NE(try_open().error().what.find("not open"), std::string::npos);
}

TEST_F(LaunchBootTest, a_socket_of_somebody_elses_at_its_number_is_no_next_channel) {
  open().reset();  // without leave()
  int others[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, others), 0);
  const base::UniqueFd first(others[0]);
  const base::UniqueFd second(others[1]);
  const base::UniqueFd in_place(::dup3(first.get(), rank_end_, O_CLOEXEC));
  EXPECT_NE(try_open().error().what.find("taken"), std::string::npos);
}

TEST_F(LaunchBootTest, learns_who_it_is_from_the_launcher) {
  const auto boot = open();
  EXPECT_EQ(boot->rank(), 1u);
  EXPECT_EQ(boot->size(), 3u);
  EXPECT_EQ(boot->local_size(), 3u);
  EXPECT_EQ(boot->secret()[0], std::byte{42});
  for (boot::Rank rank = 0; rank < 3; ++rank) EXPECT_TRUE(boot->passes_descriptors(rank));
}

TEST_F(LaunchBootTest, descriptors_go_to_ranks_of_its_host_only_and_others_are_no_end) {
  ph_launch_welcome body{.rank = 2, .size = 5, .local_size = 2, .local_first = 1};
  say({.type = PH_LAUNCH_WELCOME}, boot::bytes_of(body));
  auto opened = try_open();
  ASSERT_TRUE(opened);
  const auto boot = std::move(*opened);
  EXPECT_EQ(hear().header.type, PH_LAUNCH_HELLO);
  for (const boot::Rank rank : {0U, 3U, 4U}) EXPECT_FALSE(boot->passes_descriptors(rank));
  for (const boot::Rank rank : {1U, 2U}) EXPECT_TRUE(boot->passes_descriptors(rank));
  const std::array<int, 1> fds{launcher_.get()};
  EXPECT_EQ(boot->send(3, as_bytes("over there"), fds).error().status, PH_ERR_ARGUMENT);
  EXPECT_TRUE(*boot->send(3, as_bytes("without"), {}));
  EXPECT_EQ(hear().body, "without");
  EXPECT_TRUE(*boot->send(1, as_bytes("here"), fds));
  EXPECT_EQ(hear().fds.size(), 1u);
}

TEST_F(LaunchBootTest, a_host_that_its_rank_is_not_on_is_an_error) {
  ph_launch_welcome body{.rank = 3, .size = 5, .local_size = 2, .local_first = 1};
  say({.type = PH_LAUNCH_WELCOME}, boot::bytes_of(body));
  EXPECT_EQ(try_open().error().status, PH_ERR_BOOTSTRAP);
}

TEST_F(LaunchBootTest, a_second_one_in_the_process_is_refused) {
  const auto boot = open();
  const auto second = try_open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(second.error().what.find("taken"), std::string::npos);
}

TEST_F(LaunchBootTest, another_version_is_told_with_both_numbers) {
  refuse(PH_LAUNCH_WRONG_VERSION);
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().what.find("version 9"), std::string::npos);
}

TEST_F(LaunchBootTest, a_launcher_that_ended_is_an_error_at_once) {
  launcher_.reset();
  EXPECT_EQ(try_open().error().status, PH_ERR_BOOTSTRAP);
}

TEST_F(LaunchBootTest, forwards_and_takes_deliveries_with_descriptors) {
  const auto boot = open();
  const std::array<int, 1> fds{launcher_.get()};
  ASSERT_TRUE(*boot->send(2, as_bytes("to two"), fds));
  const Heard heard = hear();
  EXPECT_EQ(heard.header.type, PH_LAUNCH_FORWARD);
  EXPECT_EQ(heard.header.rank, 2u);
  EXPECT_EQ(heard.body, "to two");
  EXPECT_EQ(heard.fds.size(), 1u);

  EXPECT_FALSE(is_readable(boot->poll_fd()));
  say({.type = PH_LAUNCH_DELIVER, .rank = 0}, as_bytes("from zero"), fds);
  EXPECT_TRUE(is_readable(boot->poll_fd()));
  const auto message = await_message(*boot);
  EXPECT_EQ(message->from, 0u);
  EXPECT_EQ(as_text(message->bytes), "from zero");
  EXPECT_EQ(message->fds.size(), 1u);
  EXPECT_FALSE(is_readable(boot->poll_fd()));
}

TEST_F(LaunchBootTest, a_launcher_that_reads_slowly_blocks_nobody_and_gets_all_in_order) {
  const auto boot = open();
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) ASSERT_TRUE(*boot->send(0, as_bytes(std::to_string(i)), {}));
  EXPECT_FALSE(is_readable(boot->poll_fd()));
  for (int i = 0; i < kCount; ++i) {
    Heard heard = hear();
    if (heard.header.type == 0) {
      ASSERT_TRUE(is_readable(boot->poll_fd()));
      ASSERT_FALSE(*boot->receive());
      heard = hear();
    }
    ASSERT_EQ(heard.body, std::to_string(i));
  }
}

TEST_F(LaunchBootTest, gathers_while_messages_arrive) {
  const auto boot = open(1, 3);
  std::array<std::byte, 6> all{};
  int served = 0;
  const auto result = boot->allgather(as_bytes("bb"), all, [&] {
    if (++served == 1) {
      EXPECT_EQ(hear().body, "bb");
      say({.type = PH_LAUNCH_DELIVER, .rank = 0}, as_bytes("meanwhile"));
      say({.type = PH_LAUNCH_GATHERED, .rank = 0, .count = 2, .sequence = 1}, as_bytes("aabb"));
    } else if (served == 2) {
      say({.type = PH_LAUNCH_GATHERED, .rank = 2, .count = 1, .sequence = 1}, as_bytes("cc"));
    }
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(as_text(all), "aabbcc");
  EXPECT_TRUE(is_readable(boot->poll_fd()));
  EXPECT_EQ(as_text(await_message(*boot)->bytes), "meanwhile");
}

TEST_F(LaunchBootTest, what_comes_for_a_gather_whose_serving_threw_is_written_nowhere) {
  const auto boot = open(1, 3);
  std::array<std::byte, 6> all{};
  EXPECT_THROW(
      static_cast<void>(boot->allgather(as_bytes("bb"), all, [] { throw std::bad_alloc(); })),
      std::bad_alloc);
  say({.type = PH_LAUNCH_GATHERED, .rank = 0, .count = 3, .sequence = 1}, as_bytes("aabbcc"));
  say({.type = PH_LAUNCH_DELIVER, .rank = 0}, as_bytes("after"));
  EXPECT_EQ(as_text(await_message(*boot)->bytes), "after");
  EXPECT_EQ(as_text(all), std::string(6, '\0'));
}

TEST_F(LaunchBootTest, a_gather_fails_when_a_rank_ended_without_it_and_so_do_later_ones) {
  const auto boot = open(1, 3);
  const auto first = boot->barrier([&] { gone(2, 0); });
  EXPECT_EQ(first.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_EQ(first.error().rank, 2u);
  for (const auto type : {PH_LAUNCH_GATHER, PH_LAUNCH_BLAME}) EXPECT_EQ(hear().header.type, type);
  EXPECT_FALSE(boot->barrier([] {}));
  EXPECT_EQ(hear().header.type, 0u) << "the launcher would wait for rank 2 for ever";
  EXPECT_EQ(await_message(*boot)->kind, Kind::gone);
  EXPECT_FALSE(*boot->send(2, {}, {}));
}

TEST_F(LaunchBootTest, a_gather_completes_when_the_ended_rank_had_contributed) {
  const auto boot = open(1, 3);
  int served = 0;
  EXPECT_TRUE(boot->barrier([&] {
    if (++served == 1) gone(2, 1);
    if (served == 2) say({.type = PH_LAUNCH_GATHERED, .count = 3, .sequence = 1});
  }));
}

TEST_F(LaunchBootTest, different_sizes_end_the_gather_but_not_the_job) {
  const auto boot = open(0, 2);
  EXPECT_EQ(boot->barrier([&] { refuse(PH_LAUNCH_SIZES_DIFFER, 1); }).error().status,
            PH_ERR_BOOTSTRAP);
  EXPECT_TRUE(boot->barrier([&] { say({.type = PH_LAUNCH_GATHERED, .count = 2, .sequence = 2}); }));
}

TEST_F(LaunchBootTest, the_launchers_end_is_told_once_after_what_it_delivered) {
  const auto boot = open();
  say({.type = PH_LAUNCH_DELIVER, .rank = 0}, as_bytes("last"));
  launcher_.reset();
  EXPECT_TRUE(*boot->receive());
  EXPECT_TRUE(is_readable(boot->poll_fd()));
  EXPECT_EQ(boot->receive().error().status, PH_ERR_BOOTSTRAP);
  EXPECT_FALSE(*boot->receive());
  EXPECT_FALSE(is_readable(boot->poll_fd()));
  EXPECT_EQ(boot->send(0, {}, {}).error().status, PH_ERR_BOOTSTRAP);
  EXPECT_EQ(boot->barrier([] {}).error().status, PH_ERR_BOOTSTRAP);
}

TEST_F(LaunchBootTest, the_launchers_end_ends_a_gather) {
  const auto boot = open();
  EXPECT_EQ(boot->barrier([&] { launcher_.reset(); }).error().status, PH_ERR_BOOTSTRAP);
}

TEST_F(LaunchBootTest, malformed_packets_are_an_error_never_a_crash) {
  const std::string short_one(7, 'x');
  const std::string long_one(100, 'x');
  const ph_launch_header wrong_size{.magic = PH_LAUNCH_MAGIC,
                                    .version = PH_LAUNCH_VERSION,
                                    .type = PH_LAUNCH_DELIVER,
                                    .body_bytes = 5};
  const ph_launch_header no_such_rank{
      .magic = PH_LAUNCH_MAGIC, .version = PH_LAUNCH_VERSION, .type = PH_LAUNCH_DELIVER, .rank = 3};
  const ph_launch_header no_such_type{
      .magic = PH_LAUNCH_MAGIC, .version = PH_LAUNCH_VERSION, .type = 99};
  const ph_launch_header future_gather{.magic = PH_LAUNCH_MAGIC,
                                       .version = PH_LAUNCH_VERSION,
                                       .type = PH_LAUNCH_GATHERED,
                                       .count = 3,
                                       .sequence = 9};
  for (const auto bytes : {as_bytes(short_one), as_bytes(long_one), boot::bytes_of(wrong_size),
                           boot::bytes_of(no_such_rank), boot::bytes_of(no_such_type),
                           boot::bytes_of(future_gather)}) {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    launcher_.reset(fds[0]);
    rank_end_ = fds[1];
    const auto boot = open();
    ASSERT_TRUE(boot::send_packet(launcher_.get(), {.header = bytes}));
    EXPECT_EQ(boot->receive().error().status, PH_ERR_BOOTSTRAP);
  }
}

TEST_F(LaunchBootTest, without_a_descriptor_left_for_one_that_comes_the_error_says_so) {
  const auto boot = open();
  const std::array<int, 1> fds{launcher_.get()};
  say({.type = PH_LAUNCH_DELIVER, .rank = 0}, {}, fds);
  const FewDescriptors none(0);
  const auto received = boot->receive();
  ASSERT_FALSE(received);
  expect_names_limit(received.error().what, none.limit());
}

TEST_F(LaunchBootTest, contributions_that_do_not_fit_are_malformed) {
  const auto boot = open(1, 3);
  std::array<std::byte, 6> all{};
  EXPECT_FALSE(boot->allgather(as_bytes("bb"), all, [&] {
    say({.type = PH_LAUNCH_GATHERED, .rank = 0, .count = 4, .sequence = 1}, as_bytes("aabbccdd"));
  }));
}

}  // namespace
}  // namespace photon::test
