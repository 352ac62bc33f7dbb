// Creating a context with what it cannot use: the message names setting, value, origin and what is
// allowed, and a later attempt works.
#include "settings.hpp"
#include "variable.hpp"

namespace photon::test {
namespace {

// The error of creating a job of one rank with these options.
ph_error create_error(const std::vector<ph_option>& options) {
  ph_config config{};
  config.size = sizeof config;
  config.options = options.data();
  config.options_count = options.size();
  ph_context* context = reinterpret_cast<ph_context*>(&config);  // must be cleared
  ph_error error{};
  const ph_status status = ph_context_create(&config, &context, &error);
  EXPECT_NE(status, PH_OK);
  EXPECT_EQ(status, error.status);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(error.rank, PH_ANY_RANK);
  return error;
}

void expect_parts(const ph_error& error, const std::vector<std::string>& parts) {
  EXPECT_EQ(error.status, PH_ERR_CONFIG);
  for (const std::string& part : parts)
    EXPECT_NE(std::string(error.text).find(part), std::string::npos)
        << "\"" << error.text << "\" does not say \"" << part << "\"";
}

TEST(BadConfig, a_wrong_option_is_named_with_its_value_and_what_is_allowed) {
  expect_parts(create_error({{"ledger_slots", "3"}}),
               {"ledger_slots", "\"3\"", "option", "power of two", "65536"});
  expect_parts(create_error({{"ring_lines", "32"}}), {"ring_lines", "\"32\"", "64"});
  expect_parts(create_error({{"max_cid_size", "1025"}}), {"max_cid_size", "1025", "1024"});
  expect_parts(create_error({{"requests", "many"}}), {"requests", "\"many\""});
  expect_parts(create_error({{"requests", "-16"}}), {"requests", "\"-16\""});
  expect_parts(create_error({{"requests", ""}}), {"requests", "\"\""});
  expect_parts(create_error({{"requests", "16 "}}), {"requests", "\"16 \""});
  expect_parts(create_error({{"piece_bytes", "99999999999999999999999"}}), {"piece_bytes"});
  expect_parts(create_error({{"transport", "carrier pigeon"}}),
               {"transport", "carrier pigeon", "shm", "sim"});
  expect_parts(create_error({{"progress_thread", "maybe"}}),
               {"progress_thread", "\"maybe\"", "off", "on"});
  expect_parts(create_error({{"progress_thread", ""}}), {"progress_thread", "off", "on"});
  expect_parts(create_error({{"progress_silence_us", "9"}}),
               {"progress_silence_us", "\"9\"", "10", "1000000"});
  expect_parts(create_error({{"progress_silence_us", "-1"}}), {"progress_silence_us"});
  expect_parts(create_error({{"bulk_bytes", "8192"}, {"bulk_chunk", "4096"}}),
               {"bulk_chunk", "4096", "bulk_bytes", "8192"});
  expect_parts(create_error({{"ledger_slot", "4"}}), {"ledger_slot", "nearest", "ledger_slots"});
}

TEST(BadConfig, a_wrong_variable_is_named_as_such) {
  const Variable variable("PHOTON_LEDGER_SLOTS", "5");
  expect_parts(create_error({}), {"ledger_slots", "\"5\"", "PHOTON_LEDGER_SLOTS", "environment"});
}

TEST(BadConfig, a_config_that_cannot_be_read_is_refused_in_words) {
  ph_context* context = nullptr;
  ph_error error{};
  ph_config config{};
  config.size = 8;
  EXPECT_EQ(ph_context_create(&config, &context, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("config->size"), std::string::npos) << error.text;
  EXPECT_EQ(ph_context_create(&config, &context, nullptr), PH_ERR_ARGUMENT);
  config.size = sizeof config;
  config.options_count = 1;
  EXPECT_EQ(ph_context_create(&config, &context, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("options"), std::string::npos) << error.text;
  for (const ph_option option : {ph_option{nullptr, "1"}, ph_option{"requests", nullptr}}) {
    config.options = &option;
    EXPECT_EQ(ph_context_create(&config, &context, &error), PH_ERR_ARGUMENT);
    EXPECT_NE(std::string(error.text).find("null"), std::string::npos) << error.text;
  }
}

TEST(BadConfig, a_bootstrap_that_makes_no_sense_is_refused) {
  const auto gather = [](void*, const void*, void*, std::size_t) { return 0; };
  const auto barrier = [](void*) { return 0; };
  ph_bootstrap good = {nullptr, 0, 1, gather, barrier};
  ph_bootstrap bads[4] = {good, good, good, good};
  bads[0].size = 0;
  bads[1].rank = 1;
  bads[2].allgather = nullptr;
  bads[3].barrier = nullptr;
  for (const ph_bootstrap& bad : bads) {
    ph_config config{};
    config.size = sizeof config;
    config.bootstrap = &bad;
    ph_context* context = nullptr;
    ph_error error{};
    const ph_status status = ph_context_create(&config, &context, &error);
    EXPECT_TRUE(status == PH_ERR_BOOTSTRAP || status == PH_ERR_ARGUMENT) << status;
    EXPECT_EQ(error.status, status);
    EXPECT_NE(error.text[0], '\0');
    EXPECT_EQ(context, nullptr);
  }
}

TEST(BadConfig, a_failed_creation_leaves_room_for_a_good_one) {
  for (int i = 0; i < 50; ++i) {
    create_error({{"ledger_slots", "3"}});
    ph_context* context = nullptr;
    ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
    EXPECT_EQ(ph_size_of(context), 1u);
    EXPECT_EQ(ph_finalize(context), PH_OK);
    ph_context_destroy(context);
  }
}

TEST(BadConfig, settings_that_differ_between_ranks_are_named_with_both_values) {
  for (const char* transport : {"shm", "sim"}) {
    ThreadJob job(2, {});
    job.run_bare([&](const ph_bootstrap& bootstrap) {
      const ph_option options[] = {{"transport", transport},
                                   {"ring_lines", bootstrap.rank == 0 ? "64" : "128"}};
      ph_config config{};
      config.size = sizeof config;
      config.bootstrap = &bootstrap;
      config.options = options;
      config.options_count = 2;
      ph_context* context = nullptr;
      ph_error error{};
      if (ph_context_create(&config, &context, &error) == PH_OK) {  // shm compares when they meet
        const ph_rank other = 1 - bootstrap.rank;
        ASSERT_EQ(ph_notify(context, other, 1), PH_OK);
        EXPECT_EQ(ph_wait(context, {other, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_ERR_BOOTSTRAP);
        EXPECT_EQ(ph_notify(context, other, 1), PH_ERR_BOOTSTRAP);
        ph_last_error(context, &error);
      }
      EXPECT_EQ(error.status, PH_ERR_BOOTSTRAP);
      for (const char* part : {"ring_lines", "64", "128"})
        EXPECT_NE(std::string(error.text).find(part), std::string::npos) << error.text;
      job.meet();
      ph_context_destroy(context);
    });
  }
}

}  // namespace
}  // namespace photon::test
