// What can be asked at any time: the version, texts and settings with their origin.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstdlib>
#include <string>

namespace photon {
namespace {

ph_setting setting_named(const ph_context* context, const std::string& name) {
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (setting.name == name) return setting;
  ADD_FAILURE() << "no setting " << name;
  return {};
}

TEST(SettingsApi, every_setting_has_a_name_a_variable_a_sentence_and_a_value) {
  ph_setting setting{};
  setting.size = sizeof setting;
  std::size_t count = 0;
  while (ph_setting_at(nullptr, count, &setting) == PH_OK) {
    ++count;
    EXPECT_EQ(std::string(setting.environment).rfind("PHOTON_", 0), 0u);
    EXPECT_NE(std::string(setting.name), "");
    EXPECT_EQ(std::string(setting.help).back(), '.') << setting.name;
    EXPECT_NE(setting.value[0], '\0') << setting.name;
  }
  EXPECT_GT(count, 10u);
  EXPECT_EQ(ph_setting_at(nullptr, count, &setting), PH_ERR_NOT_FOUND);
  EXPECT_EQ(ph_setting_at(nullptr, SIZE_MAX, &setting), PH_ERR_NOT_FOUND);
}

TEST(SettingsApi, a_context_says_what_it_was_created_with_whatever_the_environment_says_now) {
  const ph_option option = {"ledger_slots", "64"};
  const ph_config config = {sizeof config, nullptr, &option, 1};
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(&config, &context, nullptr), PH_OK);
  ::setenv("PHOTON_LEDGER_SLOTS", "128", 1);
  EXPECT_STREQ(setting_named(context, "ledger_slots").value, "64");
  EXPECT_STREQ(setting_named(context, "ledger_slots").origin, "option");
  EXPECT_STREQ(setting_named(nullptr, "ledger_slots").value, "128");
  EXPECT_STREQ(setting_named(nullptr, "ledger_slots").origin, "environment");
  ::setenv("PHOTON_LEDGER_SLOTS", "3", 1);
  ph_setting setting{};
  setting.size = sizeof setting;
  EXPECT_EQ(ph_setting_at(nullptr, 0, &setting), PH_ERR_CONFIG);
  ::unsetenv("PHOTON_LEDGER_SLOTS");
  EXPECT_STREQ(setting_named(nullptr, "ledger_slots").origin, "default");
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST(SettingsApi, every_status_has_a_text_and_strange_numbers_have_one_too) {
  for (int status = PH_ERR_NO_BUFFER; status <= PH_TIMEOUT; ++status)
    EXPECT_STRNE(ph_status_text(static_cast<ph_status>(status)), "unknown status") << status;
  for (const int status : {PH_ERR_NO_BUFFER - 1, 3, 1 << 30})
    EXPECT_STREQ(ph_status_text(static_cast<ph_status>(status)), "unknown status");
  EXPECT_GT(ph_version(), 0u);
}

}  // namespace
}  // namespace photon
