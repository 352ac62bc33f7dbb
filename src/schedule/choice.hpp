// Says which algorithm a call takes, and who has chosen it: a setting, the table that a setting has
// loaded, or the built-in table (docs/collectives.md, "Choosing").
//
//   the algorithm wanted: that of the setting, else of the loaded table, else of the built-in table
//   If it cannot do the call (for the order of folds, for counts or for the size of the team), the
//   rule for such calls says which one is taken instead.
//
// Invariants: choose() depends on nothing that members could see differently, and its answer is an
// algorithm that knows the call. Two Choices with the same hash() choose alike.
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

// The kinds as users name them, in which gather and gatherv are two: ph_coll_kind less one.
using NamedKind = std::uint32_t;
inline constexpr NamedKind kNamedKinds = 16;

NamedKind named_kind(Kind kind, bool is_v) noexcept;
Kind kind_of(NamedKind kind) noexcept;
bool has_counts(NamedKind kind) noexcept;  // whether the kind has counts of its own
const char* name_of_kind(NamedKind kind) noexcept;
std::optional<NamedKind> find_kind(std::string_view name) noexcept;
std::optional<Algorithm> find_algorithm(std::string_view name) noexcept;
// Whether there is a call of that kind that the algorithm can do.
bool may_do(NamedKind kind, Algorithm algorithm) noexcept;
// The names of the algorithms that may_do() a kind, for errors: "linear, ring".
std::string names_for(NamedKind kind);

enum class Layout : std::uint8_t { one_host, several_hosts };
inline constexpr std::uint32_t kLayouts = 2;
const char* name_of(Layout layout) noexcept;

// A row of a table. It counts for teams of `members` or more, and for `bytes` of a block or more.
// Not all members know the counts of kinds with counts of their own; such kinds have rows of 0
// bytes alone.
struct Rule {
  static constexpr std::uint8_t kAnyLayout = (1U << kLayouts) - 1;

  NamedKind kind = 0;
  std::uint8_t layouts = kAnyLayout;  // a bit for each Layout that it counts for
  std::uint32_t members = 0;
  std::uint64_t bytes = 0;
  Algorithm algorithm = Algorithm::linear;
};
std::span<const Rule> built_in_rules() noexcept;

// What a choice depends on beside the Call.
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
  Source source = Source::built_in;  // who wants `wanted`
  Algorithm wanted = Algorithm::linear;

  // Whether the algorithm that was wanted cannot do the call.
  bool is_instead() const noexcept { return algorithm != wanted; }
};

class Choices {
 public:
  // The choices of the built-in table.
  Choices() { rehash(); }

  // Reads the text form (docs/collectives.md, "Choosing"). PH_ERR_CONFIG: the words name the line
  // and what is allowed there.
  static base::Result<Choices> parse(std::string_view text);
  // From now on that algorithm is wanted for that kind. PH_ERR_CONFIG: it cannot do the kind.
  base::Result<> name(NamedKind kind, Algorithm algorithm);

  Choice choose(const Call& call, const Terms& terms) const noexcept;
  std::uint64_t hash() const noexcept { return hash_; }

 private:
  void rehash() noexcept;
  base::Result<> add_line(std::string_view line);
  std::optional<Choice> look_up(NamedKind kind, const Call& call,
                                const Terms& terms) const noexcept;

  std::vector<Rule> rules_;  // the rows of the table that was loaded, sorted
  std::array<std::optional<Algorithm>, kNamedKinds> named_;  // by settings
  std::uint64_t hash_ = 0;
};

// Writes rows as a text that parse() takes.
std::string text_of(std::span<const Rule> rules);

// The choice of the built-in table alone.
Algorithm choose(const Call& call, const Terms& terms) noexcept;

}  // namespace photon::schedule
