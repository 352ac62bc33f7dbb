// Checks what a job does against the promises of docs/memory-model.md. It sees all ranks: it is
// told of every call before and after, and of every completion.
//
//   begin() -> [the call] -> posted()      completed() for each completion, in the order probed
//
// Lanes are told apart everywhere: order, completions and fences are each one's own, and what is
// probed on a lane has been posted by it. Memory is the ranks'.
//
//   flushed(), fenced(), retired() ...     check_*() at the end
//
// The first wrong observation is the finding; after it nothing is checked any more.
// Invariant: pending_ counts the accepted operations of which something is still expected.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simtest/history.hpp"
#include "simtest/operation.hpp"
#include "simtest/own_memory.hpp"
#include "simtest/program.hpp"
#include "simtest/rank_memory.hpp"

namespace photon::simtest {

// A promise not kept. Kinds: lost, twice, order, lane, bytes, id, status, stuck, guard, starved,
// unexpected, count, credits, held, region, time, late (handed over, and written afterwards),
// silent (accepted, then lost without a word).
struct Finding {
  std::string kind;
  std::string text;
};

std::string text_of(const ph_completion& one);

class Oracle {
 public:
  Oracle(const Program& program, History& history, std::function<std::uint64_t()> now_ns);

  bool failed() const noexcept { return finding_.has_value(); }
  const std::optional<Finding>& finding() const noexcept { return finding_; }
  void report(const char* kind, const std::string& text);

  RankMemory& memory(ph_rank rank) noexcept { return memories_[rank]; }
  OwnMemory& own_memory(ph_rank rank) noexcept { return own_memories_[rank]; }

  // An operation about to be posted, with its source filled or its destination prepared. The
  // reference stays valid.
  Operation& begin(const Endpoint& from, const Step& step);
  // Before each attempt, and what it said.
  void attempt(Operation& op);
  void posted(Operation& op, ph_status status);
  // It was taken back before anything of it had gone.
  void cancelled(Operation& op);

  // A completion that a probe for `query` gave there. `others`: of what is no operation so many can
  // have failed with such an error and without a name, those included that were seen before.
  void completed(const Endpoint& at, const ph_query& query, const ph_completion& one,
                 std::uint64_t others = 0);

  // An error that does not say whose it is.
  static bool is_nameless(const ph_completion& one) noexcept {
    return one.kind == PH_LOCAL && one.status != PH_OK && one.id == 0 &&
           (one.id_size_bytes == 8 || one.id_size_bytes == 0);
  }

  void fenced(const Endpoint& from, ph_rank peer);
  // The flush, of `peer` or PH_ANY_RANK, returned PH_OK. It was called at `begun_at` on the count
  // of events, and need not cover what handlers have posted since then.
  void flushed(const Endpoint& from, ph_rank peer, std::uint64_t begun_at = ~std::uint64_t{0});
  // A wait of at most `limit_us`, begun at `begin_ns`, has ended now.
  struct Wait {
    const char* what;
    std::uint64_t begin_ns;
    std::int64_t limit_us;
    std::uint64_t stood_still_ns = 0;           // of its rank meanwhile, by the conductor's will
    std::uint64_t lost_ns = ~std::uint64_t{0};  // since then its peer can be known to be lost
  };
  void waited(ph_rank rank, const Wait& wait, ph_status status);
  // `extra` or `arena`: registered or allocated; before the last hold is taken back, and after.
  void enrolled(ph_rank rank, Area area, const ph_region& region);
  void retiring(ph_rank rank, Area area);
  void retired(ph_rank rank, Area area);

  // Around ph_finalize() of a rank that goes before the others are done; around ph_lane_close().
  void leaving(const Endpoint& end);
  // `is_explained`: by something that this does not know of.
  void left(const Endpoint& end, ph_status status, bool is_explained = false);
  // Where fragments are counted, an id of a dead rank that lacks some never comes, and those behind
  // it do: their bytes are there.
  void count_fragments() noexcept { counts_fragments_ = true; }
  // Whether there are ways to a peer's memory that need nobody there.
  void reach_alone(bool can) noexcept { reaches_alone_ = can; }
  // Whether nobody can be touching `extra` of that rank: of all operations on it it is known that
  // they have ended.
  bool may_revoke(ph_rank rank) const noexcept;
  // Whether peers see each other's regions and memory, where that is within reach of their stores.
  void share_memory(bool is_shared) noexcept { is_memory_shared_ = is_shared; }
  bool is_memory_shared() const noexcept { return is_memory_shared_; }
  // A rank's own store by a pointer into `arena` of a peer: no operation, and nobody completes it.
  // Its source is ready from begin_store() on; stored(): all of it is there.
  Operation& begin_store(ph_rank rank, const Step& step);
  void stored(std::uint32_t number);
  void stored_in_freed(std::uint32_t number, std::uint32_t generation);
  // A rank dies, in the middle of anything.
  void died(ph_rank rank);
  // Checks the error that a call refused with PH_ERR_PEER left in ph_last_error(): it must name a
  // dead rank, or one to which the link is lost.
  void named(const Endpoint& at, ph_rank peer, const ph_error& error);
  // The link between two ranks is about to be lost for good: oracle_losses.cpp.
  void link_lost(ph_rank a, ph_rank b);
  bool is_lost(ph_rank a, ph_rank b) const;
  bool is_dead(ph_rank rank) const { return dead_[rank]; }
  bool is_leaving(const Endpoint& end) const noexcept {
    return leaving_[end.rank * lanes_] || leaving_[end.rank * lanes_ + end.lane];
  }
  // Whether a call of `rank` that concerns this peer, or PH_ANY_RANK, may be refused so therefore.
  bool may_be_lost(ph_rank rank, ph_rank peer, ph_status status) const;
  // A flush failed, with this error.
  void flush_failed(const Endpoint& at, const ph_error& error);
  // Says whether an error that was told since that event names this peer, or a flush has failed
  // because of it.
  std::uint64_t events_so_far() const noexcept { return events_; }
  bool was_told_since(const Endpoint& at, ph_rank peer, std::uint64_t event);
  // Checks the status of ph_finalize() and the error that it left, when all ranks have looked for
  // what came: the error may name a rank that died as well.
  void finalized(ph_rank rank, ph_status status, const ph_error& error);
  // Whether a call that concerns this peer, or PH_ANY_RANK, may be refused so, because a rank
  // leaves or died.
  bool may_be_gone(const Endpoint& peer, ph_status status);

