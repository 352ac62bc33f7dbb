// photon-perf coll with tiny inputs: all kinds, however they are called, are right and are
// answered, beside limits that have the same result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "perf_rows.hpp"

namespace photon::test {
namespace {

const std::string kEveryKind =
    "barrier,bcast,reduce,allreduce,scan,exscan,gather,gatherv,scatter,scatterv,allgather,"
    "allgatherv,alltoall,alltoallv,reduce_scatter_block,reduce_scatter";
constexpr std::size_t kKindsCount = 16;

json coll_rows(int ranks_count, const std::string& options) {
  const json rows = rows_of(ranks_count, "coll --iterations 4 " + options, "coll");
  for (const auto& row : rows) expect_layout(row, "coll");
  return rows;
}

std::string kind_of(const json& row) {
  const std::string mode = row.at("mode");
  return mode.substr(0, mode.find(','));
}

class PerfColl : public testing::TestWithParam<std::string> {};

// Every result is looked at by photon-perf itself, with fresh buffers after each operation.
TEST_P(PerfColl, answers_for_every_kind_on_two_and_on_three_ranks) {
  const std::string call = " --call " + GetParam();
  const std::size_t rows_each = GetParam() == "start" ? 2 : 1;
  for (const int ranks_count : {2, 3}) {
    for (const std::string memory : {"alloc", "malloc"}) {
      const json rows = coll_rows(ranks_count, "--buffers fresh --sizes 8,4K --memory " + memory +
                                                   " --kind " + kEveryKind + call);
      EXPECT_EQ(rows.size(), (2 * kKindsCount - 1) * rows_each);  // a barrier has one size
      for (const auto& row : rows) EXPECT_EQ(row.at("buffers"), "fresh");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(calls, PerfColl, testing::Values("run", "begin", "start"),
                         [](const auto& call) { return call.param; });

TEST(PerfCollLimits, of_two_ranks_are_two_bare_processes) {
  for (const std::string buffers : {"fresh", "same"}) {
    const json rows = coll_rows(2, "--sizes 8,48,200,64K,512K --kind barrier,bcast,allreduce " +
                                       std::string("--buffers ") + buffers);
    ASSERT_EQ(rows.size(), 11u);
    for (const auto& row : rows) {
      ASSERT_TRUE(row.at("limit_name").is_string()) << row;
      const bool is_line = row.at("size_bytes") <= 48;
      EXPECT_EQ(std::string(row.at("limit_name")).find("flag lines") != std::string::npos, is_line)
          << row;
    }
  }
  for (const auto& row : coll_rows(2, "--sizes 8 --kind " + kEveryKind)) {
    EXPECT_TRUE(row.at("limit_name").is_string()) << row;
  }
}

TEST(PerfCollLimits, of_ordinary_memory_map_nothing) {
  for (const auto& row : coll_rows(2, "--sizes 64K --kind bcast,allreduce --memory malloc"))
    EXPECT_THAT(std::string(row.at("limit_name")),
                testing::AnyOf(testing::StartsWith("ring "), testing::StartsWith("process_vm_")));
}

TEST(PerfCollLimits, of_more_ranks_than_processors_are_a_turn_of_all) {
  const json rows = coll_rows(5, "--sizes 8,4K --kind barrier,allreduce");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    const bool is_crowded = row.at("run").at("cores") < 5 && row.at("size_bytes") <= 48;
    if (is_crowded) {
      EXPECT_EQ(row.at("limit_name"), "a turn of sched_yield") << row;
    } else {
      EXPECT_TRUE(row.at("limit_name").is_null()) << row;
    }
  }
}

TEST(PerfCollLimits, are_left_out_where_asked) {
  for (const auto& row : coll_rows(2, "--sizes 8 --kind bcast --no-limit"))
    EXPECT_TRUE(row.at("limit").is_null()) << row;
}

TEST(PerfCollStart, is_also_measured_alone) {
  const json rows = coll_rows(2, "--sizes 8 --call start");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("mode"), "allreduce, start");
  EXPECT_EQ(rows[1].at("mode"), "allreduce, start alone");
  EXPECT_EQ(rows[1].at("limit"), 300);
}

TEST(PerfCollNetwork, is_asked_over_tcp_as_well) {
  for (const auto& row : coll_rows(2, "--sizes 8,64K --kind bcast,allreduce --transport tcp")) {
    EXPECT_EQ(row.at("transport"), "tcp");
    EXPECT_TRUE(row.at("limit").is_null()) << row;
    EXPECT_THAT(kind_of(row), testing::AnyOf("bcast", "allreduce"));
  }
}

TEST(PerfCollOverlap, is_asked_while_the_caller_computes_or_sleeps) {
  for (const std::string meanwhile : {"compute", "sleep"}) {
    for (const std::string transport : {"shm", "tcp"}) {
      const json rows = rows_of(2,
                                "coll-overlap --kind allreduce,bcast --sizes 64K --iterations 4 "
                                "--buffers fresh --meanwhile " +
                                    meanwhile + " --transport " + transport,
                                "overlap");
      ASSERT_EQ(rows.size(), 2u);
      for (const auto& row : rows) {
        expect_layout(row, "coll-overlap");
        EXPECT_EQ(row.at("limit_name"), "the operation alone");
        EXPECT_GT(row.at("limit"), 0);
      }
      EXPECT_EQ(rows[0].at("mode"),
                meanwhile == "sleep" ? "allreduce, asleep" : "allreduce, computing");
    }
  }
}

// What it writes is a table that the library takes, for as many members as there were.
TEST(PerfTune, writes_a_table_that_the_library_takes) {
  const JsonFile table("tuned_table");
  for (const std::string transport : {"shm", "tcp"}) {
    const json rows = rows_of(3,
                              "tune --kind allreduce,alltoallv --sizes 8,64K --iterations 4 "
                              "--transport " +
                                  transport + " --table " + table.path(),
                              "tune");
    ASSERT_EQ(rows.size(), 4u);
    for (const auto& row : rows) EXPECT_TRUE(row.at("limit_name").is_string()) << row;
    const CommandResult info =
        run_command("PHOTON_COLL_TABLE=" + table.path() + " " + kRun + " -n 3 " + PHOTON_BIN_DIR +
                    "/photon-info --coll --json");
    ASSERT_EQ(info.exit_status, 0) << info.output;
    std::set<std::string> tuned;
    const json found = json::parse(info.output);
    for (const json& row : found.at("coll"))
      if (row.at("source") == "table" && !row.at("several_hosts")) tuned.insert(row.at("kind"));
    EXPECT_EQ(tuned, (std::set<std::string>{"allreduce", "alltoallv"}));
  }
}

TEST(PerfCollOptions, that_cannot_be_used_are_named) {
  struct {
    const char* arguments;
    const char* named;
  } const all[] = {
      {"coll --kind allreduce,gossip", "'gossip'; give some of barrier, "},
      {"coll --kind ''", "--kind"},
      {"coll --call later", "--call"},
      {"coll --sizes 12", "12 bytes; coll moves doubles"},
      {"put-latency --kind bcast", "--kind: ask coll; put-latency has none"},
      {"put-latency --no-limit", "--no-limit: ask coll"},
      {"coll --meanwhile sleep", "--meanwhile: ask coll-overlap"},
      {"coll --table x", "--table: ask tune"},
      {"coll-overlap --call run", "--call run: coll-overlap works while"},
      {"tune --table /no/such/folder/x --iterations 4", "/no/such/folder/x cannot be written"},
  };
  for (const auto& [arguments, named] : all) {
    const CommandResult result = run_command(on_ranks(2, arguments) + " 2>&1 >/dev/null");
    EXPECT_NE(result.exit_status, 0) << arguments;
    EXPECT_NE(result.output.find(named), std::string::npos) << arguments << "\n" << result.output;
  }
}

}  // namespace
}  // namespace photon::test
