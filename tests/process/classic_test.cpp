// Classic programs as processes: the launcher's exchange, an exchange of their own, no finalize.
#include <gtest/gtest.h>

#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

const std::string kBin = PHOTON_BIN_DIR;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(ClassicProgram, with_a_zeroed_configuration_is_told_by_the_launcher_who_it_is) {
  for (const std::size_t ranks : {4, 8}) {
    const std::string size = std::to_string(ranks);
    const auto result =
        run_command(kRun + " -n " + size + " " + kBin + "/classic_launched leave 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_EQ(count_of(result.output, " of " + size + " went round"), ranks) << result.output;
  }
}

// A defect of the original; with the launcher's exchange.
TEST(ClassicProgram, may_init_again_after_finalize) {
  for (const std::size_t ranks : {2, 8}) {
    const auto result = run_command(kRun + " -n " + std::to_string(ranks) + " --timeout 50 " +
                                    kBin + "/classic_launched leave 5 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_EQ(count_of(result.output, " went round"), 5 * ranks) << result.output;
  }
}

// It would not notice PHOTON_ERROR_RESOURCE: the local id of each put is all that holds it back.
TEST(ClassicProgram, that_waits_for_each_put_alone_is_held_back_by_a_rank_that_computes) {
  for (const char* transport : {"shm", "tcp"})
    for (const char* what :
         {"6000 1 2000 100", "6000 192 2000 100 24", "2000 4096 1000 100", "500 65536 250 100 8"}) {
      const auto result =
          run_command("PHOTON_TRANSPORT=" + std::string(transport) + " " + kRun +
                      " -n 2 --timeout 60 " + kBin + "/classic_serial " + what + " 2>&1");
      EXPECT_EQ(result.exit_status, 0) << transport << ", " << what << ": " << result.output;
      EXPECT_EQ(count_of(result.output, "photon:"), 0u) << result.output;
    }
}

// A put whose local id was given holds nothing, at either end: 512 KB are some 30 bytes a put, and
// less than what any queue or copy of it would take. The target sleeps until the source is held
// back. The overflow, the bulk and the queue of ids that nobody has asked for (16 bytes each, where
// nothing is said up to 65,536) are smaller than that: their pages are touched whenever they are
// used first.
TEST(ClassicProgram, that_waits_for_each_put_alone_grows_by_nothing_while_its_target_sleeps) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer keeps what was freed";
  const auto run = [](const std::string& transport, const std::string& what) {
    return run_command(
        "folder=$(mktemp -d) && trap \"rm -r $folder\" EXIT && mkfifo $folder/held && "
        "PHOTON_OVERFLOW_BYTES=65536 PHOTON_BULK_BYTES=65536 PHOTON_LEDGER_SLOTS=4096 "
        "PHOTON_TRANSPORT=" +
        transport + " " + kRun + " -n 2 --timeout 50 " + kBin + "/classic_serial " + what +
        " 2>&1");
  };
  for (const char* transport : {"shm", "tcp"})
    for (const char* what : {"20000 1 1000", "20000 192 1000", "5000 4096 250", "2500 65536 100"}) {
      const auto result = run(transport, std::string(what) + " $folder/held 0 512");
      EXPECT_EQ(result.exit_status, 0) << transport << ", " << what << ": " << result.output;
      EXPECT_EQ(count_of(result.output, " since the third pause"), 2u) << result.output;
    }
  const auto refused = run("shm", "2000 1 100 $folder/held 0 -1");
  EXPECT_NE(refused.exit_status, 0) << refused.output;
  EXPECT_NE(count_of(refused.output, "memory has grown by more than it may"), 0u) << refused.output;
}

TEST(ClassicProgram, may_end_without_finalize_and_leaves_nothing_behind) {
  Launched job({"-n", "4", kBin + "/classic_launched"});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  EXPECT_EQ(count_of(job.out, " of 4 went round"), 4u) << job.out << job.err;
  job.expect_nothing_left();
}

// A runtime's last handshake is in a destructor that runs after main().
TEST(ClassicProgram, may_talk_and_finalize_in_the_destructor_of_a_global) {
  for (const char* how : {"finalize", "stay"}) {
    const auto result =
        run_command(kRun + " -n 3 --timeout 25 " + kBin + "/classic_bye " + how + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << how << ": " << result.output;
    EXPECT_EQ(count_of(result.output, " said bye"), 3u) << result.output;
    EXPECT_EQ(count_of(result.output, "photon:"), 0u) << result.output;
  }
}

TEST(ClassicProgram, that_ends_has_handed_over_the_memory_of_its_globals) {
  const auto result =
      run_command(kRun + " -n 3 --timeout 25 " + kBin + "/classic_bye hand_over 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(count_of(result.output, " has it all"), 2u) << result.output;
}

// Far below half of finalize_timeout_ms, after which it would be given up.
TEST(ClassicProgram, does_not_wait_at_its_end_for_ids_that_nobody_will_take) {
  const auto result = run_command(kRun + " -n 3 --timeout 4 " + kBin + "/classic_bye unread 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(ClassicFork, leaves_the_child_without_a_session_and_free_to_open_its_own) {
  const auto result = run_command(kBin + "/classic_forker 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(ClassicProgram, alone_is_a_job_of_one) {
  const auto result = run_command(kBin + "/classic_launched leave 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(count_of(result.output, "rank 0 of 1 went round"), 1u) << result.output;
}

TEST(ClassicRuntime, moves_every_parcel_once_and_leaves_without_finalize) {
  for (const char* ranks : {"2", "8"}) {
    const auto result = run_command(kBin + "/classic_runtime " + ranks + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << ranks << " ranks: " << result.output;
  }
}

TEST(ClassicProbers, two_threads_lose_no_id_and_no_byte) {
  const auto result =
      run_command(kRun + " -n 2 --timeout 50 " + kBin + "/classic_probers 50000 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(count_of(result.output, "none lost, none doubled"), 2u) << result.output;
}

TEST(ClassicProbers, four_pairs_on_few_cores_lose_nothing_either) {
  const auto result =
      run_command(kRun + " -n 8 --timeout 100 " + kBin + "/classic_probers 2000 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(count_of(result.output, "none lost, none doubled"), 8u) << result.output;
}

// A rank that a signal ended is no failure of the job here.
const char* const kKillForgiven =
    " sh -c '\"$0\" \"$@\"; end=$?; [ $end -ge 128 ] && exit 0; exit $end' ";

class ClassicSurvivor : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(what, ClassicSurvivor, testing::Values("collectives", "rendezvous"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(ClassicSurvivor, who_is_killed_is_waited_for_by_nobody) {
  for (const char* microseconds : {"0", "100", "1000", "5000", "20000", "50000", "150000"}) {
    const auto result =
        run_command(kRun + " -n 4 --timeout 25" + kKillForgiven + kBin + "/classic_survivor " +
                    GetParam() + " " + microseconds + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << microseconds << " us: " << result.output;
    EXPECT_EQ(count_of(result.output, " went on"), 3u) << result.output;
  }
}

// "-1" is any of them.
TEST(ClassicSilent, who_ends_before_its_first_word_is_waited_for_by_nobody) {
  for (const char* microseconds : {"0", "300", "5000", "60000"})
    for (const char* proc : {"", " 1", " 2", " -1"}) {
      const auto result = run_command(kBin + "/classic_silent " + microseconds + proc + " 2>&1");
      EXPECT_EQ(result.exit_status, 0) << microseconds << proc << ": " << result.output;
      EXPECT_EQ(count_of(result.output, "nobody is waited for"), 1u) << result.output;
    }
}

}  // namespace
}  // namespace photon::test
