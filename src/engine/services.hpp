// The services of one lane, from the engine's side: who they are, what comes for them, what they
// are told, and when their turns and the user's code run (docs/adding-a-service.md).
//
// Invariants: a service is made at most once, and before its first record is shown to it; `due`
// stands in the engine's count of what a turn has to look at exactly while a service wants a turn
// or an end is to be told, once more while one wants looks, and once more while user code was left
// that is due. Owner: the Engine, under the lane's lock.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/block_pool.hpp"
#include "base/ring_queue.hpp"
#include "engine/parts/lane.hpp"
#include "engine/parts/peer.hpp"
#include "service/service.hpp"
#include "sync/run_right.hpp"

namespace photon::engine {

class Engine;
class ServicePort;
class RecordReader;

// A record of one line, copied: whose it is, and its header behind its words.
struct OneLine {
  wire::Owner owner{};
  bool is_body = false;
  std::uint32_t header_bytes = 0;
  std::uint64_t words[wire::kWordsPerLine];

  std::span<const std::byte> bytes(std::uint32_t first_word) const noexcept {
    return std::as_bytes(std::span(words)).subspan(first_word * sizeof *words, header_bytes);
  }
};

class Services {
 public:
  Services(Engine& engine, std::span<const service::Kind> kinds);
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  // Null: there is none of that owner in this lane. Makes it at its first use; throws bad_alloc.
  service::Service* use(wire::Owner owner);

  service::Port& port(wire::Owner owner) noexcept;

  // ---- what comes; false: malformed
  bool take_message(Peer& peer, const wire::Header& header);
  bool take_id(Peer& peer, const wire::Header& header, RecordReader& reader);
  bool take_body(Peer& peer, const wire::Header& header);
  // The records of one line that the peer's ring begins with; `word` is the first one's. False:
  // nothing was taken, and they go the general way.
  bool take_lines(Peer& peer, std::uint64_t word) noexcept;
  void give_back(Rank from, std::uint64_t loan);

  // ---- peers
  void met(Peer& peer) noexcept;
  void lost(Peer& peer, ph_status why);
  // Whether services may write lines to that peer right now.
  static void allow(Peer& peer) noexcept {
    peer.can_say =
        peer.broken == PH_OK && peer.link != nullptr && !peer.said_bye && peer.queues.are_open();
  }

  // ---- what goes
  bool step(Peer& peer);  // true: something moved
  ph_status say(wire::Owner owner, const service::Saying& what, std::uint64_t* ticket);
  ph_status say_body(wire::Owner owner, const service::Saying& what,
                     std::span<const std::byte> body, std::uint64_t token);
  ph_status get(wire::Owner owner, Rank from, const service::Port::Fetch& what,
                std::uint64_t& handle);
  bool give_up(std::uint64_t handle) noexcept;
  bool step_body(Peer& peer, Request& request, std::uint64_t& budget);
  bool step_behind(Peer& peer, Request& request);
  void ended(const Request& request, ph_status status);
  void failed(Request& request);
  ph_outcome cancel(const Request& request);

  // Whether anything was queued since this was asked last.
  bool has_queued() noexcept { return std::exchange(has_queued_, false); }

  // ---- turns
  bool is_due() const noexcept { return is_due_; }
  bool turn();  // true: something was done
  void count_call();
  void wants_turn(wire::Owner owner) noexcept;
  std::int64_t next_turn_ns() const noexcept;
  void look_at_clock() noexcept;  // whose time has come wants a turn
  void before_sleep();
  void before_flush(Rank rank);
  bool has_news();
  // Of services that look at memory.
  void wants_looks(wire::Owner owner, bool wants) noexcept;
  bool has_looks() const noexcept { return looks_ != 0; }
  bool look();  // true: something came of it

  // ---- the user's code
  void wants_run(wire::Owner owner) noexcept;
  bool has_run_beside() const noexcept;    // also for the progress thread
  bool is_beside_caller() const noexcept;  // this turn is the progress thread's
  bool may_run_beside() const noexcept { return beside_ != 0; }  // some ever
  // Gives the lane up while it runs. Bounded: what is due then is left.
  void run(LaneGuard& guard, bool beside_caller = false);
  // At the end of a call that may leave some: whoever comes next takes it up.
  void note_left() noexcept;
  bool runs_now(wire::Owner owner) const noexcept;
  bool is_in_run(wire::Owner owner) const noexcept;
  // Whether the caller is inside the user's code; whether anybody is.
  bool is_run_by_caller() const noexcept;
  bool is_run() const noexcept { return runs_ != 0; }
  // Whether the caller is inside code that must not wait.
  bool forbids_waits() const noexcept;
  // Before the engine's last error changes: the words of a call inside the user's code stand until
  // that code is over, and then those that they have displaced come back.
  void before_error() noexcept;

