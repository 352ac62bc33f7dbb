// The tree of processes that a message to many goes down: four branches, rooted at the sender's.
//
// Each process has a place: the root 0, and the others one each. The children of place i have the
// places 4 i + 1 to 4 i + 4. Of a message to all the places follow the root in the order of the
// processes; of one to several PEs they are those of a sorted list.
// Owner: none (a value; the list outlives it).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace photon::task {

// Places, at most four; how many.
struct Children {
  std::uint64_t first;
  std::uint32_t count;
};

class Route {
 public:
  // To all processes.
  Route(std::uint32_t root, std::uint32_t processes) noexcept
      : root_(root), places_(processes), is_all_(true) {}
  // To those of a list, which is in order and lacks the root.
  Route(std::uint32_t root, std::span<const std::uint32_t> listed) noexcept
      : root_(root), places_(listed.size() + 1), listed_(listed), is_all_(false) {}

  // None: it is not on the route.
  std::optional<std::uint64_t> place_of(std::uint32_t process) const noexcept;
  std::uint32_t at(std::uint64_t place) const noexcept;
  Children children_of(std::uint64_t place) const noexcept;
  // The root has none.
  static std::uint64_t parent_of(std::uint64_t place) noexcept { return (place - 1) / kBranches; }
  // The place of a process, if a message that goes down comes to it from there, be it because those
  // between are lost.
  std::optional<std::uint64_t> place_below(std::uint32_t above,
                                           std::uint32_t process) const noexcept;
  static bool is_above(std::uint64_t above, std::uint64_t place) noexcept;

 private:
  static constexpr std::uint64_t kBranches = 4;

  std::uint32_t root_;
  std::uint64_t places_;
  std::span<const std::uint32_t> listed_;
  bool is_all_;
};

}  // namespace photon::task
