// What ranks see of others that leave, through the launcher (programs/leaver.cpp).
#include "launched.hpp"

namespace photon::test {
namespace {

const std::string kLeaver = std::string(PHOTON_BIN_DIR) + "/leaver";

void expect_quiet(const std::string& how, const std::string& size, const std::string& warning) {
  Launched job({"-n", size, "--timeout", "25", kLeaver, how});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  if (warning.empty()) {
    EXPECT_EQ(job.err, "");
  }
  EXPECT_NE(job.err.find(warning), std::string::npos) << job.err;
}

TEST(Leaver, ranks_that_all_leave_at_once_cause_neither_warning_nor_wait) {
  for (const char* size : {"2", "5", "9"})
    for (int i = 0; i < 10; ++i) expect_quiet("at_once", size, "");
}

TEST(Leaver, a_refused_first_put_whose_error_was_never_probed_is_told_by_finalize) {
  expect_quiet("refused", "2", "");
}

TEST(Leaver, a_peer_that_left_in_order_without_having_met_us_is_departed_without_a_warning) {
  expect_quiet("in_order", "2", "");
}

TEST(Leaver, a_peer_that_ended_without_a_word_is_dead_with_a_warning) {
  expect_quiet("without_a_word", "2", "rank 1 has ended");
}

}  // namespace
}  // namespace photon::test
