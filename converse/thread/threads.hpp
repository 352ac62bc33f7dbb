// The threads of one PE, and who of them runs.
//
//   over -- CthCreate() --> waiting -- its turn --> running -- CthSuspend(), CthResume() -->
//   waiting running -- its function returns --> over
//           -- CthFree(), CthExit() --> leaving -- CthSuspend() --> over
//   waiting -- CthFree() --> over
//   stand-in: idle -- run_apart() --> running, waiting as above -- its job is done --> idle
//
// A thread is one of libphoton_task that nothing there ever awakens: it gets its turns from run()
// alone. CthAwaken() queues a token, a Converse message; its handler is run(), as CthResume() is.
// A thread that stops says who runs next: null means the caller of run(), which is a handler, or
// whoever has called CthResume() outside of threads. So the choices of a program are followed with
// nothing else in between.
// A handler may call CthSuspend(), too. The stack of the PE then runs messages inside of that call,
// so nothing else may wait on it: while it waits (`Pe::waits`) handlers and functions of timers
// have stacks of their own, those of stand-ins. Each stand-in is a thread to itself and to others.
// Where none of them suspends, one stand-in runs all. The PE goes on when it is awakened: a thread
// that runs messages inside makes way (make_way()).
// Invariant: the memory of a CthThreadStruct stays until the end of the PE and is used again with
// another serial number, so a token of a thread that is over is found out by its own number.
// Owner: the PE (Pe::parts.threads). Threads: its PE's; another PE reads `pe` and `serial` alone.
#pragma once

#include <converse.h>
#include <photon/task.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "converse/base/runs.hpp"

namespace photon::converse {

class Threads;

enum class ThreadState : std::uint8_t { over, idle, waiting, running, leaving };

}  // namespace photon::converse

// What a CthThread points to.
struct CthThreadStruct {
  std::uint32_t pe = 0;  // to which it belongs
  int serial = 0;
  photon::converse::Threads* threads = nullptr;
  ph_task_thread task{};  // all zero: it stands for the PE
  photon::converse::ThreadState state = photon::converse::ThreadState::over;
  bool has_returned = false;  // from its function
  bool may_suspend = true;    // CthSetSuspendable()
  bool is_stand_in = false;
  std::uint32_t awakenings = 0;  // whose turn came while it ran: each ends one CthSuspend()
  CthVoidFn function = nullptr;
  void* user = nullptr;
  photon::converse::Job job;  // of a stand-in
  CthAwkFn awaken = nullptr;  // null: its token goes to the queue of the PE
  CthThFn choose = nullptr;   // null: the caller of run()
  CthThread next = nullptr;   // CthSetNext(), and of those that are over
  CthThreadToken* token = nullptr;
  bool is_token_away = false;  // in a queue, or with the program: the next awakening has a copy
  std::vector<std::unique_ptr<std::byte[]>> variables;  // by number; null: not used yet
};

namespace photon::converse {

// With what a token is enqueued, as CsdEnqueueGeneral() takes it.
struct TokenOrder {
  int strategy = CQS_QUEUEING_FIFO;
  int bits = 0;
  unsigned* words = nullptr;
};

class Threads {
 public:
  explicit Threads(Pe& pe);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Throws bad_alloc.
  CthThread make(CthVoidFn function, void* user, int stack_bytes);
  // The running one; in handlers, and outside of runs, the one of the PE.
  CthThread self() noexcept;
  CthThread of_pe() noexcept { return &of_pe_; }
  // These two are called by the running thread, or outside of threads.
  void suspend();
  void resume(CthThread thread);
  void free(CthThread thread);
  // Of a thread of this PE: as its strategy says.
  void awaken(CthThread thread, const TokenOrder& order);
  void send_awakening(CthThread thread);
  // Is a handler, or a function that is called as handlers are, this one's?
  bool is_for_pe(CthThread thread) const noexcept {
    return thread == &of_pe_ || thread->is_stand_in;
  }
  // Runs it on the stack of a stand-in, where it may suspend.
  void run_apart(const Job& job);
  // By a thread that runs messages. True: the PE waited and may go on, and has had its turn.
  bool make_way();
  // Of a token that has its turn, and of one that another PE has sent.
  void take(CthThreadToken* token);
  void take_awakening(CthThreadToken* token);

  // Numbers a variable of each thread.
  std::uint32_t add_variable(std::size_t size_bytes);  // throws bad_alloc
  void* value(std::uint32_t number);                   // the running thread's; throws bad_alloc

 private:
  static void begin(ph_task_pe* pe, void* user);  // on the stack of the thread
  CthThreadToken* new_token(CthThread thread);
  void run(CthThread thread);
  void stop(CthThread thread, CthThread next);
  void suspend_pe();
  void awaken_pe();
  static void stand_in(void* user);
  CthThread idle_stand_in();
  void enqueue_token(CthThread thread, const TokenOrder& order);
  CthThread chosen_by(CthThread thread);
  void bury(CthThread thread) noexcept;
  void drop_frames(CthThread thread);
  bool is_alive(const CthThreadToken& token) const noexcept {
    return token.thread->serial == token.serialNo && token.thread->state != ThreadState::over;
  }

  Pe& pe_;
  CthThreadStruct of_pe_;
  std::deque<CthThreadStruct> all_;
  CthThread free_ = nullptr;
  CthThread idle_ = nullptr;     // stand-ins; the last one that was used first
  CthThread running_ = nullptr;  // null: none, or it has called a handler outside of our view
  CthThread chosen_ = nullptr;   // by the thread that has just stopped
  std::uint32_t pe_waits_ = 0;   // calls of CthSuspend() on the PE's own stack that are under way
  const Run* around_wait_ = nullptr;  // the run in which the innermost of them was called
  int serial_ = 0;
  int resume_index_ = 0;                // the Converse handler of tokens
  std::uint32_t awakening_ = 0;         // the handler of tokens of other PEs
  std::vector<std::size_t> variables_;  // their sizes
};

// By the thread of the PE, which is current() then. They stay until the process ends.
void start_threads(Pe& pe);

inline Threads& threads_here(const char* call) noexcept {
  return *static_cast<Threads*>(here(call).parts.threads);
}

}  // namespace photon::converse
