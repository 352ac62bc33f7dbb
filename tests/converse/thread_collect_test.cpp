// Threads, reductions and quiescence: programs of tests/converse/programs in jobs of several
// shapes, and calls that are refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "process/launched.hpp"

namespace photon::test {
namespace {

struct Pes {
  int processes;
  int each;
};

void expect_all_done(const std::string& name, const Pes& pes) {
  Launched job({"-n", std::to_string(pes.processes),
                std::string(PHOTON_CONVERSE_DIR) + "/conv_" + name, "+ppn",
                std::to_string(pes.each)});
  const std::string shape = std::to_string(pes.processes) + "x" + std::to_string(pes.each);
  EXPECT_EQ(job.wait(), 0) << name << " " << shape << ": " << job.out << job.err;
  EXPECT_EQ(job.out, "all PEs are done\n") << name << " " << shape << ": " << job.err;
}

void expect_all_done_in_both(const std::string& name, const std::vector<Pes>& shapes) {
  for (const Pes& pes : shapes)
    for (const char* language : {"_c", "_cpp"}) expect_all_done(name + language, pes);
}

TEST(ConverseThreads, a_thousand_take_turns_in_the_order_of_their_priorities) {
  expect_all_done_in_both("thread_turns", {{1, 1}, {1, 3}, {2, 2}});
}

TEST(ConverseThreads, strategies_of_the_program_choose_who_runs) {
  expect_all_done_in_both("thread_strategies", {{1, 1}, {1, 3}, {2, 2}});
}

TEST(ConverseThreads, each_awakening_by_another_pe_ends_one_suspension) {
  expect_all_done_in_both("thread_across", {{1, 1}, {1, 3}, {2, 4}});
}

TEST(ConverseThreads, frames_are_forgotten_at_their_end_and_exceptions_are_their_own) {
  for (const Pes& pes : {Pes{1, 1}, Pes{2, 2}}) expect_all_done("thread_frames_cpp", pes);
}

TEST(ConverseThreads, handlers_that_suspend_go_on_by_their_own_awakenings) {
  expect_all_done_in_both("blocked_handlers", {{1, 1}, {1, 2}, {2, 1}, {2, 2}});
}

TEST(ConverseConditions, of_loops_and_of_idleness_keep_a_pe_from_sleeping) {
  expect_all_done_in_both("polling_conditions", {{1, 1}, {2, 2}});
}

// With six processes the second one has one below it; with seven it has two.
TEST(ConverseReductions, parts_grow_shrink_and_are_replaced) {
  expect_all_done_in_both("reduce_messages", {{1, 1}, {1, 4}, {2, 2}, {6, 1}});
}

TEST(ConverseReductions, structures_are_packed_where_they_leave_their_process) {
  expect_all_done_in_both("reduce_structs", {{1, 1}, {1, 4}, {2, 2}, {7, 1}, {6, 2}});
}

TEST(ConverseQuiescence, is_told_when_no_hop_is_left_and_may_be_asked_again) {
  expect_all_done_in_both("quiescence_chains", {{1, 1}, {1, 3}, {2, 2}, {4, 1}});
}

struct RefusedCall {
  const char* of;  // which calls
  const char* name;
  const char* words;
};

void expect_refused(const RefusedCall& call) {
  Launched job({"-n", "2", std::string(PHOTON_CONVERSE_DIR) + "/conv_refused_calls_c", call.of,
                call.name, "+ppn", "2"});
  EXPECT_NE(job.wait(), 0) << call.name;
  EXPECT_TRUE(says(job.err, call.words)) << call.name << ": " << job.err;
}

TEST(ConverseThreads, calls_that_cannot_be_done_end_the_job_with_words) {
  const std::vector<RefusedCall> calls = {
      {"thread", "unsuspendable", "CthSuspend: the thread must not suspend"},
      {"thread", "freed twice", "CthFree: the thread was freed already, or is over"},
      {"thread", "awaken over", "CthAwaken: the thread is over"},
      {"thread", "resume over", "CthResume: the thread is over"},
      {"thread", "free over", "CthFree: the thread was freed already, or is over"},
      {"thread", "null", "CthAwaken: the thread is null"},
      {"thread", "no function", "CthCreate: the function is null"},
      {"thread", "negative stack", "CthCreate: a stack of -1 bytes"},
      {"thread", "no strategy", "there is no strategy 17"},
      {"thread", "too many bits", "1000000 bits do not fit"},
      {"thread", "no thread exits", "CthExit: no thread runs"},
      {"thread", "free of the PE", "CthFree: it stands for the PE"},
      {"thread", "no variable", "CtvAccess: the variable is not there: call CtvInitialize()"}};
  for (const RefusedCall& call : calls) expect_refused(call);
}

TEST(ConverseReductions, calls_that_cannot_be_done_end_the_job_with_words) {
  const std::vector<RefusedCall> calls = {
      {"reduce", "null result", "CmiReduce: the merge function has returned null"},
      {"reduce", "negative result", "CmiReduce: a message of -1 bytes"},
      {"reduce", "longer result", "that has memory for 12: CmiAlloc() a larger one"},
      {"reduce", "packs more",
       "5 values of 1 bytes behind 0 bytes: that is more than was measured"},
      {"reduce", "longer than its memory", "CmiReduce: a message of 100 bytes that has memory for"},
      {"reduce", "negative size", "CmiReduce: a message of -4 bytes"},
      {"reduce", "no destination", "CmiReduceStruct: the pup function, the merge function or the"},
      {"reduce", "no quiescence", "CmiStartQD: the function is null"},
      {"reduce", "null pup", "pup_int: the pup_er is null"},
      {"reduce", "null part", "CmiReduce: the message is null"},
      {"reduce", "no merge", "CmiReduce: the merge function is null"}};
  for (const RefusedCall& call : calls) expect_refused(call);
}

}  // namespace
}  // namespace photon::test
