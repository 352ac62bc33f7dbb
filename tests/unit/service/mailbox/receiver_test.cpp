// What its owner does with a mailbox: handles, buffers, events, epochs.
#include "service/mailbox/receiver.hpp"

#include <array>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

TEST(MailboxReceiver, what_is_wrong_opens_nothing) {
  Mailing one;
  ph_mailbox box{99};
  const auto open = [&](auto change) {
    ph_mailbox_args args = Mailing::box_args();
    change(args);
    return one.receiver().open(args, box);
  };
  EXPECT_EQ(open([](auto& args) { args.unit = static_cast<ph_mailbox_unit>(2); }), PH_ERR_ARGUMENT);
  EXPECT_EQ(open([](auto& args) { args.placing = static_cast<ph_mailbox_placing>(-1); }),
            PH_ERR_ARGUMENT);
  EXPECT_EQ(open([](auto& args) { args.flags = 1u << 31; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(open([](auto& args) { args.source = FakePort::kSize; }), PH_ERR_RANK);
  EXPECT_EQ(box.bits, 99u);
  const ph_mailbox first = one.open();
  EXPECT_EQ(open([](auto&) {}), PH_ERR_STATE) << "the address is open";
  EXPECT_EQ(box.bits, 99u);
  EXPECT_EQ(one.receiver().close(first), PH_OK);
  EXPECT_EQ(open([](auto& args) { args.source = FakePort::kSize - 1; }), PH_OK);
}

TEST(MailboxReceiver, what_is_wrong_is_not_posted) {
  Mailing one;
  Bytes memory(256);
  const ph_mailbox box = one.open();
  const auto post = [&](auto change) {
    ph_mailbox_buffer buffer{sizeof buffer, memory.data(), 64, 0, nullptr, 0};
    change(buffer);
    return one.receiver().post(box, buffer);
  };
  EXPECT_EQ(post([](auto& buffer) { buffer.data = nullptr; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(post([](auto& buffer) { buffer.size_bytes = 0; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(post([](auto& buffer) { buffer.size_bytes = UINT64_MAX; }), PH_ERR_ARGUMENT);
  alignas(64) std::array<ph_mailbox_pointer, 8> pointers{};
  EXPECT_EQ(post([&](auto& buffer) { buffer.pointer = &pointers[1]; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(post([&](auto& buffer) { buffer.pointer = &pointers[4]; }), PH_OK);
  for (const std::uint64_t at : {0, 63})
    EXPECT_EQ(post([&](auto& buffer) { buffer.data = memory.data() + at; }), PH_ERR_STATE) << at;
  EXPECT_EQ(post([&](auto& buffer) { buffer.data = memory.data() + 64; }), PH_OK);
  ph_mailbox_args counting = Mailing::box_args(8);
  counting.unit = PH_MAILBOX_OPERATIONS;
  EXPECT_EQ(one.post(one.open(counting), memory), PH_ERR_ARGUMENT) << "a threshold of 0";
  EXPECT_EQ(one.post(one.open_managed(9), memory, 257), PH_ERR_ARGUMENT) << "never reached";
}

TEST(MailboxReceiver, no_more_buffers_are_retained_than_there_may_be) {
  Mailing one;
  ph_mailbox box{};
  ph_mailbox_args args = Mailing::box_args();
  for (const std::uint32_t retained : {UINT32_MAX, 65'537u}) {
    args.retained = retained;
    EXPECT_EQ(one.receiver().open(args, box), PH_ERR_ARGUMENT) << retained;
  }
  args.retained = 65'536;
  EXPECT_EQ(one.receiver().open(args, box), PH_OK);
}

// An append has bytes, so a managed buffer counts at most one operation for each of its own.
TEST(MailboxReceiver, a_threshold_that_a_managed_buffer_cannot_count_is_refused) {
  Mailing one;
  Bytes memory(8);
  for (const ph_mailbox_unit unit : {PH_MAILBOX_BYTES, PH_MAILBOX_OPERATIONS}) {
    ph_mailbox_args args = Mailing::box_args(kBox + unit);
    args.placing = PH_MAILBOX_MANAGED;
    args.unit = unit;
    const ph_mailbox box = one.open(args);
    EXPECT_EQ(one.post(box, memory, 9), PH_ERR_ARGUMENT) << unit;
    EXPECT_EQ(one.post(box, memory, 8), PH_OK) << unit;
  }
}

// A thread may sleep in ph_mailbox_wait() of a mailbox that another one closes, or whose last event
// another one takes.
TEST(MailboxReceiver, whoever_waits_is_woken_when_no_event_will_come) {
  Mailing one;
  Bytes memory(8);
  const ph_mailbox empty = one.open();
  std::uint64_t before = one.port.woken;
  ASSERT_EQ(one.receiver().close(empty), PH_OK);
  EXPECT_GT(one.port.woken, before) << "closed without an event";
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  before = one.port.woken;
  EXPECT_EQ(one.take(box).size(), 1u);
  EXPECT_GT(one.port.woken, before) << "its last event was taken";
}

// A pointer is written with the event, and not before.
TEST(MailboxReceiver, a_buffer_comes_back_with_all_that_was_said_of_it) {
  Mailing one;
  Bytes memory(64);
  alignas(64) ph_mailbox_pointer pointer{};
  const ph_mailbox box = one.open();
  ASSERT_EQ(
      one.receiver().post(box, {sizeof(ph_mailbox_buffer), memory.data(), 64, 24, &pointer, 42}),
      PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(16), 0, 40)));
  EXPECT_TRUE(one.take().empty());
  EXPECT_EQ(pointer.address, nullptr);
  ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(8, 9), 0, 0)));
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].box.bits, box.bits);
  EXPECT_EQ(events[0].address, kBox);
  EXPECT_EQ(events[0].epoch, 0u);
  EXPECT_EQ(events[0].data, memory.data());
  EXPECT_EQ(events[0].size_bytes, 56u);
  EXPECT_EQ(events[0].bytes, 24u);
  EXPECT_EQ(events[0].operations, 2u);
  EXPECT_EQ(events[0].cookie, 42u);
  EXPECT_EQ(events[0].incarnation, 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_COMPLETE);
  EXPECT_EQ(pointer.address, memory.data());
  EXPECT_EQ(pointer.size_bytes, 56u);
  EXPECT_EQ(Bytes(memory.begin() + 40, memory.begin() + 56), some(16));
}

void expect_stale(Mailing& one, ph_mailbox box) {
  Bytes memory(8);
  std::uint64_t epoch = 77;
  std::uint32_t incarnation = 77;
  std::size_t count = 77;
  EXPECT_EQ(one.post(box, memory), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().inc_epoch(box), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().epoch(box, epoch, incarnation), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().release(box, 0), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().rewind(box, 0), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().retained(box, {}, count), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().close(box), PH_ERR_STATE);
  EXPECT_EQ(epoch + incarnation + count, 3 * 77u);
}

TEST(MailboxReceiver, a_handle_names_its_own_mailbox_and_no_later_one) {
  Mailing one;
  ph_mailbox_event event{};
  expect_stale(one, {});
  expect_stale(one, {std::uint64_t{1} << 32});
  const ph_mailbox old = one.open();
  expect_stale(one, {old.bits + 1});
  expect_stale(one, {old.bits + (std::uint64_t{1} << 32)});
  ASSERT_EQ(one.receiver().close(old), PH_OK);
  expect_stale(one, old);
  EXPECT_EQ(one.receiver().take(old, event), PH_ERR_STATE);
  const ph_mailbox other = one.open();
  EXPECT_NE(other.bits, old.bits);
  expect_stale(one, old);
  EXPECT_EQ(one.receiver().take(old, event), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().take(other, event), PH_AGAIN);
}

TEST(MailboxReceiver, a_closed_mailbox_keeps_its_handle_until_its_last_event_is_taken) {
  Mailing one;
  std::array<Bytes, 2> memory = {Bytes(8), Bytes(8)};
  const ph_mailbox box = one.open();
  for (Bytes& bytes : memory) ASSERT_EQ(one.post(box, bytes), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(4))));
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  expect_stale(one, box);
  EXPECT_NE(one.open().bits, box.bits) << "the address is free at once";
  for (const std::uint64_t epoch : {0, 1}) {
    ph_mailbox_event event{};
    ASSERT_EQ(one.receiver().state(box), PH_OK);
    ASSERT_EQ(one.receiver().take(box, event), PH_OK);
    EXPECT_EQ(event.epoch, epoch);
    EXPECT_EQ(event.bytes, epoch == 0 ? 4u : 0u);
    EXPECT_EQ(event.why, PH_MAILBOX_CLOSED);
  }
  EXPECT_EQ(one.receiver().state(box), PH_ERR_STATE);
}

TEST(MailboxReceiver, an_address_that_is_opened_again_goes_on_with_its_epochs) {
  Mailing one;
  std::array<Bytes, 2> memory = {Bytes(8), Bytes(8)};
  const ph_mailbox box = one.open();
  for (Bytes& bytes : memory) ASSERT_EQ(one.post(box, bytes), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  const ph_mailbox again = one.open();
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  ASSERT_EQ(one.receiver().epoch(again, epoch, incarnation), PH_OK);
  EXPECT_EQ(epoch, 2u);
  EXPECT_EQ(incarnation, 2u);
  ASSERT_EQ(one.post(again, memory[0]), PH_OK);
  static_cast<void>(one.said_to(1));
  const auto to = [](std::uint64_t its_incarnation) {
    return Coming{1, words_of({1 | 8 << 16 | its_incarnation << 32, kBox, 0, 5}), {}, {}, 0, 0};
  };
  ASSERT_TRUE(one.deliver(to(1)));
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_ERR_EPOCH)}));
  ASSERT_TRUE(one.deliver(to(2)));
  EXPECT_EQ(one.take(again).size(), 1u);
}

TEST(MailboxReceiver, of_too_many_closed_addresses_none_begins_with_an_epoch_that_it_had) {
  constexpr std::uint64_t kRemembered = 65'536;
  Mailing one;
  Bytes memory(8);
  const auto first_epoch = [&](std::uint64_t address) {
    std::uint64_t epoch = 0;
    std::uint32_t incarnation = 0;
    const ph_mailbox box = one.open(Mailing::box_args(address));
    EXPECT_EQ(one.receiver().epoch(box, epoch, incarnation), PH_OK);
    EXPECT_EQ(one.receiver().close(box), PH_OK);
    return epoch;
  };
  const ph_mailbox box = one.open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(one.post(box, memory), PH_OK);
    ASSERT_EQ(one.receiver().inc_epoch(box), PH_OK);
  }
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  one.take();
  for (std::uint64_t i = 1; i < kRemembered; ++i) ASSERT_EQ(first_epoch(1000 + i), 0u) << i;
  EXPECT_EQ(first_epoch(kBox), 3u) << "so many are remembered, and this was there before";
  EXPECT_EQ(first_epoch(1), 3u) << "all were forgotten";
  EXPECT_EQ(first_epoch(2), 3u);
  EXPECT_EQ(first_epoch(kBox), 3u);
}

