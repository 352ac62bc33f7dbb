// A message that is all there is to do, and runs without the inbox: the same comes of it as of any
// other, and what is not so simple is left to the general way.
#include <array>
#include <cstring>

#include "am_receiving_unit.hpp"
#include "shortage.hpp"

namespace photon::service::am {
namespace {

using namespace test;

void write_line(transport::Line& line, std::uint64_t word, const Bytes& payload) {
  std::array<std::uint64_t, wire::kWordsPerLine> words{word};
  if (!payload.empty()) std::memcpy(words.data() + 1, payload.data(), payload.size());
  for (std::size_t i = 0; i < words.size(); ++i) line.words[i].set(words[i]);
}

struct Alone : Receiver {
  using Receiver::Receiver;
  bool take(Rank from, std::uint64_t bits, const Bytes& payload = {}) {
    write_line(line, bits, payload);
    return am->take_alone(from, line, static_cast<std::uint32_t>(8 + payload.size()));
  }
  bool run(Rank from, std::uint64_t bits, const Bytes& payload = {}) {
    if (!take(from, bits, payload)) return false;
    am->run_alone();
    am->ran_alone();
    return true;
  }
  bool run_chunk(Rank from, std::uint64_t bits, std::uint64_t size_bytes, const Bytes& chunk) {
    if (!am->take_alone(from, AloneChunk{{bits, size_bytes}, chunk})) return false;
    am->run_alone();
    am->ran_alone();
    return true;
  }
  transport::Line line{};
};

TEST(AmAlone, every_size_of_a_line_comes_whole_and_its_slot_is_given_back) {
  Alone one(64);
  for (std::size_t size = 0; size <= PH_AM_SMALL_BYTES; ++size)
    ASSERT_TRUE(one.run(1, word(Op::line, 0, 1), filled(size))) << size;
  ASSERT_EQ(one.handled.size(), 49u);
  for (std::size_t size = 0; size < one.handled.size(); ++size)
    EXPECT_EQ(one.handled[size], filled(size));
  EXPECT_EQ(one.am->handlers_run(), 49u);
  EXPECT_EQ(one.am->held(), 0u);
  const auto said = one.said();
  ASSERT_EQ(said.size(), 3u) << "one for each quarter of the slots";
  EXPECT_EQ(said.back(), (std::vector<std::uint64_t>{word(Op::credit), 48}));
}

TEST(AmAlone, a_chunk_is_handled_where_it_lies) {
  Alone one;
  const void* seen = nullptr;
  one.enroll(2, [&](const ph_am_message& message, ph_am_landing&) {
    seen = message.payload;
    EXPECT_EQ(message.payload_bytes, 300u);
    EXPECT_EQ(message.source, 3u);
    return PH_OK;
  });
  const Bytes chunk = filled(300);
  ASSERT_TRUE(one.run_chunk(3, word(Op::body, 0, 2), 300, chunk));
  EXPECT_EQ(seen, chunk.data());
  EXPECT_EQ(one.am->held(), 0u);
}

TEST(AmAlone, all_that_is_more_is_left_to_the_general_way) {
  const std::uint64_t plain = word(Op::line, 0, 1);
  for (const std::uint64_t bits :
       {word(Op::line, kHasImmediate, 1), word(Op::line, kWantsReply, 1),
        word(Op::line, kIsReply, 1), word(Op::line, kTellsHandled, 1), word(Op::line, 0, 1, 4),
        word(Op::line, 0, 7), word(Op::record, 0, 1), word(Op::body, 0, 1), word(Op::credit),
        word(Op::line, 0, 1, 0, 1), std::uint64_t{0}, ~std::uint64_t{0}}) {
    Alone one;
    EXPECT_FALSE(one.run(1, bits, filled(8))) << std::hex << bits;
    EXPECT_TRUE(one.run(1, plain, filled(8))) << "and nothing has changed";
  }
  Alone one;
  write_line(one.line, plain, {});
  EXPECT_FALSE(one.am->take_alone(1, one.line, 7)) << "not even a word";
  ASSERT_TRUE(one.come(line(1, 1)));
  EXPECT_FALSE(one.run(1, plain)) << "another one is due";
  one.turn();
  EXPECT_TRUE(one.run(1, plain));
  const Bytes chunk = filled(300);
  for (const auto& [bits, size] : {std::pair{word(Op::body, 0, 1), std::uint64_t{299}},
                                   {word(Op::body, 0, 1), std::uint64_t{301}},
                                   {word(Op::pull, 0, 1), std::uint64_t{300}},
                                   {word(Op::body, 0, 1, 8), std::uint64_t{300}},
                                   {word(Op::body, 0, 7), std::uint64_t{300}}})
    EXPECT_FALSE(one.run_chunk(1, bits, size, chunk)) << std::hex << bits << " " << size;
  one.port.settings.am_carried_max = 299;
  EXPECT_FALSE(one.run_chunk(1, word(Op::body, 0, 1), 300, chunk));
  one.am->close();
  EXPECT_FALSE(one.run(1, plain));
}

TEST(AmAlone, who_sends_without_a_slot_is_left_to_the_general_way_which_ends_it) {
  Alone one(4);
  one.port.is_inside = false;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(one.come(line(1, 1)));
  EXPECT_FALSE(one.run(1, word(Op::line, 0, 1)));
  EXPECT_FALSE(one.come(line(1, 1)));
  EXPECT_NE(one.port.why.find("am_slots"), std::string::npos);
}

TEST(AmAlone, an_error_is_told_with_its_number_before_the_credit) {
  Alone one(4);
  ASSERT_TRUE(one.run(1, word(Op::line, 0, 1)));
  one.said();
  one.returned = PH_ERR_RANGE;
  ASSERT_TRUE(one.run(1, word(Op::line, 0, 1)));
  one.returned = PH_OK;
  ASSERT_TRUE(one.run(1, word(Op::line, 0, 1)));
  const auto said = one.said();
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0], (std::vector<std::uint64_t>{word(Op::refused, 0, 1), 1,
                                                 std::uint64_t(std::int64_t{PH_ERR_RANGE}), 0}));
  EXPECT_EQ(said[1], (std::vector<std::uint64_t>{word(Op::credit), 2}));
  EXPECT_EQ(said[2], (std::vector<std::uint64_t>{word(Op::credit), 3}));
}

