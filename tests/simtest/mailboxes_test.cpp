// The model of mailboxes, fed by hand with what keeps the promises, and with what breaks them; and
// programs that use mailboxes, also on a network that loses or doubles their messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fed_mailboxes.hpp"
#include "simtest/case.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

TEST_F(MailModelFed, what_lands_and_what_is_refused_is_settled) {
  open();
  std::byte* const data = post(0);
  const Mailed& first = send(8, 40);
  const Mailed& second = send(20, 64);
  const Mailed& far = send(20, 250);
  land(first, data, 40);
  land(second, data, 64);
  tell(far, PH_ERR_RANGE);
  EXPECT_FALSE(model_->is_settled());
  take(event_of(2, 28, 84));
  boxes().closed(box(), PH_OK);
  EXPECT_TRUE(model_->is_settled());
  boxes().check_memory();
  EXPECT_EQ(kind(), "none");
}

TEST_F(MailModelFed, a_message_that_does_not_land_is_named) {
  open();
  std::byte* const data = post(0);
  send(8);
  boxes().place(1, 0).slots[0].at() = {data, 0};
  boxes().closed(box(), PH_OK);
  take(event_of(0, 0, 0, PH_MAILBOX_CLOSED));
  EXPECT_FALSE(model_->is_settled());
  model_->report_pending();
  EXPECT_EQ(kind(), "lost");
}

TEST_F(MailModelFed, none_lands_in_two_epochs) {
  open(PH_MAILBOX_STEERED, 1);
  const Mailed& mail = send(8);
  for (const std::uint32_t slot : {0u, 1u}) {
    land(mail, post(slot), 64);
    take(event_of(1, 8, 72));
  }
  EXPECT_EQ(kind(), "twice");
}

TEST_F(MailModelFed, a_message_without_bytes_is_counted_once) {
  open(PH_MAILBOX_STEERED, 1);
  send(0);
  for (const std::uint32_t slot : {0u, 1u}) {
    post(slot);
    take(event_of(1, 0, 0));
  }
  EXPECT_EQ(kind(), "twice");
}

TEST_F(MailModelFed, what_is_counted_is_there) {
  open();
  std::byte* const data = post(0);
  land(send(8), data, 64);
  take(event_of(2, 16, 72));
  EXPECT_EQ(kind(), "count");
}

TEST_F(MailModelFed, what_was_refused_does_not_land) {
  const Mailed& mail = send(8);
  open(PH_MAILBOX_STEERED, 1);
  tell(mail, PH_ERR_NOT_FOUND);
  EXPECT_EQ(kind(), "none");
  land(mail, post(0), 64);
  take(event_of(1, 8, 72));
  EXPECT_EQ(kind(), "unexpected");
}

TEST_F(MailModelFed, what_has_landed_is_not_refused) {
  const Mailed& mail = send(8);
  open(PH_MAILBOX_STEERED, 1);
  land(mail, post(0), 64);
  take(event_of(1, 8, 72));
  EXPECT_EQ(kind(), "none");
  tell(mail, PH_ERR_NOT_FOUND);
  EXPECT_EQ(kind(), "unexpected");
}

TEST_F(MailModelFed, a_refusal_has_a_reason) {
  open();
  post(0);
  tell(send(8), PH_ERR_NOT_FOUND);
  EXPECT_EQ(kind(), "status");
}

TEST_F(MailModelFed, messages_of_one_sender_land_in_their_order) {
  open(PH_MAILBOX_MANAGED);
  const Mailed& first = send(8, 0, true);
  const Mailed& second = send(8, 0, true);
  std::byte* const data = post(0);
  land(second, data, 0);
  land(first, data, 8);
  take(event_of(2, 16, 16));
  EXPECT_EQ(kind(), "order");
}

