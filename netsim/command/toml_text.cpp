#include "netsim/command/toml_text.hpp"

#include <algorithm>

namespace photon::netsim::command {
namespace {

constexpr const char* kControl =
    "it has control characters, of which tabs and ends of lines are allowed";
constexpr const char* kBeyondAscii =
    "characters beyond ASCII are allowed in lines that are comments, and only where the file has "
    "no "
    "string of several lines";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7f;
}

bool is_beyond_ascii(char c) { return (c & 0x80) != 0; }

bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '#';
}

bool has_any(std::string_view line, bool (*is)(char)) {
  for (const char c : line) {
    if (is(c)) return true;
  }
  return false;
}

}  // namespace

Stray first_stray(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // of byte order
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const bool may_be_long =
      text.find("\"\"\"") != std::string_view::npos || text.find("'''") != std::string_view::npos;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    if (has_any(line, is_control)) return {number, kControl};
    if (has_any(line, is_beyond_ascii) && (may_be_long || !is_comment(line))) {
      return {number, kBeyondAscii};
    }
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return {};
}

}  // namespace photon::netsim::command
