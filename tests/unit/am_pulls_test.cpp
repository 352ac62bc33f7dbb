#include "service/am/am_pulls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fake_port.hpp"

namespace photon::service::am {
namespace {

using photon::test::Bytes;
using photon::test::FakePort;

Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed + i / 256);
  return bytes;
}

// A port that can end any of its gets, and counts those that were asked for.
struct PullPort : FakePort {
  using FakePort::FakePort;
  std::vector<std::size_t> sizes;
  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override {
    const ph_status status = FakePort::get(from, what, handle);
    if (status == PH_OK) sizes.push_back(what.to.size());
    return status;
  }
};

// A message whose payload lies in `source`.
struct Mail {
  Bytes source;
  Bytes landing;
  Pull* pull = nullptr;  // until it is over
  bool has_done = false;
  std::vector<ph_am_part> parts;  // that its completion handler was told of
  Bytes seen;                     // what lay there then
};

ph_status never(void*, const ph_am_message*, const ph_am_part*) { return PH_OK; }

// A service that has pulls, and a runner that is called when the test wants it to be.
struct Pulling : Service, PullEnds {
  bool on_message(const Message&) override { return true; }
  void on_local(Rank from, std::uint64_t token, ph_status status) override {
    pulls.on_local(from, token, status);
  }
  void on_lost(Rank rank, ph_status why) noexcept override { pulls.on_lost(rank, why); }
  void pull_read(const Pull& pull) noexcept override { read.push_back(pull.words.token); }
  void pull_over(const Pull& pull) noexcept override {
    over.emplace_back(pull.words.token, pull.status);
  }
  Pulling() { port.serve(*this); }

  struct How {
    Rank from = 1;
    std::vector<std::size_t> blocks = {};  // of the source; none: one
    std::uint64_t chunk_bytes = 0;
    std::uint64_t places = 0;  // of a ring
    bool has_done = true;
    std::uint8_t flags = 0;
  };
  // The number of the message, which is its token.
  std::size_t arrive(std::size_t size, const How& how) {
    const std::size_t number = mails.size();
    mails.push_back(std::make_unique<Mail>());
    Mail& mail = *mails.back();
    mail.source = pattern(size, static_cast<unsigned>(number));
    std::vector<SourceBlock> table;
    std::size_t at = 0;
    std::vector<std::size_t> blocks = how.blocks;
    if (blocks.empty()) blocks = {size};
    for (const std::size_t block : blocks) {
      table.push_back({reinterpret_cast<std::uint64_t>(mail.source.data() + at), block, 1});
      at += block;
    }
    Word word;
    word.op = Op::pull;
    word.flags = how.flags;
    mail.pull = pulls.add(how.from, word, {size, number, table.size(), 0}, std::move(table));
    return number;
  }
  std::size_t begin(std::size_t size, const How& how) {
    const std::size_t number = arrive(size, how);
    Mail& mail = *mails[number];
    ph_am_landing named{};
    mail.landing = Bytes(how.places == 0 ? size : how.places * how.chunk_bytes);
    named.buffer = mail.landing.data();
    named.buffer_bytes = mail.landing.size();
    named.chunk_bytes = how.chunk_bytes;
    named.flags = how.places == 0 ? 0 : PH_AM_CYCLE;
    named.done = how.has_done ? never : nullptr;
    mail.has_done = how.has_done;
    EXPECT_EQ(mail.pull->landing.take(named, size, false), PH_OK);
    mail.pull->node_pulls = &node_pulls;
    pulls.begin(*mail.pull);
    return number;
  }
  // Calls the completion handler that is due. False: none is.
  bool run(ph_status returned = PH_OK) {
    Pulls::Call call = pulls.collect();
    if (call.pull == nullptr) return false;
    Mail& mail = *mails[call.pull->words.token];
    mail.parts.push_back(call.part);
    const auto* data = static_cast<const std::byte*>(call.part.data);
    if (data != nullptr) mail.seen.insert(mail.seen.end(), data, data + call.part.size_bytes);
    call.returned = returned;
    pulls.settle(call);
    return true;
  }
  // Until nothing is left to do.
  void run_all() {
    for (;;) {
      if (run()) continue;
      if (port.gets() != 0)
        port.end_get();
      else if (!port.run_turns())
        return;
    }
  }
  using Over = std::vector<std::pair<std::uint64_t, ph_status>>;

