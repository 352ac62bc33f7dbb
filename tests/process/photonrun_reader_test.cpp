// Whoever reads photonrun's output: as long as he reads nothing is lost, and if he stands still the
// job ends in time all the same.
#include "launched.hpp"

namespace photon::test {
namespace {

using Command = std::vector<std::string>;

void expect_end_unread(const Command& arguments, int status) {
  Launched job(arguments);
  EXPECT_EQ(job.wait_unread(), status);
  job.expect_nothing_left();
}

TEST(PhotonrunReader, that_reads_nothing_does_not_keep_a_job_from_its_timeout) {
  expect_end_unread({"-n", "2", "--timeout", "1", "sh", "-c", "exec yes >&2"}, 124);
  expect_end_unread({"-n", "2", "--timeout", "1", "--label", "sh", "-c", "yes & exec yes >&2"},
                    124);
}

TEST(PhotonrunReader, that_reads_nothing_does_not_keep_hosts_from_the_timeout) {
  expect_end_unread({"-H", "localhost:2", "--timeout", "3", "sh", "-c", "yes & exec yes >&2"}, 124);
}

TEST(PhotonrunReader, that_reads_nothing_loses_output_and_the_status_says_so) {
  for (const Command& arguments : {Command{"-n", "1", "--timeout", "2", "--label", "seq", "100000"},
                                   Command{"-H", "localhost", "--timeout", "3", "seq", "100000"}}) {
    Launched late(arguments);
    EXPECT_EQ(late.wait_unread(), 124);
    late.await_error("s all ranks had ended, but ");  // a status without a word is a riddle
    late.await_error(" bytes of standard output");
    late.expect_nothing_left();
  }
  Launched told({"-n", "1", "--label", "sh", "-c", "seq 100000; echo over >&2"});
  told.await_error("over");  // what it wrote before that waits in photonrun
  told.signal(SIGTERM);
  EXPECT_EQ(told.wait_unread(), 128 + SIGTERM);
  told.expect_nothing_left();
}

TEST(PhotonrunReader, that_comes_late_finds_all_of_it) {
  Launched job({"-n", "1", "--label", "sh", "-c", "seq 100000; echo over >&2"});
  job.await_error("over");
  EXPECT_EQ(job.wait(), 0) << job.err;
  EXPECT_EQ(std::count(job.out.begin(), job.out.end(), '\n'), 100'000);
}

}  // namespace
}  // namespace photon::test
