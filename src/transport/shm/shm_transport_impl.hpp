// The shm transport as a class; shm_transport.hpp is what others include. One concern a file:
// shm_transport.cpp (opening), shm_links.cpp (first contact, end), shm_poll.cpp (news),
// shm_sleep.cpp (idle, kick), shm_reach.cpp (memory of peers, descriptions).
//
// Invariant: a rank never contacted costs one pointer and one doorbell.
// Owner: the engine. Threads: under its lane lock, but for sleep() and wake(), which touch only
// the descriptors and what is atomic here.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "base/log.hpp"
#include "boot/boot.hpp"
#include "sync/hint.hpp"
#include "transport/shm/shm_lane_slots.hpp"
#include "transport/shm/shm_layout.hpp"
#include "transport/shm/shm_offer.hpp"
#include "transport/shm/shm_peer.hpp"
#include "transport/shm/shm_transport.hpp"

namespace photon::transport::shm {

// What a rank has before it meets anybody. Shared by its lanes; but for the slots, and what was
// said once, it does not change.
struct OwnSide {
  Segment::Created published;
  Segment::Created arena;
  ProcessToken token;
  bool heavy_barrier = false;
  base::Result<> cma;  // why copies by the kernel are not even tried
  LaneSlots slots;
  // That copies by the kernel worked and were refused later.
  std::unique_ptr<std::once_flag> told_cma = std::make_unique<std::once_flag>();
};

// What a lane has of that.
struct Lane {
  std::shared_ptr<OwnSide> own;
  LaneSlots::Slot slot;
  base::UniqueFd wake;
};

// Where the peer's three segments are mapped here.
struct PeerMemory {
  std::byte* ring;
  std::byte* published;
  std::byte* arena;
};

class ShmTransport final : public Transport {
 public:
  ShmTransport(const base::Config& config, boot::Boot& boot, Lane lane);

  const char* name() const noexcept override { return "shm"; }
  unsigned poll_interval() const noexcept override { return interval_; }
  const LaneDoorbell* lane_doorbell() const noexcept override;

  base::Result<Link*> connect(Rank rank) override;
  void disconnect(Rank rank) noexcept override;
  void cut_off(Rank rank, const std::string& why) noexcept override;

  void kick(Rank rank) noexcept override;
  void wake_rank(Rank rank) noexcept override;
  void poll(Sink& sink) noexcept override;
  bool drained() const noexcept override;

  Reach reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept override;
  bool shares_memory(Rank /*rank*/) const noexcept override { return true; }
  std::optional<Mapping> map(Rank rank, std::uint64_t address, std::uint64_t size_bytes) override;
  base::Result<> read(Rank rank, std::uint64_t address,
                      std::span<std::byte> destination) noexcept override;
  base::Result<> write(Rank rank, std::uint64_t address,
                       std::span<const std::byte> source) noexcept override;

  void hide() noexcept override;
  base::Result<std::unique_ptr<Transport>> open_lane(std::uint32_t number,
                                                     boot::Boot& boot) override;
  // A lane of the side `own`.
  static base::Result<std::unique_ptr<Transport>> open(const base::Config& config, boot::Boot& boot,
                                                       std::shared_ptr<OwnSide> own);

  std::span<std::byte> arena() noexcept override;
  std::span<RegionEntry> regions() noexcept override;

  bool discards() const noexcept override { return true; }
  void discard(std::span<std::byte> memory) noexcept override;

  void arm() noexcept override;
  void sleep(std::int64_t timeout_us) noexcept override;
  SleepOn sleep_on() noexcept override;
  void slept(unsigned ready) noexcept override;
  Sleepers sleepers() noexcept override { return {this}; }
  void disarm() noexcept override;
  void wake() noexcept override;

  void describe(Rank rank, ph_path& path) override;

 private:
  using Flag = sync::Hint<Policy, std::uint32_t>;
  static constexpr unsigned kLeastInterval = 32;  // poll_interval(): of who probes now and then,
  static constexpr unsigned kMostInterval = 256;  // and of who spins
  using DoorbellWord = sync::Hint<Policy, std::uint64_t>;

  // shm_links.cpp
  Peer* known(Rank rank) const noexcept { return peers_[rank].get(); }
  base::Result<bool> make_half(Rank rank);
  base::Result<bool> send_offer(Rank rank, int ring_fd);
  void link_to_self();
  base::Result<> complete(Peer& peer, const Offer& offer, boot::Message& message);
  base::Result<> map_peer(Peer& peer, const boot::Message& message);
  void use_peer(Peer& peer, const PeerMemory& memory);
  void end(Peer& peer, base::Error why);

  // shm_poll.cpp
  void report_links(Sink& sink);
  void compare_doorbells(Sink& sink);
  void look_at_next(Sink& sink);
  bool receive_due() noexcept;
  void receive(Sink& sink);
  void handle(boot::Message& message, Sink& sink);
  void handle_offer(boot::Message& message, Sink& sink);
  base::Result<> accept(Peer& peer, boot::Message& message);
  void boot_failed(const base::Error& why, Sink& sink);
  void tell_cut_off(Rank rank, const CutOff& said) noexcept;
  void tell_who_is_cut_off();
  DoorbellWord* doorbell_words() noexcept;

  // shm_sleep.cpp
  void kick_peer(Rank rank) noexcept;
  Gate& own_gate() noexcept;

  // shm_reach.cpp
  std::byte* in_arena(const Peer& peer, std::uint64_t address,
                      std::uint64_t size_bytes) const noexcept;
  void settle_cma(Peer& peer);
  base::Result<> called(Rank rank, base::Result<> result);

  boot::Boot& boot_;
  const base::Config config_;
  const Layout layout_;
  Lane lane_;
  OwnSide& own_;
  const base::Log log_;
  Nonce nonce_{};  // peers read it at its address
  Offer offer_;

  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Rank> linked_;                      // what look_at_next() goes round
  std::vector<Rank> unreported_;                  // linked outside poll()
  std::vector<std::uint64_t> heard_;              // doorbells as seen last
  std::vector<std::pair<Rank, CutOff>> cut_off_;  // are to be told
  bool hidden_ = false;
  unsigned interval_ = kLeastInterval;
  std::size_t next_linked_ = 0;
  std::uint64_t polls_count_ = 0;
  std::int64_t offered_ns_ = 0;  // when our last offer went out
  std::int64_t clock_ns_ = 0;    // when poll() read the clock last, and how many polls ago
  unsigned clock_skipped_ = 0;
  unsigned clock_skips_ = 1;
  std::int64_t received_ns_ = 0;  // last call of boot_.receive()

  Flag boot_due_;     // receive in the next poll
  Flag boot_broken_;  // nothing will come; its descriptor may be readable for ever
  Flag boot_wakes_;   // ends of sleep by its descriptor since the last message
  const int boot_fd_;
  sync::Hint<Policy, std::int64_t> longest_sleep_us_;  // arm() writes, sleep_on() reads
};

}  // namespace photon::transport::shm
