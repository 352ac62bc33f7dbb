// The text form of a table of choices, and the names in it.
#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "schedule/choice.hpp"
#include "schedule/hosts.hpp"

namespace photon::schedule {
namespace {

constexpr std::string_view kHeader = "photon-coll-table 1";
constexpr std::string_view kAnyName = "any";

struct NamedShape {
  const char* name;
  Kind kind;
  bool is_v;
};
constexpr std::array<NamedShape, kNamedKinds> kShapes = {{
    {"barrier", Kind::barrier, false},
    {"bcast", Kind::bcast, false},
    {"reduce", Kind::reduce, false},
    {"allreduce", Kind::allreduce, false},
    {"scan", Kind::scan, false},
    {"exscan", Kind::exscan, false},
    {"gather", Kind::gather, false},
    {"gatherv", Kind::gather, true},
    {"scatter", Kind::scatter, false},
    {"scatterv", Kind::scatter, true},
    {"allgather", Kind::allgather, false},
    {"allgatherv", Kind::allgather, true},
    {"alltoall", Kind::alltoall, false},
    {"alltoallv", Kind::alltoall, true},
    {"reduce_scatter_block", Kind::reduce_scatter, false},
    {"reduce_scatter", Kind::reduce_scatter, true},
}};

base::Error wrong(std::string what) { return {PH_ERR_CONFIG, 0, std::move(what), PH_ANY_RANK}; }

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// The next word of a line; empty: there is none.
std::string_view take_word(std::string_view& line) noexcept {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = std::min(line.find_first_not_of(kBlanks), line.size());
  const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return !text.empty() && failure == std::errc{} && stop == end;
}

std::optional<std::uint8_t> find_layouts(std::string_view name) noexcept {
  if (name == kAnyName) return Rule::kAnyLayout;
  for (std::uint32_t i = 0; i < kLayouts; ++i)
    if (name == name_of(static_cast<Layout>(i))) return static_cast<std::uint8_t>(1U << i);
  return std::nullopt;
}

std::string all_kinds() {
  std::string text;
  for (const NamedShape& shape : kShapes) text.append(text.empty() ? "" : ", ").append(shape.name);
  return text;
}

auto order_of(const Rule& rule) noexcept { return std::tuple(rule.kind, rule.members, rule.bytes); }

}  // namespace

NamedKind named_kind(Kind kind, bool is_v) noexcept {
  NamedKind found = 0;
  for (NamedKind i = 0; i < kNamedKinds; ++i)
    if (kShapes[i].kind == kind && (kShapes[i].is_v == is_v || found == 0)) found = i;
  return found;
}

Kind kind_of(NamedKind kind) noexcept { return kShapes[kind].kind; }

bool has_counts(NamedKind kind) noexcept { return kShapes[kind].is_v; }

const char* name_of_kind(NamedKind kind) noexcept {
  return kind < kNamedKinds ? kShapes[kind].name : "unknown";
}

std::optional<NamedKind> find_kind(std::string_view name) noexcept {
  for (NamedKind i = 0; i < kNamedKinds; ++i)
    if (name == kShapes[i].name) return i;
  return std::nullopt;
}

std::optional<Algorithm> find_algorithm(std::string_view name) noexcept {
  for (std::uint32_t i = 0; i < kAlgorithms; ++i)
    if (name == name_of(static_cast<Algorithm>(i))) return static_cast<Algorithm>(i);
  return std::nullopt;
}

// Of four members, which all algorithms know.
bool may_do(NamedKind kind, Algorithm algorithm) noexcept {
  if (kind >= kNamedKinds) return false;
  const std::uint64_t none[4] = {};
  Call call;
  call.kind = kShapes[kind].kind;
  call.algorithm = algorithm;
  call.size = 4;
  const Hosts hosts;
  call.hosts = &hosts;
  if (kShapes[kind].is_v) call.in_blocks = call.out_blocks = {none, none};
  return knows(call);
}

std::string names_for(NamedKind kind) {
  std::string text;
  for (std::uint32_t i = 0; i < kAlgorithms; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (may_do(kind, algorithm)) text.append(text.empty() ? "" : ", ").append(name_of(algorithm));
  }
  return text;
}

const char* name_of(Layout layout) noexcept {
  return layout == Layout::one_host ? "one_host" : "several_hosts";
}

base::Result<> Choices::name(NamedKind kind, Algorithm algorithm) {
  if (!may_do(kind, algorithm))
    return wrong(std::string(name_of(algorithm)) + " is no algorithm of " + name_of_kind(kind) +
                 ", which has " + names_for(kind));
  named_[kind] = algorithm;
  rehash();
  return {};
}

base::Result<> Choices::add_line(std::string_view line) {
  Rule rule;
  const std::string_view kind = take_word(line);
  const auto found = find_kind(kind);
  if (!found) return wrong(quoted(kind) + " is no kind; there are " + all_kinds());
  rule.kind = *found;
  const std::string_view layout = take_word(line);
  const auto layouts = find_layouts(layout);
  if (!layouts)
    return wrong(quoted(layout) + " is no layout; there are one_host, several_hosts, any");
  rule.layouts = *layouts;
  const std::string_view members = take_word(line);
  if (!read_number(members, rule.members) || rule.members < 2)
    return wrong(quoted(members) + " is no number of members from 2 on");
  const std::string_view bytes = take_word(line);
  if (!read_number(bytes, rule.bytes)) return wrong(quoted(bytes) + " is no number of bytes");
  if (kShapes[rule.kind].is_v && rule.bytes != 0)
    return wrong(std::string(kind) + " has counts of its own, and so rows of 0 bytes alone");
  const std::string_view name = take_word(line);
  const auto algorithm = find_algorithm(name);
  if (!algorithm || !may_do(rule.kind, *algorithm))
    return wrong(quoted(name) + " is no algorithm of " + std::string(kind) + ", which has " +
                 names_for(rule.kind));
  rule.algorithm = *algorithm;
  if (!take_word(line).empty())
    return wrong("there is more than kind, layout, members, bytes and algorithm");
  for (const Rule& other : rules_)
    if (order_of(other) == order_of(rule) && (other.layouts & rule.layouts) != 0)
      return wrong("there is such a row of " + std::string(kind) + " already");
  rules_.push_back(rule);
  return {};
}

base::Result<Choices> Choices::parse(std::string_view text) {
  Choices made;
  bool has_header = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::size_t end = line.find_last_not_of(" \t\r");
    line = end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
    if (line.empty()) continue;
    const std::string at = "line " + std::to_string(number) + ": ";
    if (!has_header && line != kHeader)
      return wrong(at + "a table begins with \"" + std::string(kHeader) + "\"");
    if (!std::exchange(has_header, true)) continue;
    if (auto added = made.add_line(line); !added) return wrong(at + added.error().what);
  }
  if (!has_header) return wrong("a table begins with \"" + std::string(kHeader) + "\"");
  std::stable_sort(made.rules_.begin(), made.rules_.end(), [](const Rule& one, const Rule& other) {
    return order_of(one) < order_of(other);
  });
  made.rehash();
  return made;
}

std::string text_of(std::span<const Rule> rules) {
  std::string text(kHeader);
  text += "\n# kind layout members bytes algorithm: from so many members and bytes of a block on\n";
  for (const Rule& rule : rules) {
    std::string_view layout = kAnyName;
    for (std::uint32_t i = 0; i < kLayouts; ++i)
      if (rule.layouts == 1U << i) layout = name_of(static_cast<Layout>(i));
    text.append(name_of_kind(rule.kind)).append(" ").append(layout);
    text.append(" ").append(std::to_string(rule.members));
    text.append(" ").append(std::to_string(rule.bytes));
    text.append(" ").append(name_of(rule.algorithm)).append("\n");
  }
  return text;
}

}  // namespace photon::schedule
