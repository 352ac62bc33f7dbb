// The engine of one rank: posts, moves, receives, completes. One place for all state of a lane.
//
// Invariants: events_free_ + runways + events promised or waiting = `requests`, where every
// accepted operation that may yet produce a completion has its event promised (it may go below zero
// only by reports of operations refused after their completion); a peer with anything queued stands
// in busy_. Owner: the context. Threads: every member is called with the lane's lock held; wait(),
// flush() and finalize() give it up while they sleep. Split by verb: contact, put, get, send, work,
// receive, probe, wait, requests, regions, finalize.
#pragma once

#include <photon/atomic.h>
#include <photon/context.h>
#include <photon/request.h>
#include <photon/rma.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "base/log.hpp"
#include "boot/boot.hpp"
#include "engine/arena.hpp"
#include "engine/block_pool.hpp"
#include "engine/give_way.hpp"
#include "engine/lane.hpp"
#include "engine/peer.hpp"
#include "engine/peer_list.hpp"
#include "engine/record_io.hpp"
#include "engine/region_book.hpp"
#include "engine/request.hpp"
#include "engine/source_cache.hpp"
#include "engine/taker.hpp"
#include "transport/transport.hpp"
#include "wire/piece_name.hpp"

namespace photon::engine {

class Engine final : private transport::Sink {
 public:
  struct Parts {
    base::Config config;
    std::unique_ptr<boot::Boot> boot;
    std::unique_ptr<transport::Transport> transport;  // released before boot
    KeySource keys;                                   // of registrations
  };
  explicit Engine(Parts parts);
  ~Engine();

  enum class Fast : std::uint8_t { no, done, tell };
  // fast_path.hpp: no = nothing was done; tell = done, and finish_put() is due.
  Fast try_put_u64(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids) noexcept;
  // The same for a notification.
  Fast try_notify(Rank rank, std::uint64_t remote) noexcept;
  // put.cpp, get.cpp, wait.cpp
  void finish_put(Rank rank) noexcept;
  ph_status put_u64(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids);
  ph_status notify(Rank rank, std::uint64_t remote);
  ph_status put(Rank rank, const ph_put_args& args);
  ph_status get(Rank rank, const ph_get_args& args);
  ph_status atomic(Rank rank, const ph_atomic_args& args);
  ph_status fence(Rank rank);
  ph_status flush(LaneGuard& guard, Rank rank, std::int64_t timeout_us);

  // requests.cpp
  ph_status test(ph_request& handle, ph_result& result);
  ph_status wait_one(LaneGuard& guard, ph_request& handle, ph_result& result,
                     std::int64_t timeout_us);
  // Takes up to `capacity` that are over into results[0 .. done).
  struct Takeover {
    ph_request_list list;
    ph_result* results;
    std::size_t capacity;
    std::size_t done = 0;
  };
  ph_status wait_some(LaneGuard& guard, Takeover& takeover, std::int64_t timeout_us);
  ph_status cancel(ph_request& handle, ph_outcome& outcome);

  // fast_path.hpp: probe() for small puts from hot rings; false: probe() has to go on with the same
  // taker.
  bool try_probe(const ph_query& query, Taker& taker) noexcept;
  // probe.cpp, wait.cpp
  ph_status probe(Taker& taker);
  ph_status wait(LaneGuard& guard, const ph_query& query, std::int64_t timeout_us);
  // After an empty probe: may somebody else need this core?
  bool should_yield() const noexcept { return give_way_.due(empty_turns_); }
  void serve() { progress(nullptr); }

  // regions.cpp
  ph_status add_region(const ph_region& range, std::uint32_t access, ph_region& region);
  ph_status remove_region(std::uint64_t key);
  ph_status find_region(const ph_region& range, ph_region& region);
  ph_status allocate(std::uint64_t size_bytes, ph_region& region);
  ph_status free_memory(void* base);

  // finalize.cpp
  ph_status finalize(LaneGuard& guard);

  // holdings.cpp: what operations hold on to. All but most_blocks is zero where nothing is under
  // way and everything was probed.
  struct Holdings {
    std::uint64_t requests = 0;
    std::int64_t events = 0;        // promised or waiting
    std::uint64_t blocks = 0;       // of ids and payloads
    std::uint64_t most_blocks = 0;  // that there ever were
    std::uint64_t queued = 0;       // remote ids, and what peers are owed
    std::uint64_t pins = 0;         // of own memory, for the card
  };
  Holdings holdings() noexcept;
  const SourceCache& sources() const noexcept { return sources_; }

