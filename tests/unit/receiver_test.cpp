#include "service/mailbox/receiver.hpp"

#include <array>

#include "mailbox_unit.hpp"

namespace photon::test {
namespace {

TEST(MailboxReceiver, handles_name_one_life_of_a_mailbox) {
  Office office;
  std::array<std::byte, 8> memory{};
  const ph_mailbox first = office.open(7);
  ASSERT_EQ(office.receiver().close(first), PH_OK);
  EXPECT_EQ(office.receiver().close(first), PH_ERR_STATE);
  const ph_mailbox second = office.open(7);
  EXPECT_NE(first.bits, second.bits);
  EXPECT_EQ(office.post(first, memory), PH_ERR_STATE);
  EXPECT_EQ(office.post(second, memory), PH_OK);
  EXPECT_EQ(office.post({second.bits + 5}, memory), PH_ERR_STATE);
}

TEST(MailboxReceiver, the_epochs_of_an_address_go_on) {
  Office office;
  std::array<std::byte, 8> memory{}, other{};
  for (std::uint64_t life = 0; life < 5; ++life) {
    const ph_mailbox box = office.open(7);
    std::uint64_t epoch = 0;
    std::uint32_t incarnation = 0;
    ASSERT_EQ(office.receiver().epoch(box, epoch, incarnation), PH_OK);
    EXPECT_EQ(epoch, 2 * life);
    EXPECT_EQ(incarnation, life + 1);
    ASSERT_EQ(office.post(box, memory), PH_OK);
    ASSERT_EQ(office.post(box, other), PH_OK);
    ASSERT_EQ(office.receiver().close(box), PH_OK);
    ph_mailbox_event event{};
    for (std::uint64_t i = 0; i < 2; ++i) {
      ASSERT_EQ(office.receiver().take(box, event), PH_OK);
      EXPECT_EQ(event.epoch, 2 * life + i);
      EXPECT_EQ(event.why, PH_MAILBOX_CLOSED);
    }
    EXPECT_EQ(office.receiver().take(box, event), PH_ERR_STATE);
  }
}

TEST(MailboxReceiver, events_of_all_mailboxes_can_be_taken_by_one) {
  Office office;
  std::array<std::array<std::byte, 8>, 6> memory{};
  std::array<ph_mailbox, 3> boxes{};
  for (std::uint64_t i = 0; i < 3; ++i) boxes[i] = office.open(i);
  for (std::size_t i = 0; i < memory.size(); ++i)
    ASSERT_EQ(office.post(boxes[i % 3], memory[i]), PH_OK);
  for (const std::uint64_t address : {2, 0, 2, 1}) ASSERT_TRUE(office.comes(1, address, address));
  ph_mailbox_event event{};
  ASSERT_EQ(office.receiver().take(boxes[0], event), PH_OK);
  std::vector<std::uint64_t> found;
  while (office.receiver().take({}, event) == PH_OK) found.push_back(event.address);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{2, 2, 1}));
  EXPECT_EQ(office.receiver().state(boxes[1]), PH_AGAIN);
}

// The memory of a handed-over buffer is its owner's: it may be posted again at once.
TEST(MailboxReceiver, a_buffer_that_overlaps_one_that_is_posted_or_retained_is_refused) {
  Office office;
  std::array<std::byte, 32> memory{};
  const std::span all(memory);
  const ph_mailbox box = office.open(7, {.retained = 1});
  ASSERT_EQ(office.post(box, all.first(8)), PH_OK);
  EXPECT_EQ(office.post(box, all.subspan(7, 8)), PH_ERR_STATE);
  ASSERT_EQ(office.post(box, all.subspan(8, 8)), PH_OK);
  ASSERT_TRUE(office.comes(1, 7, 5));
  EXPECT_EQ(office.post(box, all.first(8)), PH_ERR_STATE) << "it is retained";
  ASSERT_EQ(office.receiver().release(box, 0), PH_OK);
  EXPECT_EQ(office.post(box, all.first(8)), PH_OK);
}

}  // namespace
}  // namespace photon::test
