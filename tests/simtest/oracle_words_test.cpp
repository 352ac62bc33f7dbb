// That the oracle finds what is wrong with atomics.
#include <gtest/gtest.h>

#include "tests/simtest/fed_oracle.hpp"

namespace photon::simtest {
namespace {

constexpr std::uint32_t kSum = 0;
constexpr std::uint32_t kTrail = 4;

Step atomic_on(std::uint32_t word, ph_op op, std::uint64_t operand) {
  Step step;
  step.verb = Verb::atomic;
  step.peer = 1;
  step.area = Area::words;
  step.offset = word * 8;
  step.size_bytes = Words::bytes_of(word);
  step.op = op;
  step.operand = operand;
  step.fetches = true;
  return step;
}

struct Changing : FedOracle {
  void hold(std::uint32_t word, std::uint64_t number) {
    const ph_value value = Words::value_of(word, number);
    std::memcpy(oracle.memory(1).words().bytes().data() + word * 8, &value, Words::bytes_of(word));
  }
  // Posted by rank 0, and over: it has fetched this, and the word holds `now`.
  void change(const Step& step, std::uint64_t fetched, std::uint64_t now) {
    Operation& op = post(0, step);
    const auto word = static_cast<std::uint32_t>(step.offset / 8);
    hold(word, now);
    const ph_value value = Words::value_of(word, fetched);
    std::memcpy(op.destination().data(), &value, Words::bytes_of(word));
    local(op);
    remote(op);
  }
  std::string verdict() {
    oracle.check_memory(1);
    return finding();
  }
};

TEST(OracleWords, sums_and_trails_that_fit_are_no_finding) {
  Changing fed;
  fed.change(atomic_on(kSum, PH_OP_ADD, 3), 0, 3);
  fed.change(atomic_on(kSum, PH_OP_ADD, 4), 3, 7);
  fed.change(atomic_on(kTrail, PH_OP_SWAP, 5), 0, 5);
  fed.change(atomic_on(kTrail, PH_OP_XOR, 1), 5, 4);
  EXPECT_EQ(fed.verdict(), "");
}

TEST(OracleWords, an_id_before_its_word_was_changed_is_found) {
  Changing fed;
  fed.change(atomic_on(kSum, PH_OP_ADD, 3), 0, 0);
  EXPECT_EQ(fed.finding(), "word");
}

TEST(OracleWords, one_carried_out_twice_or_lost_is_found) {
  for (const std::uint64_t now : {10u, 4u}) {
    Changing fed;
    fed.change(atomic_on(kSum, PH_OP_ADD, 3), 0, 3);
    fed.change(atomic_on(kSum, PH_OP_ADD, 4), 3, 7);
    fed.hold(kSum, now);
    EXPECT_EQ(fed.verdict(), "word");
  }
}

TEST(OracleWords, a_value_fetched_by_two_or_out_of_order_is_found) {
  for (const auto& [first, second] : {std::pair(0u, 0u), std::pair(4u, 0u)}) {
    Changing fed;
    fed.change(atomic_on(kSum, PH_OP_ADD, 3), first, 7);
    fed.change(atomic_on(kSum, PH_OP_ADD, 4), second, 7);
    EXPECT_EQ(fed.verdict(), "word");
  }
}

TEST(OracleWords, a_trail_that_does_not_lead_to_what_is_there_is_found) {
  Changing other_end;
  other_end.change(atomic_on(kTrail, PH_OP_SWAP, 5), 0, 6);
  EXPECT_EQ(other_end.verdict(), "word");
  Changing apart;  // balanced, but nobody ever came there
  apart.change(atomic_on(kTrail, PH_OP_SWAP, 5), 5, 0);
  EXPECT_EQ(apart.verdict(), "word");
}

TEST(OracleWords, a_cancelled_one_must_not_have_been_carried_out) {
  Changing fed;
  Operation& op = fed.post(0, atomic_on(kSum, PH_OP_ADD, 3));
  fed.oracle.cancelled(op);
  EXPECT_EQ(fed.finding(), "");
  EXPECT_TRUE(fed.oracle.is_settled());
  fed.hold(kSum, 3);
  EXPECT_EQ(fed.verdict(), "word");
}

}  // namespace
}  // namespace photon::simtest
