#include "task/run/pe.hpp"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace photon::task {

namespace {

std::int64_t read_steady_ns(void*) noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// The lane moves in the thread of its PE, or of a sibling that visits it.
Machine& here(void* user) noexcept {
  Pe& owner = *static_cast<Pe*>(user);
  if (!owner.is_here()) [[unlikely]]
    for (Pe* pe : owner.shared().all)
      if (pe->is_here()) return pe->machine();
  return owner.machine();
}

void copy_to_siblings(Pe& self, const Message& message) noexcept {
  for (Pe* sibling : self.shared().all) {
    if (sibling == &self) continue;
    Message* copy = self.pool().alloc(message.size_bytes);
    if (copy == nullptr)
      Machine::die("PE %u has no memory to tell its siblings of ph_task_exit()", self.number());
    copy->target = sibling->number();
    copy->source = message.source;
    std::memcpy(&copy->wire, &message.wire, sizeof(WireWord) + message.size_bytes);
    self.balance().created += 1;
    sibling->push(*copy);
  }
}

// What concerns the whole process is met where it arrives: no PE need run for it.
[[gnu::cold]] void meet_at_once(Pe& self, Message& message) noexcept {
  if (message.wire.kind == Kind::abort)
    Machine::die("PE %u has aborted the job: %.*s", message.source,
                 static_cast<int>(std::min<std::uint64_t>(message.size_bytes, PH_TASK_ABORT_BYTES)),
                 reinterpret_cast<const char*>(body_of(message)));
  const bool is_sound = message.size_bytes == sizeof(std::int32_t);  // else take_exit() drops it
  if (is_sound) copy_to_siblings(self, message);
  message.wire.target = static_cast<std::uint8_t>(self.rank());
}

// Runs in a look or a sleep of this PE, or in a visit of it.
void on_arrived(void* user, Message& message) noexcept {
  Pe& self = *static_cast<Pe*>(user);
  if (message.wire.kind == Kind::abort || message.wire.kind == Kind::exit) [[unlikely]]
    meet_at_once(self, message);
  const std::uint8_t target = message.wire.target;
  if (target == kAnyPe) {
    message.target = self.number();
    return self.push_node(message);
  }
  message.target = self.number() - self.rank() + target;
  if (target != self.rank()) return self.shared().all[target]->push(message);
  // A sibling that has visited this lane has pushed what came before it.
  self.push_own(message, self.shared().pes > 1);
  if (self.rests()) self.machine().wake();  // it sleeps in the call that runs this
}

}  // namespace

Clock steady_clock() noexcept { return {read_steady_ns, nullptr}; }

void Shared::wake(std::uint32_t rank) const noexcept {
  if (rank != ProcessQueue::kNobody) all[rank]->machine().wake();
}

bool drop_message(Pe& pe, Message& message) noexcept {
  pe.pool().free(message);
  return false;
}

Pe::Pe(Shared& shared, std::uint32_t rank)
    : shared_(shared),
      rank_(rank),
      first_(shared.process * shared.pes),
      pool_(static_cast<std::uint16_t>(rank), shared.shares[rank].memory(), shared.returns,
            shared.pool_bytes),
      machine_({shared.carried_bytes, shared.pes, &pool_, {on_arrived, this, here}}),
      calls_(reinterpret_cast<ph_task_pe*>(this)),
      watch_(shared.pes) {}

void Pe::push_node(Message& message) noexcept {
  chunk_of(message).is_queued = 1;
  shared_.wake(shared_.queue.push(message));
}

void Pe::enqueue_node(Message& message, const Priority& priority, PriorityQueue::Place place) {
  const std::uint8_t before = chunk_of(message).is_queued;
  chunk_of(message).is_queued = 1;  // before another PE may take it
  try {
    shared_.wake(shared_.queue.push(message, priority, place));
  } catch (...) {
    chunk_of(message).is_queued = before;
    throw;
  }
}

std::uint64_t Pe::run(std::int64_t count) noexcept {
  Run run{.is_stopped = exit_status_.has_value(),
          .most = count > 0 ? static_cast<std::uint64_t>(count) : kNoLimit};
  Run* const outer = run_;
  run_ = &run;
  while (!run.is_stopped && run.ran != run.most) {
    Message* message = next();
    if (message != nullptr) {
      if (watch_.is_on()) [[unlikely]]
        shared_.wake(watch_.end(shared_.queue));
      if (calls_.is_idle() && message->wire.kind != Kind::wave) [[unlikely]]
        calls_.end_idle();
      if (dispatch(*message)) ++run.ran;
    } else if (count == 0 || run.is_stopped) {
      break;
    } else {
      idle();
    }
  }
  run_ = outer;
  if (exit_status_) static_cast<void>(stop());
  if (watch_.is_on()) [[unlikely]]
    shared_.wake(watch_.end(shared_.queue));
  if (!shared_.queue.is_empty()) [[unlikely]]
    shared_.wake(shared_.queue.pass_over());
  return run.ran;
}

// Null: nothing is left, and the look that said so has just been; or what was called at a look has
// stopped this run.
Message* Pe::next() noexcept {
  if (until_look_ == 0 && !pace()) return nullptr;
  for (bool has_looked = false;; has_looked = true) {
    const bool has_prioritized = !priorities_.empty() || shared_.queue.has_prioritized();
    if (fifo_run_ < shared_.fifo_most || !has_prioritized)
      if (Message* message = first_come(); message != nullptr) {
        ++fifo_run_;
        --until_look_;
        return message;
      }
    if (Message* message = prioritized(); message != nullptr) {
      fifo_run_ = 0;
      --until_look_;
      return message;
    }
    if (has_looked) return nullptr;
    fifo_run_ = 0;
    if (!pace()) return nullptr;
  }
}