  PullPort port{wire::Owner::am};
  Gates gates{FakePort::kSize, 128};
  Pulls pulls{port, gates, *this};
  std::uint64_t node_pulls = 0;
  std::vector<std::unique_ptr<Mail>> mails;
  std::vector<std::uint64_t> read;
  Over over;
};

void expect_idle(Pulling& one) {
  EXPECT_TRUE(one.pulls.is_idle());
  EXPECT_EQ(one.pulls.held(), 0u);
  EXPECT_EQ(one.node_pulls, 0u) << "its handler cannot be unregistered";
  EXPECT_EQ(one.gates.beside_handled, 0u) << "quiescence waits for ever, or not at all";
}

TEST(AmPulls, brings_the_bytes_and_tells_once) {
  Pulling one;
  one.begin(1000, {});
  EXPECT_EQ(one.node_pulls, 1u);
  EXPECT_EQ(one.gates.beside_handled, ~std::uint64_t{0});
  EXPECT_FALSE(one.pulls.has_due());
  one.port.end_get();
  EXPECT_EQ(one.read, std::vector<std::uint64_t>{0});
  EXPECT_TRUE(one.over.empty()) << "its handler has not run";
  ASSERT_TRUE(one.run());
  EXPECT_FALSE(one.run());
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
  EXPECT_EQ(one.mails[0]->parts[0].is_last, 1);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
  expect_idle(one);
}

TEST(AmPulls, read_is_not_told_to_who_waits_for_the_handlers) {
  Pulling one;
  one.begin(1000, {.flags = kTellsHandled});
  one.run_all();
  EXPECT_TRUE(one.read.empty());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
}

TEST(AmPulls, without_a_handler_the_last_byte_ends_it) {
  Pulling one;
  one.begin(1000, {.chunk_bytes = 300, .has_done = false});
  while (one.port.gets() != 0) one.port.end_get();
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
  EXPECT_TRUE(one.read.empty()) << "two words where one says all";
  EXPECT_EQ(one.mails[0]->landing, one.mails[0]->source);
  expect_idle(one);
}

TEST(AmPulls, pieces_end_where_a_source_block_or_a_part_ends) {
  Pulling one;
  one.begin(100, {.blocks = {30, 50, 20}, .chunk_bytes = 40});
  one.run_all();
  EXPECT_EQ(one.port.sizes, (std::vector<std::size_t>{30, 10, 40, 20}));
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
}

TEST(AmPulls, parts_come_in_order_whatever_the_order_of_their_gets) {
  Pulling one;
  one.begin(80, {.blocks = {10, 10, 20, 20, 20}, .chunk_bytes = 20});
  ASSERT_EQ(one.port.gets(), 5u);
  one.port.end_get();
  EXPECT_FALSE(one.run()) << "half of the first part is there";
  one.port.end_get();
  ASSERT_TRUE(one.run());
  EXPECT_FALSE(one.run());
  one.run_all();
  const auto& parts = one.mails[0]->parts;
  ASSERT_EQ(parts.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parts[i].offset, 20 * i);
    EXPECT_EQ(parts[i].is_last, i == 3);
  }
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
}

TEST(AmPulls, four_parts_are_under_way_until_the_first_was_handled) {
  Pulling one;
  one.begin(100, {.chunk_bytes = 10});
  EXPECT_EQ(one.port.gets(), 4u);
  one.port.end_get();
  EXPECT_EQ(one.port.gets(), 3u) << "what is resident is not bounded";
  ASSERT_TRUE(one.run());
  EXPECT_EQ(one.port.gets(), 4u) << "the pipeline has stopped";
  one.run_all();
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
  expect_idle(one);
}

