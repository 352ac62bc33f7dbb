// photon-perf where sources are rewritten before each operation, and where they stay the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "perf_rows.hpp"

namespace photon::test {
namespace {

// Every message is checked for its own number, by ours and by each limit: a size that fills no
// word, one that fits no page, and one of several chunks.
TEST(PerfBuffers, that_are_fresh_are_rewritten_before_each_operation) {
  for (const std::string question : {"limits", "put-latency", "get-latency", "put-bandwidth",
                                     "get-bandwidth", "mailbox-latency"}) {
    for (const std::string memory : {"alloc", "malloc"}) {
      const json rows = rows_of(
          2,
          question + " --sizes 13,4088,200K --iterations 4 --memory " + memory + " --buffers fresh",
          question + "_fresh_" + memory);
      ASSERT_FALSE(rows.empty()) << question;
      for (const auto& row : rows) {
        expect_layout(row, question);
        const bool is_rate = row.at("size_bytes") == 8;
        EXPECT_EQ(row.at("buffers"), is_rate ? json(nullptr) : json("fresh")) << row;
        EXPECT_FALSE(row.at("limit").is_null()) << row;
      }
    }
  }
}

TEST(PerfBuffers, that_are_fresh_are_those_of_a_network_as_well) {
  for (const std::string transport : {"tcp", "ofi"}) {
    if (transport == "ofi" &&
        run_command(on_ranks(2, "put-latency --sizes 8 --iterations 4 --transport ofi 2>&1"))
                .exit_status != 0)
      continue;
    for (const std::string question :
         {"put-latency", "get-latency", "put-bandwidth", "get-bandwidth"}) {
      const json rows = rows_of(2,
                                question + " --sizes 13,4088,200K --iterations 4 --transport " +
                                    transport + " --buffers fresh",
                                question + "_fresh_" + transport);
      EXPECT_EQ(rows.size(), 3u) << question;
      for (const auto& row : rows) EXPECT_EQ(row.at("buffers"), "fresh") << row;
    }
  }
}

TEST(PerfBuffers, are_the_same_unless_asked_for_and_nothing_where_a_question_has_none) {
  const json same = rows_of(2, "put-latency --sizes 64 --iterations 4", "same");
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].at("buffers"), "same");
  const json none = rows_of(2, "put-rate --iterations 100", "no_buffers");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_TRUE(none[0].at("buffers").is_null());
}

TEST(PerfLimits, have_a_row_for_each_means_and_name_its_best_form) {
  const json rows = rows_of(2, "limits --sizes 64K --iterations 4", "limits_means");
  std::set<std::string> stores;
  std::set<std::string> modes;
  for (const auto& row : rows) {
    modes.insert(row.at("mode"));
    if (row.at("mode") == "store into mapped memory") stores.insert(row.at("limit_name"));
  }
  EXPECT_THAT(modes, testing::IsSupersetOf(
                         {"store into mapped memory", "pull from mapped memory", "two-copy ring"}));
  EXPECT_THAT(stores, testing::Each(testing::EndsWith(" + flag")));
}

// The table says of each row what its figures depend on.
TEST(PerfTable, has_the_state_of_the_machine_and_the_means_that_was_the_best) {
  const CommandResult table = run_command(
      on_ranks(2, "put-bandwidth --sizes 64K --iterations 4 --memory malloc --buffers fresh"));
  ASSERT_EQ(table.exit_status, 0) << table.output;
  EXPECT_NE(table.output.find(" state "), std::string::npos) << table.output;
  EXPECT_THAT(table.output,
              testing::ContainsRegex("put-bandwidth .* malloc +fresh +(near|far|sharing a core) "))
      << table.output;
  EXPECT_THAT(table.output, testing::ContainsRegex("(ring [0-9]+K by|process_vm_)"))
      << table.output;
}

}  // namespace
}  // namespace photon::test
