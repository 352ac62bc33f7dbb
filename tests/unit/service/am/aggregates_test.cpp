// Messages that wait for others: they go together, in order, in time, and before anything that
// would pass them.
#include "service/am/aggregates.hpp"

#include "am_sending.hpp"
#include "service/am/aggregate_items.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::uint32_t kWaits = PH_NO_LCE | PH_AM_MAY_WAIT;

struct Collecting : AmSending {
  explicit Collecting(std::uint64_t capacity = 4096, std::uint64_t slots = 8) : AmSending(slots) {
    port.settings.am_aggregate_bytes = capacity;
    port.tick_ns = 0;
    restart();
  }
  // The numbers of all that has gone, those of an aggregate as one list.
  std::vector<Numbers> gone() {
    std::vector<Numbers> all;
    for (Said said; port.take(said);) all.push_back(numbers_of(said));
    return all;
  }
  static Numbers numbers_of(const Said& said) {
    const auto word = decode(word_at(said.header, 0));
    EXPECT_TRUE(word);
    if (word->op != Op::aggregate) return {met(said).immediate - 1};
    const std::span<const std::byte> bytes = said.is_body ? said.body : said.payload;
    EXPECT_EQ(said.header.size(), 16u);
    EXPECT_EQ(word_at(said.header, 8), bytes.size());
    EXPECT_NE(items_in(bytes), 0u);
    Items items(bytes);
    Numbers numbers;
    while (const auto item = items.next()) {
      EXPECT_EQ(item->id, 7u);
      numbers.push_back(item->parts.immediate - 1);
      EXPECT_EQ(bytes_of(item->parts.payload), some(item->parts.payload.size(), numbers.back()));
    }
    return numbers;
  }
  Numbers run_all() {
    Numbers numbers;
    for (int idle = 0; idle < 3; ++idle) {
      port.give_room(1);
      port.run_turns();
      for (const Numbers& list : gone()) {
        numbers.insert(numbers.end(), list.begin(), list.end());
        idle = 0;
      }
      if (port.state(1) == PH_OK) handle_all();
    }
    return numbers;
  }
};

TEST(AmAggregates, they_go_together_when_their_time_has_come) {
  Collecting one;
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(one.send(i, i, kWaits), PH_OK);
  EXPECT_TRUE(one.gone().empty());
  EXPECT_EQ(one.sender().next_turn_ns(), 20'000);
  one.port.pass(19'999);
  one.port.run_turns();
  EXPECT_TRUE(one.gone().empty());
  one.port.pass(1);
  one.port.run_turns();
  EXPECT_EQ(one.gone(), (std::vector<Numbers>{{0, 1, 2, 3, 4}}));
  EXPECT_EQ(one.gate().sent, 1u) << "one slot for all";
  EXPECT_EQ(one.gates->sent(), 5u);
  EXPECT_EQ(one.sender().next_turn_ns(), INT64_MAX);
  EXPECT_EQ(one.sender().counts(1).aggregates, 1u);
  EXPECT_EQ(one.sender().counts(1).collected, 5u);
}

TEST(AmAggregates, each_other_reason_sends_them_at_once) {
  const std::vector<std::pair<const char*, std::function<void(Collecting&)>>> reasons = {
      {"sleep", [](Collecting& one) { one.sender().before_sleep(); }},
      {"flush", [](Collecting& one) { one.sender().before_flush(1); }},
      {"flush of all", [](Collecting& one) { one.sender().before_flush(PH_ANY_RANK); }},
      {"close", [](Collecting& one) { one.sender().close(); }},
  };
  for (const auto& [name, reason] : reasons) {
    Collecting one;
    ASSERT_EQ(one.send(0, 8, kWaits), PH_OK);
    EXPECT_EQ(one.sender().held(), 1u);
    EXPECT_FALSE(one.sender().is_idle());
    one.sender().before_flush(2);
    EXPECT_TRUE(one.gone().empty()) << "another rank's flush";
    reason(one);
    EXPECT_EQ(one.gone(), (std::vector<Numbers>{{0}})) << name;
    EXPECT_EQ(one.sender().held(), 0u);
    EXPECT_TRUE(one.sender().is_idle());
  }
}

TEST(AmAggregates, any_other_message_to_that_rank_goes_behind_them) {
  for (const std::size_t size : {8, 200, 3000})
    for (const std::uint32_t flags :
         {PH_NO_LCE + 0u, PH_DELIVERED | PH_AM_MAY_WAIT, kWaits | PH_AM_REPLY}) {
      Collecting one;
      ASSERT_EQ(one.send(0, 8, kWaits), PH_OK);
      ASSERT_EQ(one.send(1, 8, kWaits), PH_OK);
      ASSERT_EQ(one.send(2, size, flags), PH_OK);
      EXPECT_EQ(one.gone(), (std::vector<Numbers>{{0, 1}, {2}})) << size;
    }
  Collecting one;
  ASSERT_EQ(one.send_small(0), PH_OK);
  ASSERT_EQ(one.send(1, 8, kWaits), PH_OK);
  const std::uint64_t word = 3;
  ASSERT_EQ(one.sender().send_small(2, 7, {&word, 8}, Asker::user), PH_OK);
  EXPECT_EQ(one.port.waiting(), 2u) << "another rank's message sends nothing";
  ASSERT_EQ(one.sender().send_small(1, 7, {&word, 8}, Asker::user), PH_OK);
  EXPECT_EQ(one.port.waiting(), 4u) << "the gate was shut";
}

TEST(AmAggregates, a_full_one_goes_and_the_next_begins) {
  Collecting one(256);
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(one.send(i, 16, kWaits), PH_OK);
  const std::vector<Numbers> all = one.gone();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].size(), 8u) << "32 bytes each";
  one.sender().before_sleep();
  EXPECT_EQ(one.gone(), (std::vector<Numbers>{{16, 17, 18, 19}}));
}