  // contact.cpp
  ph_status describe(Rank rank, ph_path& path);
  const base::Config& config() const noexcept { return config_; }
  boot::Boot& boot() noexcept { return *boot_; }
  Rank rank() const noexcept { return self_; }
  std::uint32_t size() const noexcept { return size_; }
  const base::Error& last_error() const noexcept { return last_error_; }
  ph_status fail(ph_status status, Rank rank, std::string what, int native_errno = 0);
  ph_status fail(const base::Error& error);

 private:
  // Powers of two. An alarm tells of news; without one only looking does.
  static constexpr std::uint64_t kTurnsBetweenLooks = 32;
  static constexpr std::uint64_t kTurnsWithAlarm = 256;
  static constexpr std::size_t kHotKept = 4;  // peers whose rings are looked at however silent
  static constexpr std::uint64_t kTurnsOfSilence = 256;
  static constexpr unsigned kLooks = 2;            // at the hot rings in one fast probe
  static constexpr unsigned kReceiveBudget = 128;  // records of one peer in one turn
  static constexpr std::uint32_t kMaxGets = 64;    // served gets under way per peer
  static constexpr std::size_t kMaxReplies = std::size_t{1} << 20;  // that a peer may leave unread
  static constexpr std::int64_t kEverySlot = -1;
  static constexpr std::uint32_t kLineRoom = 32;  // payload of a one-line record with 8-byte id
  enum class Step : std::uint8_t { blocked, moved };

  // A record about to be written.
  struct Outgoing {
    wire::Kind kind = wire::Kind::put;
    std::uint64_t fixed[5] = {};
    const void* id = nullptr;
    std::uint32_t id_bytes = wire::kNoId;
    const void* payload = nullptr;
    std::uint32_t payload_bytes = 0;
    // put and bulk: names the operation should it be refused, and its request if it has one.
    std::uint64_t local_id = 0;
    ph_request request = PH_REQUEST_NONE;
  };

  // Bytes that we copy ourselves: from source (put) or to destination (get).
  struct Piece {
    ph_target at;
    std::uint64_t size_bytes = 0;
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
  };

  // A word that we change ourselves.
  struct MappedWord {
    ph_target at;
    sync::WordChange change;
    std::uint32_t access;
  };

  // transport::Sink
  void on_link(Rank rank) override;
  void on_activity(Rank rank) override;
  void on_gone(Rank rank, const base::Error& why) override;
  void on_done(std::uint64_t token, ph_status status) override;  // posted.cpp
  void on_piece(Rank from, std::uint32_t name) override;         // counted.cpp

  // contact.cpp
  ph_status contact(Rank rank, Peer*& peer);
  Peer& make_peer(Rank rank);
  Peer& remember_peer(std::unique_ptr<Peer> made);
  void adopt_link(Peer& peer);
  ph_status check_target(Peer& peer, const ph_target& target, std::uint64_t size_bytes,
                         std::uint32_t access);
  void lose(Peer& peer, ph_status status, std::string what);
  void fail_all(Peer& peer);
  void let_go(Peer& peer);
  void heat(Peer& peer);
  void cool(Peer& peer);
  void cool_idle();

  // send.cpp
  bool grant_runway(Peer& peer) noexcept;
  Fast told(const Peer& peer) const noexcept;
  void settle(Peer& peer) noexcept;
  bool events_left() noexcept;
  bool has_ledger(Peer& peer) noexcept;
  void remember(Peer& peer, const Outgoing& out);
  static void name(Outgoing& out, const Request& request) noexcept;
  bool send(Peer& peer, const Outgoing& out);
  void nudge(Peer& peer) noexcept;
  HeldId hold(const ph_id& id);
  const void* id_data(const HeldId& id) noexcept;
  void drop(HeldId& id) noexcept;
  void push_local(Peer& peer, const HeldId& id, ph_status status);
  void complete_local(Request& request, ph_status status);
  void mark_busy(Peer& peer);

