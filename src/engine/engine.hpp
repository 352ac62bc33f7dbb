// The engine of one rank: posts, moves, receives, completes.
//
// Invariants and data: engine_state.hpp. Owner: the context. Threads: every member is called with
// the lane's lock held; wait(), flush() and finalize() give it up while they sleep. Split by verb.
#pragma once

#include <photon/atomic.h>
#include <photon/context.h>
#include <photon/request.h>
#include <photon/rma.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/parts/completion_sink.hpp"
#include "engine/parts/lane.hpp"
#include "engine/parts/operation.hpp"
#include "engine/parts/record_io.hpp"

namespace photon::engine {

class Engine final : private transport::Sink, private EngineState {
 public:
  using Parts = EngineParts;
  explicit Engine(Parts parts);
  ~Engine();

  enum class Fast : std::uint8_t { no, done, tell };
  // fast_path.hpp: no = nothing was done; tell = done, and finish_put() is due.
  Fast try_put_u64(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids) noexcept;
  Fast try_notify(Rank rank, std::uint64_t remote) noexcept;        // the same
  Fast try_atomic(Rank rank, const ph_atomic_args& args) noexcept;  // atomic.cpp
  void finish_put(Rank rank) noexcept;                              // put.cpp, get.cpp, wait.cpp
  ph_status put_u64(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids);
  ph_status notify(Rank rank, std::uint64_t remote);
  ph_status put(Rank rank, const ph_put_args& args);
  ph_status get(Rank rank, const ph_get_args& args);
  ph_status atomic(Rank rank, const ph_atomic_args& args);
  ph_status vectored(Rank rank, const Vectored& what);  // vectored.cpp
  ph_status fence(Rank rank);
  ph_status flush(LaneGuard& guard, Rank rank, std::int64_t timeout_us);

  // requests.cpp
  ph_status test(ph_request& handle, ph_result& result);
  ph_status wait_one(LaneGuard& guard, ph_request& handle, ph_result& result,
                     std::int64_t timeout_us);
  bool try_wait_one(ph_request& handle, ph_result& result, ph_status& status) noexcept;
  ph_status wait_some(LaneGuard& guard, RequestSweep& sweep, std::int64_t timeout_us);
  ph_status cancel(ph_request& handle, ph_outcome& outcome);

  // get.cpp: what there is to get came along with something else, and is only copied.
  ph_status get_here(Rank rank, const ph_get_args& args, const void* here);

  // fast_path.hpp: probe() for small puts from hot rings; false: probe() goes on with this sink.
  bool try_probe(const ph_query& query, auto& sink) noexcept;
  bool pop_local(SingleSink& sink) noexcept;
  bool take_streamed(SingleSink& sink) noexcept;
  bool pop_local(Rank rank, std::uint64_t& id) noexcept;
  // probe.cpp, wait.cpp
  enum class Served : std::uint8_t { no, yes, run };  // run: and the user's code is due
  Served serve_asked(const CompletionSink& sink) noexcept;
  ph_status probe(CompletionSink& sink);
  ph_status outstanding(Rank rank, std::uint64_t& count);
  ph_status wait(LaneGuard& guard, const ph_query& query, std::int64_t timeout_us);
  // After an empty probe: may somebody else need this core?
  bool should_yield() const noexcept { return yield_policy_.due(empty_turns_); }
  bool serve() { return progress(nullptr); }                      // true: something moved
  std::uint64_t turns() const noexcept { return turn_.shown(); }  // any thread, without the lock

  // regions.cpp
  ph_status add_region(const ph_region& range, std::uint32_t access, ph_region& region);
  ph_status find_region(const ph_region& range, ph_region& region);
  ph_status allocate(std::uint64_t size_bytes, ph_region& region);
  // Taking back: begun in one lane, each lane lets go of it, ended where it was begun (lanes.md).
  ph_status begin_removal(std::uint64_t key, Removal& removal);
  ph_status begin_freeing(void* base, Removal& removal);
  bool let_go_of(Removal& removal);  // false: a peer holds a copy open
  ph_status end_removal(const Removal& removal, bool all_let_go);

  // finalize.cpp; `meanwhile` is called again and again while it waits, outside the lane.
  ph_status finalize(LaneGuard& guard, const std::function<void()>& meanwhile = {});
  void tell_closed();    // threads that wait here
  void serve_leaving();  // closed, and finalize() is still to come

