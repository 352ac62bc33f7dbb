// The checked program over the memory model, as a graph: states and the moves that leave them.
//
// Moves are reduced without losing an outcome:
//   - A move that commutes with everything others can do (storing into the own buffer, touching a
//     race-free cell) is the only one offered.
//   - A relaxed store to a location that nobody reads does nothing, at once.
//   - A buffered store leaves only if somebody could tell: another thread is about to access the
//     location, or another buffer holds a store to it. Otherwise leaving later is the same.
// Owner: explore().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/checker.hpp"
#include "checker/memory.hpp"
#include "checker/program.hpp"
#include "checker/state.hpp"

namespace photon::checker {

struct Move {
  enum class Kind : std::uint8_t {
    step,       // the thread's operation; target: which value a load returns, 0 the newest
    drain,      // its oldest buffered store to location `target`
    interrupt,  // its heavy barrier reaches thread `target`
    idle,       // its spin loop goes on though nothing has changed
  };
  Kind kind = Kind::step;
  unsigned thread = 0;
  std::uint32_t target = 0;
};

struct Step {
  State state;
  std::string failure;  // empty: none
};

class Model {
 public:
  Model(Program& program, const Options& options);

  State initial();
  std::vector<Move> moves(const State& state);
  Step apply(const State& state, const Move& move);
  // For a state without moves: what is wrong with ending here, or "".
  std::string judge_end(const State& state);

  // Eager stores are unsound if heavy barriers occur (a barrier can tell whether a store was made
  // yet), without fences less is tracked, and stores to a location that nobody reads are dropped.
  // True if a barrier, a fence or a reader turned up too late: explore again, it is known now.
  bool must_restart() {
    return (eager_stores_ && program_.has_heavy_barrier()) || (!has_fences_ && expects_fences()) ||
           has_dropped_too_much();
  }

  Draft look(const State& state) { return {store_, state, program_.threads_count()}; }
  const Operation& operation(const Draft& draft, unsigned thread) const {
    return program_.node(draft.thread(thread).node).op;
  }

 private:
  Memory memory(Draft& draft) const { return {draft, has_fences_}; }
  // A heavy barrier is one for what loads may return, but not for the race detector.
  bool expects_fences() const {
    return program_.has_fence() || (options_.stale_loads && program_.has_heavy_barrier());
  }
  bool is_eager(const Operation& op) const;
  bool is_dropped(const Operation& op) const;
  bool has_dropped_too_much();
  bool may_step(const Draft& draft, unsigned thread) const;
  bool saw_change(const Draft& draft, unsigned thread) const;
  bool accesses(const Draft& draft, unsigned thread, LocationId location) const;
  bool may_matter(const Draft& draft, unsigned thread, LocationId location) const;
  std::uint8_t barrier_targets(const Draft& draft, unsigned thread) const;
  void add_thread_moves(const Draft& draft, unsigned thread, std::vector<Move>& moves) const;
  void add_drains(const Draft& draft, unsigned thread, std::vector<Move>& moves) const;
  std::string perform(Draft& draft, const Move& move);
  std::string perform_cell(Draft& draft, unsigned thread, const Operation& op);
  void interrupt(Draft& draft, const Move& move);
  void advance(Draft& draft, unsigned thread, std::uint64_t result);

  Program& program_;
  const Options& options_;
  Store store_;
  bool plain_cells_ = false;  // cells bypass the buffers: races are reported instead
  bool track_clocks_ = false;
  bool eager_stores_ = false;
  bool has_fences_ = false;
  std::vector<bool> dropped_;       // locations with a store that was dropped
  unsigned readers_looked_at_ = 0;  // program_.read_locations() when they were compared with it
};

}  // namespace photon::checker
