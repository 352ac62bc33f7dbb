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

std::string shell_line(const std::vector<std::string>& words) {
  std::string script = "exec";
  for (const std::string& word : words) {
    script += " '";
    for (const char one : word) script += one == '\'' ? std::string("'\\''") : std::string(1, one);
    script += "'";
  }
  // What no shell gives a meaning between the quotation marks below; all else in octal digits.
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@% ";
  std::string coded;
  for (const char one : script) {
    if (kPlain.find(one) != std::string_view::npos) {
      coded += one;
    } else {
      coded += fmt::format("\\0{:03o}", static_cast<unsigned char>(one));
    }
  }
  return "exec /bin/sh -c 'eval \"$(printf %b \"" + coded + "\")\"'";
}

}  // namespace photonrun