TEST(MailboxReceiver, of_another_source_than_its_own_it_takes_nothing) {
  Mailing one;
  Bytes memory(8);
  ph_mailbox_args args = Mailing::box_args();
  args.source = 2;
  const ph_mailbox box = one.open(args);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_ERR_ACCESS)}));
  EXPECT_EQ(memory, Bytes(8));
  ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(8))));
  EXPECT_EQ(memory, some(8));
}

std::vector<std::uint64_t> addresses_of(const std::vector<ph_mailbox_event>& events) {
  std::vector<std::uint64_t> all;
  for (const ph_mailbox_event& event : events) all.push_back(event.address);
  return all;
}

TEST(MailboxReceiver, an_event_of_any_mailbox_is_taken_once) {
  Mailing one;
  std::array<Bytes, 4> memory = {Bytes(8), Bytes(8), Bytes(8), Bytes(8)};
  std::array<ph_mailbox, 3> boxes{};
  for (std::uint64_t i = 0; i < 3; ++i) {
    boxes[i] = one.open(Mailing::box_args(i));
    ASSERT_EQ(one.post(boxes[i], memory[i]), PH_OK);
  }
  ASSERT_EQ(one.post(boxes[1], memory[3]), PH_OK);
  const auto fill = [&](std::vector<std::uint64_t> addresses) {
    for (const std::uint64_t address : addresses)
      ASSERT_TRUE(one.deliver(Mailing::mail(1, address, some(8))));
  };
  EXPECT_EQ(one.receiver().state({}), PH_AGAIN);
  fill({2, 1, 0, 1});
  EXPECT_EQ(one.receiver().state({}), PH_OK);
  EXPECT_EQ(addresses_of(one.take(boxes[0])), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(one.receiver().state(boxes[0]), PH_AGAIN);
  EXPECT_EQ(addresses_of(one.take()), (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(one.receiver().state({}), PH_AGAIN);
  ASSERT_EQ(one.post(boxes[0], memory[0]), PH_OK);
  fill({0});
  EXPECT_EQ(addresses_of(one.take()), (std::vector<std::uint64_t>{0})) << "it is ready once more";
}

// A mailbox that retains two buffers, of which it has handed over so many.
struct Retaining : Mailing {
  explicit Retaining(int epochs) {
    ph_mailbox_args args = box_args();
    args.retained = 2;
    box = open(args);
    for (int i = 0; i < epochs; ++i) {
      EXPECT_EQ(post(box, memory[i]), PH_OK);
      EXPECT_TRUE(deliver(mail(1, kBox, some(8, i))));
      EXPECT_EQ(take(box).size(), 1u);
    }
  }
  std::vector<std::uint64_t> retained() {
    std::array<ph_mailbox_event, 4> events{};
    std::size_t count = 0;
    EXPECT_EQ(receiver().retained(box, events, count), PH_OK);
    std::vector<std::uint64_t> epochs;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(events[i].data, memory[events[i].epoch].data());
      EXPECT_EQ(events[i].bytes, 8u);
      epochs.push_back(events[i].epoch);
    }
    return epochs;
  }
  using Epochs = std::vector<std::uint64_t>;

  ph_mailbox box{};
  std::array<Bytes, 5> memory = {Bytes(8), Bytes(8), Bytes(8), Bytes(8), Bytes(8)};
};

TEST(MailboxReceiver, the_last_buffers_are_retained_and_not_posted_before_their_release) {
  Retaining one(3);
  EXPECT_EQ(one.retained(), (Retaining::Epochs{2, 1}));
  EXPECT_EQ(one.post(one.box, one.memory[1]), PH_ERR_STATE);
  EXPECT_EQ(one.post(one.box, one.memory[0]), PH_OK) << "retained no more";
  EXPECT_EQ(one.receiver().release(one.box, 0), PH_ERR_STATE);
  EXPECT_EQ(one.receiver().release(one.box, 1), PH_OK);
  EXPECT_EQ(one.receiver().release(one.box, 1), PH_ERR_STATE);
  EXPECT_EQ(one.retained(), (Retaining::Epochs{2}));
  EXPECT_EQ(one.post(one.box, one.memory[1]), PH_OK);
  std::array<ph_mailbox_event, 1> room{};
  std::size_t count = 0;
  Retaining other(2);
  ASSERT_EQ(other.receiver().retained(other.box, room, count), PH_OK);
  EXPECT_EQ(count, 2u) << "more than there was room for";
  EXPECT_EQ(room[0].epoch, 1u);
}

TEST(MailboxReceiver, a_rewind_gives_back_later_buffers_as_void_and_begins_anew) {
  Retaining one(3);
  ASSERT_EQ(one.post(one.box, one.memory[3]), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(4))));
  EXPECT_EQ(one.receiver().rewind(one.box, 0), PH_ERR_STATE) << "retained no more";
  EXPECT_EQ(one.receiver().rewind(one.box, 3), PH_ERR_STATE) << "not handed over";
  ASSERT_EQ(one.receiver().rewind(one.box, 1), PH_OK);
  const auto events = one.take(one.box);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].epoch, 2u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_REWOUND);
  EXPECT_EQ(events[0].data, one.memory[2].data());
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  ASSERT_EQ(one.receiver().epoch(one.box, epoch, incarnation), PH_OK);
  EXPECT_EQ(epoch, 2u);
  EXPECT_EQ(incarnation, 2u);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  const auto again = one.take(one.box);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].epoch, 2u);
  EXPECT_EQ(again[0].bytes, 8u) << "what had landed before the rewind does not count";
}