TEST_F(MailModelFed, nothing_comes_of_what_was_told_to_try_again) {
  open(PH_MAILBOX_STEERED, 1);
  const Mailed& mail = send(8, 64, false, PH_AGAIN);
  std::vector<std::byte> bytes(8);
  mail.fill(bytes);
  std::copy(bytes.begin(), bytes.end(), post(0) + 64);
  take(event_of(1, 8, 72));
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(MailModelFed, a_buffer_that_was_handed_over_does_not_change) {
  open(PH_MAILBOX_STEERED, 1);
  std::byte* const data = post(0);
  land(send(8), data, 64);
  take(event_of(1, 8, 72));
  EXPECT_EQ(kind(), "none");
  data[200] ^= std::byte{1};
  boxes().check_memory();
  EXPECT_EQ(kind(), "late");
}

TEST_F(MailModelFed, a_buffer_that_was_written_late_is_not_posted_again) {
  open(PH_MAILBOX_STEERED, 1);
  std::byte* const data = post(0);
  land(send(8), data, 64);
  take(event_of(1, 8, 72));
  data[64] ^= std::byte{1};
  post(0);
  EXPECT_EQ(kind(), "late");
}

TEST_F(MailModelFed, nothing_is_written_around_a_buffer) {
  open(PH_MAILBOX_STEERED, 1);
  std::byte* const data = post(0);
  land(send(8), data, 64);
  data[kBufferBytes] ^= std::byte{1};
  take(event_of(1, 8, 72));
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(MailModelFed, epochs_come_in_order) {
  open(PH_MAILBOX_STEERED, 1);
  land(send(8, 40), post(0), 40);
  land(send(8, 64), post(1), 64);
  ph_mailbox_event event = event_of(1, 8, 48);
  event.epoch = 1;
  take(event);
  EXPECT_EQ(kind(), "order");
}

TEST_F(MailModelFed, an_epoch_ends_with_the_message_that_completes_it) {
  open(PH_MAILBOX_STEERED, 1);
  std::byte* const data = post(0);
  land(send(8, 40), data, 40);
  land(send(8, 64), data, 64);
  take(event_of(2, 16, 72));
  EXPECT_EQ(kind(), "count");
}

TEST_F(MailModelFed, a_message_lands_in_the_epoch_that_it_names) {
  open(PH_MAILBOX_STEERED, 1);
  post(0);
  Step step;
  step.verb = Verb::mail_put;
  step.peer = 1;
  step.size_bytes = 8;
  step.offset = 64;
  step.flags = PH_NO_LCE;
  step.kinds = 0;
  step.compare = 3;  // the next one
  Mailed& mail = model_->begin(0, step, 0);
  model_->posted(mail, PH_OK);
  EXPECT_EQ(mail.epoch, 1u);
  land(mail, boxes().place(1, 0).slots[0].data(), 64);
  take(event_of(1, 8, 72));
  EXPECT_EQ(kind(), "order");
}

TEST_F(MailModelFed, what_is_retained_is_not_posted_again) {
  open(PH_MAILBOX_STEERED, 1, 1);
  land(send(8), post(0), 64);
  take(event_of(1, 8, 72));
  post(0, PH_ERR_STATE);
  EXPECT_EQ(kind(), "none");
  post(0, PH_OK);
  EXPECT_EQ(kind(), "status");
}

TEST_F(MailModelFed, an_event_that_is_owed_comes) {
  open(PH_MAILBOX_STEERED, 1);
  MailSlot& slot = boxes().place(1, 0).slots[0];
  std::byte* const data = post(0);
  land(send(8), data, 64);
  slot.at() = {data, 72};
  sync(1);
  boxes().took_none(box(), PH_AGAIN);
  EXPECT_EQ(kind(), "lost");
}

struct InjectedMail {
  transport::sim::Fault::Kind kind;
  Profile profile;
  const char* name;
};

class MailFaults : public testing::TestWithParam<InjectedMail> {};

// One record is lost or comes twice: the messages behind it are counted wrongly, too.
TEST_P(MailFaults, are_found_within_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Case one{seed, GetParam().profile, 4, 200, {GetParam().kind, seed % 20}};
    one.echoes = Echoes::none;
    one.mailboxes = Mailboxes::all;
    if (run_case(one, false).finding) return;
  }
  FAIL() << "nobody noticed";
}

constexpr InjectedMail kInjectedMails[] = {
    {transport::sim::Fault::Kind::lose_message, Profile::stream, "lose"},
    {transport::sim::Fault::Kind::lose_message, Profile::srd, "lose_srd"},
    {transport::sim::Fault::Kind::repeat_message, Profile::stream, "repeat"},
    {transport::sim::Fault::Kind::repeat_message, Profile::srd, "repeat_srd"},
};
INSTANTIATE_TEST_SUITE_P(network, MailFaults, testing::ValuesIn(kInjectedMails),
                         [](const auto& injected) { return std::string(injected.param.name); });

bool tells(const std::string& history, const char* words) {
  return history.find(words) != std::string::npos;
}

TEST(MailPrograms, send_land_and_keep_the_promises) {
  for (const Profile profile : kProfiles) {
    std::size_t landed = 0, rewound = 0, epochs = 0, recalls = 0;
    for (std::uint64_t seed = 1; seed <= seeds_of(30); ++seed) {
      Case one{seed, profile, 4, 200, {}};
      one.mailboxes = Mailboxes::all;
      const Result first = run_and_repeat(one);
      recalls += first.recalls;
      landed += tells(first.history, "why 0") ? 1 : 0;
      rewound += tells(first.history, "why 4") ? 1 : 0;
      epochs += tells(first.history, "an event of epoch 3,") ? 1 : 0;
    }
    if (kIsBrief) continue;
    EXPECT_GT(landed, 20u);
    EXPECT_GT(rewound, 0u);
    EXPECT_GT(epochs, 5u);
    EXPECT_GT(recalls, 0u);
  }
}

TEST(MailPrograms, a_third_of_the_programs_send_and_the_others_are_what_they_were) {
  std::uint64_t with = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Choice choice;
    const std::string drawn = text_of(generate(seed, 4, 40, choice));
    choice.mailboxes = Mailboxes::none;
    const std::string without = text_of(generate(seed, 4, 40, choice));
    EXPECT_EQ(without.find(": mail_"), std::string::npos);
    with += drawn == without ? 0 : 1;
    choice.mailboxes = Mailboxes::carried;
    EXPECT_NE(text_of(generate(seed, 4, 40, choice)), without);
    choice.mailboxes = Mailboxes::all;
    EXPECT_NE(text_of(generate(seed, 4, 40, choice)), without);
  }
  EXPECT_GT(with, 75u);
  EXPECT_LT(with, 125u);
}

}  // namespace
}  // namespace photon::simtest