TEST(AmPulls, a_ring_of_two_places_is_filled_again_when_a_place_was_handled) {
  Pulling one;
  one.begin(95, {.chunk_bytes = 10, .places = 2});
  EXPECT_EQ(one.port.gets(), 2u);
  one.run_all();
  EXPECT_EQ(one.mails[0]->parts.size(), 10u);
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source) << "a place was filled too early";
}

TEST(AmPulls, sixteen_gets_are_under_way_of_one_with_many_blocks) {
  Pulling one;
  one.begin(40, {.blocks = std::vector<std::size_t>(40, 1)});
  EXPECT_EQ(one.port.gets(), 16u);
  one.run_all();
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
}

TEST(AmPulls, one_source_leaves_three_quarters_of_the_gets_to_others) {
  Pulling one;
  const std::uint64_t most = one.port.config().requests / 16;
  for (std::uint64_t i = 0; i < most + 10; ++i) one.begin(10, {.from = 1});
  EXPECT_EQ(one.port.gets(), most);
  one.begin(10, {.from = 2});
  EXPECT_EQ(one.port.gets(), most + 1);
  one.run_all();
  EXPECT_EQ(one.over.size(), most + 11);
  expect_idle(one);
}

TEST(AmPulls, those_that_the_quota_stops_go_on_in_order_and_sources_take_turns) {
  Pulling one;
  one.port.refuse(0, FakePort::kNever);
  for (int i = 0; i < 3; ++i) one.begin(10, {.from = 1});
  for (int i = 0; i < 3; ++i) one.begin(10, {.from = 2});
  EXPECT_EQ(one.port.gets(), 0u);
  one.port.refuse_nothing();
  one.pulls.on_local(1, std::uint64_t{1} << 63, PH_OK);  // what another part of the service did
  EXPECT_EQ(one.port.gets(), 6u);
  while (one.port.gets() != 0) one.port.end_get();
  EXPECT_EQ(one.read, (std::vector<std::uint64_t>{0, 3, 1, 4, 2, 5}));
  one.run_all();
  expect_idle(one);
}

TEST(AmPulls, a_get_that_fails_ends_it_with_one_call_when_no_other_writes) {
  Pulling one;
  one.port.gets_are_stuck = true;
  one.begin(30, {.blocks = {10, 10, 10}});
  one.port.end_get(PH_ERR_KEY);
  EXPECT_FALSE(one.run()) << "a network may still write to the landing";
  one.port.end_get();
  EXPECT_FALSE(one.run());
  one.port.end_get(PH_ERR_ACCESS);
  ASSERT_TRUE(one.run());
  EXPECT_FALSE(one.run());
  ASSERT_EQ(one.mails[0]->parts.size(), 1u);
  EXPECT_EQ(one.mails[0]->parts[0].status, PH_ERR_KEY) << "the first one";
  EXPECT_EQ(one.mails[0]->parts[0].size_bytes, 0u);
  EXPECT_EQ(one.mails[0]->parts[0].is_last, 1);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_KEY}}));
  expect_idle(one);
}

TEST(AmPulls, gets_that_are_given_up_do_not_keep_the_landing) {
  Pulling one;
  one.begin(30, {.blocks = {10, 10, 10}});
  one.port.end_get(PH_ERR_KEY);
  ASSERT_TRUE(one.run());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_KEY}}));
  EXPECT_FALSE(one.pulls.is_idle()) << "two gets have not ended";
  const std::size_t next = one.begin(10, {});
  while (one.port.gets() != 0) one.port.end_get();
  one.run_all();
  EXPECT_EQ(one.over.back(), (std::pair<std::uint64_t, ph_status>{next, PH_OK}));
  expect_idle(one);
}

