#include <gtest/gtest.h>
#include <photon/coll_provider.h>
#include <photon/photon.h>

#include <string>

namespace photon {
namespace {

TEST(CollProviderApi, says_what_is_wrong_with_a_table) {
  ph_context* context = nullptr;
  ph_error error{};
  ASSERT_EQ(ph_context_create(nullptr, &context, &error), PH_OK) << error.text;
  ph_coll_provider provider{};
  EXPECT_EQ(ph_coll_provider_register(nullptr, &provider), PH_ERR_STATE);
  EXPECT_EQ(ph_coll_provider_register(context, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_coll_provider_register(context, &provider), PH_ERR_ARGUMENT);
  ph_last_error(context, &error);
  EXPECT_NE(std::string(error.text).find("sizeof(ph_coll_provider)"), std::string::npos)
      << error.text;
  provider.size = sizeof provider;
  provider.name = "mine";
  EXPECT_EQ(ph_coll_provider_register(context, &provider), PH_ERR_ARGUMENT);
  ph_last_error(context, &error);
  EXPECT_NE(std::string(error.text).find("lacks a function"), std::string::npos) << error.text;
  EXPECT_EQ(ph_finalize(context), PH_OK);
  EXPECT_EQ(ph_coll_provider_register(context, &provider), PH_ERR_STATE);
  ph_context_destroy(context);
}

TEST(CollProviderApi, names_what_there_is_where_the_setting_names_another) {
  const ph_option mine{"coll", "mine"};
  ph_config config{};
  config.size = sizeof config;
  config.options = &mine;
  config.options_count = 1;
  ph_context* context = nullptr;
  ph_error error{};
  ASSERT_EQ(ph_context_create(&config, &context, &error), PH_OK) << error.text;
  ph_team* team = nullptr;
  EXPECT_EQ(ph_team_world(context, &team), PH_ERR_ARGUMENT);
  EXPECT_EQ(team, nullptr);
  ph_last_error(context, &error);
  EXPECT_NE(std::string(error.text).find("known: default"), std::string::npos) << error.text;
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

}  // namespace
}  // namespace photon
