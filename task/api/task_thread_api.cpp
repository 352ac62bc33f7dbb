// Threads: checks and words. What is allowed in which state is here, and task/thread/ relies on it.
#include <cstring>
#include <new>

#include "task/api/checks.hpp"
#include "task/thread/threads.hpp"

using photon::task::is_here;
using photon::task::kMostStackBytes;
using photon::task::of;
using photon::task::Pe;
using photon::task::StackLimit;
using photon::task::Thread;
using photon::task::Threads;
using photon::task::threads_of;
using photon::task::ThreadState;
using photon::task::ThreadTurn;
using photon::task::ThreadVariables;
using photon::task::Turn;

namespace {

static_assert(ThreadVariables::kMostBytes == PH_TASK_THREAD_VARIABLES_BYTES);

// Null: the call is not made by a thread, and *status has been told.
Thread* caller(Pe& pe, const char* call, ph_status& status) noexcept {
  if (!is_here(pe, call)) [[unlikely]] {
    status = PH_ERR_STATE;
    return nullptr;
  }
  Thread* self = threads_of(pe).self();
  if (self != nullptr) [[likely]]
    return self;
  status =
      pe.is_in_task()
          ? pe.fail(PH_ERR_STATE, "%s: called in a handler: only a thread may stop", call)
          : pe.fail(PH_ERR_STATE,
                    "%s: called outside of a thread: make one by ph_task_thread_create()", call);
  return nullptr;
}

// In the destructors of a thread that is freed: nothing can stop it any more.
bool is_unwound(Pe& pe, const char* call, const Thread& self, ph_status& status) noexcept {
  if (!self.is_freed || std::uncaught_exceptions() == 0) return false;
  status = pe.fail(PH_ERR_STATE, "%s: the thread is being freed, and cannot stop again", call);
  return true;
}

ph_status nobody(Pe& pe, const char* call, const ph_task_thread& thread) noexcept {
  if (threads_of(pe).was(thread))
    return pe.fail(PH_ERR_STATE, "%s: thread %u of generation %u is over", call, thread.number,
                   thread.generation);
  return pe.fail(PH_ERR_ARGUMENT, "%s: there was no thread %u of generation %u on PE %u", call,
                 thread.number, thread.generation, pe.number());
}

ph_status foreign(Pe& pe, const char* call, const ph_task_thread& thread) noexcept {
  return pe.fail(PH_ERR_RANK,
                 "%s: thread %u is of PE %u and this is PE %u: send a message there, whose handler "
                 "does it",
                 call, thread.number, thread.pe, pe.number());
}

// With which priority tokens are enqueued. PH_OK, or the words.
ph_status read_turn(Pe& pe, const char* call, const ph_task_priority* priority,
                    ThreadTurn& turn) noexcept {
  turn = {};
  if (priority == nullptr) return PH_OK;
  Turn read;
  const ph_status status = photon::task::read_priority(pe, call, priority, read);
  if (status != PH_OK) return status;
  turn.priority = read.priority;
  turn.place = read.place;
  if (read.priority.words == nullptr) return PH_OK;
  const std::size_t words = (read.priority.bits + 31) / 32;
  turn.words.reset(new (std::nothrow) std::uint32_t[words]);
  if (!turn.words) return pe.fail(PH_ERR_MEMORY, "%s: no memory for the priority", call);
  std::memcpy(turn.words.get(), read.priority.words, words * sizeof(std::uint32_t));
  return PH_OK;
}

// Why the last creation has found no stack.
ph_status no_stack(Pe& pe, std::uint64_t stack_bytes) noexcept {
  constexpr const char* kCall = "ph_task_thread_create";
  const Threads& threads = threads_of(pe);
  StackLimit* limit = threads.limit();
  if (limit == nullptr || !threads.stacks().was_limited())
    return pe.fail(PH_ERR_MEMORY,
                   "%s: the kernel has refused the memory of a stack of %llu bytes: make smaller "
                   "ones by stack_bytes, or fewer threads at a time",
                   kCall, static_cast<unsigned long long>(stack_bytes));
  return pe.fail(
      PH_ERR_MEMORY,
      "%s: no stack with a guard page: %llu of this process have one, at two mappings each of "
      "vm.max_map_count (%llu): raise it, or take PH_TASK_GUARDS_OFF or _MOST",
      kCall, static_cast<unsigned long long>(limit->stacks()),
      static_cast<unsigned long long>(limit->mappings()));
}

const char* state_text(ThreadState state) noexcept {
  switch (state) {
    case ThreadState::made: return "was made";
    case ThreadState::ready: return "is ready";
    case ThreadState::running: return "runs";
    case ThreadState::suspended: return "is suspended";
    case ThreadState::joining: return "waits for another thread to end";
    case ThreadState::over: break;
  }
  return "is over";
}

ph_status awaken_elsewhere(Pe& pe, const ph_task_thread& thread) noexcept {
  constexpr const char* kCall = "ph_task_thread_awaken";
  if (thread.pe >= pe.shared().pes_of_job())
    return pe.fail(PH_ERR_RANK, "%s: there is no PE %u: the job has %u", kCall, thread.pe,
                   pe.shared().pes_of_job());
  const ph_status status = Threads::awaken_elsewhere(pe, thread);
  if (status == PH_OK) return status;
  if (status == PH_ERR_MEMORY) return pe.fail(status, "%s: no memory for a token", kCall);
  return pe.fail(status, "%s: the process of PE %u: %s", kCall, thread.pe, ph_status_text(status));
}

// Of this PE, and it does not run. Null: *status has been told.
Thread* stopped(Pe& pe, const char* call, const ph_task_thread& thread,
                ph_status& status) noexcept {
  Thread* other = nullptr;
  if (!is_here(pe, call)) {
    status = PH_ERR_STATE;
  } else if (thread.pe != pe.number()) {
    status = foreign(pe, call, thread);
  } else if (other = threads_of(pe).find(thread); other == nullptr) {
    status = nobody(pe, call, thread);
  } else if (other->state == ThreadState::running) {
    status = pe.fail(PH_ERR_STATE, "%s: thread %u runs: it ends when its function returns", call,
                     thread.number);
    return nullptr;
  }
  return other;
}

}  // namespace

