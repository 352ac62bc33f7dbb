// Which algorithm a call takes, and why: by a table of measured choices, unless the user has named
// one. What an algorithm cannot do is done by another that can.
//
//   named by a setting --> in the table loaded --> in the built-in one: the first that there is
//   it cannot do the call (order of folds, counts of its own, size) --> the rule for such calls
//
// Invariants: choose() asks for nothing that members could see differently; the algorithm that it
// says knows the call. Two Choices with one hash() choose alike.
// Owner: whoever has read the settings; never changes after that. Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace photon::schedule {

// Kinds as users name them: those with counts of their own apart, in the order of ph_coll_kind.
using NamedKind = std::uint32_t;
inline constexpr NamedKind kNamedKinds = 16;

NamedKind named_kind(Kind kind, bool is_v) noexcept;
Kind kind_of(NamedKind kind) noexcept;
bool has_counts(NamedKind kind) noexcept;  // of its own
const char* name_of_kind(NamedKind kind) noexcept;
std::optional<NamedKind> find_kind(std::string_view name) noexcept;
std::optional<Algorithm> find_algorithm(std::string_view name) noexcept;
// Whether that algorithm does any call of that kind.
bool may_do(NamedKind kind, Algorithm algorithm) noexcept;
// Those that may_do(): "linear, ring".
std::string names_for(NamedKind kind);

enum class Layout : std::uint8_t { one_host, several_hosts };
inline constexpr std::uint32_t kLayouts = 2;
const char* name_of(Layout layout) noexcept;

// One row: from so many members and so many bytes of a block on. Counts of their own are not known
// alike by all members: such kinds have rows of 0 bytes alone.
struct Rule {
  static constexpr std::uint8_t kAnyLayout = (1U << kLayouts) - 1;

  NamedKind kind = 0;
  std::uint8_t layouts = kAnyLayout;  // bits, by Layout
  std::uint32_t members = 0;
  std::uint64_t bytes = 0;
  Algorithm algorithm = Algorithm::linear;
};
std::span<const Rule> built_in_rules() noexcept;

// What a call is chosen by.
struct Terms {
  std::uint64_t element_bytes = 1;
  bool commutes = true;
  bool is_v = false;
  bool reproducible = false;
  bool counts_from_senders = false;
  Layout layout = Layout::one_host;
};

enum class Source : std::uint8_t { setting, table, built_in };

struct Choice {
  Algorithm algorithm = Algorithm::linear;
  Source source = Source::built_in;  // of `wanted`
  Algorithm wanted = Algorithm::linear;

  // The one that was wanted cannot do this call.
  bool is_instead() const noexcept { return algorithm != wanted; }
};

class Choices {
 public:
  // Those that are built in.
  Choices() { rehash(); }

  // The text form (docs/collectives.md, "Choosing"). PH_ERR_CONFIG: the line, and what is allowed.
  static base::Result<Choices> parse(std::string_view text);
  // From now on that kind takes this one, where it can. PH_ERR_CONFIG: it is none of the kind's.
  base::Result<> name(NamedKind kind, Algorithm algorithm);

  Choice choose(const Call& call, const Terms& terms) const noexcept;
  std::uint64_t hash() const noexcept { return hash_; }

 private:
  void rehash() noexcept;
  base::Result<> add_line(std::string_view line);
  std::optional<Choice> look_up(NamedKind kind, const Call& call,
                                const Terms& terms) const noexcept;

  std::vector<Rule> rules_;  // of the table that was loaded, sorted
  std::array<std::optional<Algorithm>, kNamedKinds> named_;
  std::uint64_t hash_ = 0;
};

// The rows as text that parse() takes.
std::string text_of(std::span<const Rule> rules);

// By what is built in.
Algorithm choose(const Call& call, const Terms& terms) noexcept;

}  // namespace photon::schedule
