// A build without libfabric.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <string>
#include <utility>

#include "boot/proof.hpp"
#include "memory_boot.hpp"
#include "transport/ofi/ofi_transport.hpp"

namespace photon::transport::ofi {
namespace {

TEST(NoFabric, a_build_without_libfabric_says_so_when_the_transport_is_asked_for) {
  if (has_fabric()) GTEST_SKIP() << "this build has libfabric";
  photon::test::MemoryJob job(1);
  const auto boot = job.boot(0);
  const auto opened = open_ofi(base::Config{}, *boot);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
  EXPECT_NE(opened.error().what.find("libfabric-dev"), std::string::npos) << opened.error().what;
}

// What a program hears of it, whichever way it asks.
TEST(NoFabric, a_program_that_asks_for_ofi_hears_what_is_missing_and_others_run) {
  if (has_fabric()) GTEST_SKIP() << "this build has libfabric";
  const auto create = [](const char* transport, const char* network, ph_error& error) {
    const ph_option options[] = {{"transport", transport}, {"network", network}};
    const ph_config config = {sizeof config, nullptr, options, 2};
    ph_context* context = nullptr;
    const ph_status status = ph_context_create(&config, &context, &error);
    ph_context_destroy(context);
    return status;
  };
  for (const auto& [transport, network] : {std::pair("ofi", "tcp"), std::pair("mixed", "ofi")}) {
    ph_error error{};
    EXPECT_EQ(create(transport, network, error), PH_ERR_CONFIG) << transport;
    EXPECT_NE(std::string(error.text).find("libfabric-dev"), std::string::npos) << error.text;
    EXPECT_NE(std::string(error.text).find("another transport"), std::string::npos) << error.text;
  }
  ph_error error{};
  EXPECT_EQ(create("auto", "tcp", error), PH_OK) << error.text;
}

}  // namespace
}  // namespace photon::transport::ofi
