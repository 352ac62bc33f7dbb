// The mixed transport as a class; mixed_transport.hpp is what others include. mixed_transport.cpp
// has opening and what goes to one child or to both, mixed_poll.cpp news and sleep.
//
// Invariants: a rank is near or far from when its place is known, for good, and both ranks of a
// pair say the same. All that concerns a rank goes to the child of its side, and nothing of the
// other child's about that rank is passed on. Regions and arena are those of the near child.
// Owner: the engine. Threads: as the contract has it; sleep() and wake() touch only the children's
// own and due_.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sync/hint.hpp"
#include "transport/mixed/mixed_far_pace.hpp"
#include "transport/mixed/mixed_split_boot.hpp"
#include "transport/mixed/mixed_transport.hpp"

namespace photon::transport::mixed {

class MixedTransport final : public Transport {
 public:
  struct Parts {
    std::shared_ptr<Sides> sides;
    std::unique_ptr<SplitBoot> boots;
    std::unique_ptr<Transport> near;
    std::unique_ptr<Transport> far;  // ends first: it uses the near one's registrations
  };
  explicit MixedTransport(Parts parts) : parts_(std::move(parts)), meets_(parts_.sides->size()) {}

  const char* name() const noexcept override { return "mixed"; }
  unsigned poll_interval() const noexcept override { return pace_.interval(); }
  const LaneDoorbell* lane_doorbell() const noexcept override { return near().lane_doorbell(); }

  base::Result<Link*> connect(Rank rank) override;
  void disconnect(Rank rank) noexcept override;
  bool arrives(Rank rank) const noexcept override { return side_of(rank).arrives(rank); }
  void cut_off(Rank rank, const std::string& why) noexcept override {
    side_of(rank).cut_off(rank, why);
  }

  void kick(Rank rank) noexcept override;
  void kick_later(Rank rank) noexcept override;
  void wake_rank(Rank rank) noexcept override { side_of(rank).wake_rank(rank); }
  void poll(Sink& sink) noexcept override;
  bool drained() const noexcept override;

  Reach reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept override;
  bool shares_memory(Rank rank) const noexcept override {
    return !is_far(rank) && near().shares_memory(rank);
  }
  std::optional<Mapping> map(Rank rank, std::uint64_t address, std::uint64_t size_bytes) override {
    return side_of(rank).map(rank, address, size_bytes);
  }
  base::Result<> read(Rank rank, std::uint64_t address,
                      std::span<std::byte> destination) noexcept override;
  base::Result<> write(Rank rank, std::uint64_t address,
                       std::span<const std::byte> source) noexcept override;
  bool post(const PostedFragment& fragment) noexcept override;
  std::uint64_t local_granule() const noexcept override { return far().local_granule(); }
  base::Result<std::uint64_t> register_local(std::span<const std::byte> memory,
                                             bool is_written) noexcept override {
    return far().register_local(memory, is_written);
  }
  void unregister_local(std::uint64_t handle) noexcept override { far().unregister_local(handle); }
  bool has_imm(Rank rank) const noexcept override;
  unsigned imm_bits() const noexcept override { return far().imm_bits(); }
  std::uint64_t imm_room(Rank rank) const noexcept override { return side_of(rank).imm_room(rank); }
  void quiesce() noexcept override;
  bool quiesces() const noexcept override { return near().quiesces() || far().quiesces(); }
  bool posts_alone(Rank rank) const noexcept override { return side_of(rank).posts_alone(rank); }
  void leave() noexcept override;
  void hide() noexcept override;
  base::Result<std::unique_ptr<Transport>> open_lane(std::uint32_t number,
                                                     boot::Boot& boot) override;

  std::span<std::byte> arena() noexcept override { return near().arena(); }
  std::span<RegionEntry> regions() noexcept override { return near().regions(); }
  bool discards() const noexcept override { return near().discards() || far().discards(); }
  void discard(std::span<std::byte> memory) noexcept override;

  void arm() noexcept override;
  void sleep(std::int64_t timeout_us) noexcept override;
  void disarm() noexcept override;
  Sleepers sleepers() noexcept override { return {&near(), &far()}; }
  void slept(unsigned /*ready*/) noexcept override { due_.set(1); }
  void wake() noexcept override { near().wake(); }

  RejectedConnections rejected() const noexcept override { return far().rejected(); }
  void describe(Rank rank, ph_path& path) override;

 private:
  class Report;
  using Flag = sync::Hint<Policy, std::uint32_t>;
  // Of a near rank, what shared memory with it has come to.
  enum class Meets : std::uint8_t { unknown, linked, failed };

  bool is_far(Rank rank) const noexcept { return parts_.sides->is_far(rank); }
  Transport& near() const noexcept { return *parts_.near; }
  Transport& far() const noexcept { return *parts_.far; }
  Transport& side_of(Rank rank) const noexcept { return is_far(rank) ? far() : near(); }
  void not_met(Rank rank, const base::Error& why);

  Parts parts_;
  mutable FarPace pace_;
  Flag due_;  // a sleep is over: look at both
  std::vector<Meets> meets_;
  std::map<Rank, std::string> failures_;  // why there is no shared memory with a near rank
};

}  // namespace photon::transport::mixed
