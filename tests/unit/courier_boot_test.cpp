#include "boot/courier_boot.hpp"

#include <sys/socket.h>

#include <cstring>

#include "address_ranks.hpp"
#include "boot/packet.hpp"

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

void throw_at(const boot::Boot& boot, const ForgedDatagram& head, std::span<const std::byte> body) {
  boot::AddressBlob blob;
  std::memcpy(&blob, boot.address()->data(), sizeof blob);
  const boot::MailboxName name = boot::mailbox_name(blob.card);
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(socket.get(), name.get(), name.size_bytes), 0);
  const auto sent =
      boot::send_packet(socket.get(), {.header = boot::bytes_of(head), .body = body, .fds = {}});
  ASSERT_TRUE(sent);
  ASSERT_EQ(*sent, boot::Sent::taken);
}

TEST(CourierBoot, nobody_is_believed_before_it_has_said_who_it_is) {
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

TEST(CourierBoot, the_secret_of_the_job_and_the_key_of_another_rank_are_no_key) {
  AddressRanks ranks(3);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  throw_at(ranks[0], {.from = 1, .secret = ranks[0].secret()}, {});
  boot::AddressBlob other;
  std::memcpy(&other, ranks[2].address()->data(), sizeof other);
  throw_at(ranks[0], {.from = 1, .secret = boot::sender_key(ranks[0].secret(), other.card.name)},
           {});
  EXPECT_FALSE(*ranks[0].receive());
  EXPECT_EQ(ranks[0].dropped_count(), 2u);
}

TEST(CourierBoot, a_rank_says_once_who_it_is) {
  AddressRanks ranks(2);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(*ranks[0].send(1, as_bytes("word"), {}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(as_text(await_message(ranks[1])->bytes), "word");
  EXPECT_FALSE(*ranks[1].receive());
  EXPECT_EQ(ranks[1].dropped_count(), 0u);
}

}  // namespace
}  // namespace photon::test
