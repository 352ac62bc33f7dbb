#include "netsim/command/toml_text.hpp"

namespace photon::netsim::command {
namespace {

constexpr const char* kControl =
    "it has control characters, of which tabs and ends of lines are allowed";
constexpr const char* kBeyondAscii =
    "characters beyond ASCII are allowed in comments and in strings of one line";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7f;
}

// plain --#--> comment --end of line--> plain;  plain --quote--> string --the same quote--> plain
// A long string begins and ends with three quotes; other strings end with their line, too.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Stray scan() {
    constexpr std::string_view kMark = "\xef\xbb\xbf";  // of byte order
    if (text_.starts_with(kMark)) at_ = kMark.size();
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (is_control(c)) return {line_, kControl};
      if (c == '\n') {
        end_line();
      } else if (is_comment_) {
        continue;
      } else if ((c & 0x80) != 0) {
        if (!is_free_ || is_escaped_) return {line_, kBeyondAscii};
      } else if (quote_ == 0) {
        take_plain(c);
      } else {
        take_quoted(c);
      }
    }
    return {};
  }

 private:
  void end_line() {
    ++line_;
    is_comment_ = is_escaped_ = false;
    if (is_long_) return;
    quote_ = 0;
    before_ = '\n';
    is_free_ = false;
  }

  bool is_tripled(char c) const {
    return text_.substr(at_, 3) == std::string_view(c == '"' ? "\"\"\"" : "'''");
  }

  void take_plain(char c) {
    constexpr std::string_view kBeforeStrings = "\n=.,[{";
    is_comment_ = c == '#';
    if (c == '"' || c == '\'') {
      quote_ = c;
      is_long_ = is_tripled(c);
      if (is_long_) at_ += 2;
      is_free_ = !is_long_ && kBeforeStrings.find(before_) != std::string_view::npos;
    }
    if (c != ' ' && c != '\t') before_ = c;
  }

  // Up to two quotes may stand before the three that end a long string.
  void take_quoted(char c) {
    const bool is_end = c == quote_ && !is_escaped_ && (!is_long_ || is_tripled(c));
    is_escaped_ = quote_ == '"' && c == '\\' && !is_escaped_;
    if (!is_end) return;
    if (is_long_) at_ += 2;
    for (int i = 0; is_long_ && i < 2 && at_ + 1 < text_.size() && text_[at_ + 1] == c; ++i) ++at_;
    quote_ = 0;
    is_long_ = is_free_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  char quote_ = 0;        // 0: outside of strings
  char before_ = '\n';    // the last one outside of strings, spaces apart
  bool is_free_ = false;  // in a string of one line where one may stand
  bool is_long_ = false;
  bool is_comment_ = false;
  bool is_escaped_ = false;
};

}  // namespace

Stray first_stray(std::string_view text) { return Scanner(text).scan(); }

}  // namespace photon::netsim::command