TEST(AmAggregates, too_much_for_a_quarter_of_it_does_not_wait) {
  Collecting one(256);
  ASSERT_EQ(one.send(0, 48, kWaits), PH_OK);
  EXPECT_TRUE(one.gone().empty());
  ASSERT_EQ(one.send(1, 49, kWaits), PH_OK);
  EXPECT_EQ(one.gone(), (std::vector<Numbers>{{0}, {1}}));
  ASSERT_EQ(one.send(2, 1 << 14, kWaits), PH_OK);
  EXPECT_EQ(one.gone().size(), 1u);
}

TEST(AmAggregates, large_ones_are_bodies_and_small_ones_records) {
  for (const bool reserves : {false, true}) {
    Collecting one(65536);
    one.port.reserves = reserves;
    for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(one.send(i, 16, kWaits), PH_OK);
    one.sender().before_sleep();
    ASSERT_EQ(one.send(500, 16, kWaits), PH_OK);
    one.sender().before_sleep();
    const std::vector<Numbers> all = one.gone();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].size(), 500u);
    EXPECT_EQ(one.sender().budget().used(), 0u);
  }
}

TEST(AmAggregates, their_completions_are_there_at_once) {
  Collecting one;
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send(i, 8, PH_AM_MAY_WAIT), PH_OK);
  EXPECT_EQ(one.port.told, (std::vector<Told>{{0, PH_OK}, {1, PH_OK}, {2, PH_OK}}));
  EXPECT_TRUE(one.port.holds_nothing());
}

TEST(AmAggregates, refused_items_are_told_once) {
  Collecting one;
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send(i, 8, kWaits), PH_OK);
  one.sender().before_sleep();
  EXPECT_FALSE(one.sender().refused(1, {0, PH_ERR_RANGE, 0, 7})) << "no items";
  EXPECT_FALSE(one.sender().refused(1, {0, PH_ERR_RANGE, 4, 7})) << "more than it has";
  EXPECT_TRUE(one.sender().refused(1, {0, PH_ERR_RANGE, 3, 7}));
  EXPECT_FALSE(one.sender().refused(1, {0, PH_ERR_RANGE, 3, 7}));
  EXPECT_EQ(one.port.late, (std::vector<Told>{{0, PH_ERR_RANGE}}));
  EXPECT_TRUE(one.sender().handled(1, 1));
}

TEST(AmAggregates, the_order_holds_under_every_refusal) {
  for (const bool reserves : {false, true})
    for (std::uint64_t at = 0; at < 40; ++at)
      for (const std::uint64_t count : {1, 4, 30}) {
        Collecting one(256, 4);
        one.port.reserves = reserves;
        one.port.refuse(at, count);
        Numbers numbers;
        for (std::uint64_t i = 0; i < 60;) {
          const std::uint32_t flags = i % 7 == 3 ? PH_NO_LCE + 0u : kWaits;
          const ph_status status = one.send(i, i % 5 == 0 ? 40 : 3, flags);
          i += status == PH_OK;
          if (status == PH_OK) continue;
          ASSERT_EQ(status, PH_AGAIN);
          const Numbers more = one.run_all();
          numbers.insert(numbers.end(), more.begin(), more.end());
        }
        one.port.refuse_nothing();
        one.sender().before_sleep();
        const Numbers more = one.run_all();
        numbers.insert(numbers.end(), more.begin(), more.end());
        ASSERT_EQ(numbers.size(), 60u) << at;
        for (std::uint64_t i = 0; i < 60; ++i) ASSERT_EQ(numbers[i], i);
        EXPECT_EQ(one.sender().held(), 0u);
        EXPECT_EQ(one.gates->sent(), 60u);
        EXPECT_EQ(one.sender().budget().used(), 0u);
      }
}

