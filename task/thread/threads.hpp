// The threads of one PE: made, awakened, run by their tokens, ended.
//
// A token is a message of Kind::token whose body names a thread by number and generation. Whatever
// a PE has for threads is here; nothing of it is shared but the limit of stacks.
// Invariant: `current_` is the thread on whose stack this runs, or null. A handler, or a function
// of a timer, that runs in a nested run on that stack is no part of it: then tasks and such
// functions are deeper nested than when its turn began. Owner: the PE, whose thread makes every
// call but awaken_elsewhere(), which is of its caller's PE.
#pragma once

#include <photon/task.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "task/run/pe.hpp"
#include "task/thread/stack_overflow.hpp"
#include "task/thread/stacks.hpp"
#include "task/thread/thread.hpp"
#include "task/thread/thread_table.hpp"
#include "task/thread/thread_variables.hpp"

namespace photon::task {

struct ThreadMaking {
  ph_task_thread_function function;
  void* user;
  std::uint64_t stack_bytes;  // 0: as the config says
};

class Threads {
 public:
  static constexpr std::uint64_t kStackBytes = std::uint64_t{64} << 10;
  // So many turns before its own a thread is fetched into the cache: the processor looks for the
  // page of one for as long as the turns of several take.
  static constexpr std::size_t kAhead = 8;

  // Null `limit`: stacks have no guards. `goes_on`: nor have those beyond it.
  Threads(Pe& pe, StackLimit* limit, bool goes_on, std::uint64_t stack_bytes)
      : pe_(pe), limit_(limit), stack_bytes_(stack_bytes), stacks_(limit, goes_on) {}
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Null: no stack, and nothing was made. Throws bad_alloc: the same.
  Thread* make(const ThreadMaking& making);
  ph_task_thread handle_of(const Thread& thread) const noexcept {
    return {pe_.number(), thread.number, table_.generation(thread.number)};
  }
  // Of this PE. Null: it is over, or never was.
  Thread* find(const ph_task_thread& handle) const noexcept {
    return table_.find(handle.number, handle.generation);
  }
  bool was(const ph_task_thread& handle) const noexcept {
    return table_.was(handle.number, handle.generation);
  }
  // The thread that calls; null: a handler, or neither.
  Thread* self() const noexcept {
    if (current_ == nullptr || depth() != current_->depth) return nullptr;
    return current_;
  }

  // Of one that was made or suspended, or that runs and leaves then. False: no memory for a token.
  bool make_ready(Thread& thread) noexcept {
    if (!thread.is_prioritized) [[likely]]
      push(thread);
    else if (!enqueue(thread))
      return false;
    ++pe_.balance().created;
    thread.state = ThreadState::ready;
    return true;
  }
  // These are called by `self`, and return when it goes on.
  [[gnu::always_inline]] void suspend(Thread& self);
  [[gnu::always_inline]] bool yield(Thread& self);  // false: no memory, and it has not stopped
  void join(Thread& self, Thread& other);
  // Would `self` wait for itself?
  static bool is_circle(const Thread& self, const Thread& other) noexcept;
  // Of one that was made or suspended: its turn, which no token has brought.
  // It comes back here when it stops, and passes its turn to no other.
  void run_now(Thread& thread) noexcept {
    const bool before = std::exchange(is_called_, true);
    resume(thread);
    is_called_ = before;
  }
  // Of one that does not run. A token of it that is queued is stale from now on, also while the
  // thread leaves its frames.
  enum class Frames : std::uint8_t { leave, forget };
  void free(Thread& thread, Frames frames = Frames::leave) noexcept;

  // A token of a PE's own making for a thread of another PE; as Machine::send().
  static ph_status awaken_elsewhere(Pe& pe, const ph_task_thread& handle) noexcept;
  // A token that has its turn. True: a thread has run.
  [[gnu::always_inline]] bool take(Message& token) noexcept;

  // Ends all of them, since the PE ends.
  void leave() noexcept;
  bool has_left() const noexcept { return has_left_; }

  ThreadVariables& variables() noexcept { return variables_; }
  StackLimit* limit() const noexcept { return limit_; }
  const Stacks& stacks() const noexcept { return stacks_; }
  // What a thread gets that asks for so many; 0: as the config says.
  std::uint64_t stack_bytes(std::uint64_t asked) const noexcept {
    return asked != 0 ? asked : stack_bytes_;
  }
  void count(ph_task_thread_counts& counts) const noexcept;

 private:
  // Of tasks and of functions that are no handlers, which may be nested.
  std::uint32_t depth() const noexcept { return pe_.task_depth() + pe_.calls().depth(); }

  struct Body {  // of a token, with the words of a long priority behind it
    std::uint32_t number;
    std::uint32_t generation;
  };
  struct Freed {};  // thrown through the frames of a thread that is freed

