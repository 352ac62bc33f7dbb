// Rows of photon-perf, asked on so many ranks, and what holds for each of them.
// Owner: a test (functions).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "command.hpp"

namespace photon::test {

using nlohmann::json;

inline const std::string kPerf = PHOTON_BIN_DIR "/photon-perf";

inline std::string on_ranks(int ranks_count, const std::string& arguments) {
  return kRun + " -n " + std::to_string(ranks_count) + " " + kPerf + " " + arguments;
}

// A file of this test's own, gone with it.
class JsonFile {
 public:
  explicit JsonFile(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("photon_perf_" + std::to_string(::getpid()) + "_" + name + ".json")) {
    std::filesystem::remove(path_);
  }
  ~JsonFile() { std::filesystem::remove(path_); }
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;

  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] json contents() const { return json::parse(std::ifstream(path_)); }

 private:
  std::filesystem::path path_;
};

inline json rows_of(int ranks_count, const std::string& arguments, const std::string& name) {
  const JsonFile file(name);
  const std::string line = on_ranks(ranks_count, arguments + " --json " + file.path() + " 2>&1");
  const CommandResult result = run_command(line);
  EXPECT_EQ(result.exit_status, 0) << line << "\n" << result.output;
  return result.exit_status == 0 ? file.contents() : json::array();
}

inline std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

inline void expect_text_or_null(const json& row, const char* key) {
  if (row.at(key).is_null()) return;
  ASSERT_TRUE(row.at(key).is_string()) << key << " of " << row;
  EXPECT_NE(row.at(key), "") << key << " of " << row;
}

inline void expect_number_or_null(const json& row, const char* key) {
  if (row.at(key).is_null()) return;
  ASSERT_TRUE(row.at(key).is_number()) << key << " of " << row;
  const double figure = row.at(key);
  EXPECT_TRUE(std::isfinite(figure) && figure >= 0 && figure < 1e15) << key << " of " << row;
}

inline void expect_latency(const json& row) {
  const auto& latency = row.at("latency_ns");
  if (latency.is_null()) return;
  ASSERT_EQ(keys_of(latency), (std::set<std::string>{"min", "p50", "p99"})) << row;
  for (const auto& figure : latency) ASSERT_TRUE(figure.is_number()) << row;
  constexpr double kMinute_ns = 60e9;
  EXPECT_GE(latency.at("min"), 0) << row;
  EXPECT_LE(latency.at("min"), latency.at("p50")) << row;
  EXPECT_LE(latency.at("p50"), latency.at("p99")) << row;
  EXPECT_LT(latency.at("p99"), kMinute_ns) << row;
}

// The figure that a row's limit is the limit of.
inline double figure_of(const json& row) {
  if (!row.at("latency_ns").is_null()) return row.at("latency_ns").at("p50");
  if (!row.at("bandwidth_MBps").is_null()) return row.at("bandwidth_MBps");
  if (!row.at("rate_per_s").is_null()) return row.at("rate_per_s");
  return row.at("size_bytes");  // of memory, where bytes are the answer
}

inline void expect_figure(const json& row) {
  const bool may_be_none = row.at("question") == "memory" ||        // less than its pages show
                           row.at("question") == "task-memory" ||   // the same
                           row.at("mode") == "resident memory" ||   // the same
                           row.at("mode") == "each buffer more" ||  // in the room of the first
                           row.at("question") == "waiting" ||       // asleep all the time
                           row.at("question") == "task-waiting" ||  // the same
                           row.at("mode") == "first, less reply";
  EXPECT_TRUE(figure_of(row) > 0 || may_be_none) << row;
}

inline void expect_limit(const json& row) {
  ASSERT_EQ(row.at("limit").is_null(), row.at("limit_ratio").is_null()) << row;
  ASSERT_EQ(row.at("limit").is_null(), row.at("limit_name").is_null()) << row;
  if (row.at("limit").is_null()) return;
  const double limit = row.at("limit");
  const double ratio = row.at("limit_ratio");
  ASSERT_GT(limit, 0) << row;
  // Bytes are printed as whole ones: half a byte is the rounding of `memory`.
  const double rounding = row.at("question") == "memory" ? 0.5 / limit : 1e-6 * ratio;
  EXPECT_NEAR(ratio, figure_of(row) / limit, rounding + 1e-9) << row;
}

// The state of the machine, where a contest asked for it, and of what run this is.
inline void expect_circumstances(const json& row) {
  if (const json& machine = row.at("machine"); !machine.is_null()) {
    const std::set<std::string> fields{"ping_before_ns", "ping_after_ns", "state", "steady"};
    ASSERT_EQ(keys_of(machine), fields) << row;
    EXPECT_GT(machine.at("ping_before_ns"), 0) << row;
    EXPECT_GT(machine.at("ping_after_ns"), 0) << row;
    EXPECT_TRUE(machine.at("steady").is_boolean()) << row;
    EXPECT_THAT(machine.at("state"), testing::AnyOf("near", "far", "sharing a core")) << row;
  }
  const json& run = row.at("run");
  const std::set<std::string> fields{"date", "version", "processor", "system", "cores", "ranks"};
  ASSERT_EQ(keys_of(run), fields) << row;
  for (const char* key : {"processor", "system"}) expect_text_or_null(run, key);
  EXPECT_THAT(std::string(run.at("date")), testing::MatchesRegex("....-..-..T..:..:..Z")) << row;
  EXPECT_GT(run.at("cores"), 0) << row;
  EXPECT_GT(run.at("ranks"), 1) << row;
}

inline void expect_layout(const json& row, const std::string& question) {
  const std::set<std::string> fields{"question",   "transport",  "mode",        "memory",
                                     "buffers",    "size_bytes", "iterations",  "latency_ns",
                                     "rate_per_s", "limit",      "limit_ratio", "bandwidth_MBps",
                                     "limit_name", "machine",    "run"};
  ASSERT_TRUE(row.is_object()) << row;
  ASSERT_EQ(keys_of(row), fields) << row;
  EXPECT_EQ(row.at("question"), question);
  for (const char* key : {"transport", "mode", "memory", "limit_name"})
    expect_text_or_null(row, key);
  for (const char* key : {"size_bytes", "iterations"}) {
    EXPECT_TRUE(row.at(key).is_number_unsigned()) << key << " of " << row;
  }
  EXPECT_GT(row.at("iterations"), 0) << row;
  for (const char* key : {"rate_per_s", "bandwidth_MBps", "limit", "limit_ratio"}) {
    expect_number_or_null(row, key);
  }
  expect_latency(row);
  expect_figure(row);
  expect_limit(row);
  expect_circumstances(row);
}

}  // namespace photon::test
