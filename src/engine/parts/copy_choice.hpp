// Decides who copies what this rank cannot reach by itself, and the kernel (CMA) can: the kernel,
// or both sides through the bulk ring ("staged"). Which is faster depends on the machine, on where
// the two cores are and on what the peer does meanwhile, so it is learnt: how long each operation
// was the first of its queue.
//
//   unknown -- both were tried --> the faster one, and the other now and then:
//   the more seldom the slower that is, so that the tries cost little
//   any -- the kernel would not --> staged, for good
//
// Each direction has a choice of its own. A get is over when all has arrived; when a put is over
// that went through the ring its sender learns of samples alone (put_samples.hpp).
// Owner: a Peer, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace photon::engine {

class CopyChoice {
 public:
  enum class Way : std::uint8_t { staged, kernel };
  static constexpr std::uint64_t kLeastBytes = 2048;  // of less nothing is learnt

  // How the next operation of that size goes.
  Way next(std::uint64_t size_bytes) noexcept {
    if (is_refused_) return Way::staged;
    Class& like = class_of(size_bytes);
    ++like.asked;
    const bool is_kernel = is_kernel_faster(like);
    const std::uint64_t best = like.cost[is_kernel ? 1 : 0];
    const std::uint64_t other = like.cost[is_kernel ? 0 : 1];
    const bool is_tried = like.asked % interval(best, other) == 0;
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

  // Where two looks at a clock are a part of the time: whether to take that of the one that next()
  // was asked about. Tries are among those.
  bool is_timed(std::uint64_t size_bytes) noexcept {
    return class_of(size_bytes).asked % kFirstTry == 0;
  }

  // Where a staged one has to be watched for its time: whether the one that next() was asked about,
  // and said staged, is. Each try is, and else two in a row now and then: odd numbers, so that a
  // caller who posts in groups does not have them at the same places of each.
  bool is_sampled(std::uint64_t size_bytes) noexcept {
    const Class& like = class_of(size_bytes);
    const unsigned every = like.asked <= kOftenTried ? kFirstTry + 1 : kOftenTried + 1;
    return is_kernel_faster(like) || like.asked % every <= 1;
  }

  // The time that this way is likely to need; 0: it is not known.
  std::int64_t expected_ns(Way way, std::uint64_t size_bytes) noexcept {
    const std::uint64_t cost = class_of(size_bytes).cost[way == Way::kernel ? 1 : 0];
    return static_cast<std::int64_t>(static_cast<double>(cost) * static_cast<double>(size_bytes) /
                                     static_cast<double>(kUnit));
  }

  // The kernel refused to copy.
  void refused() noexcept { is_refused_ = true; }
  bool is_refused() const noexcept { return is_refused_; }

 private:
  static constexpr unsigned kFirstTry = 4;  // the others are multiples of it
  static constexpr unsigned kOftenTried = 16;
  static constexpr unsigned kTriedPerRatio = 32;  // one of so many costs the ratio of the costs
  static constexpr unsigned kSeldomTried = 512;
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kMostSlower = 8;
  static constexpr unsigned kLeastLog2 = std::bit_width(kLeastBytes) - 1;
  static constexpr unsigned kClasses = 14;  // of powers of two; the last is all that is larger

  struct Class {
    std::array<std::uint64_t, 2> cost{};  // ns for kUnit bytes, smoothed; 0: unknown
    unsigned asked = 0;
  };

  static bool is_kernel_faster(const Class& like) noexcept {
    return like.cost[1] != 0 && like.cost[1] < like.cost[0];
  }
  static unsigned interval(std::uint64_t best, std::uint64_t other) noexcept {
    if (other == 0) return kFirstTry;
    if (other < best * 5 / 4) return kOftenTried;
    const std::uint64_t ratio = other / std::max<std::uint64_t>(best, 1);
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>(ratio * kTriedPerRatio, kTriedPerRatio, kSeldomTried));
  }

  Class& class_of(std::uint64_t size_bytes) noexcept {
    const auto log2 = static_cast<unsigned>(std::bit_width(size_bytes | 1)) - 1;
    return classes_[std::clamp(log2, kLeastLog2, kLeastLog2 + kClasses - 1) - kLeastLog2];
  }

  std::array<Class, kClasses> classes_{};
  bool is_refused_ = false;
};

}  // namespace photon::engine
