// src/service/mailbox/incoming.cpp: mails are judged, kept, and their senders are told.
#include <array>
#include <cstring>

#include "mailbox_unit.hpp"

namespace photon::test {
namespace {

std::uint64_t count(const std::vector<std::vector<std::uint64_t>>& said, std::uint64_t op) {
  std::uint64_t found = 0;
  for (const auto& words : said) found += (words[0] & 0xff) == op;
  return found;
}

TEST(MailboxIncoming, early_mails_land_in_the_order_in_which_they_came) {
  Office office;
  std::array<std::uint64_t, 4> memory{};
  const ph_mailbox box = office.open(7, {.unit = PH_MAILBOX_OPERATIONS});
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(office.comes(1, 7, 10 + i, i == 2 ? kAsks : 0));
  EXPECT_EQ(count(office.said(), kKept), 4u);
  EXPECT_EQ(office.service.held(), 4u);
  for (std::uint64_t& one : memory)
    ASSERT_EQ(office.post(box, std::as_writable_bytes(std::span(&one, 1)), 1), PH_OK);
  EXPECT_EQ(memory, (std::array<std::uint64_t, 4>{10, 11, 12, 13}));
  EXPECT_EQ(count(office.said(), kVerdict), 4u) << "each that was kept ends by one";
  EXPECT_EQ(office.service.held(), 0u);
}

TEST(MailboxIncoming, no_peer_has_more_kept_than_its_credit) {
  Office office;
  office.open(7);
  const std::uint64_t most = office.port.config().mailbox_early_bytes / (64 + 8);
  for (std::uint64_t i = 0; i < most + 10; ++i) ASSERT_TRUE(office.comes(1, 7, i));
  EXPECT_EQ(office.service.held(), most);
  const auto said = office.said();
  EXPECT_EQ(count(said, kKept), most);
  EXPECT_EQ(count(said, kVerdict), 10u) << "refused: there is no buffer";
  ASSERT_TRUE(office.comes(2, 7, 1));
  EXPECT_EQ(office.service.held(), most + 1) << "another one has its own";
}

TEST(MailboxIncoming, credits_come_in_batches_and_the_last_a_little_later) {
  Office office;
  std::array<std::byte, 8> memory{};
  const ph_mailbox box = office.open(7, {.unit = PH_MAILBOX_OPERATIONS});
  ASSERT_EQ(office.post(box, memory, 1000), PH_OK);
  for (std::uint64_t i = 0; i < 130; ++i) ASSERT_TRUE(office.comes(1, 7, i));
  const auto said = office.said();
  EXPECT_EQ(count(said, kCredit), 2u);
  EXPECT_EQ(said.back()[0] >> 8, 128u);
  EXPECT_LE(office.service.next_turn_ns(), office.port.now_ns() + 100'000);
  EXPECT_FALSE(office.service.turn());
  EXPECT_EQ(office.said().back()[0] >> 8, 130u);
  EXPECT_EQ(office.service.next_turn_ns(), INT64_MAX);
}

Coming part(std::uint64_t offset, std::size_t bytes, std::uint64_t whole) {
  return {1,      offset == 0 ? words_of({kMail | kAsks << 8, 7, 0}) : Bytes{},
          {},     Bytes(bytes, std::byte(1 + offset / 1000)),
          offset, whole};
}

TEST(MailboxIncoming, a_body_lands_when_its_last_byte_has_come_and_not_before) {
  Office office;
  std::array<std::byte, 4000> memory{};
  const ph_mailbox box = office.open(7);
  ASSERT_EQ(office.post(box, memory, 2500), PH_OK);
  ASSERT_TRUE(office.port.deliver(part(0, 1000, 2500)));
  ASSERT_TRUE(office.port.deliver(part(1000, 1000, 2500)));
  EXPECT_EQ(office.port.loans(), 2u);
  EXPECT_EQ(memory[0], std::byte{}) << "nothing is in the buffer yet";
  ASSERT_TRUE(office.port.deliver(part(2000, 500, 2500)));
  EXPECT_EQ(office.port.loans(), 0u);
  EXPECT_EQ(memory[0], std::byte{1});
  EXPECT_EQ(memory[1500], std::byte{2});
  EXPECT_EQ(memory[2499], std::byte{3});
  EXPECT_EQ(memory[2500], std::byte{});
  ph_mailbox_event event{};
  ASSERT_EQ(office.receiver().take(box, event), PH_OK);
  EXPECT_EQ(event.bytes, 2500u);
}

// Of one whose sender dies, or has lost the memory, nothing is seen.
TEST(MailboxIncoming, of_a_body_that_does_not_come_whole_nothing_is_seen) {
  for (const bool dies : {true, false}) {
    Office office;
    std::array<std::byte, 4000> memory{};
    const ph_mailbox box = office.open(7);
    ASSERT_EQ(office.post(box, memory, 10), PH_OK);
    ASSERT_TRUE(office.port.deliver(part(0, 1000, 2500)));
    if (dies)
      office.port.lose(1);
    else
      ASSERT_TRUE(office.port.deliver({1, {}, {}, {}, 1000, 2500}));
    EXPECT_EQ(office.port.loans(), 0u);
    EXPECT_EQ(memory[0], std::byte{});
    EXPECT_EQ(office.receiver().state(box), PH_AGAIN);
    EXPECT_EQ(count(office.said(), kVerdict), 0u);
  }
}

TEST(MailboxIncoming, a_body_that_the_bulk_ring_could_not_hold_is_gathered_in_memory) {
  Office office;
  const std::uint64_t whole = office.port.config().bulk_bytes / 4 + 1000;
  std::vector<std::byte> memory(whole);
  const ph_mailbox box = office.open(7);
  ASSERT_EQ(office.post(box, memory), PH_OK);
  for (std::uint64_t at = 0; at < whole; at += 1000)
    ASSERT_TRUE(office.port.deliver(part(at, std::min<std::uint64_t>(1000, whole - at), whole)));
  EXPECT_EQ(office.port.loans(), 0u);
  EXPECT_EQ(memory.back(), std::byte(1 + (whole - 1) / 1000 * 1000 / 1000));
  EXPECT_EQ(office.receiver().state(box), PH_OK);
}

}  // namespace
}  // namespace photon::test
