// Programs of every kind of client, in C and in C++: each checks what it gets and says so. Their
// text stands once, in tests/converse/programs/NAME.inc.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "job.hpp"

namespace photon::test {
namespace {

const std::vector<std::string> kConversePrograms = {
    "arguments",     "big_messages",      "broadcasts",       "flood",
    "handlers",      "idle_conditions",   "k_neighbours",     "list_send",
    "locks",         "machine",           "messages",         "multicast",
    "multiple_send", "nested_schedulers", "node_reduction",   "node_sends",
    "own_functions", "ping_pong_sizes",   "prints",           "priorities",
    "quiescence",    "reduction",         "reduction_struct", "returning_init",
    "ring",          "self_send",         "thread_strategy",  "threads",
    "timers",        "user_scheduler",    "vector_send",      "waiting_threads"};

// These say themselves how they have to end: brief in starts_test.cpp, the others in ends_test.cpp
// and careless_test.cpp.
const std::vector<std::string> kProgramsElsewhere = {"brief", "careless", "ends"};

using OneProgram = std::tuple<std::string, ConverseShape>;

std::string name_of(const testing::TestParamInfo<OneProgram>& info) {
  return std::get<0>(info.param) + "_" + shape_name(std::get<1>(info.param));
}

class ConversePrograms : public testing::TestWithParam<OneProgram> {};

TEST_P(ConversePrograms, in_c_end_well) {
  const auto& [name, shape] = GetParam();
  expect_converse_ok(name + "_c", name, shape);
}

// 8 PEs are more than most machines of tests have cores.
INSTANTIATE_TEST_SUITE_P(
    Jobs, ConversePrograms,
    testing::Combine(testing::ValuesIn(kConversePrograms),
                     testing::Values(ConverseShape{1, 1, ""}, ConverseShape{1, 4, ""},
                                     ConverseShape{2, 1, ""}, ConverseShape{2, 2, ""},
                                     ConverseShape{4, 2, ""})),
    name_of);

class ConverseCxxPrograms : public testing::TestWithParam<OneProgram> {};

TEST_P(ConverseCxxPrograms, in_cxx_end_well) {
  const auto& [name, shape] = GetParam();
  expect_converse_ok(name + "_cpp", name, shape);
}

INSTANTIATE_TEST_SUITE_P(Jobs, ConverseCxxPrograms,
                         testing::Combine(testing::ValuesIn(kConversePrograms),
                                          testing::Values(ConverseShape{1, 2, ""},
                                                          ConverseShape{2, 2, "tcp"})),
                         name_of);

// Runs of the scheduler inside each other, on other jobs than those above.
TEST(Converse, NestedScheduler) {
  for (const ConverseShape& shape : {ConverseShape{1, 3, ""}, ConverseShape{3, 2, ""}})
    for (const char* program : {"nested_schedulers_c", "nested_schedulers_cpp"})
      expect_converse_ok(program, "nested_schedulers", shape);
}

TEST(ConverseProgramsOfTwoSources, share_variables_of_pes_processes_and_threads) {
  for (const ConverseShape& shape : {ConverseShape{1, 1, ""}, ConverseShape{2, 2, ""}})
    for (const char* program : {"variables_main_c", "variables_main_cpp"})
      expect_converse_ok(program, "variables", shape);
}

TEST(ConverseProgramsOfCxx, have_classes_in_variables_and_lambdas_as_handlers) {
  for (const ConverseShape& shape : {ConverseShape{1, 4, ""}, ConverseShape{2, 2, ""}})
    expect_converse_ok("cxx_only_cpp", "cxx_only", shape);
}

// The other way to say how many PEs a process has.
TEST(ConverseProgramsAll, take_plus_p_as_plus_ppn) {
  for (const char* option : {"+p", "+ppn"}) {
    Launched job({"-n", "2", std::string(PHOTON_CONVERSE_DIR) + "/conv_prints_c", option, "3"});
    EXPECT_EQ(job.wait(), 0) << job.out << job.err;
    EXPECT_TRUE(says(job.out, "hello 0 from PE 5 of 6:")) << job.out;
  }
}

TEST(ConverseProgramsAll, print_whole_lines_from_all_pes) {
  const ConverseEnd end = run_converse("prints_c", {2, 2, ""});
  EXPECT_EQ(end.status, 0) << end.err;
  for (int pe = 0; pe < 4; ++pe) {
    for (int line = 0; line < 5; ++line) {
      const std::string number = std::to_string(line) + " from PE " + std::to_string(pe);
      EXPECT_TRUE(says("\n" + end.out, "\nhello " + number +
                                           " of 4: a line that is long enough to be torn "
                                           "where several write at once\n"))
          << end.out;
      EXPECT_TRUE(says("\n" + end.err, "\nwarning " + number + "\n")) << end.err;
    }
  }
}

TEST(ConverseProgramsAll, are_all_in_the_list) {
  const std::filesystem::path folder =
      std::filesystem::path(PHOTON_SOURCE_DIR) / "tests/converse/programs";
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    const std::size_t end = file.find(".inc.h");
    if (end == std::string::npos || file.starts_with("variables_")) continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (says(text.str(), "int main(")) found.push_back(file.substr(0, end));
  }
  std::vector<std::string> wanted = kConversePrograms;
  wanted.insert(wanted.end(), kProgramsElsewhere.begin(), kProgramsElsewhere.end());
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace photon::test
