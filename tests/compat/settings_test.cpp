// What a classic configuration becomes as options of a context.
#include "compat/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "variable.hpp"

namespace photon::test {
namespace {

using OptionMap = std::map<std::string, std::string>;

OptionMap options_of(const photon_config_t& config) {
  classic::Settings settings;
  EXPECT_TRUE(settings.read(config));
  OptionMap found;
  for (std::size_t i = 0; i < settings.options_count(); ++i)
    found[settings.options()[i].name] = settings.options()[i].value;
  EXPECT_EQ(found.size(), settings.options_count()) << "each is said once";
  return found;
}

TEST(ClassicSettings, of_a_zeroed_configuration_ask_for_what_old_programs_need) {
  EXPECT_EQ(
      options_of({}),
      (OptionMap{{"progress_thread", "on"}, {"ledger_slots", "65536"}, {"requests", "1048576"}}));
}

TEST(ClassicSettings, are_rounded_into_what_the_library_takes) {
  photon_config_t config{};
  config.cap.ledger_entries = 100;
  config.cap.max_rd = 1;
  config.cap.max_cid_size = 1 << 20;
  config.cap.small_pwc_size = 5000;
  const OptionMap found = options_of(config);
  EXPECT_EQ(found.at("ledger_slots"), "128");
  EXPECT_EQ(found.at("requests"), "16");
  EXPECT_EQ(found.at("max_cid_size"), std::to_string(PH_MAX_ID_BYTES));
  EXPECT_EQ(found.at("packed_max"), "1024");
  config.cap.ledger_entries = 1;
  config.cap.max_cid_size = 1;
  config.cap.small_pwc_size = 192;  // as the library does by itself
  const OptionMap least = options_of(config);
  EXPECT_EQ(least.at("ledger_slots"), "2");
  EXPECT_EQ(least.at("max_cid_size"), "8");
  EXPECT_EQ(least.count("packed_max"), 0u);
}

TEST(ClassicSettings, leave_to_the_environment_what_the_program_does_not_say_itself) {
  const Variable slots("PHOTON_LEDGER_SLOTS", "64");
  const Variable thread("PHOTON_PROGRESS_THREAD", "off");
  photon_config_t config{};
  EXPECT_EQ(options_of(config), (OptionMap{{"requests", "1048576"}}));
  config.cap.ledger_entries = 8;
  EXPECT_EQ(options_of(config).at("ledger_slots"), "8");
}

TEST(ClassicSettings, name_libfabric_for_the_backends_that_were_networks) {
  photon_config_t config{};
  for (const auto backend : {PHOTON_BACKEND_VERBS, PHOTON_BACKEND_FI}) {
    config.backend = backend;
    EXPECT_EQ(options_of(config).at("network"), "ofi");
  }
  config.coll = PHOTON_COLL_IFACE_PWC;
  EXPECT_EQ(options_of(config).at("coll"), "pwc");
}

TEST(ClassicSettings, refuse_the_backend_that_there_is_not_and_say_why) {
  photon_config_t config{};
  config.backend = PHOTON_BACKEND_UGNI;
  classic::Settings settings;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(settings.read(config));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("photon_init: the backend ugni"), std::string::npos) << said;
}

}  // namespace
}  // namespace photon::test