ph_status ph_task_thread_create(ph_task_pe* pe, const ph_task_thread_args* args,
                                ph_task_thread* thread) {
  constexpr const char* kCall = "ph_task_thread_create";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (thread == nullptr) return one.fail(PH_ERR_ARGUMENT, "%s: thread is null", kCall);
  *thread = {};
  if (args == nullptr || args->size != sizeof *args || args->function == nullptr)
    return one.fail(PH_ERR_ARGUMENT,
                    "%s: args or the function is null, or the size is not that of the struct",
                    kCall);
  if (args->stack_bytes != 0 &&
      (args->stack_bytes < PH_TASK_STACK_LEAST_BYTES || args->stack_bytes > kMostStackBytes))
    return one.fail(PH_ERR_ARGUMENT, "%s: a stack of %llu bytes: it has %d or more, up to %llu",
                    kCall, static_cast<unsigned long long>(args->stack_bytes),
                    PH_TASK_STACK_LEAST_BYTES, static_cast<unsigned long long>(kMostStackBytes));
  Threads& threads = threads_of(one);
  if (threads.has_left()) return one.fail(PH_ERR_STATE, "%s: the PE ends", kCall);
  ThreadTurn turn;
  if (args->priority != nullptr)
    if (const ph_status status = read_turn(one, kCall, args->priority, turn); status != PH_OK)
      return status;
  Thread* made = nullptr;
  try {
    made = threads.make({args->function, args->user, args->stack_bytes});
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "%s: no memory", kCall);
  }
  if (made == nullptr) return no_stack(one, threads.stack_bytes(args->stack_bytes));
  if (args->priority != nullptr) made->set_turn(std::move(turn), true);
  *thread = threads.handle_of(*made);
  return PH_OK;
}

ph_task_thread ph_task_thread_self(const ph_task_pe* pe) {
  if (pe == nullptr || !of(pe).is_here()) return {};
  const Threads& threads = threads_of(of(pe));
  const Thread* self = threads.self();
  return self != nullptr ? threads.handle_of(*self) : ph_task_thread{};
}

ph_status ph_task_thread_suspend(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  ph_status status = PH_OK;
  Thread* self = caller(of(pe), "ph_task_thread_suspend", status);
  if (self == nullptr || is_unwound(of(pe), "ph_task_thread_suspend", *self, status)) return status;
  threads_of(of(pe)).suspend(*self);
  return PH_OK;
}

ph_status ph_task_thread_awaken(ph_task_pe* pe, ph_task_thread thread) {
  constexpr const char* kCall = "ph_task_thread_awaken";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (thread.pe != one.number()) return awaken_elsewhere(one, thread);
  Threads& threads = threads_of(one);
  Thread* other = threads.find(thread);
  if (other == nullptr) [[unlikely]]
    return nobody(one, kCall, thread);
  if (other->state != ThreadState::suspended && other->state != ThreadState::made) [[unlikely]]
    return one.fail(PH_ERR_STATE, "%s: thread %u %s: only one that waits can be awakened", kCall,
                    thread.number, state_text(other->state));
  if (threads.make_ready(*other)) [[likely]]
    return PH_OK;
  return one.fail(PH_ERR_MEMORY, "%s: no memory for a token", kCall);
}

ph_status ph_task_thread_yield(ph_task_pe* pe) {
  constexpr const char* kCall = "ph_task_thread_yield";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  ph_status status = PH_OK;
  Thread* self = caller(of(pe), kCall, status);
  if (self == nullptr || is_unwound(of(pe), kCall, *self, status)) return status;
  if (threads_of(of(pe)).yield(*self)) [[likely]]
    return PH_OK;
  return of(pe).fail(PH_ERR_MEMORY, "%s: no memory for a token", kCall);
}

