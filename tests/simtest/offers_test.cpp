// The model of mailboxes, fed by hand with large messages, which their receiver reads: with what
// keeps the promises, and with what breaks them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fed_mailboxes.hpp"
#include "simtest/case.hpp"

namespace photon::simtest {
namespace {

class LargeMailFed : public MailModelFed {
 protected:
  static constexpr std::uint64_t kLargeBytes = 100;

  Mailed& send_large(std::uint64_t offset = 64, bool appends = false) {
    Step step;
    step.verb = appends ? Verb::mail_append : Verb::mail_put;
    step.peer = 1;
    step.size_bytes = kLargeBytes;
    step.offset = offset;
    step.kinds = 0;
    Mailed& mail = model_->begin(0, step, 0);
    model_->posted(mail, PH_OK);
    EXPECT_TRUE(mail.is_large);
    return mail;
  }
  void land_part(const Mailed& mail, std::byte* data, std::uint64_t at, std::uint64_t bytes) {
    std::vector<std::byte> all(kLargeBytes);
    mail.fill(all);
    std::copy_n(all.begin(), bytes, data + at);
  }
  void inc_epoch(std::uint64_t size_bytes = 0) {
    MailSlot& slot = boxes().place(1, 0).slots[box().posted.front()->slot];
    if (box().posted.size() == 1 || !boxes().may_be_landing(box()))
      slot.at() = {slot.data(), size_bytes};
    boxes().taking_back(box());
    boxes().advanced(box(), PH_OK);
  }
  void hand_over() {
    MailSlot& slot = boxes().place(1, 0).slots[box().posted.front()->slot];
    slot.at() = {slot.data(), 0};
    sync(box().known_epoch + 1);
  }
};

TEST_F(LargeMailFed, what_was_recalled_in_the_middle_lands_in_the_next_epoch) {
  open();
  std::byte* const first = post(0);
  std::byte* const second = post(1);
  const Mailed& mail = send_large();
  land_part(mail, first, 64, 40);
  inc_epoch();
  boxes().place(1, 0).slots[0].at() = {first, 0};
  take(event_of(0, 0, 0, PH_MAILBOX_EARLY));
  EXPECT_EQ(kind(), "none");
  EXPECT_EQ(boxes().recalls(), 1u);
  land(mail, second, 64);
  tell(mail, PH_OK);
  inc_epoch(64 + kLargeBytes);
  take(event_of(1, kLargeBytes, 64 + kLargeBytes, PH_MAILBOX_EARLY));
  boxes().closed(box(), PH_OK);
  EXPECT_EQ(kind(), "none");
  EXPECT_TRUE(model_->is_settled());
}

TEST_F(LargeMailFed, the_counts_say_where_a_message_counted_that_is_there_twice) {
  for (const bool counts_first : {true, false}) {
    open();
    std::byte* const data[] = {post(0), post(1)};
    const Mailed& mail = send_large();
    land(mail, data[0], 64);
    inc_epoch();
    take(counts_first ? event_of(1, kLargeBytes, 64 + kLargeBytes, PH_MAILBOX_EARLY)
                      : event_of(0, 0, 0, PH_MAILBOX_EARLY));
    EXPECT_EQ(kind(), "none");
    EXPECT_EQ(mail.place != nullptr, counts_first);
    land(mail, data[1], 64);
    tell(mail, PH_OK);
    inc_epoch(counts_first ? 0 : 64 + kLargeBytes);
    take(counts_first ? event_of(0, 0, 0, PH_MAILBOX_EARLY)
                      : event_of(1, kLargeBytes, 64 + kLargeBytes, PH_MAILBOX_EARLY));
    EXPECT_EQ(kind(), counts_first ? "twice" : "none");
    if (counts_first) SetUp();
  }
}

TEST_F(LargeMailFed, old_bytes_in_what_was_posted_since_are_found) {
  open();
  std::byte* const first = post(0);
  std::byte* const second = post(1);
  const Mailed& mail = send_large();
  land_part(mail, first, 64, 40);
  inc_epoch();
  take(event_of(0, 0, 0, PH_MAILBOX_EARLY));
  EXPECT_EQ(post(0), first);
  land(mail, second, 64);
  tell(mail, PH_OK);
  inc_epoch(64 + kLargeBytes);
  take(event_of(1, kLargeBytes, 64 + kLargeBytes, PH_MAILBOX_EARLY));
  EXPECT_EQ(kind(), "none");
  land_part(mail, first, 64, kLargeBytes);  // the old read goes on
  boxes().taking_back(box());
  boxes().closed(box(), PH_OK);
  EXPECT_EQ(kind(), "twice");
}

TEST_F(LargeMailFed, old_bytes_that_come_before_the_message_lands_are_found) {
  open();
  std::byte* const first = post(0);
  std::byte* const second = post(1);
  const Mailed& mail = send_large();
  inc_epoch();
  take(event_of(0, 0, 0, PH_MAILBOX_EARLY));
  post(0);
  land_part(mail, first, 64, 40);  // the old read goes on
  land(mail, second, 64);
  inc_epoch();
  inc_epoch();
  hand_over();
  hand_over();
  take(event_of(1, kLargeBytes, 64 + kLargeBytes, PH_MAILBOX_EARLY));
  EXPECT_EQ(kind(), "late");
}

TEST_F(LargeMailFed, what_has_not_landed_whole_does_not_count) {
  open(PH_MAILBOX_STEERED, 1);
  std::byte* const data = post(0);
  land_part(send_large(), data, 64, 40);
  take(event_of(1, kLargeBytes, 64 + kLargeBytes));
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(LargeMailFed, its_source_is_untouched_until_it_is_over) {
  Mailed& mail = send_large();
  mail.source[50] ^= std::byte{1};
  tell(mail, PH_OK);
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(LargeMailFed, its_sender_is_not_told_of_both_ends) {
  open();
  post(0);
  const Mailed& mail = send_large(200);
  tell(mail, PH_OK);
  EXPECT_EQ(kind(), "none");
  tell(mail, PH_ERR_RANGE);
  EXPECT_EQ(kind(), "twice");
}

// Without the fence, by which a mailbox gives up what it reads into a buffer that it takes back,
// old bytes are found long before a thousand buffers were taken back.
TEST(LateWrites, are_found_within_1000_take_backs_where_nothing_is_given_up) {
  for (const Profile profile : kProfiles) {
    std::uint64_t recalls = 0;
    std::string kind;
    for (std::uint64_t seed = 1; kind.empty() && recalls < 1000; ++seed) {
      Case one{seed, profile, 4, 200, {transport::sim::Fault::Kind::fence, 0}};
      one.mailboxes = Mailboxes::all;
      const Result result = run_case(one, false);
      recalls += result.recalls;
      if (result.finding) kind = result.finding->kind;
    }
    EXPECT_TRUE(kind == "late" || kind == "twice") << kind << ", " << recalls << " take-backs";
  }
}

}  // namespace
}  // namespace photon::simtest
