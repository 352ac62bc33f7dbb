// pair, exchange, shift, incast, alltoall.
#include <charconv>
#include <string_view>

#include "netsim/motif/steps.hpp"

namespace photon::netsim {
namespace {

constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostCounts = std::uint64_t{1} << 32;

// rank = x + X (y + Y z); to the neighbours -x, +x, -y, +y, -z, +z that there are.
class Exchange final : public Pattern {
 public:
  explicit Exchange(const std::vector<std::uint32_t>& sizes) : sizes_(sizes) {
    for (const std::uint32_t size : sizes) {
      strides_.push_back(ranks_);
      ranks_ *= size;
    }
  }
  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t most_peers() const override {
    return 2 * static_cast<std::uint32_t>(sizes_.size());
  }
  std::uint32_t peer(std::uint32_t rank, std::uint32_t i) const override {
    const std::uint32_t stride = strides_[i / 2];
    const std::uint32_t own = rank / stride % sizes_[i / 2];
    if (i % 2 == 0) return own > 0 ? rank - stride : kNoPeer;
    return own + 1 < sizes_[i / 2] ? rank + stride : kNoPeer;
  }
  std::uint32_t senders_to(std::uint32_t rank) const override {
    std::uint32_t senders = 0;
    for (std::uint32_t i = 0; i < most_peers(); ++i) senders += peer(rank, i) != kNoPeer ? 1 : 0;
    return senders;
  }

 private:
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> strides_;
  std::uint32_t ranks_ = 1;
};

// One message a step, from rank 0 to rank 1.
class Pair final : public Pattern {
 public:
  std::uint32_t ranks() const override { return 2; }
  std::uint32_t most_peers() const override { return 1; }
  std::uint32_t peer(std::uint32_t rank, std::uint32_t) const override {
    return rank == 0 ? 1 : kNoPeer;
  }
  std::uint32_t senders_to(std::uint32_t rank) const override { return rank; }
};

class Shift final : public Pattern {
 public:
  Shift(std::uint32_t ranks, std::uint32_t distance) : ranks_(ranks), distance_(distance) {}
  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t most_peers() const override { return 1; }
  std::uint32_t peer(std::uint32_t rank, std::uint32_t) const override {
    return (rank + distance_) % ranks_;
  }
  std::uint32_t senders_to(std::uint32_t) const override { return 1; }

 private:
  std::uint32_t ranks_;
  std::uint32_t distance_;
};

class Incast final : public Pattern {
 public:
  Incast(std::uint32_t ranks, std::uint32_t target) : ranks_(ranks), target_(target) {}
  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t most_peers() const override { return 1; }
  std::uint32_t peer(std::uint32_t rank, std::uint32_t) const override {
    return rank != target_ ? target_ : kNoPeer;
  }
  std::uint32_t senders_to(std::uint32_t rank) const override {
    return rank == target_ ? ranks_ - 1 : 0;
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t target_;
};

class AllToAll final : public Pattern {
 public:
  explicit AllToAll(std::uint32_t ranks) : ranks_(ranks) {}
  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t most_peers() const override { return ranks_ - 1; }
  std::uint32_t peer(std::uint32_t rank, std::uint32_t i) const override {
    return (rank + i + 1) % ranks_;
  }
  std::uint32_t senders_to(std::uint32_t) const override { return ranks_ - 1; }

 private:
  std::uint32_t ranks_;
};

// Sizes of a grid as 4x4x4, at most three; empty if it is none.
std::vector<std::uint32_t> grid_of(std::string_view text) {
  std::vector<std::uint32_t> sizes;
  std::uint64_t all = 1;
  while (sizes.size() < 3) {
    const std::size_t end = text.find('x');
    const std::string_view part = text.substr(0, end);
    std::uint32_t size = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (error != std::errc{} || rest != part.data() + part.size()) return {};
    sizes.push_back(size);
    all *= size;
    if (all == 0 || all > kMostRanks) return {};
    if (end == std::string_view::npos) return sizes;
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Motif>> make_motif(const MotifSettings& settings) {
  const std::vector<std::uint32_t> grid = grid_of(settings.ranks);
  if (grid.empty()) {
    return Error{"motif.ranks \"" + settings.ranks +
                 "\": allowed are 1 to 2^24 ranks as a number or a grid, as 64 or 4x4x4"};
  }
  std::uint32_t ranks = 1;
  for (const std::uint32_t size : grid) ranks *= size;
  if (settings.steps == 0 || settings.steps >= 1U << 16 ||
      std::uint64_t{ranks} * settings.steps > kMostCounts) {
    return Error{"run.iterations " + std::to_string(settings.steps) +
                 ": allowed is 1 to 2^16 - 1, and ranks x iterations up to 2^32"};
  }
  std::unique_ptr<Pattern> pattern;
  if (settings.name == "pair" && ranks == 2) {
    pattern = std::make_unique<Pair>();
  } else if (settings.name == "exchange") {
    pattern = std::make_unique<Exchange>(grid);
  } else if (settings.name == "shift") {
    pattern = std::make_unique<Shift>(ranks, settings.distance % ranks);
  } else if (settings.name == "incast") {
    pattern = std::make_unique<Incast>(ranks, settings.target % ranks);
  } else if (settings.name == "alltoall") {
    pattern = std::make_unique<AllToAll>(ranks);
  } else {
    return Error{"motif.name \"" + settings.name +
                 "\": allowed are exchange, shift, incast, alltoall, and for 2 ranks pair"};
  }
  return Result<std::unique_ptr<Motif>>(
      std::make_unique<Steps>(std::move(pattern), settings.steps, settings.bytes));
}

}  // namespace photon::netsim
