#include "netsim/motif/sweep3d.hpp"

namespace photon::netsim {
namespace {

constexpr std::uint32_t kSweeps = 8;

// Where each corner's upstream neighbours are: below in x, below in y.
constexpr bool kUpstreamIsBelowX[] = {true, false, false, true};
constexpr bool kUpstreamIsBelowY[] = {true, true, false, false};

}  // namespace

Sweep3D::Sweep3D(const Shape& shape)
    : shape_(shape),
      all_blocks_(shape.iterations * kSweeps * shape.blocks),
      words_((4 * shape.blocks + 63) / 64),
      states_(ranks()),
      come_(std::size_t{ranks()} * words_) {}

void Sweep3D::start(std::uint32_t rank, Ranks& ranks) { receive(rank, ranks); }

void Sweep3D::on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) {
  flip(rank, peer % shape_.px == rank % shape_.px, tag);
  if (states_[rank].phase == Phase::receiving) receive(rank, ranks);
}

void Sweep3D::on_computed(std::uint32_t rank, Ranks& ranks) {
  const Peers peers = peers_of(rank);
  if (peers.upstream_x != kNoPeer) ranks.release(rank, peers.upstream_x);
  if (peers.upstream_y != kNoPeer) ranks.release(rank, peers.upstream_y);
  send_x(rank, ranks);
}

void Sweep3D::on_sent(std::uint32_t rank, std::uint32_t, std::uint16_t, Ranks& ranks) {
  if (states_[rank].phase == Phase::sending_x) {
    send_y(rank, ranks);
  } else {
    next_block(rank, ranks);
  }
}

void Sweep3D::receive(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  const Peers peers = peers_of(rank);
  const std::uint16_t tag = tag_of(its.block);
  const bool needs_x = peers.upstream_x != kNoPeer;
  const bool needs_y = peers.upstream_y != kNoPeer;
  if (needs_x && !has_come(rank, false, tag)) return;
  if (needs_y && !has_come(rank, true, tag)) return;
  if (needs_x) flip(rank, false, tag);
  if (needs_y) flip(rank, true, tag);
  its.phase = Phase::computing;
  ranks.compute(rank, shape_.compute);
}

void Sweep3D::send_x(std::uint32_t rank, Ranks& ranks) {
  const std::uint32_t peer = peers_of(rank).downstream_x;
  if (peer == kNoPeer) return send_y(rank, ranks);
  states_[rank].phase = Phase::sending_x;
  ranks.send(rank, {peer, shape_.x_bytes, tag_of(states_[rank].block), true});
}

void Sweep3D::send_y(std::uint32_t rank, Ranks& ranks) {
  const std::uint32_t peer = peers_of(rank).downstream_y;
  if (peer == kNoPeer) return next_block(rank, ranks);
  states_[rank].phase = Phase::sending_y;
  ranks.send(rank, {peer, shape_.y_bytes, tag_of(states_[rank].block), true});
}

void Sweep3D::next_block(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  if (++its.block == all_blocks_) {
    its.phase = Phase::done;
    return ranks.finish(rank);
  }
  its.phase = Phase::receiving;
  receive(rank, ranks);
}

Sweep3D::Peers Sweep3D::peers_of(std::uint32_t rank) const {
  const std::uint32_t corner = states_[rank].block / shape_.blocks % 4;
  const std::uint32_t x = rank % shape_.px;
  const std::uint32_t y = rank / shape_.px;
  const std::uint32_t below_x = x > 0 ? rank - 1 : kNoPeer;
  const std::uint32_t above_x = x + 1 < shape_.px ? rank + 1 : kNoPeer;
  const std::uint32_t below_y = y > 0 ? rank - shape_.px : kNoPeer;
  const std::uint32_t above_y = y + 1 < shape_.py ? rank + shape_.px : kNoPeer;
  const bool from_below_x = kUpstreamIsBelowX[corner];
  const bool from_below_y = kUpstreamIsBelowY[corner];
  return {from_below_x ? below_x : above_x, from_below_y ? below_y : above_y,
          from_below_x ? above_x : below_x, from_below_y ? above_y : below_y};
}

std::uint16_t Sweep3D::tag_of(std::uint32_t block) const {
  return static_cast<std::uint16_t>(block % (2 * kSweeps * shape_.blocks));
}

std::uint32_t Sweep3D::bit_of(bool along_y, std::uint16_t tag) const {
  const std::uint32_t of_two_sweeps = tag % (2 * shape_.blocks);
  return (along_y ? 2 * shape_.blocks : 0) + of_two_sweeps;
}

bool Sweep3D::has_come(std::uint32_t rank, bool along_y, std::uint16_t tag) const {
  const std::uint32_t bit = bit_of(along_y, tag);
  return (come_[std::size_t{rank} * words_ + bit / 64] >> bit % 64 & 1) != 0;
}

void Sweep3D::flip(std::uint32_t rank, bool along_y, std::uint16_t tag) {
  const std::uint32_t bit = bit_of(along_y, tag);
  come_[std::size_t{rank} * words_ + bit / 64] ^= std::uint64_t{1} << bit % 64;
}

}  // namespace photon::netsim