  // What another lane of this context is made of; contact.cpp.
  ph_status open_lane(std::uint32_t number, Parts& parts);
  ResourceUse resource_use() noexcept;  // resource_use.cpp
  const SourceCache& sources() const noexcept { return sources_; }
  // service_port.cpp; service(): null if this version has none of that owner. Throws bad_alloc.
  service::Service* service(wire::Owner owner);
  service::Port& port(wire::Owner owner) noexcept;  // of one that is in use
  bool owes_services() const noexcept { return user_code_ != 0 || wants_turns_; }
  bool wants_turns() const noexcept { return wants_turns_; }  // no fast path then
  void count_call();  // of a caller who may only post: now and then services have a turn
  void run_user_code(LaneGuard& guard);  // user_code.cpp
  void leave_user_code() noexcept;       // what is due is left to the next call that runs it
  // PH_ERR_STATE: the caller is inside a handler that must not wait.
  ph_status check_wait();
  bool has_refused_wait(ph_status status) const noexcept;     // and has left its words
  void hold_lane(bool does) noexcept { holds_lane_ = does; }  // while it waits for other ranks
  bool is_in_user_code() const noexcept;                      // the caller is
  void push_out();                   // what a call of a service has queued, as far as it goes
  bool quick_turn() noexcept;        // false: nothing was done, serve() is due
  void hear(Rank rank) noexcept;     // lines of that rank's for services that lie there already
  bool tested(bool found) noexcept;  // after a test: true: the core is to be given away
  ph_status wait_for(LaneGuard& guard, const std::function<bool()>& done, std::int64_t timeout_us) {
    return wait_until(guard, done, timeout_us);
  }
  // counting.cpp
  void start_counting(bool on);
  bool is_counting() const noexcept { return counting_; }
  ph_status counters(Rank rank, std::vector<NamedCount>& found);

  // contact.cpp, refused_calls.cpp
  ph_status describe(Rank rank, ph_path& path);
  const base::Config& config() const noexcept { return config_; }
  boot::Boot& boot() noexcept { return *boot_; }
  const transport::Transport& transport() const noexcept { return *transport_; }
  Rank rank() const noexcept { return self_; }
  std::uint32_t size() const noexcept { return size_; }
  const base::Error& last_error() const noexcept { return last_error_; }
  ph_status fail(ph_status status, Rank rank, std::string what, int native_errno = 0);
  ph_status fail(const base::Error& error);

 private:
  friend class Services;
  friend class ServicePort;
  friend class PeerView;      // peer_view.hpp
  friend class QuickRun;      // quick_run.hpp
  friend class Alone;         // alone.hpp
  friend class EagerChunks;   // eager_chunks.hpp
  friend class Reservations;  // reservations.hpp
  friend class GetTakeover;   // get_takeover.hpp
  friend class PutSamples;    // put_samples.hpp
  friend class StandIn;       // stand_in.cpp
  friend class EventSource;   // event_source.cpp
  enum class Step : std::uint8_t { blocked, moved };
  // transport::Sink
  void on_link(Rank rank) override;
  void on_activity(Rank rank) override;
  void on_gone(Rank rank, const base::Error& why) override;
  void on_done(std::uint64_t token, ph_status status) override;  // rma_ops.cpp
  void on_fragment(Rank from, std::uint32_t imm) override;       // imm_counting.cpp
  // counting.cpp
  static void count(Peer& peer, Count what, std::uint64_t more = 1) noexcept {
    if (peer.counts != nullptr) [[unlikely]]
      peer.counts->add(what, more);
  }
  PeerCounters counters_of(Peer& peer);
  void print_counters() noexcept;

  // contact.cpp, refused_calls.cpp; of hot rings: hot_rings.cpp
  ph_status contact(Rank rank, Peer*& peer);
  Peer& make_peer(Rank rank);
  Peer& remember_peer(std::unique_ptr<Peer> made);
  void adopt_link(Peer& peer);
  ph_status again() noexcept;
  ph_status check_request(const char* call, Rank rank, const ph_request* handle,
                          std::uint32_t flags);
  ph_status check_ids(const char* call, Rank rank, const ph_id& local, const ph_id& remote);
  ph_status check_size(const Call& call, const TargetRange& there);
  ph_status check_target(Peer& peer, const ph_target& target, std::uint64_t size_bytes,
                         std::uint32_t access);
  ph_status check_again(Peer& peer, const ph_target& target, std::uint64_t size_bytes,
                        std::uint32_t access);
  void lose(Peer& peer, ph_status status, std::string what);
  void fail_all(Peer& peer);
  void let_go(Peer& peer);
  void heat(Peer& peer);
  bool on_doorbell() noexcept;
  void cool(Peer& peer);
  void news();

