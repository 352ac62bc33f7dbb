// A PE of a Converse program has this beside its PE of libphoton_task.
//
//   none -- ConverseInit() --> starting -- start function --> running -- ConverseExit() --> leaving
//   running, leaving -- the job is over (converse/run/leaving.hpp) --> over
//
// A Converse message is the body of a message of libphoton_task: the program's pointer is
// PH_TASK_HEADER_BYTES behind it. Its first CmiMsgHeaderSizeBytes are a Header. To libphoton_task
// all of them name one handler, `dispatch`, which runs what the Header names; those for any PE of a
// process name `node_dispatch`, and those in a queue of priorities `queue_dispatch`. So the bytes
// that a program copies, overwrites or sends from its stack are never those that the library lives
// by.
// Owner: ConverseInit(). Threads: each PE has its own, found by here().
#pragma once

#include <converse.h>
#include <photon/task.h>

#include <cstdint>
#include <vector>

namespace photon::converse {

struct Header {
  std::uint32_t handler;
  std::uint16_t check;  // of the function that the sender means; 0: it is not known
  std::uint16_t zero;
};
static_assert(sizeof(Header) == CmiMsgHeaderSizeBytes);

struct Handler {
  CmiHandler plain = nullptr;  // one of the two is not null
  CmiHandlerEx extended = nullptr;
  void* user = nullptr;
  std::uint16_t check = 0;  // where its function lies in its file; 0: it is of this PE alone
};

// One of each layer above, which it makes and ends itself.
struct Parts {
  void* schedule = nullptr;  // converse/run, as the next two
  void* conditions = nullptr;
  void* leaving = nullptr;
  void* threads = nullptr;  // converse/thread
  void* collect = nullptr;  // converse/collect
  void* groups = nullptr;   // converse/send
  void* buffers = nullptr;  // converse/buffer
};

struct Pe;

// A function of the program that the library calls: `call` casts `function` to what it is.
struct Job {
  void (*call)(Pe& pe, const Job& job) = nullptr;
  void (*function)() = nullptr;
  void* argument = nullptr;
};

struct Process;  // what the PEs of a process share (converse/run/process.hpp)

// A message that a function of the program has for the length of a call. It is freed behind the
// call unless the program has freed it, or given it away: then `message` is null. One stands for
// each call that is under way; threads of tasks may end them in any order.
struct Lent {
  void* message;
  Lent* outer;
};

struct Pe {
  ph_task_pe* task = nullptr;
  ph_context* context = nullptr;
  Process* process = nullptr;
  ph_task_place place{};
  char** arguments = nullptr;        // of its start function; it may move them
  std::uint32_t dispatch = 0;        // of messages that were sent to this PE
  std::uint32_t node_dispatch = 0;   // of those for any PE of this process
  std::uint32_t queue_dispatch = 0;  // of those in this PE's queue of priorities
  bool is_leaving = false;           // no function of the program is called any more
  // Its own stack waits in CthSuspend(): what the library calls now has another one (apart).
  bool waits = false;
  std::uint32_t token_handler = 0;  // of the Converse messages that make threads run
  void (*apart)(Pe& pe, const Job& job) = nullptr;
  // Tasks of this library itself, which the innermost run of the scheduler does not count.
  std::uint64_t own_tasks = 0;
  CrnStream random{0};
  std::vector<Handler> handlers;
  Lent* lent = nullptr;                            // the innermost
  void (*on_departed)(Pe& pe) noexcept = nullptr;  // does not return
  Parts parts;
};

// The one variable of the thread, which ConverseInit() sets on each of them. It is in the memory
// that the thread begins with, so that each call finds it by one load.
extern constinit thread_local Pe* pe_of_thread [[gnu::tls_model("initial-exec")]];

inline Pe* current() noexcept { return pe_of_thread; }  // null: the thread is no PE
inline void set_current(Pe* pe) noexcept { pe_of_thread = pe; }
[[noreturn]] void refuse_stranger(const char* call) noexcept;
// The calling thread's PE. None: the words name the call, and the process ends.
inline Pe& here(const char* call) noexcept {
  if (pe_of_thread == nullptr) [[unlikely]]
    refuse_stranger(call);
  return *pe_of_thread;
}

// Ends the job, with the number of the PE, the call and the words on stderr. Long ones stand there
// once whole; other processes say their beginning.
[[noreturn]] void refuse(const char* call, const char* format, ...) noexcept
    __attribute__((format(printf, 2, 3)));
// Ends the job if that status is an error; the words are those of libphoton_task. One that says
// that a process has left means that the job is over: then this PE waits for its end.
void require(Pe& pe, const char* call, ph_status status) noexcept;

inline Header& header_of(void* message) noexcept { return *static_cast<Header*>(message); }
inline ph_task_message* task_of(void* message) noexcept {
  return reinterpret_cast<ph_task_message*>(static_cast<char*>(message) - PH_TASK_HEADER_BYTES);
}
inline void* message_of(ph_task_message* message) noexcept { return ph_task_body(message); }

// Registers a handler of libphoton_task for a layer's own messages, at the start of each PE and in
// the same order on all. It gets the Pe as `user`.
std::uint32_t enroll(Pe& pe, ph_task_handler handler) noexcept;

// A message of the program for `dispatch`, with handler 0. It may be smaller than a header, for
// programs have other memory of CmiAlloc(); such a one is refused where it is sent.
void* allocate(Pe& pe, const char* call, CmiInt8 size) noexcept;
// Ends the job unless a message of that size can be sent: null, negative or too small.
[[noreturn]] void refuse_message(const char* call, CmiInt8 size, const void* message) noexcept;
inline void check_message(const char* call, CmiInt8 size, const void* message) noexcept {
  if (message == nullptr || size < CmiMsgHeaderSizeBytes) [[unlikely]]
    refuse_message(call, size, message);
}
[[noreturn]] void refuse_pe(const char* call, CmiInt8 pe) noexcept;
inline void check_pe(const char* call, CmiInt8 pe) noexcept {
  if (pe < 0 || pe >= here(call).place.pes) [[unlikely]]
    refuse_pe(call, pe);
}
// Writes to a header that leaves this PE which function its handler is here, if it is any.
inline void mark_sent(const Pe& pe, Header& header) noexcept {
  header.check =
      header.handler < pe.handlers.size() ? pe.handlers[header.handler].check : std::uint16_t{0};
}
// The program frees a message, or gives it away.
inline void forget_lent(Pe& pe, const void* message) noexcept {
  for (Lent* one = pe.lent; one != nullptr; one = one->outer)
    if (one->message == message) one->message = nullptr;
}
// A function of the program may wait in CthSuspend() and go on behind others. So what stands in
// these calls around it may be left for a while, and they are not noexcept: C++ programs may catch
// around CmiHandleMessage() what its handler throws.
// Runs the function, by itself or apart.
inline void run_job(Pe& pe, const Job& job) {
  if (pe.waits) [[unlikely]]
    pe.apart(pe, job);
  else
    job.call(pe, job);
}
// Runs the function with a message that it may keep from being freed by forget_lent().
void run_lent(Pe& pe, CmiHandler function, void* message);
// Runs the handler that its header names, which has the message then.
void run_message(Pe& pe, void* message);
// The same, by itself or apart.
void run_message_apart(Pe& pe, void* message);
inline void take_message(Pe& pe, void* message) {
  if (pe.waits) [[unlikely]]
    run_message_apart(pe, message);
  else
    run_message(pe, message);
}

}  // namespace photon::converse
