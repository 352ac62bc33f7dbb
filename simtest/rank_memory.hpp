// What one rank shows to its peers, with guards around that nobody may write:
//
//   guard | window: contended, own ranges, tail | guard | library | guard | extra | guard
//
// Invariant: all of it holds a background pattern that depends on the place only, but for what
// operations have written and what the library's pattern is.
// Owner: the oracle; registered by the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simtest/overlap.hpp"
#include "simtest/program.hpp"
#include "simtest/words.hpp"

namespace photon::simtest {

// A region that its owner takes back and shows anew. Each time is a generation of its own.
//
//   none -- granted() --> held, once or more -- the last hold goes: revoking() --> none
//
struct Lease {
  ph_region region{};           // the latest
  std::span<std::byte> bytes;   // its memory
  std::uint64_t stale_key = 0;  // of the latest that was taken back; 0: none was
  std::uint32_t generation = 0;
  std::uint32_t holds = 0;
  Overlap writes;

  bool is_held() const noexcept { return holds != 0; }
  void granted(const ph_region& latest) noexcept {
    if (holds++ != 0) return;
    region = latest;
    ++generation;
  }
  void revoking() noexcept {
    stale_key = region.key;
    holds = 0;
  }
};

class RankMemory {
 public:
  static constexpr std::uint64_t kGuardBytes = 64;

  RankMemory(ph_rank rank, std::uint64_t window_bytes);

  std::span<std::byte> window() noexcept { return part(kGuardBytes, window_bytes_); }
  std::span<std::byte> contended() noexcept { return window().first(kContendedBytes); }
  std::span<std::byte> library() noexcept { return part(library_at_, kLibraryBytes); }
  Words& words() noexcept { return words_; }

  // Where the background begins to differ between two places of the window.
  std::optional<std::uint64_t> window_difference(std::uint64_t begin, std::uint64_t end) noexcept;
  // What guards and library should hold: in words what is wrong, empty if nothing is.
  std::string damage();

  // `extra` or `arena`. Fresh contents for its next generation, before anybody can know its key.
  Lease& lease(Area area) noexcept { return leases_[area == Area::arena ? 1 : 0]; }
  void refresh(Area area);
  // What a place holds that nobody has written to; an offset of the area is an index of it.
  Pattern untouched(Area area, std::uint32_t generation) const noexcept;
  // Where operations overlap.
  Overlap& writes(Area area) noexcept {
    return is_lent(area) ? lease(area).writes : contended_writes_;
  }
  // Its owner has taken `extra` back and uses the memory for something else; empty unless somebody
  // wrote there since.
  void reuse_extra() noexcept;
  std::optional<std::uint64_t> reused_difference();

  // The key of the smallest registration that holds the range; 0: none does.
  std::uint64_t key_around(Area area, std::uint64_t offset, std::uint64_t size_bytes) noexcept;
  std::byte* address(Area area, std::uint64_t offset) noexcept;

  // From now on nobody may write anywhere.
  void seal() { sealed_ = bytes_; }
  bool is_sealed() const noexcept { return !sealed_.empty(); }
  bool is_broken() const noexcept { return sealed_ != bytes_; }

  ph_region window_region{};
  ph_region inner_region{};
  ph_region library_region{};
  ph_region words_region{};

 private:
  std::span<std::byte> part(std::uint64_t begin, std::uint64_t size_bytes) noexcept {
    return std::span(bytes_).subspan(begin, size_bytes);
  }

  std::uint64_t number_;
  std::uint64_t window_bytes_;
  std::uint64_t library_at_;
  std::uint64_t extra_at_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> sealed_;  // what they held then
  Words words_;
  Pattern background_;
  Overlap contended_writes_;
  std::array<Lease, 2> leases_;
};

}  // namespace photon::simtest
