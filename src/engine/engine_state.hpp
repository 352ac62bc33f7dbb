// What the engine's verbs share: limits and data of one lane.
//
// Invariants: every accepted operation that may yet produce a completion has one promised
// (parts/completion_budget.hpp); a peer with anything queued stands in busy_. Owner: the Engine,
// under the lane's lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/block_pool.hpp"
#include "base/config.hpp"
#include "base/log.hpp"
#include "boot/boot.hpp"
#include "engine/callers_memory.hpp"
#include "engine/parts/completion_budget.hpp"
#include "engine/parts/counters.hpp"
#include "engine/parts/event_descriptor.hpp"
#include "engine/parts/layout.hpp"
#include "engine/parts/mappings.hpp"
#include "engine/parts/memory.hpp"
#include "engine/parts/operation.hpp"
#include "engine/parts/peer.hpp"
#include "engine/parts/peer_list.hpp"
#include "engine/parts/request.hpp"
#include "engine/parts/source_cache.hpp"
#include "engine/parts/spin_time.hpp"
#include "engine/parts/yield_policy.hpp"
#include "engine/stand_in.hpp"
#include "service/service.hpp"
#include "transport/transport.hpp"
#include "wire/imm_codec.hpp"

namespace photon::engine {

class Services;

struct EngineParts {
  base::Config config;
  std::unique_ptr<boot::Boot> boot;
  std::unique_ptr<transport::Transport> transport;  // released before boot
  KeySource keys;                                   // of registrations
  std::shared_ptr<Memory> memory = nullptr;         // of a lane: its context's
  std::span<const service::Kind> services = {};     // a table that outlives the engine
};

class EngineState {
 protected:
  explicit EngineState(EngineParts parts);
  void count_threads() noexcept;
  // A probe has found something. Inline whatever the compiler thinks, as what it calls: after a
  // silence a call is one into code that has gone from the cache.
  [[gnu::always_inline]] void news_came() noexcept {
    if (empty_turns_ > YieldPolicy::kShort) yield_policy_.ended(empty_turns_);
    empty_turns_ = 0;
  }

  // When the transport is to be polled while it finds nothing, and while rings are never empty.
  void ask_interval() noexcept {
    poll_interval_ = transport_->poll_interval();
    look_mask_ = (poll_interval_ == 1 ? kTurnsBetweenLooks : kTurnsWithDoorbell) - 1;
    if (is_thaw_due_) look_soon();
    if (is_armed_) look_mask_ = 0;  // every turn is a general one
  }

  // The next turn that finds nothing polls the transport, and if none does, one of the next few.
  void look_soon() noexcept {
    poll_interval_ = 1;
    look_mask_ = kTurnsToSoon - 1;
  }

  void blame(ph_status status, Rank rank);  // refused_calls.cpp

  // callers_memory.cpp: whether own memory can be used for what is copied next.
  bool can_stage(const Request& request, std::uint64_t bytes) noexcept;
  bool is_in_arena(std::span<const std::byte> memory) noexcept;
  void look_at_place(Peer& peer, const TargetRange& all) noexcept;  // receive.cpp
  bool can_copy(Rank rank, const Piece& piece, std::uint64_t left_bytes) noexcept;

  // unexpected.cpp
  void settle_unexpected(Peer& peer) noexcept;
  static void id_taken(Peer& peer) noexcept;
  // hot_rings.cpp
  // Who sleeps, or waits on the descriptor, has chosen how long without knowing of something.
  void wake_sleeper() noexcept;
  Peer* who_kicked() noexcept;
  void thaw() noexcept;
  void keep_warm() noexcept;
  void trim_pools() noexcept;  // overflow.cpp

  // Powers of two. A lane's doorbell tells of news; where only polls bring them looking does.
  static constexpr std::uint64_t kTurnsBetweenLooks = 32;
  static constexpr std::uint64_t kTurnsWithDoorbell = 256;
  static constexpr std::uint64_t kTurnsToSoon = 8;
  static constexpr std::uint32_t kLocalsInARow = 63;  // one by one; a look around adds another
  static constexpr std::size_t kHotKept = 4;  // peers whose rings are looked at however silent
  static constexpr unsigned kLooks = 2;       // at the hot rings in one fast probe
  static constexpr unsigned kLongRow = 48;    // taken one by one: the peer is ahead of us
  static constexpr unsigned kRowThere = 4;    // records in a row: so many more are likely there
  static constexpr unsigned kReceiveBudget = 128;    // records of one peer in one turn
  static constexpr unsigned kUnexpectedBudget = 16;  // ids of one peer, in a turn without a sink
  static constexpr std::uint32_t kMaxGets = 64;      // served gets under way per peer
  // These bound a peer, which has 1 Mi operations under way at most, whatever our own `requests`.
  static constexpr std::size_t kMaxReplies = std::size_t{1} << 20;  // that it leaves unread
  static constexpr std::int64_t kDryNs = 100'000;
  static constexpr std::int64_t kEverySlot = -1;
  static constexpr std::uint32_t kLineRoom = 32;  // payload of a one-line record with 8-byte id

