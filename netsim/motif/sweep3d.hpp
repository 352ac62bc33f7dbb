// Sweep3D: eight sweeps over a grid of ranks an iteration, one from each corner twice. A sweep is a
// row of blocks; a rank takes a block's faces from upstream, computes and hands faces downstream.
//
//   receiving --both faces are in--> computing --> sending x --its source is free--> sending y
//       ^--------------------------- its source is free: the next block --------------------v
//
// A state whose neighbour is missing is passed at once; after the last block the rank is done.
// Invariant: upstream is at most two sweeps ahead, as ranks turn into each other's upstream after
// that; so two sweeps' blocks of one bit each hold all that has come, and x and y need no more than
// one direction each. Owner: run/.
#pragma once

#include <algorithm>
#include <vector>

#include "netsim/motif/motif.hpp"

namespace photon::netsim {

class Sweep3D final : public Motif {
 public:
  struct Shape {
    std::uint32_t px = 1;
    std::uint32_t py = 1;
    std::uint32_t blocks = 1;  // of a sweep; at most kMostBlocks
    std::uint32_t iterations = 1;
    std::uint32_t x_bytes = 1;  // of a face handed on in x
    std::uint32_t y_bytes = 1;
    Time compute = 0;  // of a block
  };
  // The tag is (sweep modulo 16) x blocks + block, which tells iteration parity, direction, block.
  static constexpr std::uint32_t kMostBlocks = 4096;

  explicit Sweep3D(const Shape& shape);
  std::uint32_t ranks() const override { return shape_.px * shape_.py; }
  std::uint32_t most_bytes() const override { return std::max(shape_.x_bytes, shape_.y_bytes); }
  void start(std::uint32_t rank, Ranks& ranks) override;
  void on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_sent(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_computed(std::uint32_t rank, Ranks& ranks) override;

 private:
  enum class Phase : std::uint8_t { receiving, computing, sending_x, sending_y, done };
  struct State {
    std::uint32_t block = 0;  // over all sweeps and iterations
    Phase phase = Phase::receiving;
  };
  struct Peers {  // kNoPeer where the grid ends
    std::uint32_t upstream_x, upstream_y, downstream_x, downstream_y;
  };

  Peers peers_of(std::uint32_t rank) const;
  std::uint16_t tag_of(std::uint32_t block) const;
  // The bit of a tag's face: `along_y` tells which of the two.
  bool has_come(std::uint32_t rank, bool along_y, std::uint16_t tag) const;
  void flip(std::uint32_t rank, bool along_y, std::uint16_t tag);
  std::uint32_t bit_of(bool along_y, std::uint16_t tag) const;

  void receive(std::uint32_t rank, Ranks& ranks);
  void send_x(std::uint32_t rank, Ranks& ranks);
  void send_y(std::uint32_t rank, Ranks& ranks);
  void next_block(std::uint32_t rank, Ranks& ranks);

  Shape shape_;
  std::uint32_t all_blocks_;
  std::uint32_t words_;  // of a rank's bits
  std::vector<State> states_;
  std::vector<std::uint64_t> come_;  // rank x words: faces that have come and were not used
};

}  // namespace photon::netsim
