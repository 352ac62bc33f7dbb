#include "service/mailbox/mailboxes.hpp"

#include "mailbox_unit.hpp"

namespace photon::test {
namespace {

TEST(Mailboxes, a_message_goes_to_the_half_that_it_is_for) {
  Office office;
  ASSERT_EQ(office.put(1, 8), PH_OK);
  EXPECT_TRUE(office.replies(1, kCredit, 1)) << "for the sender";
  EXPECT_TRUE(office.comes(1, 7, 5)) << "for the receiver, which refuses it";
  std::vector<std::vector<std::uint64_t>> said = office.said();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[1][0] & 0xff, kVerdict);
  EXPECT_EQ(static_cast<std::int64_t>(said[1][1]), PH_ERR_NOT_FOUND);
}

TEST(Mailboxes, a_reply_has_no_payload_and_every_message_is_one_of_four) {
  for (const std::uint64_t first : {kCredit | 1 << 8, std::uint64_t{0}, std::uint64_t{9}}) {
    Office office;
    ASSERT_EQ(office.put(1, 8), PH_OK);
    const Bytes payload = first == (kCredit | 1 << 8) ? Bytes(8) : Bytes{};
    EXPECT_FALSE(office.port.deliver({1, words_of({first}), payload, {}, 0, 0}));
  }
}

TEST(Mailboxes, close_refuses_what_waits_and_confirms_what_has_landed) {
  Office office;
  Bytes memory(8);
  const ph_mailbox box = office.open(7);
  office.open(8);
  ASSERT_EQ(office.post(box, memory), PH_OK);
  ASSERT_TRUE(office.comes(1, 7, 5));
  ASSERT_TRUE(office.comes(1, 8, 5));
  office.said();
  office.service.close();
  const auto said = office.said();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0][0], kVerdict | 1 << 8);
  EXPECT_EQ(static_cast<std::int64_t>(said[0][1]), PH_ERR_DEPARTED);
  EXPECT_EQ(said[1][0], kCredit | 2 << 8);
  EXPECT_EQ(office.service.held(), 0u);
}

}  // namespace
}  // namespace photon::test
