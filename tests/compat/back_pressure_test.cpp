// A lack of room that lasts is said once, with the rank that is waited for.
#include <string>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class BackPressure : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, BackPressure, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

// For programs that do not look at it, or call again for ever.
TEST_P(BackPressure, that_lasts_names_once_the_rank_that_takes_nothing) {
  const Variable few("PHOTON_REQUESTS", "16");
  const Variable none("PHOTON_OVERFLOW_TOTAL_BYTES", "0");
  ClassicJob job(3, GetParam(), [](photon_config_t& config) { config.cap.ledger_entries = 2; });
  job.run([&](int rank) {
    Registered memory(8);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      const auto put = [&] {
        return photon_put_with_completion(2, 8, &all[0], &all[2], u64(1), u64(2),
                                          PHOTON_REQ_PWC_NO_LCE);
      };
      int accepted = 0;
      while (put() == PHOTON_OK) ++accepted;
      EXPECT_EQ(accepted, 2 + 16);
      testing::internal::CaptureStderr();
      std::string said;
      while (said.empty()) {
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(put(), PHOTON_ERROR_RESOURCE);
        said = testing::internal::GetCapturedStderr();
        testing::internal::CaptureStderr();
      }
      for (const char* part : {"photon: PHOTON_ERROR_RESOURCE: ", "rank 2 ", " 16 operations"})
        EXPECT_NE(said.find(part), std::string::npos) << said;
      EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
      EXPECT_EQ(put(), PHOTON_ERROR_RESOURCE);
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    }
    job.meet();
    for (int i = 0; rank == 2 && i < 2 + 16; ++i) EXPECT_EQ(take().id.u64, 2u);
  });
}

}  // namespace
}  // namespace photon::test
