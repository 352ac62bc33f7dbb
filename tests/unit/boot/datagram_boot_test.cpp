#include "boot/datagram_boot.hpp"

#include <sys/socket.h>

#include <chrono>
#include <cstring>

#include "address_ranks.hpp"
#include "boot/packet.hpp"
#include "boot/tcp_side_channel.hpp"

namespace photon::test {
namespace {

// A datagram as ranks send it, by whoever has found the name of a rank's socket.
struct ForgedDatagram {
  std::uint32_t magic = 0x44424850;
  std::uint32_t from = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t kind = 0;
  boot::Secret secret{};
};

boot::AddressBlob read_of(const boot::Boot& boot) {
  boot::AddressBlob blob;
  std::memcpy(&blob, boot.address()->data(), sizeof blob);
  return blob;
}

void throw_at(const boot::Boot& boot, const ForgedDatagram& head, std::span<const std::byte> body) {
  const boot::DatagramName name = boot::datagram_name(read_of(boot).endpoint_info);
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(socket.get(), name.get(), name.size_bytes), 0);
  const auto sent =
      boot::send_packet(socket.get(), {.header = boot::bytes_of(head), .body = body, .fds = {}});
  ASSERT_TRUE(sent);
  ASSERT_EQ(*sent, boot::Sent::taken);
}

TEST(DatagramBoot, nobody_is_believed_before_it_has_said_who_it_is) {
  AddressRanks ranks(2);
  // With the right key, and without an introduction.
  throw_at(ranks[0], {.from = 1, .secret = boot::sender_key(ranks[0].secret(), {})}, {});
  // With an introduction of another job.
  const auto stranger = std::move(*open_address_boot(1, 2, "another secret, as long"));
  const auto address = blob_of(*stranger);
  throw_at(ranks[0],
           {.from = 1, .body_bytes = static_cast<std::uint32_t>(address.size()), .kind = 2},
           address);
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 2u);
  EXPECT_FALSE(ranks[0].knows(1));
}

TEST(DatagramBoot, an_introduction_that_somebody_has_read_places_nobody) {
  AddressRanks ranks(3);
  const auto address = blob_of(ranks[1]);
  ForgedDatagram head{
      .from = 1, .body_bytes = static_cast<std::uint32_t>(address.size()), .kind = 2};
  throw_at(ranks[0], head, address);
  head.secret = boot::sender_key(ranks[0].secret(), read_of(ranks[2]).endpoint_info.name);
  throw_at(ranks[0], head, address);
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 2u);
  EXPECT_FALSE(ranks[0].knows(1));
  EXPECT_EQ(ranks[0].local_size(), 1u);
}

// Of another host, as far as can be seen: it has the secret, a near rank's number, and its address.
TEST(DatagramBoot, who_comes_by_the_network_under_the_number_of_a_near_rank_is_not_heard) {
  AddressRanks ranks(2);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  base::Config config;
  config.tcp_interface = base::word("127.0.0.1");
  boot::Watch watch = std::move(*boot::Watch::create());
  boot::Inbox inbox = std::move(*boot::Inbox::create());
  const auto twin = std::move(*boot::TcpSideChannel::open(config, {1, 2}, watch, inbox));
  ASSERT_TRUE(twin->begin(ranks[0].secret(), {read_of(ranks[0]).addresses, twin->addresses()}));
  ASSERT_TRUE(*twin->send(0, blob_of(ranks[1])));
  ASSERT_TRUE(*twin->send(0, as_bytes("I am rank 1")));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (bool is_told = false; !is_told;) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    for (const boot::Ready& ready : watch.ready()) twin->handle(ready);
    EXPECT_FALSE(*ranks[0].receive());
    if (const auto message = inbox.pop()) is_told = message->kind == boot::Message::Kind::gone;
  }
  EXPECT_FALSE(ranks[0].has_left(1));
  ASSERT_TRUE(ranks[1].connect(blob_of(ranks[0])));
  ASSERT_TRUE(*ranks[1].send(0, as_bytes("no, I am"), {}));
  EXPECT_EQ(as_text(await_message(ranks[0])->bytes), "no, I am");
}

TEST(DatagramBoot, the_secret_of_the_job_and_the_key_of_another_rank_are_no_key) {
  AddressRanks ranks(3);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  throw_at(ranks[0], {.from = 1, .secret = ranks[0].secret()}, {});
  const boot::Secret other =
      boot::sender_key(ranks[0].secret(), read_of(ranks[2]).endpoint_info.name);
  throw_at(ranks[0], {.from = 1, .secret = other}, {});
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 2u);
}

TEST(DatagramBoot, a_rank_says_once_who_it_is) {
  AddressRanks ranks(2);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(*ranks[0].send(1, as_bytes("word"), {}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(as_text(await_message(ranks[1])->bytes), "word");
  EXPECT_FALSE(*ranks[1].receive());
  EXPECT_EQ(ranks[1].dropped_count(), 0u);
}

}  // namespace
}  // namespace photon::test
