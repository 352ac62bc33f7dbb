// The calls on threads: checks, and what is asked of a single thread.
#include <new>

#include "converse/thread/threads.hpp"

namespace photon::converse {

namespace {

CthThreadStruct& named(const char* call, CthThread thread) noexcept {
  if (thread == nullptr) refuse(call, "the thread is null");
  return *thread;
}

void awaken_thread(const char* call, CthThread thread, const TokenOrder& order) {
  const std::uint32_t owner = named(call, thread).pe;
  Pe& pe = here(call);
  Threads& threads = threads_here(call);
  if (owner == pe.place.pe)
    threads.awaken(thread, order);
  else
    threads.send_awakening(thread);
}

CthThread create(const char* call, CthVoidFn function, void* user, int stack_bytes) {
  Threads& threads = threads_here(call);
  if (function == nullptr) refuse(call, "the function is null");
  if (stack_bytes < 0) refuse(call, "a stack of %d bytes: 0 means the usual size", stack_bytes);
  try {
    return threads.make(function, user, stack_bytes);
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for a thread");
  }
}

}  // namespace

}  // namespace photon::converse

using photon::converse::named;
using photon::converse::refuse;
using photon::converse::threads_here;

CthThread CthCreate(CthVoidFn function, void* user, int stack_bytes) {
  return photon::converse::create(__func__, function, user, stack_bytes);
}

CthThread CthCreateMigratable(CthVoidFn function, void* user, int stack_bytes) {
  return photon::converse::create(__func__, function, user, stack_bytes);
}

CthThread CthSelf() { return threads_here(__func__).self(); }

int CthIsMainThread(CthThread thread) {
  return &named(__func__, thread) == threads_here(__func__).of_pe() ? 1 : 0;
}

void CthSuspend() { threads_here(__func__).suspend(); }

void CthAwaken(CthThread thread) { photon::converse::awaken_thread(__func__, thread, {}); }

void CthAwakenPrio(CthThread thread, int strategy, int bits, unsigned int* priority) {
  photon::converse::awaken_thread(__func__, thread, {strategy, bits, priority});
}

void CthYield() {
  photon::converse::Threads& threads = threads_here(__func__);
  threads.awaken(threads.self(), {});
  threads.suspend();
}

void CthYieldPrio(int strategy, int bits, unsigned int* priority) {
  photon::converse::Threads& threads = threads_here(__func__);
  threads.awaken(threads.self(), {strategy, bits, priority});
  threads.suspend();
}

void CthResume(CthThread thread) {
  named(__func__, thread);
  threads_here(__func__).resume(thread);
}

void CthFree(CthThread thread) {
  if (thread == nullptr) return;
  threads_here(__func__).free(thread);
}

void CthExit() {
  photon::converse::Threads& threads = threads_here(__func__);
  CthThread const self = threads.self();
  if (threads.is_for_pe(self)) refuse(__func__, "no thread runs: ConverseExit() ends a PE");
  if (self->state == photon::converse::ThreadState::running) threads.free(self);
  self->may_suspend = true;
  threads.suspend();
  refuse(__func__, "a thread that is over was run again");
}

void CthSetStrategy(CthThread thread, CthAwkFn awaken, CthThFn next) {
  named(__func__, thread).awaken = awaken;
  thread->choose = next;
}

void CthSetStrategyDefault(CthThread thread) { CthSetStrategy(thread, nullptr, nullptr); }

void CthSetNext(CthThread thread, CthThread next) { named(__func__, thread).next = next; }
CthThread CthGetNext(CthThread thread) { return named(__func__, thread).next; }
CthThreadToken* CthGetToken(CthThread thread) { return named(__func__, thread).token; }

void CthSetSuspendable(CthThread thread, int value) {
  named(__func__, thread).may_suspend = value != 0;
}

int CthIsSuspendable(CthThread thread) { return named(__func__, thread).may_suspend ? 1 : 0; }
int CthImplemented() { return 1; }

unsigned CmiThreadVariable(std::size_t size_bytes) {
  try {
    return threads_here("CtvInitialize").add_variable(size_bytes);
  } catch (const std::bad_alloc&) {
    refuse("CtvInitialize", "no memory for a variable");
  }
}

void* CmiThreadValue(unsigned number) {
  try {
    return threads_here("CtvAccess").value(number);
  } catch (const std::bad_alloc&) {
    refuse("CtvAccess", "no memory for a variable");
  }
}