  // An operation that it is not told of; and what else there is to tell of.
  void also_under_way(const Endpoint& from, ph_rank to) { ++flow(from, to).to_complete; }
  void note(const Endpoint& at, const std::string& what);
  // Whether nothing is expected any more.
  bool is_settled();
  std::uint64_t last_event_ns() const noexcept { return last_event_ns_; }
  // A finding that names what is still expected.
  void report_pending();
  // Nothing is under way: all memory of the rank, byte by byte, but `arena`: that is checked
  // before ph_finalize(), which takes it back.
  void check_lease(ph_rank rank, Area area);
  void check_memory(ph_rank rank);
  // After ph_finalize(): gets that nobody was to hear of.
  void check_silent_gets(ph_rank rank);

 private:
  // From one rank to another, by one lane.
  struct Flow {
    std::uint64_t fences = 0;
    std::deque<Operation*> ordered;    // remote ids expected, in this order
    std::deque<Operation*> short_ids;  // local ids expected that do not name their operation
    std::vector<Operation*> unlanded;  // puts not known to have landed
    std::vector<Operation*> reads;     // gets of what is lent, under way
    // Errors that did not say whose they are; of them, those that may be of operations.
    std::map<ph_status, std::uint32_t> all_nameless;
    std::map<ph_status, std::uint32_t> nameless;
    std::uint32_t to_complete = 0;  // operations whose local completion was not seen
    // On the count of events: the link is lost, and an error has named the peer, or a flush has
    // failed because of it.
    std::uint64_t told_at = 0;
    std::uint64_t flush_failed_at = 0;
  };

  std::uint64_t now_ns() const { return now_ns_(); }
  std::size_t index_of(const Endpoint& from, ph_rank to) const noexcept {
    return (from.rank * ranks_ + to) * lanes_ + from.lane;
  }
  Flow& flow(const Endpoint& from, ph_rank to) noexcept { return flows_[index_of(from, to)]; }
  Flow& flow(const Operation& op) noexcept { return flow({op.initiator, op.lane}, op.target()); }
  void expect_status(const Operation& op, ph_status status);
  void accept(Operation& op);
  void withdraw(Operation& op);

  Operation* find(const Endpoint& at, const ph_completion& one);
  Operation* find_short(const Endpoint& at, const ph_completion& one);
  bool bears_id(const Operation& op, const ph_completion& one, std::uint32_t size_bytes);
  bool check_shape(const Endpoint& at, const ph_query& query, const ph_completion& one);
  void local_done(Operation& op, const ph_completion& one);
  void local_failed(Operation& op, const ph_completion& one);
  void nameless_error(const Endpoint& at, const ph_completion& one, std::uint64_t others);
  bool can_be_meant(const Operation& op, const Endpoint& at, const ph_completion& one);
  bool may_fail_with(const Operation& op, ph_status status);
  bool may_lack_way(const Operation& op);
  bool is_bye(const Operation& op, ph_status status);
  void check_bye(const Endpoint& end, ph_status status, bool is_explained);
  void told(const Endpoint& at, ph_rank peer);
  bool has_arrived(const Operation& op);
  bool was_told_of(const Operation& op);
  void remote_done(Operation& op);
  void check_order(Operation& op);

  void landed(Operation& op);
  void check_landed(const Operation& op);
  void check_overlap(const Operation& op, Overlap& writes, std::span<std::byte> memory);
  void check_destination(Operation& op);
  void check_read(Operation& get);
  bool is_older(std::uint32_t number, const Operation& than) const;
  void doubt(const std::vector<Operation*>& under_way, Area area);
  void check_window(ph_rank rank);
  void check_changed(const Operation& op);
  void check_words(ph_rank rank);
  void check_sum(ph_rank rank, std::uint32_t word);
  void check_trail(ph_rank rank, std::uint32_t word);
  static std::uint64_t fetched(Operation& op);
  void check_mixed(const Operation& op);

  const std::uint32_t ranks_;
  const std::uint32_t lanes_;  // the contexts' own included
  const std::uint64_t id_max_;
  History& history_;
  const std::function<std::uint64_t()> now_ns_;
  std::optional<Finding> finding_;
  std::vector<RankMemory> memories_;
  std::vector<OwnMemory> own_memories_;
  std::deque<Operation> operations_;  // by number - 1
  std::vector<Flow> flows_;
  std::vector<std::byte> id_;  // scratch
  std::uint64_t events_ = 0;
  std::uint64_t pending_ = 0;
  std::uint64_t nameless_ = 0;  // of all flows
  // By rank and lane: ph_finalize() was called before the others were done, ph_lane_close().
  std::vector<bool> leaving_;
  std::vector<bool> dead_;  // by rank
  std::vector<bool> lost_;  // links, by both their ranks
  bool counts_fragments_ = false;
  bool reaches_alone_ = false;
  bool is_memory_shared_ = false;
  std::uint64_t last_event_ns_ = 0;
};

}  // namespace photon::simtest
