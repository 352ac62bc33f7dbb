#include "job_key.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "variable.hpp"

namespace photonrun {
namespace {

namespace fs = std::filesystem;
using photon::test::Variable;

class JobKey : public testing::Test {
 protected:
  ~JobKey() override { fs::remove(file_); }

  void write(const std::string& text, fs::perms perms = fs::perms::owner_read) const {
    fs::remove(file_);
    std::ofstream(file_) << text;
    fs::permissions(file_, perms);
  }
  // Why it is refused.
  std::string refusal(const std::string& file) const {
    try {
      return "taken: " + read_job_key(file);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  const fs::path file_ = fs::temp_directory_path() / ("photon_key_" + std::to_string(::getpid()));
};

constexpr const char* kGoodKey = "0123456789abcdef";

TEST_F(JobKey, of_the_variable_is_taken_out_of_the_environment) {
  const Variable variable(kKeyVariable, kGoodKey);
  EXPECT_EQ(read_job_key(""), kGoodKey);
  EXPECT_EQ(std::getenv(kKeyVariable), nullptr);
}

TEST_F(JobKey, of_a_file_counts_for_more_and_has_no_end_of_line) {
  const Variable variable(kKeyVariable, "of the variable, as long");
  write(std::string(kGoodKey) + "\r\n\n");
  EXPECT_EQ(read_job_key(file_), kGoodKey);
  EXPECT_EQ(std::getenv(kKeyVariable), nullptr) << "it is no rank's";
}

TEST_F(JobKey, that_others_can_read_is_none) {
  for (const auto perms : {fs::perms::group_read, fs::perms::others_read}) {
    write(kGoodKey, fs::perms::owner_read | perms);
    EXPECT_NE(refusal(file_).find("chmod 600"), std::string::npos) << refusal(file_);
  }
}

TEST_F(JobKey, that_is_missing_short_or_too_long_is_refused_in_words) {
  const Variable variable(kKeyVariable, "");
  EXPECT_NE(refusal("").find("no key"), std::string::npos) << refusal("");
  write("0123456789abcde\n");
  EXPECT_NE(refusal(file_).find("has 15 characters"), std::string::npos) << refusal(file_);
  write(std::string(4097, 'x'));
  EXPECT_NE(refusal(file_).find("too long"), std::string::npos) << refusal(file_);
  write(std::string(4096, 'x'));
  EXPECT_EQ(read_job_key(file_).size(), 4096u);
  fs::remove(file_);
  EXPECT_NE(refusal(file_).find(file_.string()), std::string::npos) << refusal(file_);
}

}  // namespace
}  // namespace photonrun
