// The one table of keys.
#include "netsim/run/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace photon::netsim {
namespace {

TEST(Keys, every_default_is_allowed_and_reads_back_as_itself) {
  std::set<std::string_view> names;
  for (const Key& key : keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    const Value value = value_of(Settings{}, key);
    const auto settings = with(Settings{}, key, text_of(value));
    if (key.allowed.kind == AllowedKind::form && text_of(value).empty()) continue;
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(value_of(*settings, key), value) << key.name;
  }
}

TEST(Keys, bounds_are_allowed_and_what_is_beyond_is_not) {
  for (const Key& key : keys()) {
    if (key.allowed.kind != AllowedKind::range) continue;
    const bool is_real = std::holds_alternative<double>(value_of(Settings{}, key));
    const auto least = is_real ? text_of(Value(key.allowed.least))
                               : std::to_string(static_cast<std::uint64_t>(key.allowed.least));
    EXPECT_TRUE(with(Settings{}, key, least)) << key.name;
    for (const char* text : {"-2", "1e300", "18446744073709551616", "nan", "inf", "", " 1", "1 "}) {
      const auto settings = with(Settings{}, key, text);
      ASSERT_FALSE(settings) << key.name << " = " << text;
      EXPECT_NE(settings.error().find(allowed_text(key)), std::string::npos) << settings.error();
    }
  }
}

TEST(Keys, a_real_value_reads_back_to_the_last_bit) {
  const double value = 0.1 + 0.2;
  Settings settings;
  settings.link_ns = value;
  const Key* key = find_key("network.link_ns");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(with(Settings{}, *key, text_of(value_of(settings, *key)))->link_ns, value);
}

TEST(Keys, complete_text_tells_any_two_settings_apart_but_for_threads) {
  std::set<std::string> texts{complete_text(Settings{})};
  for (const Key& key : keys()) {
    for (const char* text : {"hyperx", "adaptive", "tail", "rvma", "hold", "packet", "each", "pair",
                             "false", "0.75", "3", "65536"}) {
      const auto settings = with(Settings{}, key, text);
      if (!settings || value_of(*settings, key) == value_of(Settings{}, key)) continue;
      EXPECT_EQ(texts.insert(complete_text(*settings)).second, key.name != "run.threads")
          << key.name;
    }
  }
}

TEST(Keys, each_motif_that_is_allowed_exists) {
  for (std::string_view words = find_key("motif.name")->allowed.text; !words.empty();) {
    const std::string name(words.substr(0, words.find(' ')));
    words.remove_prefix(std::min(name.size() + 1, words.size()));
    MotifSettings settings;
    settings.name = name;
    const auto motif = make_motif(settings);
    const std::string error = motif ? "" : motif.error();
    EXPECT_EQ(error.find("motif.name"), std::string::npos) << error;
  }
}

TEST(Keys, an_unknown_key_is_told_those_of_its_section) {
  const std::string error = with(Settings{}, "nic.pcie", "1").error();
  EXPECT_NE(error.find("nic.pcie = 1: the key is unknown; allowed are nic.protocol, "),
            std::string::npos)
      << error;
  EXPECT_EQ(error.find("network."), std::string::npos) << error;
  EXPECT_NE(with(Settings{}, "seed", "1").error().find("run.seed"), std::string::npos);
}

}  // namespace
}  // namespace photon::netsim
