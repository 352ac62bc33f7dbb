#include "netsim/command/toml.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "netsim/run/keys.hpp"

namespace photon::netsim::command {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string place(const Document& document, const toml::node& node) {
  return document.name + ":" + std::to_string(node.source().begin.line) + ": ";
}

// Where the first character stands for which toml++ asks a table of white space that ends before
// it; the text's size if there is none. In UTF-8 they are EF B9 A6 to EF BB BE.
std::size_t unreadable(std::string_view text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != '\xef') continue;
    const unsigned rest =
        static_cast<unsigned char>(text[i + 1]) << 8U | static_cast<unsigned char>(text[i + 2]);
    if (rest >= 0xb9a6 && rest <= 0xbbbe) return i;
  }
  return text.size();
}

const char* kind_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (node.is_string()) return "a text";
  if (node.is_integer()) return "a whole number";
  if (node.is_floating_point()) return "a number";
  return node.is_boolean() ? "true or false" : "a date or time";
}

// The value as the table of keys reads it; false if it is of another type than the key's.
bool read_value(const toml::node& node, const Value& like, std::string& text) {
  if (const auto* value = node.as_string()) {
    text = value->get();
    return std::holds_alternative<std::string>(like);
  }
  if (const auto* value = node.as_integer()) {
    text = std::to_string(value->get());
    return std::holds_alternative<std::uint64_t>(like) || std::holds_alternative<double>(like);
  }
  if (const auto* value = node.as_floating_point()) {
    text = text_of(Value(value->get()));
    return std::holds_alternative<double>(like);
  }
  if (const auto* value = node.as_boolean()) {
    text = value->get() ? "true" : "false";
    return std::holds_alternative<bool>(like);
  }
  return false;
}

// Goes through a table and its tables; each visit is a key with all its sections.
class Reader {
 public:
  Reader(Document& document) : document_(document) {}

  // Empty, or what is wrong.
  std::string read_table(const toml::table& table, const std::string& before, bool is_sweep) {
    for (const auto& [word, node] : table) {
      const std::string name =
          before.empty() ? std::string(word.str()) : before + "." + std::string(word.str());
      std::string wrong;
      if (!is_sweep && name == "sweep" && node.is_table()) {
        wrong = read_table(*node.as_table(), "", true);
      } else if (node.is_table()) {
        wrong = read_table(*node.as_table(), name, is_sweep);
      } else {
        wrong = is_sweep ? read_axis(name, node) : read_key(name, node);
      }
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  // Tries the value, and gives its text.
  std::string read_one(const std::string& name, const toml::node& node, std::string& text) {
    const Key* key = find_key(name);
    if (key == nullptr) {
      return place(document_, node) + with(Settings{}, name, kind_of(node)).error();
    }
    const Value like = value_of(Settings{}, *key);
    if (!read_value(node, like, text)) {
      return place(document_, node) + name + (text.empty() ? "" : " = " + text) + " is " +
             kind_of(node) + ": allowed is " + allowed_text(*key) +
             (std::holds_alternative<std::string>(like) ? ", in quotation marks" : "");
    }
    auto settings = with(document_.settings, *key, text);
    if (!settings) return place(document_, node) + settings.error();
    next_ = std::move(*settings);
    document_.lines[name] = node.source().begin.line;
    return {};
  }

  std::string read_key(const std::string& name, const toml::node& node) {
    std::string text;
    std::string wrong = read_one(name, node, text);
    if (wrong.empty()) document_.settings = std::move(next_);
    return wrong;
  }

  std::string read_axis(const std::string& name, const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->empty()) {
      return place(document_, node) + "sweep." + name + " is " + kind_of(node) +
             ": allowed is a list of one value and more";
    }
    Axis axis{name, {}};
    for (const toml::node& each : *list) {
      std::string text;
      if (std::string wrong = read_one(name, each, text); !wrong.empty()) return wrong;
      if (std::find(axis.values.begin(), axis.values.end(), text) != axis.values.end()) {
        return place(document_, each) + "sweep." + name + " has " + text + " twice";
      }
      axis.values.push_back(text);
    }
    document_.axes.push_back(std::move(axis));
    return {};
  }

  Document& document_;
  Settings next_;
};

}  // namespace

std::string Document::placed(const std::string& what) const {
  const auto line = lines.find(std::string_view(what).substr(0, what.find(' ')));
  if (line == lines.end()) return name.empty() ? what : name + ": " + what;
  return name + ":" + std::to_string(line->second) + ": " + what;
}

Result<Document> document_of(const std::string& name, std::string_view text) {
  if (text.size() > kMostBytes) return Error{name + ": allowed are files up to 1 MiB"};
  if (const std::size_t at = unreadable(text); at != text.size()) {
    const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
    return Error{name + ":" + std::to_string(line) +
                 ": allowed are no characters from U+FE66 to U+FEFE"};
  }
  Document document;
  document.name = name;
  const toml::parse_result parsed = toml::parse(text, std::string_view(name));
  if (!parsed) {
    return Error{name + ":" + std::to_string(parsed.error().source().begin.line) +
                 ": no TOML: " + std::string(parsed.error().description())};
  }
  std::string wrong = Reader(document).read_table(parsed.table(), "", false);
  if (!wrong.empty()) return Error{wrong};
  return document;
}

}  // namespace photon::netsim::command