ph_status ph_task_thread_resume(ph_task_pe* pe, ph_task_thread thread) {
  constexpr const char* kCall = "ph_task_thread_resume";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (thread.pe != one.number()) [[unlikely]]
    return foreign(one, kCall, thread);
  Threads& threads = threads_of(one);
  Thread* other = threads.find(thread);
  if (other == nullptr) [[unlikely]]
    return nobody(one, kCall, thread);
  if (threads.has_left()) return one.fail(PH_ERR_STATE, "%s: the PE ends", kCall);
  if (other->state != ThreadState::suspended && other->state != ThreadState::made) [[unlikely]]
    return one.fail(PH_ERR_STATE, "%s: thread %u %s: only one that waits can be resumed", kCall,
                    thread.number, state_text(other->state));
  threads.run_now(*other);
  return PH_OK;
}

ph_status ph_task_thread_join(ph_task_pe* pe, ph_task_thread thread) {
  constexpr const char* kCall = "ph_task_thread_join";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  ph_status status = PH_OK;
  Thread* self = caller(one, kCall, status);
  if (self == nullptr || is_unwound(one, kCall, *self, status)) return status;
  if (thread.pe != one.number()) return foreign(one, kCall, thread);
  Threads& threads = threads_of(one);
  Thread* other = threads.find(thread);
  if (other == nullptr) return threads.was(thread) ? PH_OK : nobody(one, kCall, thread);
  if (other == self) return one.fail(PH_ERR_STATE, "%s: a thread cannot wait for itself", kCall);
  if (Threads::is_circle(*self, *other))
    return one.fail(PH_ERR_STATE, "%s: thread %u waits for this one already", kCall, thread.number);
  threads.join(*self, *other);
  return PH_OK;
}

ph_status ph_task_thread_free(ph_task_pe* pe, ph_task_thread thread) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  ph_status status = PH_OK;
  Thread* other = stopped(of(pe), "ph_task_thread_free", thread, status);
  if (other != nullptr) threads_of(of(pe)).free(*other);
  return status;
}

ph_status ph_task_thread_drop(ph_task_pe* pe, ph_task_thread thread) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  ph_status status = PH_OK;
  Thread* other = stopped(of(pe), "ph_task_thread_drop", thread, status);
  if (other != nullptr) threads_of(of(pe)).free(*other, Threads::Frames::forget);
  return status;
}

ph_status ph_task_thread_strategy(ph_task_pe* pe, ph_task_thread thread,
                                  const ph_task_priority* priority) {
  constexpr const char* kCall = "ph_task_thread_strategy";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (thread.pe != one.number()) return foreign(one, kCall, thread);
  Thread* other = threads_of(one).find(thread);
  if (other == nullptr) return nobody(one, kCall, thread);
  ThreadTurn turn;
  const ph_status status = read_turn(one, kCall, priority, turn);
  if (status == PH_OK) other->set_turn(std::move(turn), priority != nullptr);
  return status;
}

ph_status ph_task_thread_variable(ph_task_pe* pe, size_t size_bytes, uint32_t* variable) {
  constexpr const char* kCall = "ph_task_thread_variable";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (variable == nullptr || size_bytes == 0)
    return one.fail(PH_ERR_ARGUMENT, "%s: variable is null, or its size is 0", kCall);
  try {
    if (threads_of(one).variables().add(size_bytes, *variable)) return PH_OK;
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "%s: no memory for %zu bytes", kCall, size_bytes);
  }
  return one.fail(PH_ERR_MEMORY, "%s: %zu bytes more: the variables of a thread have at most %d",
                  kCall, size_bytes, PH_TASK_THREAD_VARIABLES_BYTES);
}

void* ph_task_thread_value(ph_task_pe* pe, uint32_t variable) {
  constexpr const char* kCall = "ph_task_thread_value";
  if (pe == nullptr) return nullptr;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return nullptr;
  Threads& threads = threads_of(one);
  ThreadVariables& variables = threads.variables();
  if (variable >= variables.count()) {
    one.fail(PH_ERR_ARGUMENT, "%s: there is no variable %u: %zu are registered", kCall, variable,
             variables.count());
    return nullptr;
  }
  const Thread* self = threads.self();
  if (self == nullptr) return variables.of_pe(variable);
  const std::size_t offset = variables.offset(variable);
  if (offset < self->variables_bytes) return self->variables + offset;
  one.fail(PH_ERR_STATE, "%s: variable %u was registered when thread %u had been made already",
           kCall, variable, self->number);
  return nullptr;
}

ph_status ph_task_thread_counters(const ph_task_pe* pe, ph_task_thread_counts* counts) {
  if (pe == nullptr || counts == nullptr || counts->size != sizeof *counts) return PH_ERR_ARGUMENT;
  threads_of(of(pe)).count(*counts);
  return PH_OK;
}
