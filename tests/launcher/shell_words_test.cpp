#include "shell_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
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

TEST(ShellWords, a_quoted_word_is_what_it_was) {
  EXPECT_EQ(shell_quoted("/usr/bin/a-b_c.d"), "/usr/bin/a-b_c.d");
  for (const std::string word :
       {"", "a b", "it's", "$HOME", "a\nb", "`id`", "\\", "*", "~", "a;b"}) {
    EXPECT_EQ(said_by_shell("printf %s " + shell_quoted(word)), word);
  }
}

}  // namespace
}  // namespace photonrun
