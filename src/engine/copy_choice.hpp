// Who copies a large put whose target this rank cannot store to: both sides through the bulk ring,
// or the kernel (CMA). Which is faster depends on the machine, on where the two cores are and on
// what the peer does meanwhile, so it is learnt: how long each put was the first of its queue.
//
//   unknown -- both were tried --> the faster one, and the other now and then:
//   seldom while that is far slower, more often while the two are close
//   any -- the kernel would not --> staged, for good
//
// Puts of less than twice the ring are not asked about: half of them and more is over for their
// sender before the peer has copied it. Owner: a Peer, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace photon::engine {

class CopyChoice {
 public:
  enum class Way : std::uint8_t { staged, kernel };

  // How the next put of that size goes.
  Way next(std::uint64_t size_bytes) noexcept {
    if (is_refused_) return Way::staged;
    Class& like = class_of(size_bytes);
    ++like.asked;
    const bool is_kernel = like.cost[1] != 0 && like.cost[1] < like.cost[0];
    const std::uint64_t best = like.cost[is_kernel ? 1 : 0];
    const std::uint64_t other = like.cost[is_kernel ? 0 : 1];
    const unsigned interval = other == 0             ? kFirstTry
                              : other < best * 5 / 4 ? kOftenTried
                                                     : kSeldomTried;
    const bool is_tried = like.asked % interval == 0;
    return is_kernel != is_tried ? Way::kernel : Way::staged;
  }

  // One that went that way took so long.
  void took(Way way, std::uint64_t size_bytes, std::int64_t time_ns) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 1));
    const std::uint64_t cost = std::max<std::uint64_t>(ns * kUnit / size_bytes, 1);
    std::uint64_t& known = class_of(size_bytes).cost[way == Way::kernel ? 1 : 0];
    // A nap between two probes of ours is not the way's fault.
    known = known == 0 ? cost : (3 * known + std::min(cost, kMostSlower * known)) / 4;
  }

  // The kernel refused to copy.
  void refused() noexcept { is_refused_ = true; }
  bool is_refused() const noexcept { return is_refused_; }

 private:
  static constexpr unsigned kFirstTry = 4;
  static constexpr unsigned kOftenTried = 16;
  static constexpr unsigned kSeldomTried = 64;
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kMostSlower = 8;
  static constexpr unsigned kLeastLog2 = 19;
  static constexpr unsigned kClasses = 6;  // of powers of two; the last is all that is larger

  struct Class {
    std::array<std::uint64_t, 2> cost{};  // ns for kUnit bytes, smoothed; 0: unknown
    unsigned asked = 0;
  };

  Class& class_of(std::uint64_t size_bytes) noexcept {
    const auto log2 = static_cast<unsigned>(std::bit_width(size_bytes | 1)) - 1;
    return classes_[std::clamp(log2, kLeastLog2, kLeastLog2 + kClasses - 1) - kLeastLog2];
  }

  std::array<Class, kClasses> classes_{};
  bool is_refused_ = false;
};

}  // namespace photon::engine