  base::Config config_;
  std::unique_ptr<boot::Boot> boot_;
  std::unique_ptr<transport::Transport> transport_;
  Rank self_;
  std::uint32_t size_;
  const wire::ImmCodec imm_codec_;
  base::Log log_;
  const unsigned threads_with_cores_;  // of a rank
  bool wants_turns_ = false;           // a service does
  bool oversubscribed_ = false;        // more threads wait than there are cores, as far as is known

  // What the fast paths look at begins a line: elsewhere a put costs 4 ns more.
  alignas(64) std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null: never contacted
  std::vector<Peer*> contacted_;
  std::vector<Peer*> hot_;
  std::vector<Peer*> busy_;
  std::uint32_t due_ = 0;  // what a turn has to look at: the busy peers; for services three more
  std::uint32_t user_code_ = 0;  // of services, that is due: a bit for each
  PeerList local_ready_;
  PeerList unexpected_ready_;
  CompletionBudget completions_;  // its run: what pop_local() hands out, never the last of a queue
  std::uint32_t locals_in_a_row_ = 0;
  std::uint64_t row_began_ = 0;     // in which turn, of records of the hot peer: gaps are few
  std::uint64_t stream_until_ = 0;  // the turn from which take_streamed() takes no more
  bool remotes_first_ = false;      // in the next probe of any peer for both kinds
  unsigned poll_interval_ = 1;
  const transport::LaneDoorbell no_doorbell_;
  const transport::LaneDoorbell* doorbell_;
  std::uint64_t doorbell_seen_ = 0;
  std::size_t next_warm_ = 0;
  bool is_thaw_due_ = false;                          // of a hot ring, whose peer still rings
  std::uint64_t look_mask_ = kTurnsBetweenLooks - 1;  // turns between two looks around, less one
  unsigned empty_polls_ = 0;
  unsigned empty_turns_ = 0;
  YieldPolicy yield_policy_;
  sync::Ticks<transport::Policy> turn_;
  std::uint64_t posted_count_ = 0;  // fragments
  bool counting_ = false;
  RankCounters own_counts_;
  std::uint64_t overflow_words_ = 0;  // of all peers, in use
  std::uint32_t waiters_ = 0;  // threads inside wait_until()'s sleep; a descriptor that is armed
  bool sleeping_ = false;      // one of them is in transport_->sleep()
  SpinTime spin_time_{config_.spin_us};
  bool activity_ = false;  // a poll found something

  RequestPool requests_;
  base::BlockPool id_blocks_;
  base::BlockPool payload_blocks_;
  base::BlockPool tables_;  // of gathers that wait for their turn
  LayoutPool layouts_;
  const bool is_lane_;  // not its context's own
  const std::shared_ptr<Memory> memory_;
  ActiveLane active_lane_;
  const std::span<const transport::RegionEntry> regions_;  // its table
  const std::uint32_t exposer_;  // marks what is registered for an announcement: it goes with it
  SourceCache sources_;
  Mappings mappings_;  // of peers' memory, by the context's own lane
  CallersMemory callers_memory_;
  const Request* posted_now_ = nullptr;  // by the call that is under way: its memory was just named
  bool told_of_refusal_ = false;         // of memory, by our NIC
  const std::span<const service::Kind> service_kinds_;
  std::unique_ptr<Services> services_;
  base::Error last_error_;
  bool is_quiet_ = false;  // it is a service's operation that is looked at: its status says it all
  ph_status unheard_ = PH_OK;  // finalize: of requests that nobody took
  Rank unheard_rank_ = 0;

  // Who makes turns, if no call of the application's that ends with the user's code does:
  bool is_standing_in_ = false;  // the progress thread, as long as it holds the lane
  bool holds_lane_ = false;      // a call that waits for others inside the lane, or only posts
  bool is_leaving_ = false;      // who closes the lane; for good
  // While the progress thread does: it has found that the caller is back.
  bool is_caller_back_ = false;

  std::function<void()> meanwhile_;  // while it is finalized
  std::mutex news_mutex_;
  std::condition_variable news_;
  std::uint64_t news_count_ = 0;  // under news_mutex_
  bool stand_in_sleeps_ = false;  // the progress thread is the one in transport_->sleep()
  bool relieved_ = false;         // the progress thread has to end
  bool has_core_to_spin_ = true;  // the progress thread has, beside a caller who computes
  bool is_crowded_ = false;       // there is such a thread, and it has none
  Summons* progress_thread_ = nullptr;
  // event_source.hpp
  std::unique_ptr<EventDescriptor> events_;
  bool is_armed_ = false;
  bool has_concluded_ = false;  // something that is asked for and not probed; since the last arming
};

}  // namespace photon::engine
