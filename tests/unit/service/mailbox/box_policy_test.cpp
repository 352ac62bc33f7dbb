// What a mailbox may be opened with, and what it then does.
#include "service/mailbox/box_policy.hpp"

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

constexpr std::uint64_t kAll = 70;  // the address of the catch-all

ph_mailbox_args catching() {
  ph_mailbox_args args = Mailing::box_args(kAll);
  args.flags = PH_MAILBOX_CATCH_ALL;
  return args;
}

bool is_allowed(const ph_mailbox_args& args) {
  Policy policy;
  return policy_of(args, policy).empty();
}

TEST(MailboxPolicy, says_what_is_unknown) {
  Policy policy;
  ph_mailbox_args args = Mailing::box_args();
  EXPECT_EQ(policy_of(args, policy), "");
  args.flags = 1u << 31;
  EXPECT_EQ(policy_of(args, policy), "unknown flags 2147483648");
  args = Mailing::box_args();
  args.unit = static_cast<ph_mailbox_unit>(2);
  EXPECT_EQ(policy_of(args, policy), "no unit 2");
  args = Mailing::box_args();
  args.placing = static_cast<ph_mailbox_placing>(-1);
  EXPECT_EQ(policy_of(args, policy), "no placing -1");
  args = Mailing::box_args();
  args.retained = 65'537;
  EXPECT_EQ(policy_of(args, policy), "65537 retained buffers; the limit is 65536");
}

TEST(CatchAll, counts_one_operation_and_nothing_else) {
  ph_mailbox_args args = catching();
  EXPECT_TRUE(is_allowed(args));
  args.threshold = 1;
  EXPECT_FALSE(is_allowed(args)) << "a byte";
  args.unit = PH_MAILBOX_OPERATIONS;
  EXPECT_TRUE(is_allowed(args));
  args.threshold = 2;
  EXPECT_FALSE(is_allowed(args));
  args.threshold = 0;
  EXPECT_TRUE(is_allowed(args));
  args.placing = PH_MAILBOX_MANAGED;
  EXPECT_FALSE(is_allowed(args));
  Mailing one;
  Bytes memory(8);
  const ph_mailbox box = one.open(catching());
  EXPECT_EQ(one.post(box, memory, 2), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.post(box, memory, 1), PH_OK);
}

TEST(CatchAll, of_a_lane_there_is_one_at_a_time) {
  Mailing one;
  const ph_mailbox first = one.open(catching());
  ph_mailbox_args args = catching();
  args.address = kAll + 1;
  ph_mailbox second{};
  EXPECT_EQ(one.receiver().open(args, second), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().close(first), PH_OK);
  EXPECT_EQ(one.receiver().open(args, second), PH_OK) << "the first one is closed";
}

TEST(CatchAll, hands_over_each_message_with_the_address_that_it_named) {
  Mailing one;
  Bytes memory(192);
  const ph_mailbox box = one.open(catching());
  const std::span all(memory);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(one.post(box, all.subspan(64 * i, 64)), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(2, 9, some(8), 0, 16)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, 10, some(8, 3), kAppends)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kAll, {})));
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 3u);
  const std::uint64_t named[] = {9, 10, kAll}, from[] = {2, 1, 1}, bytes[] = {8, 8, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(events[i].address, kAll);
    EXPECT_EQ(events[i].named, named[i]);
    EXPECT_EQ(events[i].from, from[i]);
    EXPECT_EQ(events[i].bytes, bytes[i]);
    EXPECT_EQ(events[i].why, PH_MAILBOX_COMPLETE);
  }
  EXPECT_EQ(Bytes(memory.begin() + 16, memory.begin() + 24), some(8));
  EXPECT_EQ(Bytes(memory.begin() + 64, memory.begin() + 72), some(8, 3));
}

TEST(CatchAll, takes_nothing_that_names_an_open_mailbox) {
  Mailing one;
  Bytes memory(16);
  const ph_mailbox box = one.open();
  const ph_mailbox all = one.open(catching());
  ASSERT_EQ(one.post(all, std::span(memory).first(8)), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), Texts{kept(0)}) << "it waits for a buffer of its own";
  EXPECT_TRUE(one.take().empty());
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_NOT_FOUND)});
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 1u) << "now nobody else takes it";
  EXPECT_EQ(events[0].named, kBox);
}