  // put.cpp
  ph_status check_ids(const char* call, Rank rank, const ph_id& local, const ph_id& remote);
  ph_status check_put(Rank rank, const ph_put_args& args);
  bool put_now(Peer& peer, const ph_put_args& args);
  bool packed_now(Peer& peer, const ph_put_args& args);
  bool bulk_now(Peer& peer, const ph_put_args& args);
  bool direct_now(Peer& peer, const ph_put_args& args);
  static Outgoing outgoing(const ph_put_args& args) noexcept;
  ph_status put_queued(Peer& peer, const ph_put_args& args);
  ph_status check_request(const char* call, Rank rank, const ph_request* handle,
                          std::uint32_t flags);
  void name_locally(Request& request, const ph_id& local, ph_request* handle);
  Request::Kind choose(Peer& peer, const ph_put_args& args);
  ph_status check_get(Rank rank, const ph_get_args& args);
  Request* new_request(Peer& peer, std::uint32_t flags);
  ph_status again();

  // atomic.cpp
  ph_status check_atomic(Rank rank, const ph_atomic_args& args);
  bool atomic_now(Peer& peer, const ph_atomic_args& args);
  ph_status change_mapped(Peer& peer, const MappedWord& word, std::uint64_t& before);
  Step step_atomic(Peer& peer, Request& request);
  void atomic_done(Request& request, std::uint64_t before);
  bool take_atomic(Peer& peer, const wire::Header& header, Taker* taker);
  bool take_fetched(Peer& peer);

  // requests.cpp
  void hand_over(Request& request, ph_request* handle);
  void conclude(Request& request, ph_status status);
  ph_status take(Request& request, ph_request& handle, ph_result& result);
  bool nothing_has_gone(const Request& request) const noexcept;
  ph_status unknown_request(const char* call, ph_request handle);
  ph_status check_list(Takeover& takeover);

  // work.cpp, posted.cpp, ids.cpp, serve.cpp: everything that is queued to a peer
  bool process(Peer& peer);
  bool process_busy();
  Step step_work(Peer& peer, std::uint64_t& budget);
  Step step_bulk(Peer& peer, Request& request, std::uint64_t& budget);
  bool send_chunk(Peer& peer, Request& request, std::uint64_t bytes);
  Step stalled(Peer& peer, Request& request);
  void all_copied(Peer& peer, Request& request);
  Step step_reach(Peer& peer, Request& request, std::uint64_t& budget);
  ph_status copy_piece(Peer& peer, const Piece& piece);
  ph_status copy_next(Peer& peer, Request& request, std::uint64_t bytes);
  Step step_get(Peer& peer, Request& request, std::uint64_t& budget);
  Step step_posted(Peer& peer, Request& request, std::uint64_t& budget);
  bool has_room_to_begin(Peer& peer, const Request& request) noexcept;
  bool begin_posted(Peer& peer, Request& request);
  bool may_name(Peer& peer, const Request& request) noexcept;
  transport::PostedPiece next_piece(const Peer& peer, const Request& request,
                                    std::uint64_t bytes) const noexcept;
  void finish_posted(Request& request);
  bool is_ending(Peer& peer, ph_status verdict);
  void refused_by_card(Request& request);
  void abandon(Request& request, ph_status status);

  // local_memory.cpp
  SourceCache::Outcome pin_own(Request& request);
  void unpin_own(Request& request) noexcept;
  std::uint64_t pinned_bytes(const Request& request, std::uint64_t bytes) const noexcept;
  Step go_without_card(Peer& peer, Request& request);
  void forget_own(const ph_region& region) noexcept;

  Step step_fence(Peer& peer, Request& request);
  Step step_packed(Peer& peer, Request& request);
  Step step_ids(Peer& peer);
  Step step_ahead(Peer& peer);
  bool send_packed(Peer& peer, Request& request, bool with_payload, bool with_id);
  Step step_replies(Peer& peer);
  Step step_serves(Peer& peer, std::uint64_t& budget);
  bool bulk_room(Peer& peer, std::uint64_t bytes) noexcept;
  std::uint64_t chunk_bytes(std::uint64_t total, std::uint64_t left) const noexcept;
  void bytes_moved(Peer& peer, Request& request);
  void landed(Request& request);
  void fence_ended(Peer& peer, Request& fence);
  void request_failed(Request& request, ph_status status);
  void maybe_free(Request& request);
  bool may_post_id(const Peer& peer, const Request& request) const noexcept;

