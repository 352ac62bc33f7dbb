#include "netsim/motif/halo.hpp"

#include <algorithm>
#include <array>

namespace photon::netsim {
namespace {

constexpr std::uint16_t kReduceTag = 64;

struct Direction {
  int x = 0, y = 0, z = 0;
};

// Faces -x, +x, -y, +y, -z, +z; then edges, then corners, both with x fastest. Neighbours 2 i and
// 2 i + 1 of the faces are opposite.
constexpr std::array<Direction, 26> make_directions() {
  std::array<Direction, 26> all{
      {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}};
  std::size_t next = 6;
  for (int length = 2; length <= 3; ++length) {
    for (int i = 0; i < 27; ++i) {
      const Direction one{i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
      if (one.x * one.x + one.y * one.y + one.z * one.z == length) all[next++] = one;
    }
  }
  return all;
}
constexpr std::array<Direction, 26> kDirections = make_directions();

constexpr std::array<std::uint8_t, 26> make_opposites() {
  std::array<std::uint8_t, 26> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Direction one = kDirections[i];
      const Direction other = kDirections[j];
      if (one.x == -other.x && one.y == -other.y && one.z == -other.z) {
        all[i] = static_cast<std::uint8_t>(j);
      }
    }
  }
  return all;
}
constexpr std::array<std::uint8_t, 26> kOpposite = make_opposites();

std::uint64_t bit_of(std::uint32_t iteration, std::uint32_t direction) {
  return std::uint64_t{1} << ((iteration & 1) * 32 + direction);
}

bool is_inside(std::uint32_t own, int step, std::uint32_t size) {
  return step < 0 ? own > 0 : own + static_cast<std::uint32_t>(step) < size;
}

}  // namespace

Halo3D::Halo3D(const Shape& shape)
    : shape_(shape), directions_(shape.has_corners ? 26 : 6), states_(ranks()) {
  if (shape.reduces) allreduce_.emplace(ranks(), kReduceTag);
}

std::uint32_t Halo3D::most_bytes() const {
  std::uint32_t most = 0;
  for (std::uint32_t direction = 0; direction < directions_; ++direction) {
    most = std::max(most, bytes_of(direction));
  }
  return most;
}

void Halo3D::start(std::uint32_t rank, Ranks& ranks) { ranks.compute(rank, shape_.compute); }

void Halo3D::on_computed(std::uint32_t rank, Ranks& ranks) {
  states_[rank].direction = 0;
  send(rank, ranks);
}

void Halo3D::on_message(std::uint32_t rank, std::uint32_t, std::uint16_t tag, Ranks& ranks) {
  if (allreduce_ && allreduce_->owns(tag)) {
    if (allreduce_->on_message(rank, tag, ranks)) end_iteration(rank, ranks);
    return;
  }
  State& its = states_[rank];
  its.come |= bit_of(tag / 32U, tag % 32U);
  if (its.phase == Phase::waiting) wait(rank, ranks);
}

void Halo3D::on_sent(std::uint32_t rank, std::uint32_t, std::uint16_t, Ranks& ranks) {
  State& its = states_[rank];
  --its.unsent;
  if (its.phase == Phase::sending) {
    send(rank, ranks);
  } else if (its.phase == Phase::waiting) {
    wait(rank, ranks);
  }
}

// Sends what is left of the group: one blocking send after the other, or all at once.
void Halo3D::send(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  its.phase = Phase::sending;
  const std::uint32_t end = shape_.has_corners ? directions_ : (its.direction / 2U + 1) * 2;
  while (its.direction < end) {
    const std::uint32_t direction = its.direction++;
    const std::uint32_t peer = peer_of(rank, direction);
    if (peer == kNoPeer) continue;
    const std::uint32_t tag = (its.iteration & 1) * 32 + direction;
    ++its.unsent;
    ranks.send(rank, {peer, bytes_of(direction), static_cast<std::uint16_t>(tag), true});
    if (!shape_.has_corners) break;
  }
  if (its.direction < end) return;
  its.phase = Phase::waiting;
  wait(rank, ranks);
}

// Goes on when all of the group are sent and have come, and then gives back their buffers.
void Halo3D::wait(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  if (its.unsent != 0) return;
  const std::uint32_t first = shape_.has_corners ? 0 : its.direction - 2U;
  std::uint64_t expected = 0;
  for (std::uint32_t direction = first; direction < its.direction; ++direction) {
    // What was sent in that direction comes from the neighbour in the opposite one.
    if (peer_of(rank, kOpposite[direction]) != kNoPeer) {
      expected |= bit_of(its.iteration, direction);
    }
  }
  if ((its.come & expected) != expected) return;
  its.come &= ~expected;
  for (std::uint32_t direction = first; direction < its.direction; ++direction) {
    const std::uint32_t peer = peer_of(rank, direction);
    if (peer != kNoPeer) ranks.release(rank, peer);
  }
  if (its.direction < directions_) return send(rank, ranks);
  end_exchange(rank, ranks);
}

void Halo3D::end_exchange(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  its.phase = Phase::reducing;
  if (!allreduce_ || allreduce_->begin(rank, its.iteration, ranks)) end_iteration(rank, ranks);
}

void Halo3D::end_iteration(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  if (++its.iteration == shape_.iterations) {
    its.phase = Phase::done;
    return ranks.finish(rank);
  }
  its.phase = Phase::computing;
  ranks.compute(rank, shape_.compute);
}

std::uint32_t Halo3D::peer_of(std::uint32_t rank, std::uint32_t direction) const {
  const Direction way = kDirections[direction];
  const std::uint32_t x = rank % shape_.px;
  const std::uint32_t y = rank / shape_.px % shape_.py;
  const std::uint32_t z = rank / shape_.px / shape_.py;
  if (!is_inside(x, way.x, shape_.px) || !is_inside(y, way.y, shape_.py) ||
      !is_inside(z, way.z, shape_.pz)) {
    return kNoPeer;
  }
  const auto px = static_cast<int>(shape_.px);
  const auto py = static_cast<int>(shape_.py);
  return rank + static_cast<std::uint32_t>(way.x + px * (way.y + py * way.z));
}

// The cells that touch the neighbour: as many as there are along the dimensions without a step.
std::uint32_t Halo3D::bytes_of(std::uint32_t direction) const {
  const Direction way = kDirections[direction];
  std::uint32_t bytes = shape_.cell_bytes;
  if (way.x == 0) bytes *= shape_.nx;
  if (way.y == 0) bytes *= shape_.ny;
  if (way.z == 0) bytes *= shape_.nz;
  return bytes;
}

}  // namespace photon::netsim
