#include "checker/model.hpp"

#include <algorithm>

namespace photon::checker {

Model::Model(Program& program, const Options& options)
    : program_(program),
      options_(options),
      plain_cells_(options.detect_races),
      eager_stores_(options.reduce && !program.has_heavy_barrier()),
      has_fences_(expects_fences()),
      dropped_(program.locations().size()) {
  for (const LocationInfo& location : program.locations())
    track_clocks_ = track_clocks_ || (plain_cells_ && location.kind == LocationKind::cell);
}

State Model::initial() {
  const auto& values = program_.initial_values();
  Knowledge nothing;
  if (options_.stale_loads) nothing.view.resize(values.size() + 1);
  State state;
  for (unsigned id = 0; id < program_.threads_count(); ++id) {
    ThreadState thread{.node = program_.root(id),
                       .known = nothing,
                       .released = nothing,
                       .unacquired = nothing,
                       .buffer = {}};
    if (track_clocks_) thread.known.clock[id] = 1;
    thread.finished = program_.node(thread.node).op.kind == OpKind::done;
    state.parts.push_back(store_.threads.intern(std::move(thread)));
  }
  for (const std::uint64_t value : values)
    state.parts.push_back(store_.locations.intern({.messages = {{value, 0, nothing}}}));
  state.parts.push_back(store_.locations.intern({.messages = {{0, 0, nothing}}}));  // fences
  return state;
}

std::vector<Move> Model::moves(const State& state) {
  const Draft draft = look(state);
  for (unsigned thread = 0; thread < draft.threads_count(); ++thread)
    if (is_eager(operation(draft, thread))) return {{Move::Kind::step, thread, 0}};
  std::vector<Move> moves;
  for (unsigned thread = 0; thread < draft.threads_count(); ++thread)
    add_thread_moves(draft, thread, moves);
  for (unsigned thread = 0; thread < draft.threads_count(); ++thread)
    add_drains(draft, thread, moves);
  return moves;
}

bool Model::is_eager(const Operation& op) const {
  if (op.kind == OpKind::failure) return true;
  if (op.kind == OpKind::cell_get || op.kind == OpKind::cell_set)
    return plain_cells_ && options_.reduce;
  if (is_dropped(op)) return true;
  return op.kind == OpKind::store && op.order != std::memory_order_seq_cst && eager_stores_;
}

bool Model::is_dropped(const Operation& op) const {
  return options_.reduce && op.kind == OpKind::store && op.order == std::memory_order_relaxed &&
         !program_.is_read(op.location);
}

bool Model::has_dropped_too_much() {
  if (readers_looked_at_ == program_.read_locations()) return false;
  readers_looked_at_ = program_.read_locations();
  for (LocationId id = 0; id < dropped_.size(); ++id)
    if (dropped_[id] && program_.is_read(id)) {
      readers_looked_at_ = 0;  // so it is, whenever it is asked
      return true;
    }
  return false;
}

void Model::add_thread_moves(const Draft& draft, unsigned thread, std::vector<Move>& moves) const {
  const Operation& op = operation(draft, thread);
  const std::uint8_t targets = barrier_targets(draft, thread);
  if (op.kind == OpKind::heavy_barrier && targets != 0) {
    for (unsigned target = 0; target < draft.threads_count(); ++target)
      if ((targets >> target & 1) != 0) moves.push_back({Move::Kind::interrupt, thread, target});
    return;
  }
  if (!may_step(draft, thread)) {
    const bool spins = op.kind == OpKind::relax || op.kind == OpKind::retry;
    if (spins && draft.thread(thread).idle_spins < options_.idle_spins)
      moves.push_back({Move::Kind::idle, thread, 0});
    return;
  }
  unsigned choices = 1;
  if (op.kind == OpKind::load || (op.kind == OpKind::cell_get && !plain_cells_))
    choices = checker::choices(draft, thread, op);
  for (unsigned choice = 0; choice < choices; ++choice)
    moves.push_back({Move::Kind::step, thread, choice});
}

bool Model::may_step(const Draft& draft, unsigned thread) const {
  const Operation& op = operation(draft, thread);
  if (op.kind == OpKind::done) return false;
  if (is_event_read(op.kind)) return draft.location(op.location).messages.back().value != 0;
  if (op.kind == OpKind::relax || op.kind == OpKind::retry) return saw_change(draft, thread);
  return true;
}

bool Model::saw_change(const Draft& draft, unsigned thread) const {
  const auto& watched = program_.node(draft.thread(thread).node).watched;
  return std::any_of(watched.begin(), watched.end(), [&](const Watched& w) {
    return visible(draft, thread, w.location) != w.value;
  });
}

void Model::add_drains(const Draft& draft, unsigned thread, std::vector<Move>& moves) const {
  std::vector<LocationId> seen;
  for (const Buffered& entry : draft.thread(thread).buffer) {
    if (std::find(seen.begin(), seen.end(), entry.location) != seen.end()) continue;
    seen.push_back(entry.location);
    if (may_matter(draft, thread, entry.location))
      moves.push_back({Move::Kind::drain, thread, entry.location});
  }
}

bool Model::may_matter(const Draft& draft, unsigned thread, LocationId location) const {
  if (!options_.reduce) return true;
  for (unsigned other = 0; other < draft.threads_count(); ++other) {
    if (other == thread) continue;
    if (buffers(draft, other, location) || accesses(draft, other, location)) return true;
  }
  return false;
}

bool Model::accesses(const Draft& draft, unsigned thread, LocationId location) const {
  const Node& node = program_.node(draft.thread(thread).node);
  if (node.op.location == location) return true;
  return std::any_of(node.watched.begin(), node.watched.end(),
                     [&](const Watched& w) { return w.location == location; });
}

std::uint8_t Model::barrier_targets(const Draft& draft, unsigned thread) const {
  if (draft.thread(thread).in_barrier) return draft.thread(thread).barrier_targets;
  unsigned targets = 0;
  for (unsigned other = 0; other < draft.threads_count(); ++other) {
    const ThreadState& state = draft.thread(other);
    const bool pointless = state.finished && state.buffer.empty() && !options_.stale_loads;
    if (other != thread && !pointless) targets |= 1U << other;
  }
  return static_cast<std::uint8_t>(targets);
}

Step Model::apply(const State& state, const Move& move) {
  Draft draft = look(state);
  std::string failure;
  if (move.kind == Move::Kind::drain)
    memory(draft).drain(move.thread, move.target);
  else if (move.kind == Move::Kind::interrupt)
    interrupt(draft, move);
  else
    failure = perform(draft, move);
  memory(draft).forget_unreadable();
  return {draft.commit(), std::move(failure)};
}

std::string Model::perform(Draft& draft, const Move& move) {
  const Operation& op = operation(draft, move.thread);
  Memory memory = this->memory(draft);
  std::uint64_t result = 0;
  switch (op.kind) {
    case OpKind::cell_get:
    case OpKind::cell_set:
      if (plain_cells_) return perform_cell(draft, move.thread, op);
      if (op.kind == OpKind::cell_set) {
        memory.store(move.thread, op);
        break;
      }
      [[fallthrough]];
    case OpKind::load: result = memory.load(move.thread, op, move.target); break;
    case OpKind::store:
      if (is_dropped(op))
        dropped_[op.location] = true;
      else
        memory.store(move.thread, op);
      break;
    case OpKind::exchange:
    case OpKind::compare_exchange:
    case OpKind::fetch_add: result = memory.modify(move.thread, op); break;
    case OpKind::event_write:
    case OpKind::event_read:
    case OpKind::event_wait: result = memory.event(move.thread, op); break;
    case OpKind::full_fence: memory.full_fence(move.thread); break;
    case OpKind::heavy_barrier:  // nobody else is left
      memory.drain_all(move.thread);
      break;
    case OpKind::relax:
    case OpKind::retry:
      if (move.kind == Move::Kind::idle) ++draft.edit_thread(move.thread).idle_spins;
      for (const Watched& w : program_.node(draft.thread(move.thread).node).watched)
        memory.catch_up(move.thread, w.location);
      break;
    case OpKind::failure: return std::string("expectation failed: ") + op.text;
    case OpKind::done: break;
  }
  advance(draft, move.thread, result);
  return "";
}

std::string Model::perform_cell(Draft& draft, unsigned thread, const Operation& op) {
  Memory memory = this->memory(draft);
  std::uint64_t value = 0;
  const bool ordered = op.kind == OpKind::cell_get ? memory.cell_get(thread, op, value)
                                                   : memory.cell_set(thread, op);
  if (!ordered)
    return "data race: " + program_.thread_name(thread) + " accesses " +
           program_.locations()[op.location].name + ", unordered with another thread's access";
  advance(draft, thread, value);
  return "";
}

void Model::interrupt(Draft& draft, const Move& move) {
  const std::uint8_t targets = barrier_targets(draft, move.thread);
  memory(draft).interrupt(move.thread, move.target);
  ThreadState& caller = draft.edit_thread(move.thread);
  caller.in_barrier = true;
  caller.barrier_targets = static_cast<std::uint8_t>(targets & ~(1U << move.target));
  if (caller.barrier_targets != 0) return;
  caller.in_barrier = false;
  advance(draft, move.thread, 0);
}

void Model::advance(Draft& draft, unsigned thread, std::uint64_t result) {
  ThreadState& state = draft.edit_thread(thread);
  state.node = program_.child(state.node, result);
  if (program_.node(state.node).op.kind != OpKind::done) return;
  // Only a heavy barrier still asks what a finished thread knew; states coincide without the rest.
  state.finished = true;
  state.known.clock = {};
  state.released = state.unacquired = state.known;
}

std::string Model::judge_end(const State& state) {
  Draft draft = look(state);
  std::vector<NodeId> ends;
  std::string blocked;
  for (unsigned thread = 0; thread < draft.threads_count(); ++thread) {
    ends.push_back(draft.thread(thread).node);
    if (!draft.thread(thread).finished) blocked += " " + program_.thread_name(thread);
    memory(draft).drain_all(thread);
  }
  if (!blocked.empty()) return "deadlock: nothing can wake" + blocked;
  std::vector<std::uint64_t> values;
  for (LocationId id = 0; id + 1 < draft.locations_count(); ++id)
    values.push_back(draft.location(id).messages.back().value);
  const std::string failure = program_.finish(ends, values);
  return failure.empty() ? "" : "finally: " + failure;
}

}  // namespace photon::checker
