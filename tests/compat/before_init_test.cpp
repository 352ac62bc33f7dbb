// Every call before photon_init(): it says so, and touches nothing.
#include <gtest/gtest.h>
#include <photon.h>

#include <cstring>

namespace photon::test {
namespace {

TEST(BeforeInit, photon_initialized_says_no) {
  EXPECT_EQ(photon_initialized(), PHOTON_ERROR_NOINIT);
}

TEST(BeforeInit, finalize_says_that_there_was_no_init) {
  EXPECT_EQ(photon_finalize(), PHOTON_ERROR_NOINIT);
}

TEST(BeforeInit, a_null_configuration_is_refused) { EXPECT_EQ(photon_init(nullptr), PHOTON_ERROR); }

TEST(Init, a_zeroed_configuration_without_a_launcher_makes_a_job_of_one) {
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  ASSERT_EQ(photon_init(&config), PHOTON_OK);
  EXPECT_EQ(photon_initialized(), PHOTON_OK);
  EXPECT_EQ(config.address, 0);
  EXPECT_EQ(config.nproc, 1);
  EXPECT_EQ(photon_finalize(), PHOTON_OK);
  EXPECT_EQ(photon_initialized(), PHOTON_ERROR_NOINIT);
}

}  // namespace
}  // namespace photon::test