TEST(AmAlone, a_landing_is_filled_and_told_of) {
  Alone one;
  std::vector<std::byte> place(16);
  ph_am_part told{};
  one.enroll(2, [&](const ph_am_message&, ph_am_landing& landing) {
    landing.buffer = place.data();
    landing.buffer_bytes = place.size();
    landing.argument = &told;
    landing.done = [](void* argument, const ph_am_message*, const ph_am_part* part) {
      *static_cast<ph_am_part*>(argument) = *part;
      return ph_status{PH_OK};
    };
    return PH_OK;
  });
  ASSERT_TRUE(one.run(1, word(Op::line, 0, 2), filled(16)));
  EXPECT_EQ(place, filled(16));
  EXPECT_EQ(told.size_bytes, 16u);
  EXPECT_NE(told.is_last, 0);
  EXPECT_EQ(told.status, PH_OK);
}

TEST(AmAlone, a_refusal_that_finds_no_memory_is_said_by_the_next_run) {
  for (int after = 0; after < 4; ++after) {
    Alone one;
    one.returned = PH_ERR_RANGE;
    one.port.refuse(1, FakePort::kNever);  // no line: it has to be kept
    ASSERT_TRUE(one.take(1, word(Op::line, 0, 1)));
    one.am->run_alone();
    {
      const photon::test::Shortage shortage(after);
      one.am->ran_alone();
    }
    one.port.refuse_nothing();
    one.turn();
    const auto said = one.said();
    ASSERT_EQ(said.size(), 1u) << after;
    EXPECT_EQ(decode(said[0][0])->op, Op::refused);
    EXPECT_EQ(one.am->held(), 0u);
    EXPECT_TRUE(one.am->is_idle());
  }
}

TEST(AmAlone, its_handler_is_not_let_go_of_before_it_has_returned) {
  Alone one;
  ASSERT_TRUE(one.take(1, word(Op::line, 0, 1)));
  const HandlerNode* node = nullptr;
  ASSERT_EQ(one.am->dismiss(1, node), PH_OK);
  EXPECT_FALSE(one.am->is_dismissed(node));
  one.am->run_alone();
  EXPECT_EQ(one.handled.size(), 1u);
  EXPECT_FALSE(one.am->is_dismissed(node));
  one.am->ran_alone();
  EXPECT_TRUE(one.am->is_dismissed(node));
}

TEST(AmAlone, what_comes_while_it_runs_runs_behind_it) {
  Alone one;
  ASSERT_TRUE(one.take(1, word(Op::line, 0, 1), filled(8, 1)));
  ASSERT_TRUE(one.come(line(1, 1, filled(8, 2))));
  one.am->run_alone();
  one.am->ran_alone();
  one.turn();
  EXPECT_EQ(one.handled, (std::vector<Bytes>{filled(8, 1), filled(8, 2)}));
}

TEST(AmAlone, its_word_tells_the_gate_what_was_handled) {
  Alone one(2);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(one.am->send_small(1, 5, {nullptr, 0}), PH_OK);
  EXPECT_TRUE(one.am->lacks_slots(1));
  EXPECT_FALSE(one.run(1, word(Op::line, 0, 1, 0, 3))) << "more than was sent";
  ASSERT_TRUE(one.run(1, word(Op::line, 0, 1, 0, 2)));
  EXPECT_FALSE(one.am->lacks_slots(1));
}

}  // namespace
}  // namespace photon::service::am
