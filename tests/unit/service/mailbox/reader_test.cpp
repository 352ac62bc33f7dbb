// The side of gets that asks.
#include "service/mailbox/reader.hpp"

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

struct Getting : Mailing {
  Getting() { port.settings.mailbox_carried_max = 2000; }

  ph_status get(std::uint64_t size, std::uint64_t offset = 0, Rank from = 1) {
    ph_mailbox_get_args args{};
    args.size = sizeof args;
    args.address = kBox;
    args.offset = offset;
    args.destination = destination.data();
    args.size_bytes = size;
    args.epoch = PH_ANY_EPOCH;
    return service.reader().get(from, args);
  }
  // What was asked for next; its token is 99 if there is nothing.
  Ask next() {
    Said said;
    if (!port.take(said)) return {0, 99, {}};
    return decode_ask(said.header).value_or(Ask{});
  }
  bool answer(const Answer& answer, const Bytes& bytes = {}, Rank from = 1) {
    const Encoded encoded = encode(answer);
    const auto header = std::as_bytes(std::span(encoded.words).first(encoded.count));
    const bool is_body = bytes.size() > 1024;
    return deliver({from, photon::test::bytes_of(header), is_body ? Bytes{} : bytes,
                    is_body ? bytes : Bytes{}, 0, is_body ? bytes.size() : 0});
  }
  std::vector<ph_status> told() {
    std::vector<ph_status> all;
    for (const MailPort::Told& one : port.take_told()) all.push_back(one.status);
    return all;
  }
  using Statuses = std::vector<ph_status>;

  Bytes destination = Bytes(5000);
};

TEST(MailboxReader, a_get_ends_with_its_bytes) {
  for (const std::size_t size : {0, 8, 1024, 2000}) {
    Getting one;
    ASSERT_EQ(one.get(size, 16), PH_OK);
    const Ask ask = one.next();
    EXPECT_EQ(ask.what.offset, 16u);
    EXPECT_EQ(ask.what.size_bytes, size);
    EXPECT_TRUE(ask.what.is_last);
    EXPECT_EQ(one.told(), Getting::Statuses{});
    ASSERT_TRUE(one.answer({ask.token, PH_OK, 3, 1}, some(size)));
    EXPECT_EQ(one.told(), Getting::Statuses{PH_OK});
    EXPECT_EQ(Bytes(one.destination.begin(), one.destination.begin() + std::ptrdiff_t(size)),
              some(size));
    EXPECT_TRUE(one.port.holds_nothing());
    EXPECT_EQ(one.service.held(), 0u);
  }
}

// All parts are of the epoch that the first was of.
TEST(MailboxReader, a_large_get_asks_for_one_part_after_the_other) {
  Getting one;
  ASSERT_EQ(one.get(4500), PH_OK);
  const Bytes all = some(4500);
  const auto part = [&](std::ptrdiff_t at, std::ptrdiff_t size) {
    return Bytes(all.begin() + at, all.begin() + at + size);
  };
  Ask ask = one.next();
  EXPECT_EQ(ask.what.epoch, PH_ANY_EPOCH);
  EXPECT_FALSE(ask.what.is_last);
  ASSERT_TRUE(one.answer({ask.token, PH_OK, 3, 8}, part(0, 2000)));
  ask = one.next();
  EXPECT_EQ(ask.what.epoch, 3u);
  EXPECT_EQ(ask.what.incarnation, 8u);
  EXPECT_EQ(ask.what.offset, 2000u);
  ASSERT_TRUE(one.answer({ask.token, PH_OK, 3, 8}, part(2000, 2000)));
  ask = one.next();
  EXPECT_EQ(ask.what.size_bytes, 500u);
  EXPECT_TRUE(ask.what.is_last);
  EXPECT_EQ(one.told(), Getting::Statuses{});
  ASSERT_TRUE(one.answer({ask.token, PH_OK, 3, 8}, part(4000, 500)));
  EXPECT_EQ(one.told(), Getting::Statuses{PH_OK});
  EXPECT_EQ(Bytes(one.destination.begin(), one.destination.begin() + 4500), all);
}

TEST(MailboxReader, a_refusal_ends_a_get) {
  Getting one;
  ASSERT_EQ(one.get(4500), PH_OK);
  ASSERT_TRUE(one.answer({one.next().token, PH_OK, 3, 8}, some(2000)));
  ASSERT_TRUE(one.answer({one.next().token, PH_ERR_EPOCH, 3, 8}));
  EXPECT_EQ(one.told(), Getting::Statuses{PH_ERR_EPOCH});
  EXPECT_TRUE(one.port.holds_nothing());
}