  // ---- for the eye
  void count(Rank rank, std::vector<NamedCount>& found) const;
  std::string ways(Rank rank) const;  // "; " before each

  // ---- leaving
  void close();
  bool is_idle() const noexcept;
  std::uint64_t held() const noexcept;

 private:
  friend class ServicePort;
  friend class QuickRun;
  friend class Engine;

  struct Slot {
    const service::Kind* kind = nullptr;
    std::unique_ptr<ServicePort> port;
    std::unique_ptr<service::Service> service;  // ends before its port
    sync::RunRight<transport::Policy> right;
    Lane::Lock::Token runner = 0;
    bool wants_turn = false;
    std::uint64_t requests = 0;  // of its quota, in use
  };
  struct End {
    wire::Owner owner;
    Rank rank;
    std::uint64_t token;
    ph_status status;
  };
  static constexpr std::size_t kMostQueued = std::size_t{1} << 20;  // messages that a peer leaves
  static constexpr unsigned kLinesAtOnce = 128;
  static constexpr unsigned kMostRounds = 16;  // of user code in one call
  // A caller who only posts makes a turn for services at least so often.
  static constexpr std::uint32_t kCallsPerTurn = 64;
  static constexpr std::int64_t kTurnNs = 20'000;

  Slot& slot(wire::Owner owner) noexcept { return slots_[static_cast<std::size_t>(owner)]; }
  void set_due(bool is) noexcept;
  void check_due() noexcept;
  bool tell_ends();
  bool is_taken(Peer& peer, const OneLine& one) noexcept;
  void refuse(Peer& peer) noexcept;
  bool is_message_taken(Peer& peer, const OneLine& one);
  bool is_body_taken(Peer& peer, const OneLine& one);
  bool is_whole_body(const Peer& peer, const OneLine& one) const noexcept;
  bool is_there(const Peer& peer, wire::Owner owner, std::uint64_t bytes) const noexcept;
  // Of QuickRun: whether that body of one chunk can be shown and lent; and then that it is.
  bool may_lend(Peer& peer, wire::Owner owner, std::uint64_t size_bytes) const noexcept;
  std::uint64_t lend(Peer& peer, wire::Owner owner, std::uint64_t size_bytes) noexcept;
  bool step_one(Peer& peer, wire::Owner owner);
  bool send_queued(Peer& peer, wire::Owner owner);
  void begin_work(Peer& peer, Request& request, const service::Saying& what);
  void end_work(Peer& peer, Request& request);
  bool is_first(const Peer& peer) const noexcept;
  HeldMessage hold(const service::Saying& what);
  std::uint64_t requests_under_way() const noexcept;
  Request* take_request(wire::Owner owner, Peer& peer);
  bool show_chunk(Peer& peer, wire::Owner owner, service::Chunk& chunk);
  bool may_begin(const Slot& slot) const noexcept;
  void run_one(Slot& slot, LaneGuard& guard);
  void end_run(Slot& slot) noexcept;
  void end_words() noexcept;

  Engine& engine_;
  std::array<Slot, wire::kOwners> slots_;
  std::vector<service::Outlet*> outlets_;
  base::RingQueue<End> ends_;
  base::BlockPool messages_{wire::kMaxIdBytes + wire::kMaxPackedBytes};
  base::Error displaced_;  // while the last error is one of the user's code:
  bool is_displaced_ = false;
  std::uint32_t looks_ = 0;       // a bit for each that wants looks
  std::uint32_t beside_ = 0;      // a bit for each that the progress thread may run
  std::uint32_t runs_ = 0;        // rights that are taken
  std::uint32_t next_quick_ = 0;  // of the hot peers: which QuickRun looks at first
  std::uint32_t calls_ = 0;       // since the last turn, and when the first of them was
  std::int64_t called_ns_ = 0;
  bool is_due_ = false;
  bool is_left_ = false;  // user code
  bool has_queued_ = false;
  bool is_closed_ = false;
};

}  // namespace photon::engine
