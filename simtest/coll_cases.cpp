#include "simtest/coll_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace photon::simtest::coll {

using schedule::Algorithm;
using schedule::Kind;

bool is_rooted(Kind kind) noexcept {
  return kind == Kind::bcast || kind == Kind::reduce || kind == Kind::gather ||
         kind == Kind::scatter;
}

bool folds(Kind kind) noexcept {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::scan ||
         kind == Kind::exscan || kind == Kind::reduce_scatter;
}

bool may_be_in_place(Kind kind) noexcept { return kind != Kind::barrier && kind != Kind::bcast; }

bool has_blocks(Kind kind) noexcept {
  return kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather ||
         kind == Kind::alltoall || kind == Kind::reduce_scatter;
}

bool may_have_room(Kind kind) noexcept {
  return kind == Kind::gather || kind == Kind::allgather || kind == Kind::alltoall;
}

std::optional<Kind> kind_of(const std::string& name) {
  for (std::uint32_t i = 0; i < schedule::kKinds; ++i)
    if (name == name_of(static_cast<Kind>(i))) return static_cast<Kind>(i);
  return std::nullopt;
}

std::optional<Algorithm> algorithm_of(const std::string& name) {
  for (std::uint32_t i = 0; i < schedule::kAlgorithms; ++i)
    if (name == name_of(static_cast<Algorithm>(i))) return static_cast<Algorithm>(i);
  return std::nullopt;
}

std::string text_of(const CollCase& one) {
  return fmt::format(
      "{}:{}:size={}:root={}:count={}:segment={}:order={}:places={}:blocks={}:timing={}:seed={}",
      name_of(one.kind), name_of(one.algorithm), one.size, one.root, one.count, one.segment,
      kOrderNames[static_cast<std::size_t>(one.order)],
      kPlacesNames[static_cast<std::size_t>(one.places)],
      kCountsNames[static_cast<std::size_t>(one.blocks)],
      kTimingNames[static_cast<std::size_t>(one.timing)], one.seed);
}

namespace {

template <class Number>
bool read_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class Enum, std::size_t N>
bool read_name(const std::string& text, const std::array<const char*, N>& names, Enum& value) {
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&text](const char* name) { return text == name; });
  value = static_cast<Enum>(found - names.begin());
  return found != names.end();
}

bool read_argument(const std::string& name, const std::string& text, CollCase& one) {
  if (name == "size") return read_number(text, one.size);
  if (name == "root") return read_number(text, one.root);
  if (name == "count") return read_number(text, one.count);
  if (name == "segment") return read_number(text, one.segment);
  if (name == "seed") return read_number(text, one.seed);
  if (name == "order") return read_name(text, kOrderNames, one.order);
  if (name == "places") return read_name(text, kPlacesNames, one.places);
  if (name == "blocks") return read_name(text, kCountsNames, one.blocks);
  if (name == "timing") return read_name(text, kTimingNames, one.timing);
  return false;
}

// Whether it is a call that the library would begin.
bool makes_sense(const CollCase& one) {
  if (one.size == 0 || one.size > Values::kMostMembers || one.root >= one.size) return false;
  if (one.count > Values::kMostElements / (one.size + 1)) return false;
  if (!is_rooted(one.kind) && one.root != 0) return false;
  if (!folds(one.kind) && one.order != Order::any) return false;
  if (!may_be_in_place(one.kind) && one.places != Places::separate) return false;
  // In place, counts of alltoall say what is sent.
  if (one.blocks == Counts::room)
    return may_have_room(one.kind) &&
           (one.kind != Kind::alltoall || one.places == Places::separate);
  return one.blocks == Counts::uniform || has_blocks(one.kind);
}

}  // namespace

std::optional<CollCase> case_of(const std::string& text) {
  std::istringstream words(text);
  std::string kind;
  std::string algorithm;
  std::getline(words, kind, ':');
  std::getline(words, algorithm, ':');
  if (!kind_of(kind) || !algorithm_of(algorithm)) return std::nullopt;
  CollCase one;
  one.kind = *kind_of(kind);
  one.algorithm = *algorithm_of(algorithm);
  for (std::string word; std::getline(words, word, ':');) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return std::nullopt;
    if (!read_argument(word.substr(0, equals), word.substr(equals + 1), one)) return std::nullopt;
  }
  return makes_sense(one) ? std::optional(one) : std::nullopt;
}

Proof prove(const CollCase& one, const Schedule& schedule) {
  Setup setup(one);
  Proof proof;
  for (const Member& member : setup.members()) proof.is_known &= schedule.knows(member.call);
  if (!proof.is_known) return proof;
  Machine machine(schedule, setup.members());
  if (one.blocks == Counts::room) machine.allow_room();
  proof.fault = machine.run(one.timing, one.seed);
  if (proof.fault.empty()) proof.fault = setup.compare(machine.values());
  proof.messages = machine.messages();
  proof.steps = machine.steps();
  return proof;
}

}  // namespace photon::simtest::coll
