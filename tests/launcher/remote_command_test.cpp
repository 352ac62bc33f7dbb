#include "remote_command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "job_key.hpp"
#include "variable.hpp"

namespace photonrun {
namespace {

namespace fs = std::filesystem;
using photon::test::Variable;
using Words = std::vector<std::string>;

Options options() {
  Options said;
  said.ssh = "ssh -p 2222";
  said.remote_photonrun = "/opt/photonrun";
  said.command = {"./program", "an argument"};
  return said;
}

const Errand kAway{.host = {"user@node1", 2}, .place = "10.0.0.1:7000", .seat = 3, .ranks = 2};

TEST(RemoteCommand, of_this_host_is_photonrun_itself) {
  Options said = options();
  said.directory = "/tmp";
  said.label = true;
  said.environment = {"A=b c"};
  const Words words = command_for({{"localhost", 2}, "127.0.0.1:7000", 1, 2}, said);
  EXPECT_EQ(words, (Words{fs::read_symlink("/proc/self/exe"), "--join", "127.0.0.1:7000", "--seat",
                          "1", "--here", "2", "--chdir", "/tmp", "--label", "--env", "A=b c", "--",
                          "./program", "an argument"}));
}

TEST(RemoteCommand, of_another_is_one_line_for_its_shell_behind_ssh_that_asks_nothing) {
  const Words words = command_for(kAway, options());
  ASSERT_GT(words.size(), 5u);
  EXPECT_EQ((Words{words.begin(), words.begin() + 3}), (Words{"ssh", "-p", "2222"}));
  EXPECT_NE(std::ranges::find(words, "BatchMode=yes"), words.end());
  EXPECT_EQ(*(words.end() - 3), "-T");
  EXPECT_EQ(*(words.end() - 2), "user@node1");
  for (const char* const part : {"/opt/photonrun", "--join", "--seat", "program"})
    EXPECT_NE(words.back().find(part), std::string::npos) << words.back();
}

TEST(RemoteCommand, takes_the_settings_along_and_no_secret) {
  const Variable setting("PHOTON_TRANSPORT", "tcp");
  const Variable other("NO_PHOTON_SETTING", "mine");
  const Variable key(kKeyVariable, "0123456789abcdef");
  const Variable ssh(kSshVariable, "ssh-of-mine");
  const std::string line = command_for(kAway, options()).back();
  EXPECT_NE(line.find("PHOTON_TRANSPORT"), std::string::npos) << line;
  for (const char* const secret : {"0123456789abcdef", "JOB_KEY", "ssh-of-mine", "NO_PHOTON"})
    EXPECT_EQ(line.find(secret), std::string::npos) << line;
}

TEST(RemoteCommand, that_is_too_long_for_one_argument_says_what_to_do) {
  Options said = options();
  said.command.assign(2, std::string(100'000, 'x'));
  try {
    (void)command_for(kAway, said);
    ADD_FAILURE() << "it was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("user@node1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("from a file"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace photonrun
