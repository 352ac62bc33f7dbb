// What goes without a detour: one block and nothing else. The same stands on the wire as by the
// general way, and what is more than that is left to it untouched.
#include <functional>

#include "am_sending.hpp"
#include "service/am/aggregate_items.hpp"

namespace photon::service::am::sending_test {
namespace {

struct SendNow : AmSending {
  explicit SendNow(std::uint64_t slots = 8) : AmSending(slots) {
    port.has_chunks = true;
    EXPECT_EQ(send_small(0), PH_OK);  // the gate opens with the first one
    meet();
    handle_all();
  }
  Written now(std::span<const std::byte> payload, std::uint32_t flags = PH_NO_LCE, Rank to = 1) {
    return sender().send_now(to, args(payload, flags));
  }
};

TEST(AmSendNow, a_chunk_stands_on_the_wire_as_any_other) {
  SendNow one;
  const Bytes payload = some(3000, 3);
  ASSERT_EQ(one.now(payload), Written::done);
  EXPECT_EQ(one.gate().sent, 2u);
  EXPECT_EQ(one.sender().counts(1).chunks, 1u);
  const auto quick = one.meet();
  ASSERT_EQ(one.sender().send(1, AmSending::args(payload), Asker::user), PH_OK);
  const auto usual = one.meet();
  ASSERT_EQ(quick.size(), 1u);
  ASSERT_EQ(usual.size(), 1u);
  EXPECT_EQ(encode(quick[0].word), encode(usual[0].word));
  EXPECT_EQ(quick[0].payload, payload);
  EXPECT_EQ(usual[0].payload, payload);
}

TEST(AmSendNow, whatever_is_more_is_not_touched) {
  SendNow one(4);
  const Bytes large = some(3000);
  const std::uint64_t number = 1;
  const ph_const_block list[] = {{large.data(), large.size()}};
  ph_request request = PH_REQUEST_NONE;
  const std::vector<std::function<void(ph_am_args&)>> more = {
      [](ph_am_args& args) { args.flags = 0; },
      [](ph_am_args& args) { args.flags |= PH_DELIVERED; },
      [](ph_am_args& args) { args.flags |= PH_AM_REPLY; },
      [](ph_am_args& args) { args.flags |= 0x8000'0000U; },
      [](ph_am_args& args) { args.id = PH_AM_MAX_ID + 1; },
      [](ph_am_args& args) { args.immediate = 1; },
      [](ph_am_args& args) { args.payload = nullptr; },
      [](ph_am_args& args) { args.payload = reinterpret_cast<void*>(~std::uintptr_t{0} - 10); },
      [](ph_am_args& args) { args.payload_bytes = ~std::size_t{0}; },
      [&](ph_am_args& args) { args.request = &request; },
      [&](ph_am_args& args) {
        args.local = {&number, sizeof number};
      },
      [&](ph_am_args& args) {
        args.header = &number;
        args.header_bytes = sizeof number;
      },
      [&](ph_am_args& args) {
        args.blocks = list;
        args.blocks_count = 1;
      },
      [&](ph_am_args& args) { args.payload_bytes = wire::kMaxPackedBytes; },
      [&](ph_am_args& args) { args.payload_bytes = one.port.settings.am_carried_max + 1; },
  };
  for (std::size_t i = 0; i < more.size(); ++i) {
    ph_am_args args = AmSending::args(large);
    more[i](args);
    EXPECT_EQ(one.sender().send_now(1, args), Written::no) << i;
  }
  EXPECT_EQ(one.now(large, PH_NO_LCE, 99), Written::no);
  EXPECT_EQ(one.now(large, PH_NO_LCE, 2), Written::no) << "nobody was met there";
  one.port.has_chunks = false;
  EXPECT_EQ(one.now(large), Written::no) << "the ring has no room";
  one.port.has_chunks = true;
  EXPECT_TRUE(one.meet().empty());
  EXPECT_EQ(one.gate().sent, 1u);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(one.now(large), Written::done);
  EXPECT_EQ(one.now(large), Written::no) << "no slot is free";
  EXPECT_EQ(one.meet().size(), 4u);
}

TEST(AmSendNow, what_may_wait_joins_what_is_open_and_opens_nothing) {
  constexpr std::uint32_t kWaits = PH_NO_LCE | PH_AM_MAY_WAIT;
  SendNow one;
  one.port.settings.am_aggregate_bytes = 256;
  one.restart();
  EXPECT_EQ(one.now(some(8), kWaits), Written::no);
  ASSERT_EQ(one.sender().send(1, AmSending::args(some(8, 0), kWaits), Asker::user), PH_OK);
  std::vector<std::size_t> sizes = {8};
  for (const std::size_t size : {1u, 8u, 13u, 56u}) {
    ASSERT_EQ(one.now(some(size, sizes.size()), kWaits), Written::done) << size;
    sizes.push_back(size);
  }
  EXPECT_EQ(one.now(some(57), kWaits), Written::no) << "one that large goes alone";
  EXPECT_EQ(one.now(some(1000), kWaits), Written::no);
  while (one.now(some(8, sizes.size()), kWaits) == Written::done) sizes.push_back(8);
  EXPECT_TRUE(one.meet().empty());
  EXPECT_EQ(one.sender().counts(1).collected, sizes.size());
  EXPECT_EQ(one.gates->sent(), sizes.size() + 1);
  one.sender().before_sleep();
  Said said;
  ASSERT_TRUE(one.port.take(said));
  const Bytes& bytes = said.is_body ? said.body : said.payload;
  Items items(bytes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto item = items.next();
    ASSERT_TRUE(item) << i;
    EXPECT_EQ(item->id, 7u);
    EXPECT_EQ(bytes_of(item->parts.payload), some(sizes[i], i)) << i;
  }
  EXPECT_FALSE(items.next());
  EXPECT_FALSE(items.is_malformed());
  EXPECT_GT(bytes.size(), 256u - 16u);
}

TEST(AmSendNow, what_may_wait_joins_nothing_of_a_rank_that_is_lost) {
  constexpr std::uint32_t kWaits = PH_NO_LCE | PH_AM_MAY_WAIT;
  SendNow one;
  ASSERT_EQ(one.sender().send(1, AmSending::args(some(8), kWaits), Asker::user), PH_OK);
  one.port.lose(1);
  EXPECT_EQ(one.now(some(8), kWaits), Written::no);
  EXPECT_EQ(one.now(some(3000)), Written::no);
}

}  // namespace
}  // namespace photon::service::am::sending_test
