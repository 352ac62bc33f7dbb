#include "base/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace photon::base {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Settings are read from the environment, so each test starts without any.
class ConfigTest : public testing::Test {
 protected:
  ConfigTest() { clear(); }
  ~ConfigTest() override { clear(); }

  static void clear() {
    for (const Field& field : fields()) ::unsetenv(field.environment);
    for (const char* name : {"PHOTON_LEDGER_SLOT", "PHOTON_RANK", "PHOTON_LAUNCH_FD"})
      ::unsetenv(name);
  }

  static Result<Config> with(std::vector<ph_option> options) { return read_config(options); }

  static std::string failure(std::vector<ph_option> options) {
    const Result<Config> config = read_config(options);
    if (config) return "accepted";
    EXPECT_EQ(config.error().status, PH_ERR_CONFIG);
    return config.error().what;
  }

  static const Field& field(const std::string& name) {
    for (const Field& field : fields())
      if (name == field.name) return field;
    ADD_FAILURE() << "no field " << name;
    return fields()[0];
  }

  static Origin origin(const Config& config, const std::string& name) {
    return config.origins[static_cast<std::size_t>(&field(name) - fields().data())];
  }
};

TEST_F(ConfigTest, nothing_given_means_the_defaults) {
  const Result<Config> config = with({});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->ledger_slots, 512u);
  EXPECT_EQ(config->arena_bytes, 1073741824u);
  EXPECT_EQ(config->transport, TransportChoice::automatic);
  EXPECT_EQ(config->log, LogLevel::warn);
  for (const Origin origin : config->origins) EXPECT_EQ(origin, Origin::built_in);
}

TEST_F(ConfigTest, the_environment_overrides_a_default) {
  ::setenv("PHOTON_LEDGER_SLOTS", "64", 1);
  ::setenv("PHOTON_SHM_CMA", "off", 1);
  const Result<Config> config = with({});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->ledger_slots, 64u);
  EXPECT_EQ(config->shm_cma, ShmCma::off);
  EXPECT_EQ(origin(*config, "ledger_slots"), Origin::environment);
  EXPECT_EQ(origin(*config, "ring_lines"), Origin::built_in);
}

TEST_F(ConfigTest, an_option_overrides_the_environment) {
  ::setenv("PHOTON_LEDGER_SLOTS", "64", 1);
  const Result<Config> config = with({{"ledger_slots", "128"}});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->ledger_slots, 128u);
  EXPECT_EQ(origin(*config, "ledger_slots"), Origin::option);
}

TEST_F(ConfigTest, of_two_options_with_one_name_the_later_counts) {
  const Result<Config> config = with({{"spin_us", "1"}, {"spin_us", "2"}});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->spin_us, 2u);
}

TEST_F(ConfigTest, the_default_of_every_field_is_an_allowed_value) {
  const Config defaults;
  for (const Field& field : fields()) {
    const std::string text = value_text(defaults, field);
    const Result<Config> config = with({{field.name, text.c_str()}});
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(value_text(*config, field), text);
  }
}

TEST_F(ConfigTest, every_choice_of_every_field_is_taken_and_listed_again) {
  for (const Field& field : fields()) {
    for (const char* choice : field.choices) {
      const Result<Config> config = with({{field.name, choice}});
      ASSERT_TRUE(config) << config.error().what;
      EXPECT_EQ(value_text(*config, field), choice);
    }
  }
}

TEST_F(ConfigTest, both_ends_of_every_range_are_allowed_and_nothing_beyond) {
  for (const Field& field : fields()) {
    const bool is_bound_by_another =
        field.name == std::string("bulk_chunk") || field.name == std::string("am_aggregate_bytes");
    if (!field.choices.empty() || field.is_word() || is_bound_by_another) continue;
    const std::string min = std::to_string(field.min);
    const std::string max = std::to_string(field.max);
    EXPECT_TRUE(with({{field.name, min.c_str()}})) << field.name;
    EXPECT_TRUE(with({{field.name, max.c_str()}})) << field.name;
    if (field.min > 0) {
      const std::string below = std::to_string(field.min - 1);
      EXPECT_THAT(failure({{field.name, below.c_str()}}), HasSubstr("must be")) << field.name;
    }
    const std::string above = max + "0";  // past 64 bits, where max is the largest number
    EXPECT_THAT(failure({{field.name, above.c_str()}}), HasSubstr("must be")) << field.name;
  }
}

TEST_F(ConfigTest, an_aggregate_is_no_larger_than_what_is_carried) {
  EXPECT_EQ(with({{"am_carried_max", "1024"}})->am_aggregate_bytes, 1024u);
  EXPECT_THAT(failure({{"am_carried_max", "1024"}, {"am_aggregate_bytes", "1025"}}),
              HasSubstr("must be at most am_carried_max = 1024"));
  EXPECT_EQ(
      with({{"am_carried_max", "65536"}, {"am_aggregate_bytes", "65536"}})->am_aggregate_bytes,
      65536u);
}

TEST_F(ConfigTest, handlers_beside_the_caller_turn_the_progress_thread_on) {
  EXPECT_EQ(with({{"am", "threaded"}})->progress_thread, Switch::on);
  EXPECT_EQ(with({{"am", "polled"}})->progress_thread, Switch::off);
  EXPECT_THAT(failure({{"am", "threaded"}, {"progress_thread", "off"}}),
              HasSubstr("must be on where am = threaded"));
}

