// pair, exchange, shift, incast, alltoall.
#include "netsim/motif/steps.hpp"

namespace photon::netsim {
namespace {

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

}  // namespace

std::unique_ptr<Pattern> make_pattern(const MotifSettings& settings,
                                      const std::vector<std::uint32_t>& grid) {
  std::uint32_t ranks = 1;
  for (const std::uint32_t size : grid) ranks *= size;
  if (settings.name == "pair") return std::make_unique<Pair>();
  if (settings.name == "exchange") return std::make_unique<Exchange>(grid);
  if (settings.name == "shift") return std::make_unique<Shift>(ranks, settings.distance % ranks);
  if (settings.name == "incast") return std::make_unique<Incast>(ranks, settings.target);
  if (settings.name == "alltoall") return std::make_unique<AllToAll>(ranks);
  return nullptr;
}

}  // namespace photon::netsim