TEST(CatchAll, is_not_what_a_named_epoch_or_another_source_means) {
  Mailing one;
  Bytes memory(64);
  ph_mailbox_args args = catching();
  args.source = 2;
  const ph_mailbox box = one.open(args);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  Bytes named = words_of({1 | kNamesEpoch << 8, kBox, 0, 0});
  ASSERT_TRUE(one.deliver({2, named, {}, {}, 0, 0}));
  named = words_of({1 | std::uint64_t{1} << 32, kBox, 0});
  ASSERT_TRUE(one.deliver({2, named, {}, {}, 0, 0}));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_TRUE(one.take().empty());
  named = words_of({1 | kNamesEpoch << 8, kAll, 0, 0});
  ASSERT_TRUE(one.deliver({2, named, {}, {}, 0, 0}));
  EXPECT_EQ(one.take().size(), 1u) << "an epoch of its own";
  EXPECT_EQ(one.said_to(2), (Texts{verdict(0, PH_ERR_NOT_FOUND), verdict(1, PH_ERR_NOT_FOUND)}));
}

TEST(CatchAll, keeps_what_found_no_buffer_there) {
  Mailing one;
  Bytes memory(24);
  const ph_mailbox all = one.open(catching());
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), Texts{kept(0)});
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, std::span(memory).first(8)), PH_OK);
  EXPECT_TRUE(one.take(box).empty()) << "the address was opened later";
  ASSERT_EQ(one.post(all, std::span(memory).subspan(8, 8)), PH_OK);
  const auto events = one.take(all);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].named, kBox);
}

ph_mailbox_args silent() {
  ph_mailbox_args args = Mailing::box_args();
  args.flags = PH_MAILBOX_SILENT_CLOSE;
  return args;
}

TEST(SilentClose, drops_what_comes_later_and_tells_only_who_asked) {
  Mailing one;
  ASSERT_EQ(one.receiver().close(one.open(silent())), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), kAsks)));
  EXPECT_EQ(one.port.dropped, 1u);
  one.receiver().tell_all();
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_ERR_NOT_FOUND), credit(2)}));
}

TEST(SilentClose, drops_what_waited_and_tells_only_who_asked) {
  Mailing one;
  const ph_mailbox box = one.open(silent());
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), kAsks)));
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  EXPECT_EQ(one.said_to(1),
            (Texts{kept(0), kept(1), verdict(0, PH_OK), verdict(1, PH_ERR_NOT_FOUND)}));
  EXPECT_EQ(one.port.dropped, 1u);
  EXPECT_EQ(one.receiver().held(), 0u);
}

TEST(SilentClose, ends_with_the_next_life_of_the_address) {
  Mailing one;
  ASSERT_EQ(one.receiver().close(one.open(silent())), PH_OK);
  ASSERT_EQ(one.receiver().close(one.open()), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_NOT_FOUND)});
  EXPECT_EQ(one.port.dropped, 0u);
}

TEST(Refusals, may_be_off_for_addresses_that_were_never_open) {
  Mailing one;
  ASSERT_EQ(one.receiver().close(one.open()), PH_OK);
  one.port.settings.mailbox_refusals = base::Switch::off;
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox + 1, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox + 1, some(8), kAsks)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.port.dropped, 1u);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_ERR_NOT_FOUND), verdict(2, PH_ERR_NOT_FOUND)}))
      << "the closed one refuses";
}

// A bounded memory: the address is then as one that was never open.
TEST(SilentClose, is_forgotten_with_the_other_closed_addresses) {
  Mailing one;
  ASSERT_EQ(one.receiver().close(one.open(silent())), PH_OK);
  for (std::uint64_t i = 1; i <= 65'536; ++i)
    ASSERT_EQ(one.receiver().close(one.open(Mailing::box_args(kBox + i))), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_NOT_FOUND)});
}

}  // namespace
}  // namespace photon::service::mailbox::test