TEST(AmPulls, one_that_cannot_be_asked_for_ends_with_that_error) {
  Pulling one;
  struct Refusing : FakePort {
    using FakePort::FakePort;
    ph_status get(Rank, const Fetch&, std::uint64_t&) override { return PH_ERR_ACCESS; }
  } port(wire::Owner::am);
  port.serve(one);
  Pulls pulls(port, one.gates, one);
  Pull* const pull = pulls.add(1, {}, {10, 7, 1, 0}, {{1, 10, 1}});
  Bytes memory(10);
  ph_am_landing named{};
  named.buffer = memory.data();
  named.buffer_bytes = 10;
  ASSERT_EQ(pull->landing.take(named, 10, false), PH_OK);
  pull->node_pulls = &one.node_pulls;
  pulls.begin(*pull);
  EXPECT_EQ(one.over, (Pulling::Over{{7, PH_ERR_ACCESS}}));
  EXPECT_TRUE(pulls.is_idle());
}

TEST(AmPulls, an_error_of_a_handler_is_told_to_it_once_more_and_ends_the_rest) {
  Pulling one;
  one.port.gets_are_stuck = true;
  one.begin(100, {.chunk_bytes = 10});
  one.port.end_get();
  ASSERT_TRUE(one.run(PH_ERR_RANGE));
  EXPECT_FALSE(one.run()) << "gets may still write";
  while (one.port.gets() != 0) one.port.end_get();
  ASSERT_TRUE(one.run());
  EXPECT_FALSE(one.run());
  const auto& parts = one.mails[0]->parts;
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].status, PH_ERR_RANGE);
  EXPECT_EQ(parts[1].offset, 10u);
  EXPECT_EQ(parts[1].is_last, 1);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_RANGE}}));
  expect_idle(one);
}

TEST(AmPulls, an_error_of_the_last_part_is_its_end_without_another_call) {
  Pulling one;
  one.begin(10, {});
  one.port.end_get();
  ASSERT_TRUE(one.run(PH_AGAIN));
  EXPECT_FALSE(one.run());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_ARGUMENT}})) << "no status of a message";
}

TEST(AmPulls, what_a_lost_source_has_not_sent_ends_with_its_status) {
  Pulling one;
  one.begin(100, {.chunk_bytes = 10});
  one.begin(10, {});
  one.begin(10, {.from = 2});
  one.port.end_get();  // the first part of the first one
  one.port.lose(1, PH_ERR_DEPARTED);
  one.run_all();
  ASSERT_EQ(one.mails[0]->parts.size(), 1u) << "parts of it were told after its end, or none was";
  EXPECT_EQ(one.mails[0]->parts[0].status, PH_ERR_DEPARTED);
  EXPECT_EQ(one.over.size(), 3u);
  EXPECT_EQ(one.mails[2]->seen, one.mails[2]->source);
  expect_idle(one);
}

TEST(AmPulls, what_is_there_when_its_source_is_lost_is_handled) {
  Pulling one;
  one.begin(20, {.chunk_bytes = 10});
  one.port.end_get();
  one.port.end_get();
  one.port.lose(1);
  one.run_all();
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
}

TEST(AmPulls, one_whose_source_died_before_its_handler_ran_is_told_so) {
  Pulling one;
  one.begin(10, {});
  one.run_all();
  one.port.lose(1);
  one.begin(10, {});
  one.run_all();
  ASSERT_EQ(one.mails[1]->parts.size(), 1u);
  EXPECT_EQ(one.mails[1]->parts[0].status, PH_ERR_PEER);
  expect_idle(one);
}

TEST(AmPulls, a_source_that_is_lost_inside_a_handler_ends_it_behind_that) {
  Pulling one;
  one.begin(40, {.chunk_bytes = 10});
  one.port.end_get();
  Pulls::Call call = one.pulls.collect();
  ASSERT_NE(call.pull, nullptr);
  one.port.lose(1);
  EXPECT_EQ(one.pulls.collect().pull, nullptr) << "two handlers of one message at once";
  EXPECT_TRUE(one.over.empty());
  one.pulls.settle(call);
  one.run_all();
  ASSERT_EQ(one.mails[0]->parts.size(), 1u);
  EXPECT_EQ(one.mails[0]->parts[0].status, PH_ERR_PEER);
  EXPECT_EQ(one.mails[0]->parts[0].offset, 10u);
  expect_idle(one);
}