  // lost.cpp, send.cpp
  void tell_lost(Peer& peer);
  void told_late(Peer& peer, const SentPut& put, ph_status status);
  bool refused_early(Peer& peer, std::uint64_t line, const SentPut& put, ph_status status);
  ph_status lost_of_any(const char* call);
  ph_status all_lost();
  bool grant_credit(Peer& peer) noexcept;
  Fast told(const Peer& peer) const noexcept;
  Fast done_u64(Peer& peer, std::uint64_t local) noexcept;
  Fast direct_u64(Peer& peer, ph_const_block source, const ph_target& target, ph_u64_ids ids);
  void settle(Peer& peer) noexcept;
  bool events_left() noexcept;
  bool has_ledger(Peer& peer) noexcept;
  bool overflow_fits(std::uint64_t words) noexcept;
  bool overflow_drained(Peer& peer) noexcept;
  bool bulk_room(Peer& peer, std::uint64_t bytes) noexcept;
  bool can_stage_now(Peer& peer, std::uint64_t bytes) noexcept;
  std::uint64_t chunk_bytes(std::uint64_t total, std::uint64_t left) const noexcept;
  bool may_post_id(const Peer& peer, const Request& request) const noexcept;
  void publish_credits(Peer& peer);
  void done_now(Peer& peer, const LocalEnd& end);
  void count_put(Peer& peer, std::uint64_t bytes) noexcept;
  void count_grant(Peer& peer) noexcept;
  bool send(Peer& peer, const Outgoing& out, bool is_told = true);
  void kick_peer(Peer& peer) noexcept;
  HeldId hold(const ph_id& id);
  const void* id_data(const HeldId& id) noexcept;
  void drop(HeldId& id) noexcept;
  void push_local(Peer& peer, const HeldId& id, ph_status status);
  void mark_busy(Peer& peer);
  // unexpected.cpp, overflow.cpp
  bool deliver(Peer& peer, RecordReader& reader, const wire::Header& header, CompletionSink* sink);
  void id_dropped(Peer& peer, const wire::Header& header) noexcept;
  bool queue_unexpected(Peer& peer, class RecordReader& reader, std::uint32_t id_bytes,
                        std::int32_t status);
  void unexpected_changed(Peer& peer);  // contact.cpp
  void refill_or_lose(Peer& peer);      // the same
  void show_unexpected(Peer& peer);
  void drop_coming(Peer& peer);
  bool take_jump(Peer& peer);
  bool pull_overflow(Peer& peer, std::uint64_t most);
  bool take_entry(Peer& peer);
  ph_status refill_unexpected(Peer& peer);
  void give_back_overflow(Peer& peer);
  bool read_off_overflow(Peer& peer);
  bool overflow_id(Peer& peer, LateId& late);
  void discard_bulk(Peer& peer) noexcept;
  Step step_overflow(Peer& peer);
  void forget_overflow(Peer& peer) noexcept;
  bool give_back_idle();

