// The transport between ranks of one process over a simulated network: each rank has private rings,
// kick() carries what was published into the network, poll() brings what is due. Nothing of a peer
// can be reached, so the engine serves everything by records, but in the profile `mapped`: there a
// rank that the peer has met touches its memory, as between processes of one host; and in `rc`,
// `srd` and `unnamed`: there NICs do it for those that have an answer of the peer.
//
//   link: none -- connect() --> sending only -- hello --> both halves -- disconnect() --> released
//         none -- hello (the answer is ours) -----------> both halves
//   (where nothing is ordered, whatever comes first is as good as the hello)
//
// A released link stays released: what the peer still sends is dropped, connect() fails. So is all
// that another incarnation of a rank sends (sim_ends.cpp).
// Invariant: a rank's memory is touched by that rank only; everything shared is in the SimNetwork.
// Allocates per packet: this transport is for tests.
// Owner: the engine. Threads: as in transport.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "boot/boot.hpp"
#include "transport/sim/sim_link.hpp"
#include "transport/sim/sim_locals.hpp"
#include "transport/sim/sim_network.hpp"
#include "transport/transport.hpp"

namespace photon::transport::sim {

class SimTransport final : public Transport {
 public:
  SimTransport(const base::Config& config, Rank me, std::shared_ptr<SimNetwork> network);
  // A lane's, on a network of its own.
  SimTransport(const SimTransport& home, std::shared_ptr<SimNetwork> network);
  ~SimTransport() override;

  const char* name() const noexcept override { return "sim"; }
  unsigned poll_interval() const noexcept override { return 1; }

  base::Result<Link*> connect(Rank rank) override;
  void disconnect(Rank rank) noexcept override;

  void kick(Rank rank) noexcept override;
  void poll(Sink& sink) noexcept override;
  // The network has everything that was kicked, and delivers it without us; but for what a lost
  // link has swallowed, until that is known.
  bool drained() const noexcept override { return !network_->owes_news(me_); }

  // Profile mapped: by read() and write(), which go piece by piece, in any order, while
  // others run; or by the caller's own stores, which nobody sees halfway.
  Reach reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept override;
  // Nothing is sent: who sleeps looks.
  void wake_rank(Rank rank) noexcept override { network_->wake(rank); }
  bool shares_memory(Rank /*rank*/) const noexcept override { return network_->is_mapped(); }
  // The rank's memory is within reach of our stores, as for an operation of that size.
  std::optional<Mapping> map(Rank rank, std::uint64_t address, std::uint64_t size_bytes) override;
  base::Result<> read(Rank rank, std::uint64_t address,
                      std::span<std::byte> destination) noexcept override;
  base::Result<> write(Rank rank, std::uint64_t address,
                       std::span<const std::byte> source) noexcept override;

  // rc, srd, unnamed: a NIC moves the fragment, part by part.
  bool post(const PostedFragment& fragment) noexcept override;
  // Bytes: were it pages, who shares one would depend on where the program was loaded.
  std::uint64_t local_granule() const noexcept override { return network_->has_nics() ? 1 : 0; }
  base::Result<std::uint64_t> register_local(std::span<const std::byte> memory,
                                             bool is_written) noexcept override {
    return locals_.add(memory, is_written);
  }
  void unregister_local(std::uint64_t handle) noexcept override { locals_.remove(handle); }
  bool has_imm(Rank /*rank*/) const noexcept override {
    return network_->has_nics() && network_->settings().profile != base::SimProfile::unnamed;
  }
  void quiesce() noexcept override { network_->quiesce(); }
  bool quiesces() const noexcept override { return network_->has_nics(); }
  void hide() noexcept override { network_->hide(me_); }
  base::Result<std::unique_ptr<Transport>> open_lane(std::uint32_t number,
                                                     boot::Boot& boot) override;

  std::span<std::byte> arena() noexcept override {
    return {arena_.memory.get(), arena_.size_bytes};
  }
  std::span<RegionEntry> regions() noexcept override { return {regions_.get(), regions_count_}; }

  // Nothing to arm: what arrives is counted under the network's mutex, where sleep() looks.
  void arm() noexcept override {}
  void sleep(std::int64_t timeout_us) noexcept override { network_->sleep(me_, timeout_us); }
  void disarm() noexcept override {}
  void wake() noexcept override { network_->wake(me_); }
  // The network's clock where one thread drives all ranks; real waits need real time.
  std::int64_t now_ns() noexcept override;
  void pause(unsigned spins) noexcept override;

  void describe(Rank rank, ph_path& path) override;

  // For audits: the link to a rank, or null.
  const SimLink* link_to(Rank rank) const noexcept { return slots_[rank].link.get(); }

 private:
  struct Slot {
    std::unique_ptr<SimLink> link;
    bool released = false;
  };

  void send(Rank rank, Packet packet);
  SimLink& make_link(Rank rank);
  base::Error gone_error(Rank rank, const std::string& what);
  bool is_stranger(const Packet& packet) const noexcept;
  void accept(const Packet& packet, Sink& sink);
  void fragment_done(const Packet& packet, Sink& sink);
  void answered(Rank rank);
  void copy_torn(std::byte* to, const std::byte* from, std::size_t size_bytes);

  const Rank me_;
  const std::uint64_t seed_;
  const Geometry geometry_;
  const std::size_t regions_count_;
  const std::uint64_t overflow_bytes_;
  const std::shared_ptr<RegionEntry[]> regions_;
  const SimArena arena_;
  const std::shared_ptr<SimNetwork> network_;
  const std::shared_ptr<SimNetwork> home_;  // of a lane: the job's
  const std::uint32_t incarnation_;
  SimLocals locals_;
  std::vector<Slot> slots_;
  std::vector<Packet> due_;
  std::vector<std::shared_ptr<Flight>> flights_;  // our fragments that are not over
};

// Collective. All ranks must be in this process, each opening in a thread of its own; afterwards
// one thread may drive them all. PH_ERR_CONFIG: ranks of several processes; PH_ERR_BOOTSTRAP:
// settings that differ, or a rank that left the collective.
base::Result<std::unique_ptr<Transport>> open_sim(const base::Config& config, boot::Boot& boot);

}  // namespace photon::transport::sim
