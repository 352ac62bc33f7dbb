// How Converse programs end: with which status, with which words, and on all processes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "job.hpp"

namespace photon::test {
namespace {

const std::vector<ConverseShape> kShapesThatEnd = {{1, 1, ""}, {1, 3, ""}, {2, 2, ""}};

void expect_converse_status(const std::vector<std::string>& way, int status) {
  for (const ConverseShape& shape : kShapesThatEnd) {
    const ConverseEnd end = run_converse("ends_c", shape, way);
    EXPECT_EQ(end.status, status) << way.front() << " " << shape_name(shape) << end.err;
  }
}

TEST(ConverseEnds, have_the_status_of_converse_exit) {
  expect_converse_status({"exit"}, 0);
  expect_converse_status({"exit-0"}, 0);
  expect_converse_status({"exit-3"}, 3);
}

TEST(ConverseEnds, come_when_all_pes_leave_their_schedulers) {
  expect_converse_status({"scheduler"}, 0);
}

TEST(ConverseEnds, come_from_threads_as_well) {
  expect_converse_status({"exit-3", "thread"}, 3);
  expect_converse_status({"scheduler", "thread"}, 0);
}

TEST(ConverseEnds, come_from_start_functions_as_well) {
  const ConverseEnd end = run_converse("ends_cpp", {2, 2, ""}, {"exit-in-start"});
  EXPECT_EQ(end.status, 0) << end.err;
  for (int pe = 0; pe < 4; ++pe)
    EXPECT_TRUE(says(end.out, "PE " + std::to_string(pe) + " ends\n")) << end.out;
}

// Not by the end of the PE that gives up alone: the job is over, and says why.
TEST(ConverseEnds, of_programs_that_abort_have_their_words) {
  for (const ConverseShape& shape : kShapesThatEnd) {
    for (const std::vector<std::string>& way :
         {std::vector<std::string>{"abort"}, std::vector<std::string>{"abort", "thread"}}) {
      const ConverseEnd end = run_converse("ends_c", shape, way);
      const int last = shape.processes * shape.pes_per_process - 1;
      EXPECT_NE(end.status, 0);
      EXPECT_TRUE(
          says(end.err, "PE " + std::to_string(last) + " gives up: the words of the program"))
          << end.err;
    }
  }
}

TEST(ConverseEnds, of_failed_assertions_name_what_and_where) {
  const ConverseEnd end = run_converse("ends_cpp", {2, 2, ""}, {"assert"});
  EXPECT_NE(end.status, 0);
  EXPECT_TRUE(says(end.err, "CmiNumPes() == -1")) << end.err;
  EXPECT_TRUE(says(end.err, "ends.inc.h")) << end.err;
}

}  // namespace
}  // namespace photon::test
