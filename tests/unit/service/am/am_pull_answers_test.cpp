#include "service/am/am_pull_answers.hpp"

#include <cstring>

#include "am_receiving_unit.hpp"
#include "shortage.hpp"

namespace photon::service::am {
namespace {

using namespace test;
using All = std::vector<std::vector<std::uint64_t>>;

constexpr std::uint64_t kToken = 4711;
constexpr std::uint64_t kPayload = 1000;

std::uint64_t status_of(ph_status status) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

// A message whose payload lies in `source`, with a header of four bytes behind its table.
Coming offer(const Bytes& source, std::uint8_t flags = 0, std::uint16_t id = 2) {
  const std::uint64_t half = source.size() / 2;
  const auto at = reinterpret_cast<std::uint64_t>(source.data());
  const Bytes table = words_of({at, half, 1, at + half, source.size() - half, 1});
  return {1,
          words_of({word(Op::pull, flags, id, 4), source.size(), kToken, 2}),
          joined(table, filled(4)),
          {},
          0,
          0};
}

// A rank whose handler 2 lands what it is sent, and counts the calls of its completion handler.
struct Puller : Receiver {
  explicit Puller(std::uint64_t chunk_bytes = 0) : Receiver(4) {
    enroll(2, [this, chunk_bytes](const ph_am_message& message, ph_am_landing& landing) {
      EXPECT_EQ(message.payload, nullptr);
      EXPECT_EQ(message.payload_bytes, memory.size());
      header = bytes_of({static_cast<const std::byte*>(message.header), message.header_bytes});
      landing.buffer = memory.data();
      landing.buffer_bytes = memory.size();
      landing.chunk_bytes = chunk_bytes;
      landing.done = done;
      landing.argument = this;
      return PH_OK;
    });
  }
  static ph_status done(void* argument, const ph_am_message*, const ph_am_part* part) {
    static_cast<Puller*>(argument)->parts.push_back(*part);
    return static_cast<Puller*>(argument)->answer;
  }
  void read_all() {
    while (port.gets() != 0) {
      port.end_get();
      turn();
    }
  }
  Bytes memory = Bytes(kPayload);
  Bytes source = filled(kPayload);
  Bytes header;
  std::vector<ph_am_part> parts;
  ph_status answer = PH_OK;
};

TEST(PullAnswers, says_read_when_the_bytes_are_here_and_done_behind_the_handler) {
  Puller one;
  ASSERT_TRUE(one.come(offer(one.source)));
  one.turn();
  EXPECT_EQ(one.header, filled(4));
  EXPECT_EQ(one.said(), (All{{word(Op::credit), 1}})) << "its slot is free";
  one.port.end_get();
  one.port.end_get();
  EXPECT_EQ(one.said(), (All{{word(Op::read), kToken}}));
  one.turn();
  EXPECT_EQ(one.said(), (All{{word(Op::done), kToken, 0}}));
  EXPECT_EQ(one.memory, one.source);
  EXPECT_EQ(one.parts.size(), 1u);
  EXPECT_EQ(one.am->held(), 0u);
  EXPECT_TRUE(one.am->is_idle());
}

TEST(PullAnswers, says_no_refusal_of_what_done_ends) {
  Puller one;
  ASSERT_TRUE(one.come(offer(one.source, 0, 9)));
  one.turn();
  EXPECT_EQ(one.said(),
            (All{{word(Op::done), kToken, status_of(PH_ERR_NOT_FOUND)}, {word(Op::credit), 1}}));
  EXPECT_EQ(one.port.gets(), 0u);
}

TEST(PullAnswers, says_that_no_reply_comes_when_the_last_handler_has_returned) {
  Puller one(600);
  ASSERT_TRUE(one.come(offer(one.source, kWantsReply)));
  one.turn();
  EXPECT_EQ(one.said(), (All{{word(Op::credit), 1}})) << "a handler may still reply";
  one.read_all();
  const All said = one.said();
  EXPECT_EQ(std::count(said.begin(), said.end(), (All::value_type{word(Op::unreplied), 1})), 1);
  EXPECT_EQ(one.parts.size(), 2u);
}

TEST(PullAnswers, ends_the_source_of_each_malformed_offer) {
  struct Wrong {
    const char* what;
    std::vector<std::uint64_t> words;
    std::vector<std::uint64_t> table;
  };
  const auto pull = word(Op::pull, 0, 2);
  const std::vector<Wrong> all = {
      {"no blocks", {pull, 10, 1, 0}, {}},
      {"no bytes", {pull, 0, 1, 1}, {8, 0, 1}},
      {"an empty block", {pull, 10, 1, 2}, {8, 10, 1, 8, 0, 1}},
      {"too little", {pull, 11, 1, 1}, {8, 10, 1}},
      {"too much", {pull, 9, 1, 1}, {8, 10, 1}},
      {"a sum that wraps", {pull, 9, 1, 2}, {8, ~std::uint64_t{0}, 1, 8, 10, 1}},
      {"a short table", {pull, 10, 1, 2}, {8, 10, 1}},
      {"a long table", {pull, 10, 1, 1}, {8, 10, 1, 8, 10, 1}},
      {"too many words", {pull, 10, 1, 1, 7}, {8, 10, 1}},
      {"too few words", {pull, 10, 1}, {8, 10, 1}},
  };
  for (const Wrong& wrong : all) {
    Puller one;
    EXPECT_FALSE(one.come({1, words_of(wrong.words), words_of(wrong.table), {}, 0, 0}))
        << wrong.what;
    one.turn();
    EXPECT_EQ(one.am->held(), 0u) << wrong.what;
  }
}

TEST(PullAnswers, ends_a_source_that_says_words_of_no_offer_of_ours) {
  for (const auto& words : {std::vector{word(Op::read), std::uint64_t{1} << 32},
                            std::vector{word(Op::done), std::uint64_t{1} << 32, std::uint64_t{0}},
                            std::vector{word(Op::done), std::uint64_t{1} << 32}}) {
    Puller one;
    EXPECT_FALSE(one.come({1, words_of(words), {}, {}, 0, 0}));
  }
}

TEST(PullAnswers, of_a_lane_that_closes_say_so) {
  Puller one;
  ASSERT_TRUE(one.come(offer(one.source)));
  one.turn();
  ASSERT_TRUE(one.come(offer(one.source)));
  one.said();
  one.am->close();
  ASSERT_TRUE(one.come(offer(one.source)));
  while (one.port.gets() != 0) one.port.end_get();
  one.turn();
  const All said = one.said();
  const All::value_type departed{word(Op::done), kToken, status_of(PH_ERR_DEPARTED)};
  EXPECT_EQ(std::count(said.begin(), said.end(), departed), 3);
  EXPECT_TRUE(one.parts.empty()) << "a handler has run";
  EXPECT_EQ(one.am->held(), 0u);
  EXPECT_TRUE(one.am->is_idle());
}

TEST(PullAnswers, a_source_that_cannot_be_told_for_want_of_memory_is_cut_off) {
  Puller one;
  ASSERT_TRUE(one.come(offer(one.source)));
  one.turn();
  one.said();
  one.port.end_get();
  one.answer = PH_ERR_RANGE;
  struct Dry : FakePort {
    using FakePort::FakePort;
    bool was_cut_off = false;
    ph_status say(const Saying&, std::uint64_t*) override { throw std::bad_alloc(); }
    void cut_off(Rank, const char*) override { was_cut_off = true; }
  } port(wire::Owner::am);
  Gates gates(FakePort::kSize, 4);
  Answers answers(port, gates);
  PullAnswers ends(port, answers);
  Pull pull;
  pull.from = 1;
  ends.pull_over(pull);
  EXPECT_TRUE(port.was_cut_off) << "its sender would wait for ever";
  port.was_cut_off = false;
  ends.pull_read(pull);
  EXPECT_TRUE(port.was_cut_off);
}

}  // namespace
}  // namespace photon::service::am
