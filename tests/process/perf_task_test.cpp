// photon-perf where arrays of libphoton_task are measured: which way they go, what stands beside
// what, and from which size on buffers pay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "perf_rows.hpp"

namespace photon::test {
namespace {

// The rows of a way, and the table with its remarks.
CommandResult table_of(const std::string& settings, const std::string& options) {
  return run_command(settings + " " +
                     on_ranks(2, "task-zero-copy --sizes 64,64K --iterations 4 " + options) +
                     " 2>&1");
}

std::size_t count_in(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(PerfTaskZeroCopy, goes_the_way_that_the_options_say) {
  const struct {
    const char* settings;
    const char* options;
    const char* way;  // in the remark of each row
  } ways[] = {{"PHOTON_SHM_CMA=off", "", "; served"},
              {"", "--memory alloc", "; mapped"},
              {"", "--transport tcp", "; by the network"}};
  for (const auto& [settings, options, way] : ways) {
    const CommandResult table = table_of(settings, options);
    EXPECT_EQ(table.exit_status, 0) << table.output;
    EXPECT_GE(count_in(table.output, way), 9u) << way << "\n" << table.output;
  }
}

TEST(PerfTaskZeroCopy, says_once_from_which_size_on_buffers_are_never_slower) {
  const CommandResult table = table_of("", "");
  ASSERT_EQ(table.exit_status, 0) << table.output;
  EXPECT_EQ(count_in(table.output, "threshold: "), 1u) << table.output;
}

// Each of them is somebody's data, written anew and in memory that was not made for the network.
TEST(PerfTaskZeroCopy, is_asked_of_the_heap_and_fresh_sources_unless_the_user_says_otherwise) {
  const json rows = rows_of(2, "task-zero-copy --sizes 4K --iterations 4", "zero_copy_heap");
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("memory"), "malloc") << row;
    EXPECT_EQ(row.at("buffers"), "fresh") << row;
  }
  const json same =
      rows_of(2, "task-zero-copy --sizes 4K --iterations 4 --memory alloc --buffers same",
              "zero_copy_same");
  ASSERT_FALSE(same.empty());
  for (const auto& row : same) {
    EXPECT_EQ(row.at("memory"), "alloc") << row;
    EXPECT_EQ(row.at("buffers"), "same") << row;
  }
}

TEST(PerfTaskZeroCopy, stands_beside_calls_and_what_copies_twice_stands_beside_it) {
  const json rows = rows_of(2, "task-zero-copy --sizes 4K --iterations 4", "zero_copy_limits");
  std::set<std::string> modes;
  for (const auto& row : rows) {
    const std::string mode = row.at("mode");
    modes.insert(mode);
    const std::string limit = row.at("limit_name");
    if (mode == "put of a buffer" || mode == "get of a buffer")
      EXPECT_THAT(limit, testing::AnyOf("ph_put", "ph_get")) << row;
    else
      EXPECT_THAT(limit, testing::AnyOf("put of a buffer", "get of a buffer")) << row;
  }
  EXPECT_THAT(modes, testing::IsSupersetOf({"put of a buffer", "get of a buffer", "message",
                                            "message of the heap", "two-copy ring"}));
}

TEST(PerfTaskRegistration, says_by_how_much_a_buffer_that_is_made_each_time_is_slower) {
  const CommandResult table =
      run_command(on_ranks(2, "task-registration --sizes 4K --iterations 4 2>&1"));
  ASSERT_EQ(table.exit_status, 0) << table.output;
  EXPECT_THAT(table.output, testing::ContainsRegex("registered once;.*[+-][0-9.]+ us"));
}

TEST(PerfGetFromBarrier, refuses_a_third_rank_which_no_barrier_would_wait_for) {
  const CommandResult asked =
      run_command(on_ranks(3, "get-from-barrier --sizes 4K --iterations 4 2>&1"));
  EXPECT_EQ(asked.exit_status, 1) << asked.output;
  EXPECT_NE(asked.output.find("is asked of two ranks"), std::string::npos) << asked.output;
}

}  // namespace
}  // namespace photon::test