  // put.cpp
  ph_status check_put(Rank rank, const ph_put_args& args);
  bool put_on_grant(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids);
  ph_status put_anyhow(Rank rank, const ph_put_args& args);
  bool put_now(Peer& peer, const ph_put_args& args, Request::Kind way);
  bool notified_later(Peer& peer, const ph_put_args& args);
  bool packed_now(Peer& peer, const ph_put_args& args);
  bool bulk_now(Peer& peer, const ph_put_args& args);
  bool direct_now(Peer& peer, const ph_put_args& args);
  ph_status put_queued(Peer& peer, const ph_put_args& args, Request::Kind at_once);
  Request::Kind choose(Peer& peer, const ph_put_args& args, bool at_once);
  ph_status check_get(Rank rank, const ph_get_args& args);
  bool get_now(Peer& peer, const ph_get_args& args);
  ph_status get_queued(Peer& peer, const QueuedGet& what);
  // atomic.cpp
  Fast ask(Peer& peer, const ph_atomic_args& args) noexcept;
  void note_asked(Peer& peer, const ph_atomic_args& args) noexcept;
  ph_status check_atomic(Rank rank, const ph_atomic_args& args);
  bool atomic_now(Peer& peer, const ph_atomic_args& args);
  ph_status change_mapped(Peer& peer, MappedWord& word, std::uint64_t& before);
  Step step_atomic(Peer& peer, Request& request);
  void atomic_done(Request& request, std::uint64_t before);
  bool take_atomic(Peer& peer, const wire::Header& header, CompletionSink* sink);
  bool take_fetched(Peer& peer);
  bool is_fetched(Peer& peer, ph_status status, std::uint64_t before);
  // vectored.cpp, lay_out.cpp; way_of(): alone.cpp
  ph_status check_vectored(Rank rank, const Vectored& what);
  ph_status lay_out(Peer& peer, const Vectored& what, Layout& layout);
  ph_status lay_out_list(Peer& peer, const Vectored& what, Layout& layout, const auto& list);
  ph_status lay_out_grid(Peer& peer, const Vectored& what, Layout& layout);
  ph_status check_row(Peer& peer, const Vectored& what, const Layout::Run& row,
                      std::uint64_t before);
  ph_status check_grid(const Peer& peer, const Vectored& what, std::uint64_t& blocks);
  ph_status misfit(Rank rank, const Vectored& what, ph_status status, const std::string& why);
  ph_status plain(Rank rank, const Vectored& what, const Layout& layout);
  transport::Reach::Kind way_of(const Peer& peer, const Layout& layout) noexcept;
  Request::Kind choose(const Peer& peer, const Layout& layout, std::uint32_t flags) noexcept;
  bool vectored_now(Peer& peer, const Vectored& what, Layout& layout);
  bool scatter_now(Peer& peer, const Vectored& what, Layout& layout);
  bool layout_now(Peer& peer, const Vectored& what, Layout& layout);
  ph_status vectored_queued(Peer& peer, const Vectored& what, LayoutLease& layout);
  // requests.cpp
  ph_status cancel_promise(Request& request, ph_request& handle, ph_outcome& outcome);
  bool nothing_has_gone(const Request& request) const noexcept;
  ph_status unknown_request(const char* call, ph_request handle);
  ph_status check_list(RequestSweep& sweep);
  // copying.cpp, send_queue.cpp, rma_ops.cpp, id_queue.cpp, get_server.cpp: what goes to a peer
  ph_status copy_piece(Peer& peer, const Piece& piece);
  ph_status copy_next(Peer& peer, Request& request, Allowance& allowed);
  ph_status copy_layout(Peer& peer, Layout& layout, bool is_get, Allowance& allowed);
  bool process(Peer& peer);
  bool process_busy();
  bool work_due();  // probe.cpp: the busy peers and the services' turns
  Step step_work(Peer& peer, std::uint64_t& budget);
  Step step_bulk(Peer& peer, Request& request, std::uint64_t& budget);
  bool send_chunk(Peer& peer, Request& request, const Layout::Chunk& chunk);
  Step stalled(Peer& peer, Request& request);
  void all_copied(Peer& peer, Request& request);
  Step step_reach(Peer& peer, Request& request, std::uint64_t& budget);
  Step not_by_us(Peer& peer, Request& request, ph_status why);
  Step step_get(Peer& peer, Request& request, std::uint64_t& budget);
  Step step_get_layout(Peer& peer, Request& request, std::uint64_t& budget);
  Step step_posted(Peer& peer, Request& request, std::uint64_t& budget);
  bool posted_at_once(Peer& peer, Request& request);
  bool post_fragment(Peer& peer, Request& request, std::uint64_t bytes, std::uint64_t before);
  bool announce_fragments(Peer& peer, Request& request, std::uint64_t fragments);
  bool begin_posted(Peer& peer, Request& request);
  bool may_use_imm(Peer& peer, const Request& request) noexcept;
  transport::PostedFragment next_fragment(const Peer& peer, const Request& request,
                                          std::uint64_t bytes) const noexcept;
  void finish_posted(Request& request);
  bool is_ending(Peer& peer, ph_status verdict);
  void refused_by_nic(Request& request);
  void abandon(Request& request, ph_status status);
  // local_memory.cpp
  SourceCache::Outcome pin_own(Request& request);
  void unpin_own(Request& request) noexcept;
  std::uint64_t pinned_bytes(const Request& request, std::uint64_t bytes) const noexcept;
  bool is_all_pinned(const Request& request) const noexcept;
  Step go_without_nic(Peer& peer, Request& request);
  void forget_own(const ph_region& region) noexcept;
  Step step_fence(Peer& peer, Request& request);
  Step step_packed(Peer& peer, Request& request);
  Step step_ids(Peer& peer);
  Step step_ahead(Peer& peer);
  bool send_packed(Peer& peer, Request& request, bool with_payload, bool with_id);
  Step step_replies(Peer& peer);
  Step step_serves(Peer& peer, std::uint64_t& budget);
  void bytes_moved(Peer& peer, Request& request);
  Request* new_request(Peer& peer, std::uint32_t flags, bool is_beyond = false);
  void name_locally(Request& request, const ph_id& local, ph_request* handle);
  void hand_over(Request& request, ph_request* handle);
  void conclude(Request& request, ph_status status);
  ph_status take(Request& request, ph_request& handle, ph_result& result);
  void report_late(Peer& peer, std::uint64_t word, std::uint64_t request, ph_status status);
  void complete_local(Request& request, ph_status status);
  void landed(Request& request);
  void fence_ended(Peer& peer, Request& fence);
  void request_failed(Request& request, ph_status status);
  void maybe_free(Request& request);

