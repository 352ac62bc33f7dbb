// Mistakes of Converse programs: each ends the job with words that name the call and what was
// wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "job.hpp"

namespace photon::test {
namespace {

struct ConverseMistake {
  std::string name;                // of the program's list
  std::vector<std::string> words;  // all of them stand in the message
};

std::string name_of_mistake(const testing::TestParamInfo<ConverseMistake>& info) {
  return info.param.name;
}

const std::vector<ConverseMistake> kConverseMistakes = {
    {"negative_allocation", {"CmiAlloc", "-8"}},
    {"small_send", {"CmiSyncSend", "7"}},
    {"negative_send", {"CmiSyncSendAndFree", "-16"}},
    {"negative_broadcast", {"CmiSyncBroadcastAllAndFree", "-1"}},
    {"negative_node_send", {"CmiSyncNodeSend", "-1"}},
    {"pe_too_large", {"CmiSyncSend", "PE 2"}},
    {"pe_negative", {"CmiSyncSendAndFree", "-3"}},
    {"node_too_large", {"CmiSyncNodeSend"}},
    {"node_of_no_pe", {"CmiNodeOf", "9"}},
    {"list_with_a_wrong_pe", {"CmiSyncListSendAndFree", "999999"}},
    {"group_with_a_wrong_pe", {"CmiEstablishGroup", "-1"}},
    {"vector_without_a_header", {"CmiSyncVectorSend", "3"}},
    {"vector_with_a_negative_size", {"CmiSyncVectorSend", "-4"}},
    {"multiple_with_a_small_one", {"CmiMultipleSend", "2"}},
    {"send_from_the_heap_and_free", {"CmiSyncSendAndFree", "no message"}},
    {"free_of_the_stack", {"CmiFree", "no message"}},
    {"free_twice", {"CmiFree"}},
    {"reference_of_a_freed_one", {"CmiReference"}},
    {"send_of_a_freed_one", {"CmiSyncSendAndFree"}},
    {"handler_that_nobody_has", {"handler"}},
    {"handler_negative", {"-2"}},
    {"handler_never_set", {"never set", "CmiSetHandler()"}},
    {"long_words", {"CmiAbort", "wwww to their end"}},
    {"other_registration_order", {"handler", "order"}},
    {"strategy_unknown", {"CsdEnqueueGeneral", "77"}},
    {"bits_negative", {"CsdEnqueueGeneral", "-5"}},
    {"null_message", {"CmiSyncSend"}},
    {"unlock_of_no_lock", {"CmiUnlock"}}};

class ConverseMistakes : public testing::TestWithParam<ConverseMistake> {};

// Of one process, and of two: the check is made where the call is, or where the message arrives.
TEST_P(ConverseMistakes, end_the_job_with_words) {
  for (const ConverseShape& shape : {ConverseShape{1, 2, ""}, ConverseShape{2, 1, ""}}) {
    const ConverseEnd end = run_converse("careless_c", shape, {GetParam().name});
    EXPECT_NE(end.status, 0) << end.out << end.err;
    EXPECT_FALSE(says(end.err, "egmentation")) << end.err;
    for (const std::string& word : GetParam().words)
      EXPECT_TRUE(says(end.err, word)) << word << "\n" << end.err;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConverseMistakes, testing::ValuesIn(kConverseMistakes),
                         name_of_mistake);

// The program itself is a good one: what ends the others is their mistakes.
TEST(ConverseMistakesOfNobody, let_the_job_end_well) {
  const ConverseEnd end = run_converse("careless_cpp", {2, 2, ""}, {"none"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_TRUE(says(end.out, "ok careless\n")) << end.out;
}

}  // namespace
}  // namespace photon::test
