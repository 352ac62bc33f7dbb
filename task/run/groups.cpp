#include "task/run/groups.hpp"

#include <algorithm>
#include <utility>

#include "task/run/route.hpp"

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
  groups_.emplace(key_of({own, made_}), std::move(group));
  return made_++;
}

Groups::Told Groups::take(const Name& name, const Piece& piece, const JobShape& shape,
                          const Hop& hop) {
  const std::uint64_t all = std::uint64_t{piece.pes} + piece.processes;
  if (piece.pes > std::uint64_t{shape.processes} * shape.pes || piece.processes > shape.processes ||
      piece.first + piece.numbers.size() > all)
    return Told::nonsense;
  if (find(name) != nullptr) return Told::known;
  Begun& begun = begun_[hop.from];
  if (piece.first == 0) {
    begun = {key_of(name), {}};
    begun.group.numbers.resize(all);
    begun.group.pes = piece.pes;
  }
  Group& group = begun.group;
  if (begun.key != key_of(name) || group.numbers.size() != all || group.pes != piece.pes ||
      group.come != piece.first)
    return Told::nonsense;
  std::ranges::copy(piece.numbers, group.numbers.begin() + piece.first);
  group.come += static_cast<std::uint32_t>(piece.numbers.size());
  if (group.come != all) return Told::more;
  const std::uint32_t root = name.maker / shape.pes;
  const bool is_right = is_sound(group.roster(), shape, root) &&
                        Route(root, group.roster().processes).place_below(hop.from, hop.to);
  if (is_right) groups_.emplace(key_of(name), std::move(group));
  begun_.erase(hop.from);
  return is_right ? Told::complete : Told::nonsense;
}

Groups::Group* Groups::find(const Name& name) noexcept {
  const auto place = groups_.find(key_of(name));
  return place == groups_.end() ? nullptr : &place->second;
}

}  // namespace photon::task
