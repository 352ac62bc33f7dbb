#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/config.hpp"

namespace photon::base {
namespace {

TEST(ConfigFields, a_variable_is_the_name_in_upper_case_behind_the_prefix) {
  for (const Field& field : fields()) {
    std::string wanted(kVariablePrefix);
    for (const char one : std::string(field.name)) wanted += static_cast<char>(std::toupper(one));
    EXPECT_EQ(field.environment, wanted);
  }
}

TEST(ConfigFields, have_names_of_their_own_and_defaults_that_are_allowed) {
  std::set<std::string> names;
  for (const Field& field : fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    const std::string value = value_text(Config{}, field);
    const ph_option option = {field.name, value.c_str()};
    EXPECT_TRUE(read_config({&option, 1})) << field.name << " = " << value;
  }
}

std::string settings_page() {
  std::string page =
      "# Settings\n\n"
      "Precedence: `ph_config.options`, then the environment, then the default. A value outside\n"
      "its range is an error that names the setting, the value and where it came from; an unknown\n"
      "`PHOTON_*` variable is a warning. `photon-info` lists what is in force and why.\n\n"
      "This page is written from the table in `src/base/config_fields.cpp`; a unit test compares\n"
      "them, and rewrites the page if `PHOTON_TEST_UPDATE_DOCS=1` is set.\n\n"
      "| option | environment | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const Field& field : fields()) {
    page += std::string("| `") + field.name + "` | `" + field.environment + "` | " +
            value_text(Config{}, field) + " | " + allowed_text(field) + " | " + field.help + " |\n";
  }
  return page;
}

TEST(ConfigFields, the_page_of_settings_matches_the_table) {
  const std::string path = PHOTON_SOURCE_DIR "/docs/configuration.md";
  if (std::getenv("PHOTON_TEST_UPDATE_DOCS")) std::ofstream(path) << settings_page();
  std::ifstream in(path);
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(found, settings_page()) << "run with PHOTON_TEST_UPDATE_DOCS=1 to rewrite " << path;
}

}  // namespace
}  // namespace photon::base
