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

// Looks at all of it, and opens the target; the caller has its guard from then on.
Outcome prepare(Window& window, const Buffer& origin, Elements& own, Area& area,
                const Spot& spot) noexcept {
  if (const Outcome outcome = find(window, spot, area); !outcome.is_good()) return outcome;
  if (origin.count == spot.count && origin.type == spot.type) {
    own = area.elements;
    return {};
  }
  if (const Outcome outcome = describe(window.job(), origin.count, origin.type, own);
      !outcome.is_good())
    return outcome;
  return own.bytes() == area.elements.bytes() ? Outcome{} : kUneven;
}

}  // namespace

// Origin and target may be the same memory of this rank, at places that overlap.
Outcome put(Window& window, const Buffer& origin, const Spot& spot) noexcept {
  Area area;
  Elements own{};
  if (const Outcome outcome = prepare(window, origin, own, area, spot); !outcome.is_good())
    return outcome;
  Target& target = *area.target;
  const TargetGuard guard(window.job(), target);
  if (const Outcome outcome = window.admit(target); !outcome.is_good()) return outcome;
  if (target.base != nullptr) [[likely]] {
    std::byte* const base = target.base + area.offset;
    walk(origin.memory, own, area.elements,
         [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
           move(base + to, from, bytes);
         });
    return {};
  }
  const Walked walked =
      walk(origin.memory, own, area.elements,
           [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
             return write_copied(window.job(), target, area.offset + to, from, bytes);
           });
  return walked == Walked::whole ? Outcome{} : kNoWay;
}

Outcome get(Window& window, const Buffer& origin, const Spot& spot) noexcept {
  Area area;
  Elements own{};
  if (const Outcome outcome = prepare(window, origin, own, area, spot); !outcome.is_good())
    return outcome;
  Target& target = *area.target;
  const TargetGuard guard(window.job(), target);
  if (const Outcome outcome = window.admit(target); !outcome.is_good()) return outcome;
  if (target.base != nullptr) [[likely]] {
    const std::byte* const base = target.base + area.offset;
    walk(
        origin.memory, own, area.elements,
        [&](std::byte* to, std::int64_t from, std::size_t bytes) { move(to, base + from, bytes); });
    return {};
  }
  const Walked walked = walk(
      origin.memory, own, area.elements, [&](std::byte* to, std::int64_t from, std::size_t bytes) {
        return read_copied(window.job(), target, area.offset + from, to, bytes);
      });
  return walked == Walked::whole ? Outcome{} : kNoWay;
}

}  // namespace photon::mpi
