// Depth-first search over the model's states; each is entered once.
#include <algorithm>
#include <unordered_set>

#include "checker/checker.hpp"
#include "checker/model.hpp"
#include "checker/program.hpp"
#include "checker/trace.hpp"

namespace photon::checker {

namespace {

// A state's 128-bit digest stands for it: with a billion states the chance that two of them
// share one is below 1e-20.
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest_of(const State& state) {
  Hasher low;
  Hasher high(0xd6e8feb86659fd93ULL);
  const auto add = [&](std::uint64_t word) {
    low.add(word);
    high.add(word);
  };
  for (const std::uint32_t part : state.parts) add(part);
  add(std::uint64_t{state.last_thread} << 32 | state.preemptions);
  return {low.value(), high.value()};
}

struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

class Explorer {
 public:
  Explorer(Program& program, const Options& options)
      : program_(program), options_(options), model_(program, options) {}

  // False: something turned up too late (Model::must_restart()), explore again.
  bool run(Result& result);

 private:
  struct Frame {
    State state;
    std::vector<Move> moves;
    std::size_t next = 0;
  };

  void enter(State state, Result& result);
  void step(Result& result);
  void fail(const std::string& failure, Result& result);
  bool bounded() const { return options_.max_preemptions != ~0U; }
  void restrict_moves(const State& state, std::vector<Move>& moves) const;
  void count_preemption(const Frame& from, const Move& move, State& to) const;

  Program& program_;
  const Options& options_;
  Model model_;
  std::unordered_set<Digest, DigestHash> seen_;
  std::vector<Frame> path_;
};

bool Explorer::run(Result& result) {
  enter(model_.initial(), result);
  while (!path_.empty() && result.ok) {
    if (model_.must_restart()) return false;
    step(result);
  }
  if (bounded()) result.complete = false;
  if (!result.ok) result.complete = false;
  result.states = seen_.size();
  return !model_.must_restart();
}

void Explorer::step(Result& result) {
  Frame& frame = path_.back();
  if (frame.next == frame.moves.size()) {
    path_.pop_back();
    return;
  }
  const Move move = frame.moves[frame.next++];
  Step step = model_.apply(frame.state, move);
  ++result.transitions;
  if (!step.failure.empty()) return fail(step.failure, result);
  if (bounded()) count_preemption(frame, move, step.state);
  enter(std::move(step.state), result);
}

void Explorer::enter(State state, Result& result) {
  if (path_.size() >= options_.max_steps || seen_.size() >= options_.max_states) {
    result.complete = false;
    return;
  }
  if (!seen_.insert(digest_of(state)).second) return;
  std::vector<Move> moves = model_.moves(state);
  if (bounded()) restrict_moves(state, moves);
  if (moves.empty()) {
    ++result.executions;
    const std::string failure = model_.judge_end(state);
    if (!failure.empty()) return fail(failure, result);
    return;
  }
  path_.push_back({std::move(state), std::move(moves), 0});
  result.longest = std::max<std::uint64_t>(result.longest, path_.size());
}

void Explorer::fail(const std::string& failure, Result& result) {
  result.ok = false;
  Trace trace(program_, model_);
  for (const Frame& frame : path_) {
    const Move& move = frame.moves[frame.next - 1];
    trace.add(frame.state, move, model_.apply(frame.state, move).state);
  }
  result.trace = trace.text() + failure + "\n";
}

void Explorer::restrict_moves(const State& state, std::vector<Move>& moves) const {
  const auto goes_on = [&](const Move& m) {
    return m.thread == state.last_thread && m.kind != Move::Kind::drain;
  };
  if (state.preemptions < options_.max_preemptions) return;
  if (std::none_of(moves.begin(), moves.end(), goes_on)) return;
  std::erase_if(moves, [&](const Move& m) { return m.kind != Move::Kind::drain && !goes_on(m); });
}

void Explorer::count_preemption(const Frame& from, const Move& move, State& to) const {
  to.last_thread = from.state.last_thread;
  to.preemptions = from.state.preemptions;
  if (move.kind == Move::Kind::drain || from.moves.size() == 1) return;
  to.last_thread = static_cast<std::uint8_t>(move.thread);
  if (move.thread == from.state.last_thread) return;
  for (const Move& other : from.moves)
    if (other.kind != Move::Kind::drain && other.thread == from.state.last_thread) {
      ++to.preemptions;
      return;
    }
}

}  // namespace

Result explore(const Options& options, const Scenario& scenario) {
  Program program(scenario, options.weaken);
  for (;;) {
    Result result;
    Explorer explorer(program, options);
    if (explorer.run(result)) return result;
    if (options.begins_again) options.begins_again();
  }
}

}  // namespace photon::checker