Message* Pe::first_come() noexcept {
  if (process_turn_ >= kProcessTurn && !shared_.queue.is_empty()) {
    process_turn_ = 0;
    if (Message* message = shared_.queue.pop(); message != nullptr) return message;
  }
  Message* message = inbox_.pop();
  if (message == nullptr) return shared_.queue.pop();
  ++process_turn_;
  return message;
}

Message* Pe::prioritized() noexcept {
  if (shared_.queue.has_prioritized()) {
    const std::optional<Priority> own =
        priorities_.empty() ? std::nullopt : std::optional(priorities_.first());
    Message* message = shared_.queue.pop_before(own ? &*own : nullptr);
    if (message != nullptr) return message;
  }
  return priorities_.empty() ? nullptr : &priorities_.pop();
}

bool Pe::look() noexcept {
  count_look();
  const bool moved = machine_.progress();
  return inbox_.take() || moved;
}

// The look, and how many tasks there are before the next one: at most 16, and fewer where those
// since the last look took longer than 20 us. Timers and conditions have their turn here. False:
// one of them has stopped this run.
bool Pe::pace() noexcept {
  const std::int64_t now = shared_.clock.now_ns();
  if (now - looked_at_ns_ > kMostBetweenLooksNs)
    between_looks_ = std::max(between_looks_ / 4, std::uint32_t{1});
  else
    between_looks_ = std::min(2 * between_looks_, kMostBetweenLooks);
  looked_at_ns_ = now;
  look();
  until_look_ = between_looks_;
  calls_.look(now);
  until_look_ = between_looks_;  // a run in one of them has used them up
  return !run_->is_stopped;
}

// Nothing is here. Whoever brings something from now on sees that this PE sleeps, or it does not
// fall asleep (inbox.hpp, process_queue.hpp).
void Pe::idle() noexcept {
  if (!calls_.polls()) {
    for (std::uint32_t i = 0; i < spin_.looks(); ++i)
      if (look()) return spin_.found();
    spin_.missed();
  }
  pool_.flush();
  if (calls_.begin_idle() && (!inbox_.empty() || !priorities_.empty() || run_->is_stopped)) return;
  std::int64_t most_us = calls_.sleep_us(shared_.clock.now_ns());
  if (most_us == 0) return;
  const ProcessQueue::Rest sleeps = shared_.queue.begin_sleep(rank_);
  if (sleeps == ProcessQueue::Rest::none) return;
  if (sleeps == ProcessQueue::Rest::watch && (most_us == PH_FOREVER || most_us > kWatchUs))
    most_us = kWatchUs;
  bool has_slept = false;
  if (inbox_.try_sleep()) {
    ++sleeps_;
    rest(true);
    has_slept = machine_.wait(most_us);
    rest(false);
    inbox_.rise();
  }
  const ProcessQueue::Risen risen = shared_.queue.end_sleep(rank_);
  watch_.set(risen.watches);
  shared_.wake(risen.to_wake);
  static_cast<void>(inbox_.take());
  const bool is_free = inbox_.empty() && shared_.queue.is_empty();
  if (watch_.is_on() && has_slept && is_free) watch_.visit(*this, shared_.all);
  if (!inbox_.empty() && !shared_.queue.is_empty()) shared_.wake(shared_.queue.pass_over());
}

void Pe::serve() noexcept {
  rest(true);
  machine_.wait(PH_FOREVER);
  rest(false);
  static_cast<void>(look());
}

bool Pe::dispatch(Message& message) noexcept {
  chunk_of(message).is_queued = 0;
  const Kind kind = message.wire.kind;
  if (kind == Kind::program) [[likely]] {
    perform(message);
    ++balance_.processed;
    return true;
  }
  const bool is_task = shared_.on(kind)(*this, message);
  if (kind != Kind::wave) ++balance_.processed;
  return is_task;
}

void Pe::perform(Message& message) noexcept {
  const std::uint32_t number = message.wire.handler;
  if (number >= handlers_.size()) [[unlikely]]
    Machine::die(
        "PE %u has a message of PE %u for handler %u, and has registered %zu: register "
        "it on all PEs in the same order",
        this->number(), message.source, number, handlers_.size());
  const Handler handler = handlers_[number];
  ++in_task_;
  handler.function(reinterpret_cast<ph_task_pe*>(this),
                   reinterpret_cast<ph_task_message*>(&message), handler.user);
  --in_task_;
  ++tasks_;
}

void Pe::count(ph_task_counts& counts) const noexcept {
  counts.tasks = tasks_;
  counts.looks = looks();
  counts.sleeps = sleeps_;
  counts.waited = machine_.losses().waited;
  counts.dropped = machine_.losses().dropped;
}

ph_status Pe::fail(ph_status status, const char* format, ...) noexcept {
  error_ = {.status = status, .native_errno = 0, .rank = PH_ANY_RANK, .text = {}};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error_.text, sizeof error_.text, format, arguments);
  va_end(arguments);
  return status;
}

void inform(const Pe& pe, const char* format, ...) noexcept {
  if (!pe.shared().logs_info) return;
  char text[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "photon[%u]: info: PE %u: %s\n", pe.shared().process, pe.number(), text);
}

}  // namespace photon::task
