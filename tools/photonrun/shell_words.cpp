#include "shell_words.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace photonrun {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (const char one : text) {
    const bool is_blank = one == ' ' || one == '\t' || one == '\n';
    if (quote == '\0' && is_blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (one == quote) {
      quote = '\0';
    } else if (quote == '\0' && (one == '\'' || one == '"')) {
      quote = one;
    } else {
      words.back() += one;
    }
  }
  if (quote != '\0') throw std::runtime_error(fmt::format("{} is left open in: {}", quote, text));
  if (words.empty() || words.front().empty()) throw std::runtime_error("no command");
  return words;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char one : word) {
    if (one == '\'') {
      text += "'\\''";
    } else {
      text += one;
    }
  }
  return text + "'";
}

}  // namespace photonrun