// What waits for a later epoch waits on, but what names the incarnation that is over is refused.
TEST(MailboxReceiver, a_rewind_judges_early_mails_again) {
  Retaining one(2);
  const auto named = [](std::uint64_t epoch, std::uint64_t incarnation) {
    return Coming{
        1,  words_of({1 | kNamesEpoch << 8 | 8 << 16 | incarnation << 32, kBox, 0, epoch, 5}),
        {}, {},
        0,  0};
  };
  static_cast<void>(one.said_to(1));
  ASSERT_TRUE(one.deliver(named(2, 1)));
  ASSERT_TRUE(one.deliver(named(2, 0)));
  EXPECT_EQ(one.said_to(1), (Texts{kept(2), kept(3)}));
  ASSERT_EQ(one.receiver().rewind(one.box, 0), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(2, PH_ERR_EPOCH)}));
  ASSERT_EQ(one.post(one.box, one.memory[2]), PH_OK);
  EXPECT_EQ(one.said_to(1), Texts{}) << "that is epoch 1 now";
  ASSERT_EQ(one.post(one.box, one.memory[3]), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(3, PH_OK)}));
}

// The mailboxes that were opened so far are found whatever has become of the others.
TEST(MailboxReceiver, takes_places_of_closed_mailboxes_again) {
  Mailing one;
  std::vector<ph_mailbox> boxes;
  for (std::uint64_t i = 0; i < 50; ++i) boxes.push_back(one.open(Mailing::box_args(i)));
  for (std::uint64_t i = 0; i < 50; i += 2) ASSERT_EQ(one.receiver().close(boxes[i]), PH_OK);
  std::uint64_t highest = 0;
  for (std::uint64_t i = 0; i < 25; ++i) {
    const ph_mailbox box = one.open(Mailing::box_args(100 + i));
    highest = std::max<std::uint64_t>(highest, static_cast<std::uint32_t>(box.bits));
  }
  EXPECT_LT(highest, 50u);
  for (std::uint64_t i = 1; i < 50; i += 2) {
    Bytes memory(8);
    ASSERT_EQ(one.post(boxes[i], memory), PH_OK);
    ASSERT_TRUE(one.deliver(Mailing::mail(1, i, some(8))));
    ASSERT_EQ(one.take().at(0).box.bits, boxes[i].bits);
  }
}

}  // namespace
}  // namespace photon::service::mailbox::test