TEST(AmPulls, after_the_close_no_handler_is_called_and_gets_are_waited_for) {
  Pulling one;
  one.port.gets_are_stuck = true;
  one.begin(10, {});
  one.begin(10, {});
  one.port.end_get();  // its handler is due
  one.pulls.close();
  EXPECT_FALSE(one.run());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_DEPARTED}})) << "one is still written to";
  EXPECT_FALSE(one.pulls.is_idle());
  one.port.end_get();
  EXPECT_FALSE(one.run());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_DEPARTED}, {1, PH_ERR_DEPARTED}}));
  expect_idle(one);
}

TEST(AmPulls, a_handler_that_runs_while_the_lane_closes_is_the_last) {
  Pulling one;
  one.begin(40, {.chunk_bytes = 10});
  while (one.port.gets() != 0) one.port.end_get();
  const Pulls::Call call = one.pulls.collect();
  ASSERT_NE(call.pull, nullptr);
  one.pulls.close();
  EXPECT_TRUE(one.over.empty());
  one.pulls.settle(call);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_DEPARTED}}));
  expect_idle(one);
}

TEST(AmPulls, one_that_is_refused_is_over_and_reads_nothing) {
  Pulling one;
  const std::size_t number = one.arrive(10, {});
  one.pulls.end(*one.mails[number]->pull, PH_ERR_NOT_FOUND);
  EXPECT_EQ(one.over, (Pulling::Over{{number, PH_ERR_NOT_FOUND}}));
  EXPECT_EQ(one.port.gets(), 0u);
  expect_idle(one);
}

TEST(AmPulls, a_source_with_more_than_its_share_is_found) {
  Pulling one;
  for (int i = 0; i < 1024; ++i) {
    one.arrive(10, {});
    ASSERT_NE(one.mails.back()->pull, nullptr);
  }
  one.arrive(10, {});
  EXPECT_EQ(one.mails.back()->pull, nullptr);
  one.arrive(10, {.from = 2});
  EXPECT_NE(one.mails.back()->pull, nullptr);
  one.pulls.end(*one.mails[0]->pull, PH_OK);
  one.arrive(10, {});
  EXPECT_NE(one.mails.back()->pull, nullptr);
}

// Every order of ends, of handlers and of refusals: what is told is what was sent.
TEST(AmPulls, drawn_orders_lose_and_double_nothing) {
  std::uint64_t seed = 1;
  const auto draw = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    Pulling one;
    std::size_t begun = 0;
    for (int step = 0; step < 300; ++step) {
      switch (draw(5)) {
        case 0: {
          Pulling::How how;
          how.from = static_cast<Rank>(1 + draw(3));
          const std::size_t size = 1 + draw(200);
          how.chunk_bytes = draw(3) == 0 ? 0 : 1 + draw(60);
          how.places = how.chunk_bytes != 0 && draw(2) == 0 ? 2 + draw(5) : 0;
          how.has_done = draw(5) != 0;
          for (std::size_t left = size; left != 0;) {
            how.blocks.push_back(1 + draw(left));
            left -= how.blocks.back();
          }
          one.begin(size, how);
          ++begun;
          break;
        }
        case 1: one.port.refuse(draw(3), draw(4)); break;
        case 2: one.run(); break;
        default:
          if (one.port.gets() != 0) one.port.end_get();
      }
    }
    one.port.refuse_nothing();
    one.pulls.on_local(1, std::uint64_t{1} << 63, PH_OK);
    one.run_all();
    ASSERT_EQ(one.over.size(), begun) << "round " << round;
    for (const auto& mail : one.mails) {
      const bool is_ring = mail->landing.size() != mail->source.size();
      if (mail->has_done) {
        ASSERT_EQ(mail->seen, mail->source) << "round " << round;
      } else if (!is_ring) {
        ASSERT_EQ(mail->landing, mail->source) << "round " << round;
      }
    }
    expect_idle(one);
  }
}

}  // namespace
}  // namespace photon::service::am
