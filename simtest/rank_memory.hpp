// What one rank shows to its peers, with guards around that nobody may write:
//
//   guard | window: contended, own ranges, tail | guard | library | guard | extra | guard
//
// Invariant: all of it holds a background pattern that depends on the place only, but for what
// operations have written and what the library's pattern is.
// Owner: the oracle; registered by the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simtest/overlap.hpp"
#include "simtest/program.hpp"

namespace photon::simtest {

class RankMemory {
 public:
  RankMemory(ph_rank rank, std::uint64_t window_bytes);

  std::span<std::byte> window() noexcept { return part(kGuardBytes, window_bytes_); }
  std::span<std::byte> contended() noexcept { return window().first(kContendedBytes); }
  std::span<std::byte> library() noexcept { return part(library_at_, kLibraryBytes); }
  std::span<std::byte> extra() noexcept { return part(extra_at_, kExtraBytes); }

  // Where the background begins to differ between two places of the window.
  std::optional<std::uint64_t> window_difference(std::uint64_t begin, std::uint64_t end) noexcept;
  // What guards and library should hold: in words what is wrong, empty if nothing is.
  std::string damage();

  // The extra region's life. Every registration is a generation of its own.
  void enrolled(const ph_region& region) noexcept;
  void prepare_enroll();  // fresh contents
  void retiring() noexcept;
  void retired() noexcept;  // its owner uses the memory for something else
  bool is_enrolled() const noexcept { return enrolled_; }
  std::uint32_t generation() const noexcept { return generation_; }
  // Empty unless somebody wrote to it since it was retired.
  std::optional<std::uint64_t> retired_difference();

  ph_region window_region{};
  ph_region library_region{};
  ph_region extra_region{};     // the latest
  std::uint64_t stale_key = 0;  // of the latest that was taken back; 0: none was
  Overlap contended_writes;
  Overlap extra_writes;

 private:
  static constexpr std::uint64_t kGuardBytes = 64;

  std::span<std::byte> part(std::uint64_t begin, std::uint64_t size_bytes) noexcept {
    return std::span(bytes_).subspan(begin, size_bytes);
  }

  std::uint64_t number_;
  std::uint64_t window_bytes_;
  std::uint64_t library_at_;
  std::uint64_t extra_at_;
  std::vector<std::byte> bytes_;
  Pattern background_;
  bool enrolled_ = false;
  std::uint32_t generation_ = 0;
};

}  // namespace photon::simtest
