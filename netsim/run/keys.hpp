// The one table of keys: what a user can set, in which unit, what is allowed and what it means. It
// feeds the parser, the checks of ranges, `photon-netsim keys` and docs/netsim.md.
//
// Invariant: a name stands in it once, and the defaults of Settings are allowed. Owner: nobody; it
// never changes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "netsim/run/settings.hpp"

namespace photon::netsim {

template <class Owner, class... Values>
using MembersOf = std::variant<Values Owner::*...>;
using SettingsMember = MembersOf<Settings, std::string, std::uint32_t, std::uint64_t, double>;
using NetworkMember = MembersOf<TopologySettings, std::string, std::uint32_t>;
using NicMember = MembersOf<nic::Settings, std::string, std::uint32_t, double>;
using MotifMember = MembersOf<MotifSettings, std::string, std::uint32_t, double, bool>;
using Member = std::variant<SettingsMember, NetworkMember, NicMember, MotifMember>;

enum class AllowedKind : std::uint8_t { range, words, form };

struct Allowed {
  AllowedKind kind = AllowedKind::range;
  double least = 0;
  double most = 0;
  std::string_view text;  // words between spaces, or a form in words
};

struct Key {
  std::string_view name;
  std::string_view unit;
  Member member;
  Allowed allowed;
  std::string_view meaning;
};

using Value = std::variant<std::string, std::uint64_t, double, bool>;

std::span<const Key> keys();
const Key* find_key(std::string_view name);  // or null
Value value_of(const Settings& settings, const Key& key);
std::string text_of(const Value& value);  // numbers as short as they can be read back
std::string allowed_text(const Key& key);
// The settings with the value that the text gives; else the sentence that says what is allowed.
Result<Settings> with(Settings settings, const Key& key, std::string_view text);

// All settings but those of no effect on the result, as lines "key = value" in the table's order.
std::string complete_text(const Settings& settings);

}  // namespace photon::netsim
