#include "task/run/groups.hpp"

#include <algorithm>
#include <utility>

namespace photon::task {

namespace {

constexpr auto kNotLess = [](std::uint32_t one, std::uint32_t next) { return one >= next; };

bool is_rising(std::span<const std::uint32_t> numbers) noexcept {
  return std::ranges::adjacent_find(numbers, kNotLess) == numbers.end();
}

}  // namespace

std::optional<std::size_t> arrange(std::span<std::uint32_t> pes, const JobShape& shape,
                                   std::uint32_t root, std::uint32_t* processes) noexcept {
  std::ranges::sort(pes);
  if (!is_rising(pes)) return std::nullopt;
  std::size_t count = 0;
  for (const std::uint32_t pe : pes) {
    const std::uint32_t process = pe / shape.pes;
    if (process == root || (count != 0 && processes[count - 1] == process)) continue;
    processes[count++] = process;
  }
  return count;
}

bool is_sound(const Roster& roster, const JobShape& shape, std::uint32_t root) noexcept {
  const std::uint64_t pes = std::uint64_t{shape.processes} * shape.pes;
  return is_rising(roster.pes) && (roster.pes.empty() || roster.pes.back() < pes) &&
         is_rising(roster.processes) &&
         (roster.processes.empty() || roster.processes.back() < shape.processes) &&
         !std::ranges::binary_search(roster.processes, root);
}

std::optional<std::uint32_t> Groups::make(std::span<const std::uint32_t> pes, const JobShape& shape,
                                          std::uint32_t own) {
  Group group;
  group.numbers.resize(2 * pes.size());
  std::ranges::copy(pes, group.numbers.begin());
  const std::optional<std::size_t> processes =
      arrange(std::span(group.numbers).first(pes.size()), shape, own / shape.pes,
              group.numbers.data() + pes.size());
  if (!processes) return std::nullopt;
  group.numbers.resize(pes.size() + *processes);
  group.pes = static_cast<std::uint32_t>(pes.size());
  group.come = static_cast<std::uint32_t>(group.numbers.size());
  groups_.emplace(key_of({own, made_}), std::move(group));
  return made_++;
}

Groups::Told Groups::take(const Name& name, const Piece& piece, const JobShape& shape) {
  const std::uint64_t all = std::uint64_t{piece.pes} + piece.processes;
  if (piece.pes > std::uint64_t{shape.processes} * shape.pes || piece.processes > shape.processes ||
      piece.first + piece.numbers.size() > all)
    return Told::nonsense;
  auto place = groups_.find(key_of(name));
  if (place != groups_.end() && place->second.is_complete()) return Told::known;
  const bool agrees = place != groups_.end() && place->second.numbers.size() == all &&
                      place->second.pes == piece.pes;
  if (!agrees) {
    if (piece.first != 0) return Told::nonsense;
    Group begun;
    begun.numbers.resize(all);
    begun.pes = piece.pes;
    place = groups_.insert_or_assign(key_of(name), std::move(begun)).first;
  }
  Group& group = place->second;
  if (piece.first > group.come) return Told::nonsense;
  const std::uint32_t known = group.come - piece.first;  // from elsewhere, and there before
  if (known < piece.numbers.size()) {
    std::ranges::copy(piece.numbers.subspan(known), group.numbers.begin() + group.come);
    group.come = piece.first + static_cast<std::uint32_t>(piece.numbers.size());
  }
  if (!group.is_complete()) return Told::more;
  if (is_sound(group.roster(), shape, name.maker / shape.pes)) return Told::complete;
  groups_.erase(place);
  return Told::nonsense;
}

Groups::Group* Groups::find(const Name& name) noexcept {
  const auto place = groups_.find(key_of(name));
  if (place == groups_.end() || !place->second.is_complete()) return nullptr;
  return &place->second;
}

}  // namespace photon::task
