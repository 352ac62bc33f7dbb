// Messages whose payload their target reads: lent until it says so, in their place in the order,
// and taken back wherever the call fails.
#include "am_sending.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

using Tolds = std::vector<Told>;
using Numbers = std::vector<std::uint64_t>;

constexpr std::size_t kLarge = 40'000;

struct LentPayloads : AmSending {
  explicit LentPayloads(std::uint64_t slots = 8) : AmSending(slots) { port.reserves = true; }

  // The payload stays in `memory`, as its user promises.
  ph_status lend(std::uint64_t number, std::uint32_t flags = PH_NO_LCE, Asker asker = Asker::user) {
    ph_am_args args = AmSending::args(memory, flags);
    args.immediate = number + 1;
    args.local = {&number, sizeof number};
    return sender().send(1, args, asker);
  }
  bool done(std::uint64_t token, std::uint64_t status = 0) {
    return sender().done(1, token, status);
  }
  // All that goes until nothing waits, in order; what is read is read and handled at once.
  Numbers run_all() {
    Numbers numbers;
    for (int idle = 0; idle < 3; ++idle) {
      port.give_room(1);
      port.run_turns();
      for (const Met& one : meet()) {
        numbers.push_back(one.immediate - 1);
        if (one.word.op == Op::pull) {
          EXPECT_EQ(one.payload, memory);
          EXPECT_TRUE(done(one.token));
        }
        idle = 0;
      }
      if (port.state(1) == PH_OK) handle_all();
    }
    return numbers;
  }

  Bytes memory = some(kLarge);
};

TEST(AmLentPayload, a_large_payload_is_read_where_it_lies) {
  LentPayloads one;
  const Bytes header = some(100, 5);
  ph_am_args args = AmSending::args(one.memory, PH_NO_LCE);
  args.header = header.data();
  args.header_bytes = header.size();
  args.immediate = 8;
  ASSERT_EQ(one.sender().send(1, args, Asker::user), PH_OK);
  EXPECT_EQ(one.port.exposures(), 1u);
  const std::vector<Met> all = one.meet();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].word.op, Op::pull);
  EXPECT_EQ(all[0].payload, one.memory);
  EXPECT_EQ(all[0].header, header);
  EXPECT_EQ(all[0].immediate, 8u);
  EXPECT_EQ(one.sender().counts(1).pulls, 1u);
  EXPECT_TRUE(one.done(all[0].token));
  EXPECT_EQ(one.half->held(), 0u);
}

TEST(AmLentPayload, long_lists_are_read_block_by_block) {
  for (const std::size_t count : {1, 8, 9, 42, 43, 1024}) {
    LentPayloads one;
    std::vector<ph_const_block> blocks;
    for (std::size_t i = 0; i < count; ++i)
      blocks.push_back({one.memory.data() + i, i % 5 == 3 ? 0 : kLarge - count});
    ph_am_args args = AmSending::args({}, PH_NO_LCE);
    args.blocks = blocks.data();
    args.blocks_count = blocks.size();
    ASSERT_EQ(one.sender().send(1, args, Asker::user), PH_OK);
    Bytes expected;
    for (const ph_const_block& block : blocks) {
      const auto* const from = static_cast<const std::byte*>(block.data);
      expected.insert(expected.end(), from, from + block.size_bytes);
    }
    const std::vector<Met> all = one.meet();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].payload, expected) << count;
  }
}

TEST(AmLentPayload, its_user_is_told_when_it_was_read_or_handled) {
  for (const bool is_delivered : {false, true}) {
    LentPayloads one;
    ph_request request = 0;
    ph_am_args args = AmSending::args(one.memory, is_delivered ? PH_DELIVERED + 0u : 0u);
    args.request = &request;
    ASSERT_EQ(one.sender().send(1, args, Asker::user), PH_OK);
    const std::uint64_t token = one.meet().at(0).token;
    one.handle_all();
    EXPECT_EQ(one.port.told, Tolds{}) << "its header handler alone is through";
    EXPECT_EQ(one.sender().read(1, token), !is_delivered);
    EXPECT_EQ(one.port.told.size(), is_delivered ? 0u : 1u);
    EXPECT_TRUE(one.done(token));
    EXPECT_EQ(one.port.told, (Tolds{{0, PH_OK}}));
    EXPECT_TRUE(one.port.holds_nothing());
  }
}

TEST(AmLentPayload, such_a_message_keeps_its_place_under_every_refusal) {
  for (const Asker asker : {Asker::user, Asker::handler, Asker::reply})
    for (std::uint64_t at = 0; at < 40; ++at)
      for (const std::uint64_t count : {1, 3, 30}) {
        LentPayloads one(3);
        one.port.refuse(at, count);
        Numbers numbers;
        for (std::uint64_t i = 0; i < 15;) {
          const ph_status status = i % 3 == 1
                                       ? one.lend(i, PH_NO_LCE, asker)
                                       : one.send(i, i % 3 == 0 ? 8 : 3000, PH_NO_LCE, asker);
          i += status == PH_OK;
          if (status == PH_OK) continue;
          ASSERT_EQ(status, PH_AGAIN);
          const Numbers more = one.run_all();
          numbers.insert(numbers.end(), more.begin(), more.end());
        }
        one.port.refuse_nothing();
        const Numbers more = one.run_all();
        numbers.insert(numbers.end(), more.begin(), more.end());
        ASSERT_EQ(numbers.size(), 15u) << at;
        for (std::uint64_t i = 0; i < 15; ++i) EXPECT_EQ(numbers[i], i);
        EXPECT_EQ(one.half->held(), 0u);
        EXPECT_TRUE(one.port.holds_nothing());
        EXPECT_EQ(one.sender().budget().used(), 0u);
      }
}

