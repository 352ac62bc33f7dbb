// A processing element: what its thread has, and the loop that runs its tasks (docs/tasks.md, "The
// scheduler").
//
//   run: next() --> a message --> dispatch() --> next()
//        next() --> none --> idle(): asleep on the lane -- wake, arrival, push --> next()
//        stop(), or as many as were wanted --> over
//
// Invariant: a handler runs from run() and from nowhere else. All that is here is changed by the
// thread of the PE alone, but for the inbox, to which siblings push.
// Owner: its process.
#pragma once

#include <photon/task.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "task/machine/machine.hpp"
#include "task/pool/pool.hpp"
#include "task/queue/inbox.hpp"
#include "task/queue/priority_queue.hpp"
#include "task/queue/process_queue.hpp"

namespace photon::task {

class Crew;
class Pe;

// Runs a message of the library's own, which is the function's from then on. True: it counts as a
// task of the program, so that run() may end behind it.
using KindFunction = bool (*)(Pe& pe, Message& message) noexcept;
bool drop_message(Pe& pe, Message& message) noexcept;  // of a kind that nobody has made known

// What stands above a PE and has state of its own for each; found by those folders alone.
enum class Part : std::uint8_t { thread, collect, buffer };
inline constexpr std::size_t kParts = 3;

// What the PEs of a process share. They are of it until it ends.
struct Shared {
  std::uint32_t processes;
  std::uint32_t process;
  std::uint32_t pes;  // of each process
  std::uint32_t fifo_most;
  std::uint64_t pool_bytes;
  std::uint64_t carried_bytes;
  std::uint64_t cache_bytes;  // of registrations that are kept
  Returns returns;
  ProcessQueue queue;
  std::vector<Pe*> all;  // by rank
  // By kind, but for that of programs; set before a PE runs.
  std::array<KindFunction, kKinds> on_kind;
  Crew* crew = nullptr;

  Shared(std::uint32_t processes_count, std::uint32_t own, std::uint32_t pes_count)
      : processes(processes_count),
        process(own),
        pes(pes_count),
        fifo_most(kFifoMost),
        pool_bytes(kPoolBytes),
        carried_bytes(0),
        cache_bytes(kCacheBytes),
        returns(pes_count),
        queue(pes_count) {
    on_kind.fill(drop_message);
  }
  KindFunction& on(Kind kind) noexcept { return on_kind[static_cast<std::size_t>(kind)]; }
  std::uint32_t pes_of_job() const noexcept { return processes * pes; }

  static constexpr std::uint32_t kFifoMost = 64;
  static constexpr std::uint64_t kPoolBytes = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kCacheBytes = std::uint64_t{1} << 30;
};

struct Handler {
  ph_task_handler function;
  void* user;
};

class Pe {
 public:
  Pe(Shared& shared, std::uint32_t rank);
  Pe(const Pe&) = delete;
  Pe& operator=(const Pe&) = delete;

  Shared& shared() noexcept { return shared_; }
  const Shared& shared() const noexcept { return shared_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t number() const noexcept { return first_ + rank_; }
  Pool& pool() noexcept { return pool_; }
  Machine& machine() noexcept { return machine_; }
  const Machine& machine() const noexcept { return machine_; }
  std::vector<Handler>& handlers() noexcept { return handlers_; }
  bool is_in_task() const noexcept { return in_task_ != 0; }
  void* part(Part part) const noexcept { return parts_[static_cast<std::size_t>(part)]; }
  void set_part(Part part, void* own) noexcept { parts_[static_cast<std::size_t>(part)] = own; }

  // Both of a PE that may be another one's: any thread of the process.
  void push(Message& message) noexcept {
    chunk_of(message).is_queued = 1;
    if (inbox_.push(message)) machine_.wake();
  }
  // To the own PE, behind what has come.
  void push_own(Message& message) noexcept {
    chunk_of(message).is_queued = 1;
    inbox_.push_own(message);
  }
  // To the queue of the process.
  void push_node(Message& message) noexcept;
  void enqueue(Message& message, const Priority& priority, PriorityQueue::Place place) {
    priorities_.push(message, priority, place);
    chunk_of(message).is_queued = 1;
  }
  void enqueue_node(Message& message, const Priority& priority, PriorityQueue::Place place);

  // Runs the handler that a message names, which gets it.
  void perform(Message& message) noexcept;

  // Counts for quiescence: what was made for this process, of any kind but a wave, and what is
  // over. Messages to other processes are counted by the machine.
  void count_created(std::uint64_t count) noexcept { created_ += count; }
  void count_processed(std::uint64_t count) noexcept { processed_ += count; }
  std::uint64_t created() const noexcept { return created_; }
  std::uint64_t processed() const noexcept { return processed_; }

  // How many have run.
  std::uint64_t run(std::int64_t count) noexcept;
  void stop() noexcept {
    if (stopped_ != nullptr) *stopped_ = true;
  }
  // Serves peers and runs nothing; sleeps until wake() or an arrival.
  void serve() noexcept;

  void count(ph_task_counts& counts) const noexcept;
  ph_status fail(ph_status status, const char* format, ...) noexcept
      __attribute__((format(printf, 3, 4)));
  const ph_error& error() const noexcept { return error_; }
  void take_error(const ph_error& error) noexcept { error_ = error; }

 private:
  static constexpr std::uint32_t kMostBetweenLooks = 16;
  static constexpr std::int64_t kMostBetweenLooksNs = 20'000;
  static constexpr std::uint32_t kProcessTurn = 64;

  static void on_arrived(void* user, Message& message) noexcept;
  Message* next() noexcept;
  Message* first_come() noexcept;
  Message* prioritized() noexcept;
  bool has_prioritized() const noexcept {
    return !priorities_.empty() || shared_.queue.has_prioritized();
  }
  bool look() noexcept;
  void pace() noexcept;
  void idle() noexcept;
  // True: it was a task of the program.
  bool dispatch(Message& message) noexcept;

  Shared& shared_;
  const std::uint32_t rank_;
  const std::uint32_t first_;  // number of the PE of rank 0
  Inbox inbox_;
  PriorityQueue priorities_;
  std::vector<Handler> handlers_;
  Pool pool_;
  Machine machine_;

  std::uint32_t until_look_ = 0;     // tasks
  std::uint32_t between_looks_ = 1;  // as many as take 20 us, at most 16
  std::int64_t looked_at_ns_ = 0;
  std::uint32_t fifo_run_ = 0;  // tasks without priority in a row
  std::uint32_t process_turn_ = 0;
  bool is_asleep_ = false;
  bool* stopped_ = nullptr;    // of the innermost run
  std::uint32_t in_task_ = 0;  // how deep runs are nested
  std::array<void*, kParts> parts_{};
  std::uint64_t created_ = 0;
  std::uint64_t processed_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t sleeps_ = 0;
  ph_error error_{};
};

}  // namespace photon::task
