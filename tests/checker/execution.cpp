#include "checker/execution.hpp"

#include <cstdlib>
#include <iostream>
#include <utility>

namespace photon::checker {

namespace {

// The one piece of ambient state: the policy's operations are static and have nowhere else to
// look. Always set through Scope.
thread_local Execution* current_execution = nullptr;

class Scope {
 public:
  explicit Scope(Execution* execution) : previous_(current_execution) {
    current_execution = execution;
  }
  ~Scope() { current_execution = previous_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Execution* previous_;
};

[[noreturn]] void misuse(const char* text) {
  std::cerr << "checker: " << text << '\n';
  std::abort();
}

std::memory_order without_release(std::memory_order order) {
  return acquires(order) ? std::memory_order_acquire : std::memory_order_relaxed;
}
std::memory_order without_acquire(std::memory_order order) {
  return releases(order) ? std::memory_order_release : std::memory_order_relaxed;
}

}  // namespace

Execution::Execution(const Scenario& scenario, const Weakening& weaken) : weaken_(weaken) {
  const Scope scope(this);
  scenario(stage_);
  if (stage_.threads_.empty() || stage_.threads_.size() > kMaxThreads)
    misuse("a run has 1 to 4 threads");
}

Execution::~Execution() {
  const Scope scope(this);  // destructors of the checked structures may read
  in_fiber_ = false;
  stage_ = Stage{};
}

Execution& Execution::current() {
  if (current_execution == nullptr) misuse("used outside explore()");
  return *current_execution;
}

LocationId Execution::add_location(LocationKind kind, std::uint64_t value) {
  if (in_fiber_) misuse("shared memory must be constructed in the scenario, before the threads");
  const auto id = static_cast<LocationId>(locations_.size());
  locations_.push_back({kind, group_ + "." + std::to_string(id - group_begin_)});
  values_.push_back(value);
  return id;
}

void Execution::group(const std::string& name) {
  group_ = name;
  group_begin_ = static_cast<unsigned>(locations_.size());
}

std::uint64_t Execution::perform(Operation op) {
  if (!in_fiber_) return perform_directly(op);
  if (weakened_away(op)) return 0;
  if (position_ == history_.size()) {
    suspend(op);
  } else if (!(history_[position_].op == op)) {
    misuse("a thread does something else in the same situation; does it share plain memory?");
  }
  return history_[position_++].result;
}

bool Execution::weakened_away(Operation& op) const {
  if (op.kind == OpKind::full_fence) return weaken_.full_fence;
  if (op.kind == OpKind::heavy_barrier) {
    if (weaken_.heavy_remote) op.kind = OpKind::full_fence;
    return weaken_.heavy_barrier;
  }
  const bool has_order =
      op.kind == OpKind::load || op.kind == OpKind::store || is_read_modify_write(op.kind);
  if (!has_order || !locations_[op.location].name.starts_with(weaken_.only)) return false;
  if (weaken_.release) op.order = without_release(op.order);
  if (weaken_.acquire) {
    op.order = without_acquire(op.order);
    op.failure_order = std::memory_order_relaxed;
  }
  return false;
}

std::uint64_t Execution::perform_directly(const Operation& op) {
  if (op.location == kNoLocation) return 0;  // a fence
  std::uint64_t& value = values_[op.location];
  const std::uint64_t found = value;
  if (has_ended_ && reads(op.kind)) read_at_end_.push_back(op.location);
  if (op.kind == OpKind::store || op.kind == OpKind::cell_set) value = op.operand;
  if (op.kind == OpKind::event_write) value += op.operand;
  if (op.kind == OpKind::event_read) value = 0;
  if (is_read_modify_write(op.kind)) value = modified(op, found);
  return found;
}

void Execution::expect(bool holds, const char* text) {
  if (holds) return;
  if (in_fiber_) perform({.kind = OpKind::failure, .text = text});
  if (failure_ == nullptr) failure_ = text;
}

// Every turn of the loop after its first pause is the same but for `spins`, so a later pause leads
// back to where the first one did: without this, a thread that is overtaken n times has 2^n pasts.
void Execution::pause(unsigned spins) {
  if (spins > 0) return retry(after_first_pause_);
  perform({.kind = OpKind::relax});
  after_first_pause_ = node();
}

void Execution::retry(NodeId begin) { perform({.kind = OpKind::retry, .operand = begin}); }

NodeId Execution::node() const { return position_ == 0 ? root_ : history_[position_ - 1].node; }

Operation Execution::run(unsigned thread, NodeId root, std::vector<Past> history) {
  thread_ = thread;
  root_ = root;
  history_ = std::move(history);
  position_ = 0;
  const Scope scope(this);
  in_fiber_ = true;
  fiber_.start(&Execution::fiber_main);
  in_fiber_ = false;
  return pending_;
}

Operation Execution::resume(const Past& last) {
  history_.push_back(last);
  const Scope scope(this);
  in_fiber_ = true;
  fiber_.enter();
  in_fiber_ = false;
  return pending_;
}

void Execution::suspend(const Operation& op) {
  pending_ = op;
  fiber_.leave();
}

void Execution::fiber_main() {
  Execution& self = current();
  self.stage_.threads_[self.thread_].second();
  self.perform({.kind = OpKind::done});
  misuse("a finished thread was resumed");
}

std::string Execution::finish(const std::vector<std::uint64_t>& values) {
  const Scope scope(this);
  values_ = values;
  has_ended_ = true;
  if (stage_.finally_) stage_.finally_();
  return failure_ == nullptr ? "" : failure_;
}

void Stage::group(const std::string& name) { Execution::current().group(name); }

void expect(bool holds, const char* text) { Execution::current().expect(holds, text); }

NodeId detail::begin_wait() { return Execution::current().node(); }

void detail::retry_wait(NodeId begin) { Execution::current().retry(begin); }

EventFd::EventFd() : location_(Execution::current().add_location(LocationKind::event, 0)) {}

void EventFd::write(std::uint64_t value) {
  Execution::current().perform(
      {.kind = OpKind::event_write, .location = location_, .operand = value});
}

std::uint64_t EventFd::read() {
  return Execution::current().perform({.kind = OpKind::event_read, .location = location_});
}

void EventFd::wait() {
  Execution::current().perform({.kind = OpKind::event_wait, .location = location_});
}

}  // namespace photon::checker