  static void run(Fiber& fiber, void* argument);
  [[gnu::always_inline]] void resume(Thread& thread) noexcept;
  [[gnu::always_inline]] void begin_turn(Thread& thread) noexcept;
  [[gnu::always_inline]] void stop(Thread& self);
  // Begins the turn that would be next if `self` came back to the loop. Null: the loop decides.
  [[gnu::always_inline]] Thread* begin_next(const Thread& self) noexcept;
  static void leave_frames();  // throws
  [[noreturn, gnu::cold]] void die_of_overflow(const Thread& thread) const noexcept;
  // Behind what has come. The one that was queued kAhead before it fetches it.
  void push(Thread& thread) noexcept {
    Thread*& before = queued_[next_queued_++ % kAhead];
    if (before != nullptr) before->later = &thread;
    before = &thread;
    thread.later = nullptr;
    thread.token = &thread.own_token;
    pe_.push_own(thread.own_token);
  }
  [[gnu::noinline]] bool enqueue(Thread& thread) noexcept;
  bool drop_own_token(Thread& thread) noexcept;
  Thread* find_by(Message& token) noexcept;
  void bury(Thread& thread) noexcept;
  void end(Thread& thread) noexcept;
  void forget_join(Thread& thread) noexcept;
  static Message* token_of(Pe& pe, const Body& body, std::size_t more_bytes) noexcept;

  Pe& pe_;
  StackLimit* limit_;
  const std::uint64_t stack_bytes_;
  Stacks stacks_;
  std::optional<OverflowWatch> watch_;
  ExceptionState* exceptions_ = nullptr;  // of the PE's thread
  ThreadTable table_;
  ThreadVariables variables_;
  Thread* current_ = nullptr;
  std::array<Thread*, kAhead> queued_{};  // those that were queued last, for `later`
  std::size_t next_queued_ = 0;
  bool has_left_ = false;
  bool is_called_ = false;  // by run_now(): whoever stops comes back
  std::uint64_t switches_ = 0;
  std::uint64_t stale_ = 0;
};

// What a turn touches: the first lines of a thread, and its last frames, which stand below it. (GCC
// takes a function that does nothing else for one without effects, and drops its calls.)
[[gnu::always_inline]] inline void fetch(const Thread* thread) noexcept {
  constexpr int kLinesAbove = 2;
  constexpr int kLinesBelow = 5;
  // As a number: what is below a thread is no object.
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(thread) - kLinesBelow * kLineBytes;
  for (int line = -kLinesBelow; line < kLinesAbove; ++line, at += kLineBytes)
    __builtin_prefetch(reinterpret_cast<const void*>(at), 1);
}
// The thread whose turn comes some turns behind that of this one.
[[gnu::always_inline]] inline void fetch_later(const Thread& thread) noexcept {
  if (thread.later != nullptr) fetch(thread.later);
}

// Where guards do not find it.
inline bool has_overflowed(const Thread& thread) noexcept {
  return !thread.has_guard && Stacks::has_overflowed(thread.fiber.bottom());
}

inline void Threads::begin_turn(Thread& thread) noexcept {
  current_ = &thread;
  thread.state = ThreadState::running;
  thread.depth = depth();
  ++switches_;
}

// Whoever comes back is the last of those to which the turns have passed on.
inline void Threads::resume(Thread& thread) noexcept {
  Thread* const outer = current_;
  ++pe_.task_depth();
  thread.has_begun = true;
  begin_turn(thread);
  thread.fiber.enter(*exceptions_);
  Thread& last = *current_;
  if (has_overflowed(last)) [[unlikely]]
    die_of_overflow(last);
  --pe_.task_depth();
  current_ = outer;
  if (last.state == ThreadState::over) [[unlikely]]
    end(last);
}

inline Thread* Threads::begin_next(const Thread& self) noexcept {
  if (is_called_ || has_overflowed(self)) [[unlikely]]
    return nullptr;
  Message* token = pe_.go_on([](Message& message) noexcept {
    if (chunk_of(message).mark != Mark::token) return false;
    const Thread& next = thread_of(message);
    return next.has_begun && !next.is_freed;
  });
  if (token == nullptr) return nullptr;
  Thread& next = thread_of(*token);
  next.token = nullptr;
  fetch_later(next);
  begin_turn(next);
  return &next;
}

// When it runs again it is as before, or it was freed. If the next task is the turn of another
// thread, which has begun, that goes on at once: this takes half as long as coming back to the
// loop.
inline void Threads::stop(Thread& self) {
  Thread* next = begin_next(self);
  if (next == nullptr)
    self.fiber.leave();
  else if (next != &self)
    self.fiber.pass(next->fiber, *exceptions_);
  if (self.is_freed) [[unlikely]]
    leave_frames();
}

inline void Threads::suspend(Thread& self) {
  if (self.is_freed) [[unlikely]]
    leave_frames();  // its function has caught it the first time
  if (self.awakenings != 0) {
    --self.awakenings;
    return;
  }
  self.state = ThreadState::suspended;
  stop(self);
}

inline bool Threads::yield(Thread& self) {
  if (self.is_freed) [[unlikely]]
    leave_frames();
  if (!make_ready(self)) return false;
  stop(self);
  return true;
}

inline bool Threads::take(Message& token) noexcept {
  Thread* thread = nullptr;
  if (chunk_of(token).mark == Mark::token) [[likely]] {
    thread = &thread_of(token);
    fetch_later(*thread);
    if (thread->is_freed) [[unlikely]]
      return drop_own_token(*thread);
  } else {
    thread = find_by(token);
    if (thread == nullptr) return false;
  }
  thread->token = nullptr;
  resume(*thread);
  return true;
}

inline Threads& threads_of(const Pe& pe) noexcept {
  return *static_cast<Threads*>(pe.part(Part::thread));
}

}  // namespace photon::task