TEST_F(ConfigTest, a_word_is_taken_as_it_is_and_neither_empty_nor_long) {
  EXPECT_EQ(with({{"tcp_interface", "eth0"}})->tcp_interface.view(), "eth0");
  const std::string longest(63, 'x');
  EXPECT_EQ(with({{"tcp_interface", longest.c_str()}})->tcp_interface.view(), longest);
  EXPECT_THAT(failure({{"tcp_interface", ""}}), HasSubstr("must be"));
  EXPECT_THAT(failure({{"tcp_interface", (longest + "x").c_str()}}), HasSubstr("must be"));
}

TEST_F(ConfigTest, an_error_names_setting_value_origin_and_range) {
  EXPECT_EQ(failure({{"ledger_slots", "100"}}),
            "setting ledger_slots = \"100\" (option ledger_slots) must be a power of two in "
            "[2, 65536]");
  ::setenv("PHOTON_TRANSPORT", "pigeon", 1);
  EXPECT_EQ(failure({}),
            "setting transport = \"pigeon\" (environment variable PHOTON_TRANSPORT) must be one of "
            "auto, shm, sim, tcp, mixed, ofi");
}

TEST_F(ConfigTest, junk_is_refused) {
  for (const char* junk : {"", " 64", "64 ", "0x40", "-64", "+64", "64k", "sixty", "1e3", "6.4"})
    EXPECT_THAT(failure({{"ledger_slots", junk}}), HasSubstr("must be a power of two")) << junk;
  EXPECT_THAT(failure({{"log", "Warn"}}), HasSubstr("must be one of"));
  EXPECT_THAT(failure({{"arena_bytes", "1048577"}}), HasSubstr("a multiple of 4096"));
}

TEST_F(ConfigTest, zero_is_no_power_of_two) {
  EXPECT_THAT(failure({{"requests", "0"}}), HasSubstr("a power of two"));
}

TEST_F(ConfigTest, an_unknown_option_is_refused_with_the_nearest_name) {
  EXPECT_THAT(failure({{"ledger_slot", "64"}}),
              AllOf(HasSubstr("\"ledger_slot\""), HasSubstr("\"ledger_slots\"")));
  EXPECT_THAT(failure({{"PHOTON_LEDGER_SLOTS", "64"}}), HasSubstr("no setting"));
}

TEST_F(ConfigTest, null_names_and_values_are_refused) {
  EXPECT_THAT(failure({{nullptr, "64"}}), HasSubstr("no name"));
  EXPECT_THAT(failure({{"ledger_slots", nullptr}}), HasSubstr("no value"));
}

TEST_F(ConfigTest, a_chunk_must_leave_room_for_four_in_the_bulk_ring) {
  EXPECT_TRUE(with({{"bulk_bytes", "65536"}, {"bulk_chunk", "16384"}}));
  EXPECT_THAT(failure({{"bulk_bytes", "65536"}, {"bulk_chunk", "16385"}}),
              AllOf(HasSubstr("bulk_chunk = \"16385\""), HasSubstr("bulk_bytes = 65536")));
}

TEST_F(ConfigTest, a_chunk_that_was_not_given_follows_the_bulk_ring) {
  const Result<Config> config = with({{"bulk_bytes", "65536"}});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->bulk_chunk, 16384u);
  EXPECT_EQ(origin(*config, "bulk_chunk"), Origin::derived);
}

TEST_F(ConfigTest, an_unknown_variable_is_reported_with_the_nearest_name) {
  ::setenv("PHOTON_LEDGER_SLOT", "64", 1);
  EXPECT_THAT(environment_warnings(), ElementsAre(AllOf(HasSubstr("PHOTON_LEDGER_SLOT "),
                                                        HasSubstr("PHOTON_LEDGER_SLOTS"))));
}

TEST_F(ConfigTest, the_launchers_variables_are_not_reported) {
  ::setenv("PHOTON_RANK", "0", 1);
  ::setenv("PHOTON_LAUNCH_FD", "3", 1);
  ::setenv("PHOTON_LOG", "info", 1);
  EXPECT_THAT(environment_warnings(), IsEmpty());
}

TEST_F(ConfigTest, loading_warns_once_per_variable_unless_told_to_be_silent) {
  ::setenv("PHOTON_LEDGER_SLOT", "64", 1);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(load_config({}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("warn: environment variable"));
  const ph_option quiet = {"log", "error"};
  testing::internal::CaptureStderr();
  EXPECT_TRUE(load_config({&quiet, 1}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ConfigTest, loading_hands_errors_on) {
  const ph_option option = {"log", "loud"};
  EXPECT_FALSE(load_config({&option, 1}));
}

TEST_F(ConfigTest, origins_are_named_as_in_ph_setting) {
  EXPECT_STREQ(origin_text(Origin::built_in), "default");
  EXPECT_STREQ(origin_text(Origin::environment), "environment");
  EXPECT_STREQ(origin_text(Origin::option), "option");
  EXPECT_STREQ(origin_text(Origin::derived), "derived");
}

}  // namespace
}  // namespace photon::base