TEST(AmLentPayload, so_many_are_at_a_target_and_the_next_waits_for_an_end) {
  LentPayloads one(2048);
  for (std::uint64_t i = 0; i < kMostPulls; ++i) ASSERT_EQ(one.lend(i), PH_OK);
  ASSERT_EQ(one.lend(2000), PH_OK);
  ASSERT_EQ(one.send_small(2001), PH_OK);
  const std::vector<Met> all = one.meet();
  EXPECT_EQ(all.size(), kMostPulls) << "the line behind it waits as well";
  one.handle_all();
  EXPECT_EQ(one.port.waiting(), 0u);
  EXPECT_TRUE(one.done(all[5].token));
  EXPECT_EQ(one.port.waiting(), 2u);
}

TEST(AmLentPayload, those_of_handlers_are_bounded_by_the_queue) {
  LentPayloads one(1024);
  one.port.settings.am_queue_bytes = 1 << 16;
  one.restart();
  std::uint64_t accepted = 0;
  while (one.lend(accepted, PH_NO_LCE, Asker::handler) == PH_OK) ASSERT_LT(++accepted, 1000u);
  EXPECT_EQ(accepted, (1u << 16) / Note::kPromiseBytes);
  EXPECT_EQ(one.lend(99, PH_NO_LCE, Asker::handler), PH_ERR_MEMORY);
  EXPECT_EQ(one.lend(accepted, PH_NO_LCE, Asker::reply), PH_OK);
  EXPECT_EQ(one.run_all().size(), accepted + 1);
  EXPECT_EQ(one.lend(99, PH_NO_LCE, Asker::handler), PH_OK);
}

TEST(AmLentPayload, without_a_completion_left_nothing_is_lent) {
  LentPayloads one;
  one.port.settings.requests = 1;
  ASSERT_EQ(one.lend(0), PH_OK);
  ph_request request = 77;
  ph_am_args args = AmSending::args(one.memory, 0);
  args.request = &request;
  EXPECT_EQ(one.sender().send(1, args, Asker::user), PH_AGAIN);
  EXPECT_EQ(request, 77u);
  EXPECT_EQ(one.port.exposures(), 1u);
}

TEST(AmLentPayload, a_refusal_of_one_is_malformed) {
  LentPayloads one;
  ASSERT_EQ(one.lend(0), PH_OK);
  EXPECT_FALSE(one.sender().refused(1, {0, PH_ERR_RANGE, 0, 7})) << "its end is told by done";
  EXPECT_EQ(one.run_all().size(), 1u);
}

TEST(AmLentPayload, without_memory_nothing_is_lent) {
  for (const bool queues : {false, true}) {
    int allowed = 0;
    for (bool is_accepted = false; !is_accepted; ++allowed) {
      ASSERT_LT(allowed, 60);
      LentPayloads one(2);
      std::vector<ph_const_block> blocks(20, {one.memory.data(), 3000});
      if (queues) {
        for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
      }
      ph_request request = 77;
      ph_am_args args = AmSending::args({}, PH_DELIVERED);
      args.blocks = blocks.data();
      args.blocks_count = blocks.size();
      args.request = &request;
      try {
        const photon::test::Shortage shortage(allowed);
        is_accepted = one.sender().send(1, args, Asker::user) == PH_OK;
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(request, 77u);
      }
      EXPECT_EQ(one.port.exposures(), is_accepted ? 20u : 0u) << allowed;
      EXPECT_EQ(one.port.promises(), is_accepted ? 1u : 0u);
      EXPECT_EQ(one.half->held() == 0, !is_accepted && !queues);
      EXPECT_FALSE(one.port.is_reserved());
    }
  }
}

// Before the message goes, as it goes, while it waits, when it was read.
TEST(AmLentPayload, a_loss_ends_each_once) {
  for (std::uint64_t at = 1; at < 40; ++at) {
    LentPayloads one(4);
    one.port.lose_inside(at);
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
      if (i == 4) one.port.refuse(0, FakePort::kNever);
      ph_request request = 77;
      ph_am_args args = AmSending::args(one.memory, PH_DELIVERED);
      args.request = &request;
      const ph_status status = one.sender().send(1, args, Asker::handler);
      EXPECT_TRUE(status == PH_OK || status == PH_ERR_PEER);
      accepted += status == PH_OK;
    }
    one.port.refuse_nothing();
    one.port.give_room(1);
    one.lose();
    one.port.run_turns();
    EXPECT_EQ(one.port.told.size(), accepted) << at;
    EXPECT_TRUE(one.port.holds_nothing()) << at;
    EXPECT_EQ(one.half->held(), 0u) << at;
    EXPECT_EQ(one.sender().budget().used(), 0u);
  }
}

}  // namespace
}  // namespace photon::service::am::sending_test