TEST(AmAggregates, a_full_outbox_takes_no_new_ones) {
  Collecting one(256, 4);
  one.port.settings.requests = 3;
  one.restart();
  std::uint64_t accepted = 0;
  while (one.send(accepted, 16, kWaits) == PH_OK) ASSERT_LT(++accepted, 1000u);
  EXPECT_EQ(accepted, 7u * 8) << "four that went, and three that wait";
  one.sender().before_sleep();
  EXPECT_EQ(one.send(99, 16, kWaits), PH_AGAIN);
  EXPECT_EQ(one.run_all().size(), accepted);
}

TEST(AmAggregates, a_loss_tells_once_of_those_that_had_ids) {
  for (const bool has_ids : {false, true})
    for (const int state : {0, 1, 2}) {  // open, waiting, gone
      Collecting one(256, 1);
      const std::uint64_t id = 5;
      ph_am_args args = AmSending::args({}, kWaits);
      if (has_ids) args.local = {&id, sizeof id};
      if (state == 1) one.port.refuse(0, FakePort::kNever);
      for (int i = 0; i < 3; ++i) ASSERT_EQ(one.sender().send(1, args, Asker::user), PH_OK);
      if (state != 0) one.sender().before_sleep();
      one.lose();
      EXPECT_EQ(one.port.late,
                has_ids ? (std::vector<Told>{{0, PH_ERR_PEER}}) : std::vector<Told>{});
      EXPECT_EQ(one.sender().held(), 0u);
      EXPECT_EQ(one.sender().budget().used(), 0u);
      EXPECT_EQ(one.sender().next_turn_ns(), INT64_MAX);
      EXPECT_EQ(one.sender().send(1, args, Asker::user), PH_ERR_PEER);
    }
}

TEST(AmAggregates, a_rank_that_is_lost_inside_a_call_ends_them) {
  for (std::uint64_t at = 1; at < 40; ++at) {
    Collecting one(256, 4);
    one.port.lose_inside(at);
    for (std::uint64_t i = 0; i < 60; ++i) {
      const ph_status status = one.send(i, 16, i % 9 == 8 ? PH_NO_LCE + 0u : kWaits);
      EXPECT_TRUE(status == PH_OK || status == PH_ERR_PEER);
    }
    one.lose();
    one.port.run_turns();
    EXPECT_EQ(one.sender().held(), 0u) << at;
    EXPECT_EQ(one.sender().budget().used(), 0u);
    EXPECT_EQ(one.sender().next_turn_ns(), INT64_MAX);
  }
}

TEST(AmAggregates, a_lack_of_memory_loses_none_that_was_accepted) {
  for (int allowed = 0; allowed < 30; ++allowed) {
    Collecting one(256, 64);
    Numbers accepted;
    accepted.reserve(20);
    for (std::uint64_t i = 0; i < 20; ++i) {
      try {
        const photon::test::Shortage shortage(i < 12 ? 1000 : allowed);
        if (one.send(i, 16, kWaits) == PH_OK) accepted.push_back(i);
      } catch (const std::bad_alloc&) {
      }
    }
    try {
      const photon::test::Shortage shortage(allowed / 4);
      one.sender().before_sleep();
      one.port.run_turns();
    } catch (const std::bad_alloc&) {
    }
    one.sender().before_sleep();
    EXPECT_EQ(one.run_all(), accepted) << allowed;
    EXPECT_EQ(one.sender().held(), 0u);
  }
}

TEST(AmAggregates, several_ranks_go_each_in_its_time) {
  Collecting one;
  const ph_am_args args = AmSending::args({}, kWaits);
  for (const Rank to : {2u, 1u, 3u}) {
    ASSERT_EQ(one.sender().send(to, args, Asker::user), PH_OK);
    one.port.pass(5'000);
  }
  EXPECT_EQ(one.sender().next_turn_ns(), 20'000);
  one.sender().before_flush(1);
  one.port.pass(5'000);
  one.port.run_turns();
  EXPECT_EQ(one.gate(2).sent, 1u);
  EXPECT_EQ(one.gate(1).sent, 1u);
  EXPECT_EQ(one.gate(3).sent, 0u);
  EXPECT_EQ(one.sender().next_turn_ns(), 30'000);
  one.port.pass(10'000);
  one.port.run_turns();
  EXPECT_EQ(one.gate(3).sent, 1u);
}

}  // namespace
}  // namespace photon::service::am::sending_test
