// A thread of tasks (docs/tasks.md, "The life of a thread").
//
//   made -- awaken --> ready (its token is queued) -- its turn --> running
//   running -- suspend --> suspended -- awaken: a token is queued --> ready
//           -- yield: a token is queued --> ready
//           -- join --> joining -- the other one is over: a token is queued --> ready
//           -- its function returns --> over
//   made, suspended -- resume: no token --> running, inside of that call
//   made, ready, suspended, joining -- free: running once more, to leave its frames --> over
//
// It lies at the upper end of its stack, and its token in its first line: so whoever knows the
// token can fetch all that a turn needs. A thread whose priority has more than 64 bits gets a token
// from the pool for each turn instead, with the bits behind its body. If a thread is freed while it
// is ready, its memory is there until its token has had its turn. Invariant: it has at most one
// token, which is queued while it is ready and at no other time; an awakening by another PE that
// finds it in no state to be awakened is kept for its next suspension. So each awakening that was
// accepted ends one suspension. Owner: the PE that has made it, whose thread alone uses it.
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "task/pool/layout.hpp"
#include "task/queue/priority_queue.hpp"
#include "task/thread/fiber.hpp"
#include "task/thread/stacks.hpp"

namespace photon::task {

enum class ThreadState : std::uint8_t { made, ready, running, suspended, joining, over };

// With what its tokens are enqueued.
struct ThreadTurn {
  Priority priority;
  PriorityQueue::Place place = PriorityQueue::Place::fifo;
  std::unique_ptr<std::uint32_t[]> words;  // of more than 64 bits
};

// What a turn needs stands in the first two lines.
struct alignas(kLineBytes) Thread {
  Chunk chunk;        // of its token
  Message own_token;  // of Kind::token, and without a body
  ThreadState state = ThreadState::made;
  bool is_freed = false;          // it leaves its frames
  bool has_begun = false;         // it has frames
  bool has_guard = false;         // its stack
  bool is_prioritized = false;    // else its tokens stand where messages to the own PE do
  std::uint32_t depth = 0;        // of tasks and other calls, while it runs
  std::uint32_t awakenings = 0;   // kept for its next suspensions
  Message* token = nullptr;       // while it is ready
  const Thread* later = nullptr;  // its turn comes some turns behind; it may be none any more
  Fiber fiber;
  std::uint32_t number;  // of its place in the table
  ph_task_thread_function function;
  ph_task_pe* pe;  // both of `function`
  void* user;
  std::byte* variables;  // below it
  std::size_t variables_bytes;
  Stack* stack;
  Thread* joined = nullptr;        // for which it waits
  Thread* next_joiner = nullptr;   // of those that wait for the same one
  Thread* first_joiner = nullptr;  // who waits for it
  ThreadTurn turn;                 // of one that is prioritized

  void set_turn(ThreadTurn next, bool has_priority) noexcept {
    turn = std::move(next);
    is_prioritized = has_priority;
  }
};

// Of a token that lies in its thread.
inline Thread& thread_of(Message& own_token) noexcept {
  return *reinterpret_cast<Thread*>(&chunk_of(own_token));
}

}  // namespace photon::task
