// Messages that are divided over buffers: the stream of bytes is that of the messages, and its
// buffers count each message once.
#include <random>

#include "mailbox_unit.hpp"
#include "service/mailbox/box_policy.hpp"

namespace photon::service::mailbox::test {
namespace {

ph_mailbox_args splitting() {
  ph_mailbox_args args = Mailing::box_args();
  args.placing = PH_MAILBOX_MANAGED;
  args.flags = PH_MAILBOX_SPLIT;
  return args;
}

struct Splitting : Mailing {
  explicit Splitting(const ph_mailbox_args& args = splitting()) : box(open(args)) {}

  std::span<std::byte> post(std::size_t size, std::uint64_t threshold = 0) {
    const auto buffer = std::span(memory).subspan(used, size);
    used += size;
    EXPECT_EQ(Mailing::post(box, buffer, threshold), PH_OK);
    return buffer;
  }
  bool append(const Bytes& bytes, std::uint64_t flags = 0, Rank from = 1) {
    return deliver(mail(from, kBox, bytes, kAppends | flags));
  }
  void expect(const ph_mailbox_event& event, std::uint64_t bytes, std::uint64_t operations,
              ph_mailbox_why why = PH_MAILBOX_COMPLETE) const {
    EXPECT_EQ(event.bytes, bytes);
    EXPECT_EQ(event.size_bytes, bytes);
    EXPECT_EQ(event.operations, operations);
    EXPECT_EQ(event.why, why);
  }
  Bytes first(std::size_t size) const { return {memory.begin(), memory.begin() + long(size)}; }

  Bytes memory = Bytes(1 << 16);
  std::size_t used = 0;
  ph_mailbox box;
};

TEST(Split, is_for_managed_mailboxes) {
  Policy policy;
  ph_mailbox_args args = splitting();
  EXPECT_EQ(policy_of(args, policy), "");
  args.placing = PH_MAILBOX_STEERED;
  EXPECT_NE(policy_of(args, policy), "");
  args = splitting();
  args.flags |= PH_MAILBOX_CATCH_ALL;
  EXPECT_NE(policy_of(args, policy), "");
}

TEST(Split, a_message_goes_on_where_the_next_buffer_begins) {
  Splitting one;
  for (int i = 0; i < 3; ++i) one.post(16);
  const Bytes bytes = some(40);
  ASSERT_TRUE(one.append(bytes));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 2u);
  one.expect(events[0], 16, 0);
  one.expect(events[1], 16, 0);
  EXPECT_EQ(one.first(40), bytes);
  ASSERT_TRUE(one.append(some(8, 5)));
  const auto last = one.take();
  ASSERT_EQ(last.size(), 1u);
  one.expect(last[0], 16, 2);
}

TEST(Split, a_threshold_of_operations_counts_messages_that_end) {
  ph_mailbox_args args = splitting();
  args.unit = PH_MAILBOX_OPERATIONS;
  args.threshold = 2;
  Splitting one(args);
  one.post(16);
  one.post(64);
  ASSERT_TRUE(one.append(some(24)));
  auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  one.expect(events[0], 16, 0, PH_MAILBOX_FULL);
  ASSERT_TRUE(one.append(some(8)));
  events = one.take();
  ASSERT_EQ(events.size(), 1u);
  one.expect(events[0], 16, 2);
}

TEST(Split, a_message_that_passes_the_threshold_fills_its_buffer) {
  Splitting one;
  one.post(32, 8);
  one.post(32, 8);
  ASSERT_TRUE(one.append(some(40)));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 2u);
  one.expect(events[0], 32, 0);
  one.expect(events[1], 8, 1);
}

TEST(Split, what_finds_no_room_is_kept_and_goes_on_in_order) {
  Splitting one;
  one.post(16);
  const Bytes first = some(40), second = some(8, 90);
  ASSERT_TRUE(one.append(first, kAsks));
  ASSERT_TRUE(one.append(second));
  EXPECT_EQ(one.said_to(1), (Texts{kept(0), kept(1)}));
  EXPECT_EQ(one.take().size(), 1u) << "the part that there is room for";
  EXPECT_EQ(one.receiver().held(), 2u);
  one.post(8);
  EXPECT_TRUE(one.said_to(1).empty()) << "it is not over yet";
  one.post(16);
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_OK)});
  one.post(8);
  EXPECT_EQ(one.said_to(1), Texts{verdict(1, PH_OK)});
  EXPECT_EQ(one.take().size(), 3u);
  Bytes whole = first;
  whole.insert(whole.end(), second.begin(), second.end());
  EXPECT_EQ(one.first(48), whole);
  EXPECT_EQ(one.receiver().held(), 0u);
}

