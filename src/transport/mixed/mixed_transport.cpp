// Opening, and what goes to the child of a rank's side, or to both.
#include "transport/mixed/mixed_transport.hpp"

#include <cstdio>
#include <string_view>
#include <utility>

#include "transport/mixed/mixed_transport_impl.hpp"

namespace photon::transport::mixed {

base::Result<std::unique_ptr<Transport>> open_mixed(boot::Boot& boot, const Children& children) {
  MixedTransport::Parts parts;
  parts.sides = std::make_shared<Sides>(boot);
  auto boots = SplitBoot::open(boot, parts.sides);
  if (!boots) return std::move(boots.error());
  parts.boots = std::move(*boots);
  auto near = children.near(parts.boots->near());
  if (!near) return near;
  parts.near = std::move(*near);
  auto far = children.far(parts.boots->far(), parts.near->regions());
  if (!far) return far;
  parts.far = std::move(*far);
  return std::unique_ptr<Transport>(std::make_unique<MixedTransport>(std::move(parts)));
}

base::Result<std::unique_ptr<Transport>> MixedTransport::open_lane(std::uint32_t number,
                                                                   boot::Boot& boot) {
  Parts parts;
  parts.sides = std::make_shared<Sides>(boot);
  auto boots = SplitBoot::open(boot, parts.sides);
  if (!boots) return std::move(boots.error());
  parts.boots = std::move(*boots);
  auto near_lane = near().open_lane(number, parts.boots->near());
  if (!near_lane) return near_lane;
  parts.near = std::move(*near_lane);
  auto far_lane = far().open_lane(number, parts.boots->far());
  if (!far_lane) return far_lane;
  parts.far = std::move(*far_lane);
  return std::unique_ptr<Transport>(std::make_unique<MixedTransport>(std::move(parts)));
}

base::Result<Link*> MixedTransport::connect(Rank rank) {
  if (is_far(rank)) pace_.use();
  auto link = side_of(rank).connect(rank);
  if (!link) not_met(rank, link.error());
  return link;
}

// A near rank that shared memory was never had with: it stays without, and ph_path_to() says why.
void MixedTransport::not_met(Rank rank, const base::Error& why) {
  if (rank >= meets_.size() || is_far(rank) || meets_[rank] != Meets::unknown) return;
  meets_[rank] = Meets::failed;
  failures_[rank] = why.what;
}

void MixedTransport::disconnect(Rank rank) noexcept { side_of(rank).disconnect(rank); }

void MixedTransport::kick(Rank rank) noexcept {
  if (is_far(rank)) pace_.use();
  side_of(rank).kick(rank);
}
void MixedTransport::kick_later(Rank rank) noexcept {
  if (is_far(rank)) pace_.use();
  side_of(rank).kick_later(rank);
}

// Both are asked: a transport may note that it was.
bool MixedTransport::drained() const noexcept {
  const bool is_near_drained = near().drained();
  const bool is_far_drained = far().drained();
  if (!is_far_drained) pace_.use();
  return is_near_drained && is_far_drained;
}

Reach MixedTransport::reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept {
  return side_of(rank).reach(rank, address, size_bytes);
}

base::Result<> MixedTransport::read(Rank rank, std::uint64_t address,
                                    std::span<std::byte> destination) noexcept {
  return side_of(rank).read(rank, address, destination);
}

base::Result<> MixedTransport::write(Rank rank, std::uint64_t address,
                                     std::span<const std::byte> source) noexcept {
  return side_of(rank).write(rank, address, source);
}

bool MixedTransport::post(const PostedFragment& fragment) noexcept {
  if (is_far(fragment.rank)) pace_.use();
  return side_of(fragment.rank).post(fragment);
}

bool MixedTransport::has_imm(Rank rank) const noexcept { return side_of(rank).has_imm(rank); }

void MixedTransport::quiesce() noexcept {
  near().quiesce();
  far().quiesce();
}

void MixedTransport::leave() noexcept {
  near().leave();
  far().leave();
}

void MixedTransport::hide() noexcept {
  near().hide();
  far().hide();
}

// Each leaves alone what is not of its own links: shm gives back pages of shared mappings only.
void MixedTransport::discard(std::span<std::byte> memory) noexcept {
  near().discard(memory);
  far().discard(memory);
}

// The child's words, and before them why it is that child.
void MixedTransport::describe(Rank rank, ph_path& path) {
  side_of(rank).describe(rank, path);
  if (std::string_view(path.transport) == "self") return;
  const char* side = is_far(rank) ? "on another host: " : "on this host: ";
  std::string reason = std::string(side) + path.reason;
  if (const auto failed = failures_.find(rank); failed != failures_.end())
    reason = "on this host, so that shared memory alone can reach it, but there is none with it: " +
             failed->second;
  std::snprintf(path.reason, sizeof path.reason, "%s", reason.c_str());
}

}  // namespace photon::transport::mixed
