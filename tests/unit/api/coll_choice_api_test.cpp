// What the interface says of how collective operations are done, and would be.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace photon {
namespace {

class CollChoiceApi : public testing::Test {
 protected:
  ph_status open(std::vector<ph_option> options, ph_error* error = nullptr) {
    const ph_config config = {sizeof config, nullptr, options.data(), options.size()};
    return ph_context_create(&config, &context_, error);
  }
  void TearDown() override { ph_context_destroy(context_); }

  ph_coll_answer ask(ph_coll_kind kind, uint32_t members, uint64_t size_bytes, uint32_t flags = 0) {
    ph_coll_question question{};
    question.size = sizeof question;
    question.kind = kind;
    question.members = members;
    question.size_bytes = size_bytes;
    question.flags = flags;
    ph_coll_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(ph_coll_choice(context_, &question, &answer), PH_OK);
    return answer;
  }
  std::string last_words() const {
    ph_error error;
    ph_last_error(context_, &error);
    return error.text;
  }

  ph_context* context_ = nullptr;
};

TEST_F(CollChoiceApi, says_what_is_taken_and_who_wants_it) {
  ASSERT_EQ(open({{"coll_allreduce", "ring"}}), PH_OK);
  const ph_coll_answer named = ask(PH_COLL_ALLREDUCE, 8, 8);
  EXPECT_STREQ(named.algorithm, "ring");
  EXPECT_STREQ(named.source, "setting");
  const ph_coll_answer other = ask(PH_COLL_BARRIER, 8, 0);
  EXPECT_STREQ(other.algorithm, "dissemination");
  EXPECT_STREQ(other.source, "built-in");
  const ph_coll_answer ordered = ask(PH_COLL_ALLREDUCE, 8, 8, PH_REPRODUCIBLE);
  EXPECT_STREQ(ordered.algorithm, "linear");
  EXPECT_STREQ(ordered.wanted, "ring");
}

TEST_F(CollChoiceApi, a_table_is_loaded_from_its_file) {
  const std::string file = testing::TempDir() + "coll_choice_api.table";
  std::ofstream(file) << "photon-coll-table 1\nbcast any 2 0 chain\n";
  ASSERT_EQ(open({{"coll_table", file.c_str()}}), PH_OK);
  EXPECT_STREQ(ask(PH_COLL_BCAST, 9, 1 << 20).algorithm, "chain");
  EXPECT_STREQ(ask(PH_COLL_BCAST, 9, 1 << 20).source, "table");
  std::remove(file.c_str());
}

TEST_F(CollChoiceApi, a_table_that_is_not_there_or_wrong_is_refused_when_the_context_is_made) {
  ph_error error;
  EXPECT_EQ(open({{"coll_table", "/no/such/table"}}, &error), PH_ERR_CONFIG);
  EXPECT_NE(std::string(error.text).find("cannot be opened: No such file"), std::string::npos)
      << error.text;
  const std::string file = testing::TempDir() + "coll_choice_api.wrong";
  std::ofstream(file) << "photon-coll-table 1\nbcast any 2 0 ring\n";
  EXPECT_EQ(open({{"coll_table", file.c_str()}}, &error), PH_ERR_CONFIG);
  EXPECT_NE(std::string(error.text).find("line 2: \"ring\" is no algorithm of bcast, which has"),
            std::string::npos)
      << error.text;
  std::remove(file.c_str());
}

TEST_F(CollChoiceApi, an_algorithm_that_there_is_not_is_refused_with_those_that_there_are) {
  ph_error error;
  EXPECT_EQ(open({{"coll_scan", "ring"}}, &error), PH_ERR_CONFIG);
  EXPECT_NE(std::string(error.text).find("one of auto, chain, recursive_doubling"),
            std::string::npos)
      << error.text;
}

TEST_F(CollChoiceApi, lists_the_algorithms_of_a_kind) {
  EXPECT_STREQ(ph_coll_algorithm_at(PH_COLL_SCAN, 0), "chain");
  EXPECT_STREQ(ph_coll_algorithm_at(PH_COLL_SCAN, 1), "recursive_doubling");
  EXPECT_EQ(ph_coll_algorithm_at(PH_COLL_SCAN, 2), nullptr);
  EXPECT_EQ(ph_coll_algorithm_at(static_cast<ph_coll_kind>(0), 0), nullptr);
  EXPECT_EQ(ph_coll_algorithm_at(static_cast<ph_coll_kind>(17), 0), nullptr);
}

TEST_F(CollChoiceApi, questions_that_are_none_are_refused) {
  ASSERT_EQ(open({}), PH_OK);
  ph_coll_question question{};
  ph_coll_answer answer{};
  answer.size = sizeof answer;
  EXPECT_EQ(ph_coll_choice(context_, nullptr, &answer), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_coll_choice(context_, &question, &answer), PH_ERR_ARGUMENT);
  question.size = sizeof question;
  EXPECT_EQ(ph_coll_choice(context_, &question, nullptr), PH_ERR_ARGUMENT);
  question.members = 2;
  EXPECT_EQ(ph_coll_choice(context_, &question, &answer), PH_ERR_ARGUMENT);
  EXPECT_EQ(last_words(), "coll_choice: question->kind is unknown");
  question.kind = PH_COLL_BARRIER;
  question.members = 0;
  EXPECT_EQ(ph_coll_choice(context_, &question, &answer), PH_ERR_ARGUMENT);
  question.members = 2;
  question.flags = PH_NO_LCE;
  EXPECT_EQ(ph_coll_choice(context_, &question, &answer), PH_ERR_ARGUMENT);
}

TEST_F(CollChoiceApi, counts_operations_by_kind_and_algorithm) {
  ASSERT_EQ(open({}), PH_OK);
  size_t count = 7;
  ASSERT_EQ(ph_coll_counters(context_, nullptr, 0, &count), PH_OK);
  EXPECT_EQ(count, 0u);
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context_, &world), PH_OK);
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = PH_COLL_BCAST;
  double value = 1;
  args.out = &value;
  args.count = 1;
  args.type = PH_DOUBLE;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(ph_coll_run(world, &args, PH_FOREVER), PH_OK);
  ph_coll_counter row{};
  ASSERT_EQ(ph_coll_counters(context_, &row, 1, &count), PH_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_STREQ(row.kind, "bcast");
  EXPECT_STREQ(row.algorithm, "linear");
  EXPECT_EQ(row.operations, 3u);
  EXPECT_EQ(row.size_bytes, 3 * sizeof value);
  EXPECT_EQ(ph_coll_counters(context_, nullptr, 1, &count), PH_ERR_ARGUMENT);
}

}  // namespace
}  // namespace photon
