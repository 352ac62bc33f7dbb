// The backend of the new Converse as its runtime calls it: jobs of 1, 2 and 4 nodes through shared
// memory with and without the kernel's copies, and over sockets (programs/calls.cpp has the cases).
// The thread sanitizer follows one process, so it sees the jobs of one node.
#include "process/launched.hpp"

namespace photon::test {
namespace {

const std::vector<std::string> kWays = {"PHOTON_SHM_CMA=auto", "PHOTON_SHM_CMA=off",
                                        "PHOTON_TRANSPORT=tcp"};
const std::string kProgram = std::string(PHOTON_BIN_DIR) + "/reconverse_calls";

using Words = std::vector<std::string>;

void expect_right(const std::string& name, const Words& sizes, const Words& more = {},
                  const std::string& program = kProgram) {
  for (const std::string& way : kWays) {
    for (const std::string& size : sizes) {
      if (PHOTON_UNDER_TSAN && size != "1") continue;
      Words words = {"-n", size, "--timeout", "60", "--env", way};
      for (const std::string& setting : more) words.insert(words.end(), {"--env", setting});
      words.insert(words.end(), {program, name});
      Launched job(words);
      job.allow(std::chrono::seconds(60));
      EXPECT_EQ(job.wait(), 0) << name << " -n " << size << " " << way << ": " << job.out;
      EXPECT_EQ(job.err, "") << name << " -n " << size << " " << way;
    }
  }
}

// The job ends with these words.
void expect_words(const std::string& name, const std::string& words, const std::string& next) {
  if (PHOTON_UNDER_TSAN) GTEST_SKIP() << "two processes";
  Launched job({"-n", "2", "--timeout", "60", kProgram, name});
  EXPECT_NE(job.wait(), 0) << name;
  EXPECT_TRUE(says(job.err, words) && says(job.err, next)) << job.err;
}

TEST(Reconverse, PutCompletesWhenLanded) {
  expect_right("landed", {"1", "2", "4"});
  // Bytes that wait for room in the smallest rings, while the news of them could pass.
  expect_right("landed", {"2"}, {"PHOTON_BULK_BYTES=8192", "PHOTON_BULK_CHUNK=1024"});
}

TEST(Reconverse, IssueInsideCallbackWithFullQueues) {
  const Words smallest = {"PHOTON_REQUESTS=16", "PHOTON_AM_SLOTS=4", "PHOTON_AM_QUEUE_BYTES=65536",
                          "PHOTON_LEDGER_SLOTS=4"};
  expect_right("full_queues", {"1", "2", "4"}, smallest);
  expect_right("full_queues", {"2"});
}

TEST(Reconverse, a_chain_of_calls_inside_completions_needs_little_stack) {
  Launched job({"-n", "1", "--timeout", "60", "sh", "-c", "ulimit -s 1024; exec \"$0\" \"$@\"",
                kProgram, "full_queues"});
  job.allow(std::chrono::seconds(60));
  EXPECT_EQ(job.wait(), 0) << job.out;
  EXPECT_EQ(job.err, "");
}

TEST(Reconverse, DescriptorFits24) { expect_right("descriptor", {"1"}); }

TEST(Reconverse, ExitWithLiveRegistrations) { expect_right("live_registrations", {"1", "2", "4"}); }

TEST(Reconverse, messages_of_all_sizes_arrive_in_memory_of_the_runtime) {
  expect_right("sizes", {"1", "2", "4"});
}

TEST(Reconverse, an_allocator_with_names_of_C_is_found_too) {
  expect_right("sizes", {"2"}, {}, kProgram + "_c");
}

TEST(Reconverse, gets_name_an_address_and_puts_a_displacement) {
  expect_right("moves", {"1", "2", "4"});
}

TEST(Reconverse, four_threads_of_each_node_call_at_the_same_time) {
  expect_right("threads", {"1", "2", "4"});
}

TEST(Reconverse, a_barrier_goes_on_handling_messages) { expect_right("barrier", {"1", "2", "4"}); }

TEST(Reconverse, a_node_may_leave_and_be_of_the_next_job) { expect_right("twice", {"1", "2"}); }

TEST(Reconverse, copied_messages_end_well_though_their_receiver_leaves_at_once) {
  expect_right("many_jobs", {"2", "4"});
}

TEST(Reconverse, a_node_that_leaves_first_has_sent_what_it_issued) {
  expect_right("left_behind", {"2", "4"});
}

TEST(Reconverse, one_node_that_has_left_may_make_every_call) { expect_right("alone", {"1"}); }

TEST(Reconverse, mistakes_end_the_job_with_words) {
  expect_words("no_such_node", "an operation that was issued", "no rank 2");
  expect_words("no_such_handler", "an operation under way", "5");
  expect_words("no_such_region", "an operation", "key");
  expect_words("taken_back_twice", "deregisterMemory", "taken back before");
  expect_words("little_room", "getRMR", "24 bytes");
}

// A few trips, so that the program cannot rot; docs/reconverse.md says how to measure.
TEST(Reconverse, the_question_of_its_speed_is_answered) {
  Launched job(
      {"-n", "2", "--timeout", "60", std::string(PHOTON_BIN_DIR) + "/reconverse_speed", "2", "20"});
  EXPECT_EQ(job.wait(), 0) << job.err;
  EXPECT_EQ(std::count(job.out.begin(), job.out.end(), '\n'), 5) << job.out;
}

}  // namespace
}  // namespace photon::test