// Whole or not at all, where it may not wait.
TEST(Split, what_may_not_wait_is_refused_before_any_of_it_lands) {
  Splitting limited;
  limited.port.settings.mailbox_early_bytes = 100;
  limited.post(16);
  ASSERT_TRUE(limited.append(some(40)));
  EXPECT_EQ(limited.said_to(1), (Texts{verdict(0, PH_ERR_NO_BUFFER), credit(1)}));
  ph_mailbox_args args = splitting();
  args.flags |= PH_MAILBOX_REFUSE_EARLY;
  Splitting refusing(args);
  refusing.post(16);
  ASSERT_TRUE(refusing.append(some(17)));
  EXPECT_EQ(refusing.said_to(1), Texts{verdict(0, PH_ERR_NO_BUFFER)});
  for (Splitting* one : {&limited, &refusing}) {
    EXPECT_TRUE(one->take().empty());
    EXPECT_EQ(one->first(16), Bytes(16));
    ASSERT_TRUE(one->append(some(16)));
    EXPECT_EQ(one->take().size(), 1u);
    EXPECT_EQ(one->first(16), some(16));
  }
}

TEST(Split, a_message_that_names_its_epoch_is_not_divided) {
  Splitting one;
  one.post(8);
  one.post(16);
  Bytes header = words_of({1 | (kAppends | kNamesEpoch) << 8 | 9 << 16, kBox, 0, 0, 1, 1});
  ASSERT_TRUE(one.deliver({1, header, {}, {}, 0, 0}));
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_RANGE)});
  header = words_of({1 | (kAppends | kNamesEpoch) << 8 | 16 << 16, kBox, 0, 1, 2, 2});
  ASSERT_TRUE(one.deliver({1, header, {}, {}, 0, 0}));
  ASSERT_TRUE(one.append(some(8))) << "the first one has room";
  const auto events = one.take();
  ASSERT_EQ(events.size(), 2u);
  one.expect(events[0], 8, 1);
  one.expect(events[1], 16, 1);
}

TEST(Split, a_part_that_waits_is_refused_by_a_rewind_and_by_the_end) {
  ph_mailbox_args args = splitting();
  args.retained = 2;
  Splitting one(args);
  one.post(8);
  one.post(8);
  ASSERT_TRUE(one.append(some(24)));
  ASSERT_EQ(one.receiver().rewind(one.box, 0), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{kept(0), verdict(0, PH_ERR_EPOCH)}));
  one.post(8);
  ASSERT_TRUE(one.append(some(24)));
  ASSERT_EQ(one.receiver().close(one.box), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{kept(1), verdict(1, PH_ERR_NOT_FOUND)}));
  EXPECT_EQ(one.receiver().held(), 0u);
}

// Messages and buffers of any size: what comes out is what went in.
TEST(Split, any_messages_and_any_buffers_are_the_same_stream) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Splitting one;
    Bytes sent;
    std::uint64_t messages = 0;
    for (int i = 0; i < 60; ++i) {
      if (random() % 2 == 0) {
        one.post(1 + random() % 60);
      } else {
        const Bytes bytes = some(1 + random() % 200, static_cast<int>(random() % 256));
        sent.insert(sent.end(), bytes.begin(), bytes.end());
        ASSERT_TRUE(one.append(bytes));
        ++messages;
      }
    }
    while (one.receiver().held() != 0) one.post(50);
    ASSERT_EQ(one.receiver().close(one.box), PH_OK);
    Bytes found;
    std::uint64_t epoch = 0, ended = 0;
    for (const ph_mailbox_event& event : one.take()) {
      ASSERT_EQ(event.epoch, epoch++);
      const auto* const data = static_cast<const std::byte*>(event.data);
      found.insert(found.end(), data, data + event.size_bytes);
      ended += event.operations;
    }
    EXPECT_EQ(found, sent) << seed;
    EXPECT_EQ(ended, messages) << seed;
  }
}

}  // namespace
}  // namespace photon::service::mailbox::test
