#include "task/thread/threads.hpp"

#include <cstring>
#include <new>

namespace photon::task {

Thread* Threads::make(const ThreadMaking& making) {
  if (exceptions_ == nullptr) {
    watch_.emplace(stacks_, pe_.number());
    exceptions_ = &exception_state();
  }
  const std::size_t variables_bytes = variables_.bytes();
  const std::uint32_t number = table_.take();
  Stack* stack =
      stacks_.take(stack_bytes(making.stack_bytes) + sizeof(Thread) + variables_bytes, number);
  if (stack == nullptr) {
    table_.give(number);
    return nullptr;
  }
  std::byte* at = reinterpret_cast<std::byte*>(stack) - sizeof(Thread);
  std::byte* variables = at - variables_bytes;
  if (variables_bytes != 0) std::memset(variables, 0, variables_bytes);
  const auto rank = static_cast<std::uint8_t>(pe_.rank());
  auto* thread = new (at) Thread{
      .chunk = {},
      .own_token =
          {.link = 0,
           .size_bytes = 0,
           .target = pe_.number(),
           .source = pe_.number(),
           .wire = {.handler = 0, .target = rank, .source = rank, .kind = Kind::token, .zero = 0}},
      .has_guard = stack->slab->guard_bytes != 0,
      .fiber = {stack->bottom, variables, run, at},
      .number = number,
      .function = making.function,
      .pe = reinterpret_cast<ph_task_pe*>(&pe_),
      .user = making.user,
      .variables = variables,
      .variables_bytes = variables_bytes,
      .stack = stack};
  thread->chunk.mark = Mark::token;
  table_.set(number, thread);
  return thread;
}

// On the stack of the thread, from its first turn on. Any exception but that of a thread that is
// freed ends the process.
void Threads::run(Fiber& fiber, void* argument) {
  Thread& self = *static_cast<Thread*>(argument);
  [&self]() noexcept {
    try {
      self.function(self.pe, self.user);
    } catch (const Freed&) {
    }
  }();
  self.state = ThreadState::over;
  fiber.finish();
}

void Threads::leave_frames() { throw Freed{}; }

Message* Threads::token_of(Pe& pe, const Body& body, std::size_t more_bytes) noexcept {
  Message* token = pe.pool().alloc(sizeof body + more_bytes);
  if (token == nullptr) return nullptr;
  const auto rank = static_cast<std::uint8_t>(pe.rank());
  token->target = token->source = pe.number();
  token->wire = {.handler = 0, .target = rank, .source = rank, .kind = Kind::token, .zero = 0};
  std::memcpy(body_of(*token), &body, sizeof body);
  return token;
}

// Below its stack is that of another thread, so nothing can go on.
void Threads::die_of_overflow(const Thread& thread) const noexcept {
  Machine::die(
      "PE %u: thread %u has overflowed its stack of %zu bytes: give it more by stack_bytes",
      pe_.number(), thread.number, thread.stack->slab->stack_bytes);
}

bool Threads::enqueue(Thread& thread) noexcept {
  const ThreadTurn& turn = thread.turn;
  Message* token = &thread.own_token;
  Priority priority = turn.priority;
  if (turn.words) {
    const std::size_t words_bytes = (priority.bits + 31) / 32 * sizeof(std::uint32_t);
    token = token_of(pe_, {thread.number, table_.generation(thread.number)}, words_bytes);
    if (token == nullptr) return false;
    priority.words = body_of(*token) + sizeof(Body);
    std::memcpy(body_of(*token) + sizeof(Body), turn.words.get(), words_bytes);
  }
  try {
    pe_.enqueue(*token, priority, turn.place);
  } catch (const std::bad_alloc&) {
    if (token != &thread.own_token) pe_.pool().free(*token);
    return false;
  }
  thread.token = token;
  return true;
}

// Of a thread that was freed while it was ready. It may still leave its frames, on whose stack this
// runs then: end() buries it.
bool Threads::drop_own_token(Thread& thread) noexcept {
  ++stale_;
  thread.token = nullptr;
  if (thread.state == ThreadState::over) bury(thread);
  return false;
}

// Of a token from a pool: the thread that is to run now, or null.
Thread* Threads::find_by(Message& token) noexcept {
  Body body{};
  if (token.size_bytes >= sizeof body) std::memcpy(&body, body_of(token), sizeof body);
  Thread* thread = table_.find(body.number, body.generation);
  const bool is_own = thread != nullptr && thread->token == &token;
  pe_.pool().free(token);
  if (thread == nullptr || thread->is_freed) {
    ++stale_;
    return nullptr;
  }
  if (is_own) return thread;
  if (thread->state != ThreadState::suspended && thread->state != ThreadState::made) {
    ++thread->awakenings;  // another PE's, which came too early
    return nullptr;
  }
  if (thread->is_prioritized && make_ready(*thread)) return nullptr;
  return thread;
}

void Threads::join(Thread& self, Thread& other) {
  if (self.is_freed) leave_frames();
  self.joined = &other;
  self.next_joiner = other.first_joiner;
  other.first_joiner = &self;
  self.state = ThreadState::joining;
  stop(self);
}

bool Threads::is_circle(const Thread& self, const Thread& other) noexcept {
  for (const Thread* thread = &other; thread != nullptr; thread = thread->joined)
    if (thread == &self) return true;
  return false;
}

void Threads::forget_join(Thread& thread) noexcept {
  Thread** at = &thread.joined->first_joiner;
  while (*at != &thread) at = &(*at)->next_joiner;
  *at = thread.next_joiner;
  thread.joined = nullptr;
}

// Those that wait for it are made ready in the order in which they have come.
void Threads::end(Thread& thread) noexcept {
  Thread* first = nullptr;
  while (Thread* joiner = thread.first_joiner) {
    thread.first_joiner = joiner->next_joiner;
    joiner->next_joiner = first;
    first = joiner;
  }
  for (; first != nullptr; first = first->next_joiner) {
    first->joined = nullptr;
    if (!make_ready(*first))
      Machine::die("PE %u has no memory to awaken thread %u, which has waited for thread %u",
                   pe_.number(), first->number, thread.number);
  }
  table_.give(thread.number);
  thread.set_turn({}, false);
  thread.state = ThreadState::over;
  if (thread.token != &thread.own_token) bury(thread);
}

void Threads::bury(Thread& thread) noexcept {
  for (Thread*& queued : queued_)
    if (queued == &thread) queued = nullptr;
  Stack& stack = *thread.stack;
  thread.~Thread();
  stacks_.give(stack);
}

void Threads::free(Thread& thread, Frames frames) noexcept {
  if (thread.joined != nullptr) forget_join(thread);
  thread.is_freed = true;
  if (thread.has_begun && frames == Frames::leave) return resume(thread);
  if (thread.has_begun) thread.fiber.drop();
  end(thread);
}

ph_status Threads::awaken_elsewhere(Pe& pe, const ph_task_thread& handle) noexcept {
  const Shared& shared = pe.shared();
  Message* token = token_of(pe, {handle.number, handle.generation}, 0);
  if (token == nullptr) return PH_ERR_MEMORY;
  const std::uint32_t process = handle.pe / shared.pes;
  token->target = handle.pe;
  token->wire.target = static_cast<std::uint8_t>(handle.pe % shared.pes);
  if (process == shared.process) {
    pe.balance().created += 1;
    shared.all[token->wire.target]->push(*token);
    return PH_OK;
  }
  const ph_status status = pe.machine().send(*token, process);
  if (status != PH_OK && !is_lost(status)) pe.pool().free(*token);
  return status;
}

void Threads::leave() noexcept {
  has_left_ = true;
  const std::uint32_t threads = table_.used();
  for (std::uint32_t number = 0; number < table_.size(); ++number)
    if (Thread* thread = table_.at(number); thread != nullptr) free(*thread);
  watch_.reset();
  exceptions_ = nullptr;
  if (threads != 0) inform(pe_, "%u threads were not over at the end, and were freed", threads);
}

void Threads::count(ph_task_thread_counts& counts) const noexcept {
  counts.threads = table_.used();
  counts.stacks = stacks_.made();
  counts.switches = switches_;
  counts.stale_tokens = stale_;
}

}  // namespace photon::task