  // receive.cpp, serve.cpp, counted.cpp
  bool receive(Peer& peer, Taker* taker);
  bool take_small(Peer& peer, std::uint64_t header, Taker& taker) noexcept;
  void news_came() noexcept {
    if (empty_turns_ > GiveWay::kShort) give_way_.ended(empty_turns_);
    empty_turns_ = 0;
  }
  bool take_local(Taker& taker) noexcept;
  bool take_hot(Peer& peer, std::uint64_t word, Taker& taker) noexcept;
  unsigned pause_for_answer() noexcept;
  bool handle_once(Peer& peer, const wire::Header& header, Taker* taker);
  bool handle(Peer& peer, const wire::Header& header, Taker* taker);
  bool take_put(Peer& peer, const wire::Header& header, Taker* taker);
  bool take_bulk(Peer& peer, const wire::Header& header, Taker* taker);
  void place_chunk(Peer& peer, const ph_target& target, std::uint64_t bytes);
  bool take_get(Peer& peer);
  bool take_get_data(Peer& peer);
  bool take_get_failed(Peer& peer);
  bool take_ack(Peer& peer);
  bool take_refused(Peer& peer);
  bool deliver(Peer& peer, class RecordReader& reader, std::uint32_t id_bytes, Taker* taker);
  bool stash_id(Peer& peer, class RecordReader& reader, std::uint32_t id_bytes,
                std::int32_t status);
  bool take_counted(Peer& peer, const wire::Header& header, Taker* taker);
  bool take_withdrawn(Peer& peer);
  void settle_stash(Peer& peer) noexcept;
  void stash_changed(Peer& peer);
  void drop_coming(Peer& peer);
  bool answer(Peer& peer, const Reply& reply);
  void publish_credits(Peer& peer);

  // probe.cpp
  bool progress(Taker* taker);
  bool remotes_first(const ph_query& query) const noexcept;
  void take_turns(const Taker& taker) noexcept;
  void take_events(Taker& taker, std::uint32_t kind);
  void take_from(Peer& peer, std::uint32_t kind, Taker& taker);
  bool look_everywhere();

  // wait.cpp
  ph_status check_query(const char* call, const ph_query& query);
  bool ready(const ph_query& query) const noexcept;
  ph_status broken(const ph_query& query);
  ph_status not_flushed(const Peer& peer);
  ph_status wait_until(LaneGuard& guard, const std::function<bool()>& done,
                       std::int64_t timeout_us);
  void rest(LaneGuard& guard, std::int64_t timeout_us, const std::function<bool()>& done);
  void get_up();
  std::int64_t sleep_limit_us(std::int64_t timeout_us);
  void news();

  // regions.cpp, finalize.cpp
  bool wait_for_copies(std::int64_t slot);
  ph_status take_back_all();
  void dismiss_waiters(LaneGuard& guard);
  ph_status wait_until_sent(LaneGuard& guard, std::int64_t timeout_us);
  static bool all_sent_to(const Peer& peer) noexcept;
  void drop_remote_ids();
  void drop_results();
  bool all_sent();
  void say_bye();
  ph_status unheard_error();

  base::Config config_;
  std::unique_ptr<boot::Boot> boot_;
  std::unique_ptr<transport::Transport> transport_;
  Rank self_;
  std::uint32_t size_;
  const wire::PieceNames names_;
  base::Log log_;
  bool oversubscribed_ = false;

  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null: never contacted
  std::vector<Peer*> contacted_;
  std::vector<Peer*> hot_;
  std::vector<Peer*> busy_;
  PeerList local_ready_;
  PeerList stash_ready_;
  bool remotes_first_ = false;  // in the next probe of any peer for both kinds
  std::int64_t events_free_;
  unsigned poll_interval_;
  const transport::Alarm no_alarm_;
  const transport::Alarm* alarm_;
  std::uint64_t alarm_seen_ = 0;
  const std::uint64_t look_mask_;  // turns between two looks around, less one
  unsigned empty_polls_ = 0;
  unsigned empty_turns_ = 0;
  GiveWay give_way_;
  std::uint64_t turn_ = 0;
  std::uint64_t posted_count_ = 0;  // pieces
  std::uint32_t waiters_ = 0;       // threads inside wait_until()'s sleep
  bool sleeping_ = false;           // one of them is in transport_->sleep()
  bool activity_ = false;           // a poll found something

  RequestPool requests_;
  BlockPool id_blocks_;
  BlockPool payload_blocks_;
  Arena arena_;
  RegionBook regions_;
  SourceCache sources_;
  bool told_of_refusal_ = false;  // of memory, by our card
  base::Error last_error_;
  ph_status unheard_ = PH_OK;  // finalize: of requests that nobody took
  Rank unheard_rank_ = 0;

  std::mutex news_mutex_;
  std::condition_variable news_;
  std::uint64_t news_count_ = 0;  // under news_mutex_
};

}  // namespace photon::engine
