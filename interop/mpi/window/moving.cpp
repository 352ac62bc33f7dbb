// Put and get.
#include <cstring>

#include "interop/mpi/window/operations.hpp"
#include "interop/mpi/window/reach.hpp"

namespace photon::mpi {

namespace {

// Most operations are of one word.
void move(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t))
    std::memmove(to, from, sizeof(std::uint64_t));
  else
    std::memmove(to, from, bytes);
}

// This is what an operation moves, on both sides. The origin's elements are found apart only where
// they are others: a copy of the target's, which were written just before, would have to wait for
// that.
struct Move {
  Area area;
  Elements other{};
  const Elements* own = &area.elements;
};

Outcome prepare(Window& window, const Buffer& origin, const Spot& spot, Move& move) noexcept {
  if (const Outcome outcome = find(window, spot, move.area); !outcome.is_good()) return outcome;
  if (origin.count == spot.count && origin.type == spot.type) return {};
  if (const Outcome outcome = describe(window.job(), origin.count, origin.type, move.other);
      !outcome.is_good())
    return outcome;
  move.own = &move.other;
  return move.other.bytes() == move.area.elements.bytes() ? Outcome{} : kUneven;
}

}  // namespace

// Origin and target may be the same memory of this rank, at places that overlap.
Outcome put(Window& window, const Buffer& origin, const Spot& spot) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Move all;
  if (const Outcome outcome = prepare(window, origin, spot, all); !outcome.is_good())
    return outcome;
  const Area& area = all.area;
  Target& target = *area.target;
  const TargetGuard guard(window.job(), target);
  if (const Outcome outcome = window.admit(target); !outcome.is_good()) return outcome;
  if (target.base != nullptr) [[likely]] {
    std::byte* const base = target.base + area.offset;
    walk(origin.memory, *all.own, area.elements,
         [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
           move(base + to, from, bytes);
         });
    return {};
  }
  const Walked walked =
      walk(origin.memory, *all.own, area.elements,
           [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
             return target.way == Way::served
                        ? write_served(window, target, area.offset + to, {from, bytes})
                        : write_copied(window.job(), target, area.offset + to, from, bytes);
           });
  return walked == Walked::whole ? Outcome{} : kNoWay;
}

Outcome get(Window& window, const Buffer& origin, const Spot& spot) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Move all;
  if (const Outcome outcome = prepare(window, origin, spot, all); !outcome.is_good())
    return outcome;
  const Area& area = all.area;
  Target& target = *area.target;
  const TargetGuard guard(window.job(), target);
  if (const Outcome outcome = window.admit(target); !outcome.is_good()) return outcome;
  if (target.base != nullptr) [[likely]] {
    const std::byte* const base = target.base + area.offset;
    walk(
        origin.memory, *all.own, area.elements,
        [&](std::byte* to, std::int64_t from, std::size_t bytes) { move(to, base + from, bytes); });
    return {};
  }
  if (target.way == Way::served) {
    Reads reads(window);
    walk(origin.memory, *all.own, area.elements,
         [&](std::byte* to, std::int64_t from, std::size_t bytes) {
           return reads.add(target, area.offset + from, {to, bytes});
         });
    return reads.end() ? Outcome{} : kNoWay;
  }
  const Walked walked =
      walk(origin.memory, *all.own, area.elements,
           [&](std::byte* to, std::int64_t from, std::size_t bytes) {
             return read_copied(window.job(), target, area.offset + from, to, bytes);
           });
  return walked == Walked::whole ? Outcome{} : kNoWay;
}

}  // namespace photon::mpi
