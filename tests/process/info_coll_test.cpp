// photon-info --coll: by which algorithm collective operations are done, and why.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"

namespace photon::test {
namespace {

using nlohmann::json;

json coll_of(const std::string& variables, const std::string& launcher = "") {
  const CommandResult result = run_command(variables + launcher + kInfo + " --coll --json");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  return json::parse(result.output).at("coll");
}

TEST(InfoColl, says_what_is_taken_for_each_kind_and_size_and_why) {
  std::size_t kinds = 0;
  std::string last;
  for (const json& row : coll_of("")) {
    if (row.at("kind") != last) ++kinds;
    last = row.at("kind");
    EXPECT_FALSE(row.at("algorithm").get<std::string>().empty());
    EXPECT_EQ(row.at("source"), "built-in");
  }
  EXPECT_EQ(kinds, 16u);
}

TEST(InfoColl, names_the_setting_and_what_cannot_be_done_by_it) {
  bool has_ring = false;
  bool has_instead = false;
  for (const json& row : coll_of("PHOTON_COLL_ALLREDUCE=ring ")) {
    if (row.at("kind") != "allreduce") continue;
    EXPECT_EQ(row.at("source"), "setting");
    EXPECT_EQ(row.at("wanted"), "ring");
    if (row.at("reproducible")) {
      has_instead = true;
      EXPECT_NE(row.at("algorithm"), "ring");
      EXPECT_EQ(row.at("why"), "instead of ring (setting coll_allreduce), which cannot do it");
    } else {
      has_ring = true;
      EXPECT_EQ(row.at("algorithm"), "ring");
    }
  }
  EXPECT_TRUE(has_ring && has_instead);
}

TEST(InfoColl, under_a_launcher_answers_for_its_job_and_once) {
  for (const json& row : coll_of("", kRun + " -n 3 ")) EXPECT_EQ(row.at("members"), 3);
}

TEST(InfoColl, prints_the_same_for_people) {
  const CommandResult text = run_command(kInfo + " --coll");
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_NE(text.output.find("\nreduce_scatter_block\n"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("built-in table"), std::string::npos) << text.output;
}

TEST(InfoColl, says_what_is_wrong_with_a_table) {
  const CommandResult result =
      run_command("PHOTON_COLL_TABLE=/no/such/table " + kInfo + " --coll 2>&1");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.output.find("setting coll_table"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace photon::test
