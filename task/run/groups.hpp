// Who gets a message to several PEs, and the groups that one PE has made or has been told of.
//
//   group, at its maker: made --> in the table
//   elsewhere:           unknown -- a first piece --> being told by that process
//                        being told -- the last piece, of a process above --> in the table
//                        being told -- a first piece of the same process --> being told anew
//
// A list of PEs travels in pieces that are carried, so that it is met before what uses it. A
// process sends the pieces of a list one behind the other, so there is one list at most that it has
// begun, and what another process sends changes nothing of it. Invariant: a roster in the table is
// sound: its PEs are in order and exist, its processes are in order, without that of the maker;
// each stands once. It never changes and stays until the end. Owner: the PE.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace photon::task {

// The PEs, and the processes of these but for the sender's. Both in order.
struct Roster {
  std::span<const std::uint32_t> pes;
  std::span<const std::uint32_t> processes;
};

struct JobShape {
  std::uint32_t processes;
  std::uint32_t pes;  // of each
};

// Sorts the numbers of PEs in place and writes their processes behind them, for which there is room
// for as many again. How many processes there are; none: a PE stands twice.
std::optional<std::size_t> arrange(std::span<std::uint32_t> pes, const JobShape& shape,
                                   std::uint32_t root, std::uint32_t* processes) noexcept;
// Of a peer.
bool is_sound(const Roster& roster, const JobShape& shape, std::uint32_t root) noexcept;

class Groups {
 public:
  // Who has made it, and its number there.
  struct Name {
    std::uint32_t maker;
    std::uint32_t number;
  };
  struct Group {
    std::vector<std::uint32_t> numbers;  // of PEs, then of processes
    std::uint32_t pes = 0;
    std::uint32_t come = 0;  // of the numbers, while it is told
    bool is_told = false;    // the children of its process have been told
    Roster roster() const noexcept {
      return {std::span(numbers).first(pes), std::span(numbers).subspan(pes)};
    }
  };
  // A part of the list that has come.
  struct Piece {
    std::uint32_t pes;
    std::uint32_t processes;
    std::uint32_t first;  // of these numbers among all
    std::span<const std::uint32_t> numbers;
  };
  // The process that has sent it, and the own one.
  struct Hop {
    std::uint32_t from;
    std::uint32_t to;
  };
  enum class Told : std::uint8_t { more, complete, known, nonsense };

  // The number of a new one, which is below kMostGroups; none: a PE stands twice. Throws bad_alloc:
  // nothing was done.
  std::optional<std::uint32_t> make(std::span<const std::uint32_t> pes, const JobShape& shape,
                                    std::uint32_t own);
  bool is_full() const noexcept { return made_ == kMostGroups; }
  // Throws bad_alloc: the group is unknown then.
  Told take(const Name& name, const Piece& piece, const JobShape& shape, const Hop& hop);
  // Null: nobody has told of it, or not all of it.
  Group* find(const Name& name) noexcept;

  static constexpr std::uint32_t kMostGroups = 1U << 24;

 private:
  static std::uint64_t key_of(const Name& name) noexcept {
    return std::uint64_t{name.maker} << 32 | name.number;
  }

  struct Begun {
    std::uint64_t key = 0;
    Group group;
  };

  std::unordered_map<std::uint64_t, Group> groups_;
  std::unordered_map<std::uint32_t, Begun> begun_;  // by the process that tells it
  std::uint32_t made_ = 0;
};

}  // namespace photon::task