TEST(MailboxReader, no_rank_is_asked_for_more_than_it_may_be) {
  Getting one;
  for (std::uint64_t i = 0; i < kMostAsked + 2; ++i) ASSERT_EQ(one.get(8, i), PH_OK);
  ASSERT_EQ(one.get(8, 77, 2), PH_OK) << "another one may";
  std::vector<Ask> asked;
  for (Ask ask = one.next(); ask.token != 99; ask = one.next()) asked.push_back(ask);
  ASSERT_EQ(asked.size(), kMostAsked + 1);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one.answer({asked[i].token, PH_OK, 0, 1}, some(8)));
  EXPECT_EQ(one.next().what.offset, kMostAsked);
  EXPECT_EQ(one.next().what.offset, kMostAsked + 1);
}

TEST(MailboxReader, of_a_lost_rank_all_gets_end) {
  Getting one;
  ASSERT_EQ(one.get(8), PH_OK);
  ASSERT_EQ(one.get(4500), PH_OK);
  ASSERT_EQ(one.get(8, 0, 2), PH_OK);
  one.port.lose(1);
  EXPECT_EQ(one.told(), (Getting::Statuses{PH_ERR_PEER, PH_ERR_PEER}));
  EXPECT_EQ(one.service.held(), 1u);
  EXPECT_EQ(one.get(8), PH_ERR_PEER);
}

TEST(MailboxReader, what_was_not_asked_for_ends_its_sender) {
  const auto ends = [](auto say) {
    Getting one;
    EXPECT_EQ(one.get(100), PH_OK);
    EXPECT_EQ(one.get(2000), PH_OK);
    static_cast<void>(one.said_to(1));
    EXPECT_FALSE(say(one));
    EXPECT_EQ(one.told(), (Getting::Statuses{PH_ERR_PROTOCOL, PH_ERR_PROTOCOL}));
    EXPECT_EQ(Bytes(one.destination.begin() + 2000, one.destination.end()), Bytes(3000));
  };
  ends([](Getting& one) { return one.answer({7, PH_OK, 0, 1}, some(100)); });
  ends([](Getting& one) { return one.answer({0, PH_OK, 0, 1}, some(101)); });
  ends([](Getting& one) { return one.answer({0, PH_OK, 0, 1}, some(99)); });
  ends([](Getting& one) { return one.answer({1, PH_OK, 0, 1}, some(2001)); });
  ends([](Getting& one) { return one.answer({1, PH_OK, 0, 1}, some(1999)); });
  // In the middle of its body it is answered once more.
  ends([](Getting& one) {
    const Encoded encoded = encode(Answer{1, PH_OK, 0, 1});
    const auto header = std::as_bytes(std::span(encoded.words).first(encoded.count));
    EXPECT_TRUE(one.deliver({1, photon::test::bytes_of(header), {}, some(1000), 0, 2000}));
    return one.answer({1, PH_ERR_RANGE, 0, 1});
  });
}

TEST(MailboxReader, arguments_that_cannot_be_are_refused) {
  Getting one;
  ph_mailbox_get_args args{};
  args.size = sizeof args;
  args.size_bytes = 8;
  const auto get = [&](auto change) {
    ph_mailbox_get_args changed = args;
    changed.destination = one.destination.data();
    change(changed);
    return one.service.reader().get(1, changed);
  };
  EXPECT_EQ(get([](auto& all) { all.destination = nullptr; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(get([](auto& all) { all.offset = UINT64_MAX - 6; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(get([](auto& all) { all.size_bytes = UINT64_MAX; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(get([](auto& all) { all.flags = 1 << 20; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(get([](auto& all) { all.local = {nullptr, 8}; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(get([](auto& all) { all.local = {&all, 4096}; }), PH_ERR_ID_SIZE);
  ph_request request = 55;
  EXPECT_EQ(get([&](auto& all) {
              all.request = &request;
              all.flags = PH_NO_LCE;
            }),
            PH_ERR_ARGUMENT);
  one.port.requests = 0;
  EXPECT_EQ(get([&](auto& all) { all.request = &request; }), PH_AGAIN);
  EXPECT_EQ(request, 55u);
  EXPECT_EQ(one.service.held(), 0u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
