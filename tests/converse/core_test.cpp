// What programs of other kinds do not see of the start, the sends and the end of a job.
#include <gtest/gtest.h>

#include "process/launched.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

struct CoreJob {
  int status;
  std::string out;
};

CoreJob run_core(const std::string& program, int processes, int pes,
                 const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> words{"-n", std::to_string(processes),
                                 std::string(PHOTON_CONVERSE_DIR) + "/conv_" + program, "+ppn",
                                 std::to_string(pes)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Launched job(words);
  const int status = job.wait();
  job.expect_nothing_left();
  return {status, job.out + job.err};
}

TEST(ConverseCore, groups_polls_and_parts_of_messages_are_as_converse_has_them) {
  for (const int processes : {1, 2, 3})
    for (const int pes : {1, 3}) {
      const CoreJob job = run_core("core_c", processes, pes);
      EXPECT_EQ(job.status, 0) << job.out;
      EXPECT_TRUE(says(job.out, "ok core\n")) << job.out;
    }
}

TEST(ConverseCore, one_pe_ends_the_job_whatever_the_others_do) {
  for (const std::string what :
       {"schedulers", "messages", "rounds", "all", "barrier", "first-in-barrier",
        "others-in-barrier", "node-barrier", "ranks-in-barriers"})
    for (const auto& [processes, pes] : {std::pair{1, 1}, {1, 3}, {2, 2}, {3, 1}, {3, 2}}) {
      const CoreJob job = run_core("job_exit_c", processes, pes, {what});
      EXPECT_EQ(job.status, 5) << what << " " << processes << "x" << pes << ": " << job.out;
      EXPECT_TRUE(says(job.out, "ok job_exit\n")) << job.out;
    }
}

TEST(ConverseCore, a_process_that_is_gone_without_a_word_ends_the_job) {
  for (const int pes : {1, 2}) {
    const CoreJob job = run_core("job_exit_c", 3, pes, {"vanish"});
    EXPECT_NE(job.status, 0);
    EXPECT_TRUE(says(job.out, "process 0 has ended")) << job.out;
  }
}

TEST(ConverseCore, no_thread_runs_behind_converse_exit) {
  for (const auto& [processes, pes] : {std::pair{1, 2}, {2, 1}}) {
    const CoreJob job = run_core("job_exit_c", processes, pes, {"threads"});
    EXPECT_EQ(job.status, 5) << job.out;
    EXPECT_FALSE(says(job.out, "behind ConverseExit()")) << job.out;
  }
}

TEST(ConverseCore, options_are_spelled_as_in_the_original) {
  for (const char* bytes : {"8192", "8k", "256K", "1M", "0.001G", "none"}) {
    const CoreJob job = run_core("argument_forms_c", 1, 2, {"+stacksize", bytes});
    EXPECT_EQ(job.status, 0) << bytes << ": " << job.out;
    EXPECT_TRUE(says(job.out, "ok argument_forms\n")) << job.out;
  }
  for (const auto& [what, words] : {std::pair{"-no-number", "has \"-number\""},
                                    {"-nothing", "the option -n needs a number"},
                                    {"-no-string", "the option -n needs a value"},
                                    {"-stack", "+stacksize 99G: a thread has at most 64G"}}) {
    const CoreJob job = run_core("argument_forms_c", 1, 1, {what, "+stacksize", "99G"});
    EXPECT_NE(job.status, 0) << what;
    EXPECT_TRUE(says(job.out, words)) << what << ": " << job.out;
  }
}

TEST(ConverseCore, threads_are_made_beyond_the_mappings_of_the_kernel) {
  const CoreJob job =
      run_core("thread_crowd_c", 1, 1, {"-threads", std::to_string(rounds(33'000, 1000))});
  EXPECT_EQ(job.status, 0) << job.out;
  EXPECT_TRUE(says(job.out, "ok thread_crowd\n")) << job.out;
}

TEST(ConverseCore, a_number_of_pes_that_cannot_be_is_refused_with_words) {
  for (const char* pes : {"0", "-3", "255"}) {
    const CoreJob job = run_core("hello_c", 1, 1, {"+p", pes});
    EXPECT_NE(job.status, 0) << pes;
  }
  const CoreJob job = run_core("hello_c", 1, 255);
  EXPECT_NE(job.status, 0);
  EXPECT_TRUE(says(job.out, "ConverseInit: 255 PEs of a process are asked for")) << job.out;
}

}  // namespace
}  // namespace photon::test
