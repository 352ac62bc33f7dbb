// The proof of schedules on schedules of a few steps: what holds, and each thing that may be wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coll_toys.hpp"

namespace photon::simtest::coll {
namespace {

using schedule::Kind;
using schedule::Phase;
using Ranks = std::vector<std::vector<Phase>>;

CollCase toy_case(Kind kind, std::uint32_t size, std::uint64_t count, Order order = Order::any) {
  CollCase one;
  one.kind = kind;
  one.size = size;
  one.count = count;
  one.order = order;
  return one;
}

// The fault with each timing, and the same with all.
std::string fault_of(CollCase one, const Ranks& ranks, std::uint64_t temp = 0) {
  std::string first;
  for (const Timing timing : {Timing::early, Timing::late, Timing::drawn}) {
    one.timing = timing;
    const std::string fault = prove(one, Toy(ranks, temp)).fault;
    if (timing == Timing::early) first = fault;
    EXPECT_EQ(fault.empty(), first.empty()) << first << " and " << fault;
  }
  return first;
}

bool has_words(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// allreduce of two members: each sends its input and folds; member 1 as `from op to`.
Ranks exchange() {
  return {{toy_phase({toy_send(1, 0, in_range(0, 2)), toy_copy(in_range(0, 2), out_range(0, 2)),
                      toy_receive(1, 0, temp_range(0, 2)),
                      toy_fold(temp_range(0, 2), out_range(0, 2))})},
          {toy_phase({toy_send(0, 0, in_range(0, 2)), toy_copy(in_range(0, 2), out_range(0, 2)),
                      toy_receive(0, 0, temp_range(0, 2)),
                      toy_fold_before(temp_range(0, 2), out_range(0, 2))})}};
}

TEST(CollToys, an_exchange_of_two_is_proved_in_every_order) {
  for (const Order order : {Order::any, Order::kept, Order::loop})
    EXPECT_EQ(fault_of(toy_case(Kind::allreduce, 2, 2, order), exchange(), 2), "");
}

TEST(CollToys, other_brackets_at_one_member_are_seen) {
  Ranks ranks = exchange();
  ranks[1][0].steps[3].from_first = false;
  EXPECT_TRUE(has_words(fault_of(toy_case(Kind::allreduce, 2, 2), ranks, 2),
                        "out[0] has other brackets at member 1, (in(1)[0] op in(0)[0]), than at "
                        "member 0, (in(0)[0] op in(1)[0])"));
}

TEST(CollToys, two_members_that_wait_for_each_other_are_named) {
  const Ranks ranks = {
      {toy_phase({toy_receive(1, 3, {})}), toy_phase({toy_send(1, 4, {})})},
      {toy_phase({toy_receive(0, 4, {})}), toy_phase({toy_send(0, 3, {})})},
  };
  EXPECT_EQ(fault_of(toy_case(Kind::barrier, 2, 0), ranks),
            "deadlock: member 0 waits in phase 0 for the message of member 1 with tag 3; member 1 "
            "waits in phase 0 for the message of member 0 with tag 4");
}

// Both wait for sends that end only when they are received: no message is kept in between.
TEST(CollToys, sends_are_not_over_before_their_receives_have_begun) {
  const Ranks ranks = {
      {toy_phase({toy_send(1, 0, {})}), toy_phase({toy_receive(1, 0, {})}, true)},
      {toy_phase({toy_send(0, 0, {})}), toy_phase({toy_receive(0, 0, {})}, true)},
  };
  EXPECT_TRUE(has_words(fault_of(toy_case(Kind::barrier, 2, 0), ranks),
                        "deadlock: member 0 waits in phase 1 for its send to member 1 with tag 0"));
}

// bcast of member 0 to member 1, which answers; then member 0 may write what it has sent.
Ranks answered(bool answers, bool waits) {
  std::vector<Phase> zero = {
      toy_phase({toy_copy(out_range(0, 1), temp_range(0, 1)), toy_send(1, 0, temp_range(0, 1))})};
  std::vector<Phase> one = {toy_phase({toy_receive(0, 0, out_range(0, 1))})};
  if (answers) {
    zero.push_back(toy_phase({toy_receive(1, 1, {})}));
    one.push_back(toy_phase({toy_send(0, 1, {})}));
  }
  zero.push_back(toy_phase({toy_copy(out_range(0, 1), temp_range(0, 1))}, waits));
  return {zero, one};
}

TEST(CollToys, what_was_sent_is_written_after_an_answer_or_after_sends_alone) {
  const CollCase one = toy_case(Kind::bcast, 2, 1);
  EXPECT_EQ(fault_of(one, answered(true, false), 1), "");
  EXPECT_EQ(fault_of(one, answered(false, true), 1), "");
  EXPECT_TRUE(has_words(fault_of(one, answered(false, false), 1),
                        "writes element 0, which the send to member 1 with tag 0 of phase 0 may "
                        "still read"));
}

// The answer has to be sent when the receive is over, not beside it.
TEST(CollToys, an_answer_beside_the_receive_says_nothing) {
  Ranks ranks = answered(true, false);
  ranks[1] = {toy_phase({toy_receive(0, 0, out_range(0, 1)), toy_send(0, 1, {})})};
  EXPECT_TRUE(has_words(fault_of(toy_case(Kind::bcast, 2, 1), ranks, 1), "may still read"));
  // Behind a copy or fold that waits for the receive, it says that it is over.
  ranks[1] = {toy_phase({toy_receive(0, 0, temp_range(0, 1)),
                         toy_copy(temp_range(0, 1), out_range(0, 1)), toy_send(0, 1, {})})};
  EXPECT_EQ(fault_of(toy_case(Kind::bcast, 2, 1), ranks, 1), "");
}

// Word of a receive may come by way of a third member.
TEST(CollToys, word_of_a_receive_travels_over_other_members) {
  Ranks ranks = answered(false, false);
  ranks[0].insert(ranks[0].begin() + 1,
                  toy_phase({toy_receive(2, 5, {}), toy_send(2, 6, out_range(0, 1))}));
  ranks[1].push_back(toy_phase({toy_send(2, 4, {})}));
  ranks.push_back({toy_phase({toy_receive(1, 4, {})}),
                   toy_phase({toy_send(0, 5, {}), toy_receive(0, 6, out_range(0, 1))})});
  EXPECT_EQ(fault_of(toy_case(Kind::bcast, 3, 1), ranks, 1), "");
  ranks[2] = {toy_phase({toy_receive(1, 4, {}), toy_send(0, 5, {})}),
              toy_phase({toy_receive(0, 6, out_range(0, 1))})};
  EXPECT_TRUE(has_words(fault_of(toy_case(Kind::bcast, 3, 1), ranks, 1), "may still read"));
}

struct Wrong {
  std::vector<schedule::Step> zero;
  std::vector<schedule::Step> one;
  const char* words;
};

// Of a phase each, of a bcast of three elements from member 0 to member 1.
TEST(CollToys, each_wrong_phase_is_named) {
  const std::vector<Wrong> all = {
      {{toy_send(0, 0, out_range(0, 3))},
       {},
       "step 0 (send out[0..3) to member 0 with tag 0) is a "
       "message to itself"},
      {{toy_send(2, 0, out_range(0, 3))}, {}, "is a message outside the team"},
      {{toy_send(1, 0, out_range(1, 3))}, {}, "is outside its space of 3 elements"},
      {{toy_send(1, 0, temp_range(0, 1))},
       {toy_receive(0, 0, out_range(0, 1))},
       "member 0, phase 0 sends element 0 of temp[0..1) to member 1 with tag 0, and it was never "
       "written"},
      {{toy_copy(out_range(0, 2), temp_range(0, 1))}, {}, "has ranges of different lengths"},
      {{toy_copy(out_range(0, 2), out_range(1, 2))}, {}, "has ranges that overlap"},
      {{toy_copy(out_range(0, 1), in_range(0, 1))}, {}, "writes its input"},
      {{toy_copy({schedule::Space::none, 0, 1}, out_range(0, 1))}, {}, "names no space"},
      {{toy_copy(temp_range(0, 1), out_range(0, 1))},
       {},
       "reads element 0, which was never written"},
      {{toy_fold(out_range(0, 1), temp_range(0, 1))},
       {},
       "folds into element 0, which was never written"},
      {{toy_copy(out_range(0, 1), temp_range(0, 1)), toy_fold(out_range(1, 1), temp_range(0, 1))},
       {},
       "folds in(0)[0] with another element, in(0)[1]"},
      {{toy_send(1, 0, out_range(0, 3))},
       {toy_receive(0, 0, out_range(0, 2))},
       "receives 2 elements from member 0 with tag 0, which sends 3"},
      {{toy_send(1, 0, out_range(0, 2))},
       {toy_receive(0, 0, out_range(0, 3))},
       "receives 3 elements from member 0 with tag 0, which sends 2"},
      {{toy_send(1, 0, out_range(0, 3)), toy_send(1, 0, {})}, {}, "sends this message twice"},
      {{}, {toy_receive(0, 0, {}), toy_receive(0, 0, {})}, "receives this message twice"},
      {{},
       {toy_receive(0, 0, out_range(0, 2)), toy_receive(0, 1, out_range(1, 2))},
       "step 1 (receive out[1..3) from member 0 with tag 1) writes what also step 0 of its phase "
       "receives"},
      {{},
       {toy_receive(0, 0, out_range(0, 2)), toy_send(0, 1, out_range(1, 1))},
       "does not wait for what step 0 of its phase receives"},
      {{toy_send(1, 0, out_range(0, 2)), toy_receive(1, 1, out_range(1, 2))},
       {},
       "may write what step 0 of its phase still sends"},
      {{toy_copy(out_range(0, 1), temp_range(0, 1)), toy_receive(1, 1, out_range(0, 1))},
       {},
       "may write what step 0 of its phase still needs"},
      {{toy_send(1, 0, out_range(0, 3))},
       {},
       "nobody receives what member 0 sends to member 1 with tag 0 in phase 0"},
      {{}, {}, "out[0] of member 1 has to be in(0)[0] and is nothing"},
  };
  for (const Wrong& wrong : all) {
    const Ranks ranks = {{toy_phase(wrong.zero)}, {toy_phase(wrong.one)}};
    const std::string fault = fault_of(toy_case(Kind::bcast, 2, 3), ranks, 2);
    EXPECT_TRUE(has_words(fault, wrong.words)) << wrong.words << "\n  but: " << fault;
  }
}

TEST(CollToys, members_before_the_first_leave_their_output_as_it_is) {
  Ranks ranks = {{toy_phase({toy_send(1, 0, in_range(0, 1))})},
                 {toy_phase({toy_receive(0, 0, out_range(0, 1))})}};
  EXPECT_EQ(fault_of(toy_case(Kind::exscan, 2, 1), ranks), "");
  ranks[0][0].add(toy_copy(in_range(0, 1), out_range(0, 1)));
  EXPECT_EQ(fault_of(toy_case(Kind::exscan, 2, 1), ranks),
            "out[0] of member 0 has to be nothing and is in(0)[0]");
}

// ((0 op 1) op 2) of three members at member 0, and other brackets.
TEST(CollToys, orders_of_operands_are_told_apart) {
  const auto ranks_of = [](bool is_loop, bool is_kept) {
    std::vector<schedule::Step> steps = {toy_receive(1, 0, temp_range(0, 1)),
                                         toy_receive(2, 0, temp_range(1, 1))};
    if (is_loop) {
      steps.push_back(toy_copy(in_range(0, 1), out_range(0, 1)));
      steps.push_back(toy_fold(temp_range(0, 1), out_range(0, 1)));
      steps.push_back(toy_fold(temp_range(1, 1), out_range(0, 1)));
    } else {
      steps.push_back(toy_copy(temp_range(is_kept ? 1 : 0, 1), out_range(0, 1)));
      steps.push_back(toy_fold_before(temp_range(is_kept ? 0 : 1, 1), out_range(0, 1)));
      steps.push_back(toy_fold_before(in_range(0, 1), out_range(0, 1)));
    }
    return Ranks{{toy_phase(steps)},
                 {toy_phase({toy_send(0, 0, in_range(0, 1))})},
                 {toy_phase({toy_send(0, 0, in_range(0, 1))})}};
  };
  const auto fault = [&](Order order, const Ranks& ranks) {
    return fault_of(toy_case(Kind::reduce, 3, 1, order), ranks, 2);
  };
  EXPECT_EQ(fault(Order::loop, ranks_of(true, true)), "");
  EXPECT_EQ(fault(Order::kept, ranks_of(false, true)), "");
  EXPECT_EQ(fault(Order::any, ranks_of(false, false)), "");
  EXPECT_EQ(fault(Order::loop, ranks_of(false, true)),
            "out[0] of member 0 has to be element 0 of members 0..2, order loop, and is (in(0)[0] "
            "op (in(1)[0] op in(2)[0]))");
  EXPECT_TRUE(has_words(fault(Order::kept, ranks_of(false, false)), "order kept, and is"));
}

}  // namespace
}  // namespace photon::simtest::coll
