// Halo3D: ranks on a grid of three dimensions exchange faces (6 neighbours: in x, then y, then z),
// or faces, edges and corners (26 neighbours, all at once), and end an iteration by an allreduce.
//
//   computing --> sending --all of the group are sent--> waiting --all of it have come--> sending
//       ^                                                   |  the next group, or, after the last,
//       +-------------- the next iteration ----- reducing <-+  done if no iteration is left
//
// A group is one dimension, whose two sends block one after the other, or all 26 directions, whose
// sends are posted at once. Without `reduce` the state reducing is passed at once.
// Invariant: a neighbour is at most one iteration ahead, because it needs this rank's messages of
// its own; so a bit per direction and parity of the iteration holds all that has come. Owner: run/.
#pragma once

#include <optional>
#include <vector>

#include "netsim/motif/allreduce.hpp"

namespace photon::netsim {

class Halo3D final : public Motif {
 public:
  struct Shape {
    std::uint32_t px = 1;
    std::uint32_t py = 1;
    std::uint32_t pz = 1;
    bool has_corners = false;  // 26 neighbours instead of 6
    std::uint32_t iterations = 1;
    std::uint32_t nx = 1;  // cells of a rank
    std::uint32_t ny = 1;
    std::uint32_t nz = 1;
    std::uint32_t cell_bytes = 8;
    Time compute = 0;  // of an iteration
    bool reduces = true;
  };

  explicit Halo3D(const Shape& shape);
  std::uint32_t ranks() const override { return shape_.px * shape_.py * shape_.pz; }
  std::uint32_t most_bytes() const override;
  void start(std::uint32_t rank, Ranks& ranks) override;
  void on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_sent(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_computed(std::uint32_t rank, Ranks& ranks) override;

 private:
  enum class Phase : std::uint8_t { computing, sending, waiting, reducing, done };
  struct State {
    std::uint64_t come = 0;  // by (parity, direction of sending)
    std::uint32_t iteration = 0;
    Phase phase = Phase::computing;
    std::uint8_t direction = 0;  // to be sent next
    std::uint8_t unsent = 0;     // sends whose end was not told
  };

  // The neighbour in a direction, or kNoPeer.
  std::uint32_t peer_of(std::uint32_t rank, std::uint32_t direction) const;
  std::uint32_t bytes_of(std::uint32_t direction) const;
  void send(std::uint32_t rank, Ranks& ranks);
  void wait(std::uint32_t rank, Ranks& ranks);
  void end_exchange(std::uint32_t rank, Ranks& ranks);
  void end_iteration(std::uint32_t rank, Ranks& ranks);

  Shape shape_;
  std::uint32_t directions_;
  std::optional<Allreduce> allreduce_;
  std::vector<State> states_;
};

}  // namespace photon::netsim
