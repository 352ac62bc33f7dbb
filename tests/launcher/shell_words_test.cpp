#include "shell_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace photonrun {
namespace {

using Words = std::vector<std::string>;

std::string said_by_shell(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::array<char, 256> text{};
  const std::size_t size = pipe ? std::fread(text.data(), 1, text.size(), pipe.get()) : 0;
  return {text.data(), size};
}

TEST(ShellWords, are_split_at_blanks_and_kept_together_by_quotation_marks) {
  EXPECT_EQ(split_words("ssh -p 2222  -i\tkey"), (Words{"ssh", "-p", "2222", "-i", "key"}));
  EXPECT_EQ(split_words("ssh -i 'a key' -o \"x y\"z"), (Words{"ssh", "-i", "a key", "-o", "x yz"}));
  EXPECT_EQ(split_words("a '' \"it's\""), (Words{"a", "", "it's"}));
  for (const char* const text : {"", "  ", "'a", "a \"b", "'' a"}) {
    EXPECT_THROW((void)split_words(text), std::runtime_error) << text;
  }
}

// The login shells that are here; each reads the line as sshd gives it to it.
TEST(ShellWords, make_a_line_that_means_the_same_to_every_shell) {
  const Words odd{"",     "a b",   "it's", "$HOME", "a\nb",         "`id`", "\\",
                  "\\\\", "*",     "~",    "a;b",   "=ls",          "a@-x", "!!",
                  "%s",   "{a,b}", "\\'",  "#",     "\xc3\xa4\x01", "\n"};
  Words words{"printf", "[%s]"};
  words.insert(words.end(), odd.begin(), odd.end());
  std::string expected;
  for (const std::string& word : odd) expected += "[" + word + "]";
  const std::string line = shell_line(words);
  for (const std::string shell : {"sh", "dash", "bash", "zsh", "fish", "csh", "tcsh", "ksh"}) {
    if (std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) != 0) continue;
    ::setenv("LINE_OF_THE_TESTS", line.c_str(), 1);
    EXPECT_EQ(said_by_shell("exec " + shell + " -c \"$LINE_OF_THE_TESTS\""), expected) << shell;
  }
  ::unsetenv("LINE_OF_THE_TESTS");
  const std::size_t open = line.find('\'');
  EXPECT_EQ(line.find_first_of("'!\n", open + 1), line.size() - 1) << line;
  EXPECT_EQ(line.find("\\\\"), std::string::npos) << line;  // fish sees one of two
}

}  // namespace
}  // namespace photonrun
