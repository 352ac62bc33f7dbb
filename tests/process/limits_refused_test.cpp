// Limits that start-up and contact run into: the job goes on another way, which it says, or the
// words name limit, setting and next step. Never a signal, never a hang.
#include <gtest/gtest.h>

#include <string>

#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

std::string traffic(int ranks_count) {
  return kRun + " -n " + std::to_string(ranks_count) + " --timeout 40 " PHOTON_BIN_DIR "/verified";
}

CommandResult under(const std::string& limits, const std::string& command) {
  return run_command("{ " + limits + " && " + command + "; } 2>&1");
}

void expect_words(const CommandResult& result, std::initializer_list<const char*> words) {
  EXPECT_LT(result.exit_status, 126) << result.output;
  EXPECT_NE(result.exit_status, 124) << result.output;
  EXPECT_FALSE(says(result.output, "was killed by")) << result.output;
  for (const char* word : words) EXPECT_TRUE(says(result.output, word)) << word << result.output;
}

TEST(Limits, of_the_size_of_files_leave_the_network) {
  const CommandResult result = under("ulimit -f 100", traffic(2));
  EXPECT_EQ(result.exit_status, 0);
  expect_words(result, {"no shared memory here", "RLIMIT_FSIZE", "ulimit -f", "verified by tcp"});
}

TEST(Limits, of_the_size_of_files_are_named_where_shared_memory_was_asked_for) {
  const CommandResult result = under("ulimit -f 100", "PHOTON_TRANSPORT=shm " + traffic(2));
  EXPECT_EQ(result.exit_status, 1);
  expect_words(result, {"photon-public", "RLIMIT_FSIZE", "ulimit -f", "PHOTON_TRANSPORT=tcp"});
}

TEST(Limits, of_the_size_of_files_count_for_rings_before_the_first_contact) {
  // What is made at the start would fit.
  const std::string small = "PHOTON_ARENA_BYTES=1048576 PHOTON_BULK_BYTES=67108864 ";
  expect_words(under("ulimit -f 16384", small + "PHOTON_TRANSPORT=shm " + traffic(2)),
               {"photon-ring", "RLIMIT_FSIZE"});
  expect_words(under("ulimit -f 16384", small + traffic(2)), {"verified by tcp"});
}

TEST(Limits, of_address_space_are_named_with_the_settings_that_take_it) {
  if (is_sanitized()) GTEST_SKIP() << "the sanitizers themselves take more address space";
  for (const char* limit : {"ulimit -v 400000", "ulimit -v 200000", "ulimit -v 100000"}) {
    const CommandResult result =
        under(limit, "PHOTON_BULK_BYTES=67108864 PHOTON_TRANSPORT=shm " + traffic(4));
    EXPECT_NE(result.exit_status, 0) << limit;
    expect_words(result, {"RLIMIT_AS", "ulimit -v", "PHOTON_ARENA_BYTES", "PHOTON_BULK_BYTES"});
  }
}

// At a contact: for the rings of its own, and where those have room for the peer's.
TEST(Limits, of_address_space_of_one_rank_are_told_to_its_peer_and_named) {
  if (is_sanitized()) GTEST_SKIP() << "the sanitizers themselves take more address space";
  // Some 96 MiB are taken at once.
  const auto expect_told = [](const std::string& transport, const std::string& mib) {
    const CommandResult result = run_command(
        "PHOTON_BULK_BYTES=67108864 PHOTON_ARENA_BYTES=1048576 PHOTON_TRANSPORT=" + transport +
        " " + kRun + " -n 2 --timeout 60 " PHOTON_BIN_DIR "/limited " + mib + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << transport << " " << mib << "\n" << result.output;
  };
  expect_told("shm", "32");
  expect_told("shm", "144");
  expect_told("tcp", "32");
}

TEST(Limits, of_everything_are_what_photon_info_reports) {
  if (is_sanitized()) GTEST_SKIP() << "the sanitizers themselves take more address space";
  for (const char* limit : {"ulimit -f 0", "ulimit -f 100", "ulimit -v 300000", "ulimit -s 256",
                            "ulimit -l 0", "ulimit -d 200000", "ulimit -n 40"}) {
    const CommandResult result = under(limit, kInfo);
    EXPECT_LT(result.exit_status, 2) << limit << result.output;
    expect_words(result, {"\ntransports\n", "\nlimits\n", "RLIMIT_FSIZE", "\nsettings\n"});
  }
}

TEST(Limits, small_stacks_and_no_locked_memory_change_nothing) {
  for (const char* limit : {"ulimit -s 256", "ulimit -l 0"}) {
    const CommandResult result = under(limit, traffic(2));
    EXPECT_EQ(result.exit_status, 0) << limit << result.output;
    EXPECT_TRUE(says(result.output, "verified by shm")) << limit << result.output;
  }
}

// Six ranks listen, and four ports are all there are. No rank's status ends the job before the
// others have said what they lack.
TEST(Limits, of_ports_are_named_with_the_range_to_widen) {
  const std::string few =
      "unshare -rn sh -c 'ip link set lo up && echo 40000 40003 "
      ">/proc/sys/net/ipv4/ip_local_port_range && ";
  if (run_command(few + "true' 2>&1").exit_status != 0)
    GTEST_SKIP() << "no network namespace of our own here";
  const CommandResult result =
      run_command(few + "PHOTON_TRANSPORT=tcp " + kRun + " -n 6 --timeout 40 sh -c \"" +
                  PHOTON_BIN_DIR "/verified || true\"' 2>&1");
  expect_words(result, {"all ports", "net.ipv4.ip_local_port_range"});
  EXPECT_FALSE(says(result.output, "setting tcp_interface")) << result.output;
}

}  // namespace
}  // namespace photon::test