  // receive.cpp, get_server.cpp, imm_counting.cpp, scatter.cpp, gather.cpp
  bool receive(Peer& peer, CompletionSink* sink);
  bool take_small(Peer& peer, std::uint64_t header, auto& sink) noexcept;
  bool take_by_fast_path(Peer& peer, std::uint64_t header, auto& sink) noexcept;
  bool take_local(CompletionSink& sink) noexcept;
  bool take_local(SingleSink& sink) noexcept;
  bool may_go_on_with_locals() noexcept;
  bool take_unexpected(SingleSink& sink) noexcept;
  bool take_hot(Peer& peer, std::uint64_t word, auto& sink) noexcept;
  bool take_asked(Peer& peer, std::uint64_t word) noexcept;
  bool take_good_fetched(Peer& peer, std::uint64_t word) noexcept;
  void has_met(Peer& peer) noexcept;
  bool quiet_turn() noexcept;
  unsigned pause_for_answer() noexcept;
  bool handle_once(Peer& peer, const wire::Header& header, CompletionSink* sink);
  bool handle(Peer& peer, const wire::Header& header, CompletionSink* sink);
  bool take_put(Peer& peer, const wire::Header& header, CompletionSink* sink);
  bool take_bulk(Peer& peer, const wire::Header& header, CompletionSink* sink);
  void place_chunk(Peer& peer, const TargetRange& rest, std::uint64_t bytes);
  bool end_chunk(Peer& peer, const wire::Header& header, RecordReader& id, CompletionSink* sink);
  bool take_scatter(Peer& peer, const wire::Header& header, CompletionSink* sink);
  bool place_runs(Peer& peer, std::uint64_t runs, std::uint64_t bytes);
  Step step_gather(Peer& peer, Request& request);
  bool take_gather(Peer& peer);
  Step step_gathered(Peer& peer, Serve& serve, std::uint64_t& budget);
  ph_status read_runs(Serve& serve, std::byte* to, std::uint64_t bytes) noexcept;
  bool take_gathered(Request& request, std::uint64_t bytes);
  bool gather_failed(Request& request, ph_status status);
  void ask_answered(Request& request);
  void end_serve(Peer& peer) noexcept;
  bool take_get(Peer& peer);
  bool take_get_data(Peer& peer);
  bool take_get_failed(Peer& peer);
  bool take_ack(Peer& peer);
  bool take_refused(Peer& peer);
  bool take_counted(Peer& peer, const wire::Header& header, CompletionSink* sink);
  bool take_withdrawn(Peer& peer);
  bool answer(Peer& peer, const Reply& reply);

  // probe.cpp
  bool progress(CompletionSink* sink);
  bool remotes_first(const ph_query& query) const noexcept;
  void take_turns(const CompletionSink& sink) noexcept;
  void take_events(CompletionSink& sink, std::uint32_t kind);
  void take_from(Peer& peer, std::uint32_t kind, CompletionSink& sink);
  void cool_idle();
  bool look_everywhere();
  ph_status check_query(const char* call, const ph_query& query);

  // wait.cpp
  bool ready(const ph_query& query) const noexcept;
  ph_status broken(const ph_query& query);
  ph_status not_flushed(Peer& peer);
  ph_status wait_until(LaneGuard& guard, const std::function<bool()>& done,
                       std::int64_t timeout_us);
  void rest(LaneGuard& guard, std::int64_t timeout_us, const std::function<bool()>& done);
  void get_up();
  std::int64_t sleep_limit_us(std::int64_t timeout_us);
  // regions.cpp, finalize.cpp
  bool wait_for_copies(std::int64_t slot);
  ph_status take_back_all();
  void dismiss_waiters(LaneGuard& guard);
  ph_status wait_until_sent(LaneGuard& guard, std::int64_t timeout_us);
  void drop_remote_ids();
  void drop_results();
  void take_nothing();
  bool all_sent();
  void say_bye();
  ph_status unheard_error();
};

}  // namespace photon::engine
