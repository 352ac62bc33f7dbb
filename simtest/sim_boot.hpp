// The bootstrap of a simulated rank: collectives over the memory that all ranks share.
// Invariant: ranks enter collectives in the same order with the same sizes, as everywhere.
// Owner: the rank's engine; the Gathering belongs to the World and outlives it. Threads: one.
#pragma once

#include <algorithm>
#include <vector>

#include "boot/boot.hpp"
#include "simtest/conductor.hpp"

namespace photon::simtest {

// Where the ranks leave what they gather; two in turns, since who is done with one may begin the
// next while others still read.
struct Gathering {
  std::vector<std::byte> bytes[2];
  std::vector<bool> left;  // by rank: in order
};

class SimBoot final : public boot::Boot {
 public:
  SimBoot(ph_rank rank, std::uint32_t size, Conductor& conductor, Gathering& gathering)
      : rank_(rank), size_(size), conductor_(conductor), gathering_(gathering) {
    gathering_.left.resize(size);
  }

  boot::Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  const boot::Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return 1; }

  // No side channel: the simulated network needs none.
  base::Result<bool> send(boot::Rank, std::span<const std::byte>, std::span<const int>) override {
    return false;
  }
  base::Result<std::optional<boot::Message>> receive() override {
    return std::optional<boot::Message>();
  }
  base::Result<> leave() override {
    gathering_.left[rank_] = true;
    return {};
  }
  bool has_left(boot::Rank rank) const override { return gathering_.left[rank]; }
  bool idle() const override { return true; }
  int poll_fd() const override { return -1; }

  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const boot::Serve& serve) override {
    auto& bytes = gathering_.bytes[turn_++ % 2];
    bytes.resize(all.size());
    std::copy(mine.begin(), mine.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(rank_ * mine.size()));
    if (auto met = barrier(serve); !met) return met;
    std::copy(bytes.begin(), bytes.end(), all.begin());
    return {};
  }
  // They wait by giving way, which no lock of the lanes must see.
  bool collects_alone() const override { return true; }
  base::Result<> barrier(const boot::Serve& serve) override {
    if (conductor_.meet(serve)) return {};
    return base::Error{PH_ERR_BOOTSTRAP, 0, "simtest: the run is stuck", PH_ANY_RANK};
  }

 private:
  const ph_rank rank_;
  const std::uint32_t size_;
  const boot::Secret secret_{};
  Conductor& conductor_;
  Gathering& gathering_;
  std::uint64_t turn_ = 0;
};

}  // namespace photon::simtest
