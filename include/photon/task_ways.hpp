/**
 * Which way the elements of a zero-copy argument go: packed into the message, or offered. Learnt
 * for each process and size while the program runs. Include <photon/task.hpp>.
 *
 * Both ways are measured alike: from the call until an answer of the target has come, which it
 * sends when all arguments are there and before its handler runs. Of each way the least of late is
 * kept: it falls at once and rises by a sixteenth, so that times in which a PE was busy count
 * little.
 *
 *   sends of one process and size:  the first 8: by turns, all measured
 *     -- both ways are known --> the faster one; each 64th or 1,024th is measured, the other way
 *                                too, more often where they are close
 *     -- else -----------------> by the size alone
 */
#ifndef PHOTON_TASK_WAYS_HPP
#define PHOTON_TASK_WAYS_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "task_layout.hpp"

namespace photon::tasks {

/** This is learnt of sends to one process, of `least_bytes` to twice as many. */
struct Learnt {
  std::uint64_t least_bytes;
  std::uint64_t packed_ns; /**< 0: not known. */
  std::uint64_t offered_ns;
  std::uint64_t packed, offered; /**< How many sends of one span went so. */
  bool is_offered;               /**< The next one. */
};

namespace detail {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kLeastOffered = kKiB;
inline constexpr std::uint64_t kMostPacked = 4096 * kKiB;
inline constexpr std::uint64_t kOfferedUnlearnt = 64 * kKiB; /**< Until both ways are known. */
inline constexpr std::size_t kSizes =
    std::bit_width(kMostPacked) - std::bit_width(kLeastOffered) + 1;

/** One process and size has one of these. */
class Choice {
 public:
  struct Chosen {
    Way way;
    bool is_measured;
  };
  Chosen choose(std::uint64_t size_bytes) noexcept {
    const Chosen chosen = next(size_bytes);
    ++sends_;
    ++went_[index(chosen.way)];
    return chosen;
  }
  [[nodiscard]] Way preferred(std::uint64_t size_bytes) const noexcept {
    if (ns_[0] != 0 && ns_[1] != 0) return ns_[1] < ns_[0] ? Way::offered : Way::packed;
    return size_bytes >= kOfferedUnlearnt ? Way::offered : Way::packed;
  }
  void note(Way way, std::uint64_t ns) noexcept {
    std::uint64_t &least = ns_[index(way)];
    ns = std::max<std::uint64_t>(ns, 1);
    least = least == 0 || ns < least ? ns : least + (ns - least) / 16;
  }
  [[nodiscard]] Learnt learnt(std::uint64_t least_bytes) const noexcept {
    return {least_bytes, ns_[0],   ns_[1],
            went_[0],    went_[1], preferred(least_bytes) == Way::offered};
  }
  [[nodiscard]] bool is_known() const noexcept { return ns_[0] != 0 && ns_[1] != 0; }

 private:
  static std::size_t index(Way way) noexcept { return way == Way::offered ? 1 : 0; }
  [[nodiscard]] Chosen next(std::uint64_t size_bytes) const noexcept {
    if (sends_ < 8) return {sends_ % 2 == 0 ? Way::packed : Way::offered, true};
    const Way way = preferred(size_bytes);
    const Way other = way == Way::packed ? Way::offered : Way::packed;
    const bool is_close = !is_known() || std::max(ns_[0], ns_[1]) < 2 * std::min(ns_[0], ns_[1]);
    const std::uint64_t period = is_close ? 64 : 1024;
    if (sends_ % period == period - 1) return {other, true};
    return {way, sends_ % (period / 2) == period / 2 - 2};
  }
  std::array<std::uint64_t, 2> ns_{};
  std::array<std::uint64_t, 2> went_{};
  std::uint64_t sends_ = 0;
};

/** All of one PE. Times that are under way stand in a few places, which are used in turn. */
class Ways {
 public:
  explicit Ways(std::uint32_t processes) : processes_(processes) {}

  /** All spans are offered from so many bytes on, and nothing is learnt. */
  void fix(std::uint64_t bytes) noexcept { fixed_ = bytes; }

  /** A span that is not alone in its send teaches nothing. */
  Choice::Chosen choose(std::uint32_t process, std::uint64_t size_bytes, bool is_alone) {
    if (size_bytes == 0) return {Way::packed, false};
    if (fixed_) return {size_bytes >= *fixed_ ? Way::offered : Way::packed, false};
    if (size_bytes < kLeastOffered) return {Way::packed, false};
    if (size_bytes > kMostPacked) return {Way::offered, false};
    Choice &choice = of(process)[index(size_bytes)];
    return is_alone ? choice.choose(size_bytes)
                    : Choice::Chosen{choice.preferred(size_bytes), false};
  }

  using Clock = std::chrono::steady_clock;
  struct Measured {
    std::uint32_t number = 0;
    std::uint32_t to = 0;
    std::uint32_t process = 0;
    std::uint64_t size_bytes = 0;
    Way way = Way::packed;
    Clock::time_point began{};
  };

  /** The number by which the answer names it; never 0. */
  std::uint32_t begin(Measured one) noexcept {
    if (++next_ == 0) ++next_;
    one.number = next_;
    measured_[next_ % measured_.size()] = one;
    return next_;
  }
  /** The answer has come. What nobody waits for is left out: it is late, or was made up. */
  void end(std::uint32_t number, std::uint32_t from) {
    Measured &one = measured_[number % measured_.size()];
    if (number == 0 || one.number != number || one.to != from) return;
    const auto ns = std::chrono::nanoseconds(Clock::now() - one.began).count();
    of(one.process)[index(one.size_bytes)].note(one.way, static_cast<std::uint64_t>(ns));
    one = {};
  }

  /** A process gets offers from this size on. */
  [[nodiscard]] std::uint64_t threshold(std::uint32_t process) {
    if (fixed_) return *fixed_;
    std::uint64_t bytes = kMostPacked + 1;
    for (std::size_t i = kSizes; i-- != 0;) {
      const std::uint64_t least = kLeastOffered << i;
      if (of(process)[i].preferred(least) == Way::packed) break;
      bytes = least;
    }
    return bytes;
  }
  [[nodiscard]] std::vector<Learnt> learnt(std::uint32_t process) {
    std::vector<Learnt> all;
    for (std::size_t i = 0; i < kSizes; ++i)
      all.push_back(of(process)[i].learnt(kLeastOffered << i));
    return all;
  }

 private:
  using Sizes = std::array<Choice, kSizes>;

  static std::size_t index(std::uint64_t size_bytes) noexcept {
    return static_cast<std::size_t>(std::bit_width(size_bytes) - std::bit_width(kLeastOffered));
  }
  Sizes &of(std::uint32_t process) {
    if (by_process_.empty()) by_process_.resize(processes_);
    if (by_process_[process] == nullptr) by_process_[process] = std::make_unique<Sizes>();
    return *by_process_[process];
  }

  std::uint32_t processes_;
  std::optional<std::uint64_t> fixed_;
  std::vector<std::unique_ptr<Sizes>> by_process_;
  std::array<Measured, 64> measured_{};
  std::uint32_t next_ = 0;
};

}  // namespace detail

}  // namespace photon::tasks

#endif
