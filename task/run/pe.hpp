// A processing element: what its thread has, and the loop that runs its tasks (docs/tasks.md, "The
// scheduler").
//
//   run: next() --> a message --> dispatch() --> next()
//        dispatch() --> the turn of a thread -- go_on(): the next is another one's --> that turn
//        next() --> none --> idle(): asleep on the lane -- wake, arrival, push, timer --> next()
//        stop(), or as many as were wanted --> over
//        exit() --> over, and every later run at once
//
// While siblings are busy one idle PE watches: it looks after their lanes (process_queue.hpp).
// Invariant: a handler runs from run() and from nowhere else. All that is here is changed by the
// thread of the PE alone, but for the inbox, to which siblings push, and words that they only read.
// Owner: its process.
#pragma once

#include <photon/task.h>

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "task/machine/machine.hpp"
#include "task/pool/pool.hpp"
#include "task/pool/registered_memory.hpp"
#include "task/queue/calls.hpp"
#include "task/queue/inbox.hpp"
#include "task/queue/priority_queue.hpp"
#include "task/queue/process_queue.hpp"
#include "task/run/groups.hpp"
#include "task/run/outsiders.hpp"
#include "task/run/presence.hpp"
#include "task/run/sibling_watch.hpp"
#include "task/run/spin_length.hpp"

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

// Where PEs read the time: the clock of the machine, but in a simulation.
struct Clock {
  std::int64_t (*read_ns)(void* user) noexcept;
  void* user;
  std::int64_t now_ns() const noexcept { return read_ns(user); }
};
Clock steady_clock() noexcept;

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
  Arena arena;
  std::deque<ArenaShare> shares;  // by rank
  ProcessQueue queue;
  std::vector<Pe*> all;  // by rank
  Clock clock = steady_clock();
  Outsiders outsiders;
  // By kind, but for that of programs; set before a PE runs.
  std::array<KindFunction, kKinds> on_kind;
  // By part; by each PE's thread when its program has ended, and peers are served still. May be
  // null.
  std::array<void (*)(Pe& pe) noexcept, kParts> on_leave{};
  bool logs_info = false;
  Crew* crew = nullptr;

  Shared(std::uint32_t processes_count, std::uint32_t own, std::uint32_t pes_count,
         std::uint64_t arena_bytes = kArenaBytes)
      : processes(processes_count),
        process(own),
        pes(pes_count),
        fifo_most(kFifoMost),
        pool_bytes(kPoolBytes),
        carried_bytes(0),
        cache_bytes(kCacheBytes),
        returns(pes_count),
        arena(arena_bytes),
        queue(pes_count, processes_count > 1 && pes_count > 1) {
    on_kind.fill(drop_message);
    for (std::uint32_t rank = 0; rank < pes_count; ++rank) shares.emplace_back(arena);
  }
  KindFunction& on(Kind kind) noexcept { return on_kind[static_cast<std::size_t>(kind)]; }
  std::uint32_t pes_of_job() const noexcept { return processes * pes; }
  // The PE of that rank, or nobody.
  void wake(std::uint32_t rank) const noexcept;

  static constexpr std::uint32_t kFifoMost = 64;
  static constexpr std::uint64_t kPoolBytes = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kArenaBytes = std::uint64_t{256} << 20;
  static constexpr std::uint64_t kCacheBytes = std::uint64_t{1} << 30;
};

struct Handler {
  ph_task_handler function;
  void* user;
};

// Counts for quiescence: what was made for this process, of any kind but a wave, and what is over.
// Messages to other processes are counted by the machine.
struct Balance {
  std::uint64_t created = 0;
  std::uint64_t processed = 0;
};

class Pe : public Presence {
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
  std::vector<Handler>& handlers() noexcept { return handlers_; }
  Groups& groups() noexcept { return groups_; }
  // How deep tasks are nested, in runs within tasks. A thread's turn is one, which says so itself.
  std::uint32_t& task_depth() noexcept { return in_task_; }
  Calls& calls() noexcept { return calls_; }
  bool is_in_task() const noexcept { return in_task_ != 0 || calls_.is_inside(); }
  void* part(Part part) const noexcept { return parts_[static_cast<std::size_t>(part)]; }
  void set_part(Part part, void* own) noexcept { parts_[static_cast<std::size_t>(part)] = own; }

  // Both of a PE that may be another one's: any thread of the process.
  void push(Message& message) noexcept {
    chunk_of(message).is_queued = 1;
    if (inbox_.push(message)) machine_.wake();
  }
  // To the own PE, behind what has come; `behind_pushed`: also behind what others have pushed.
  void push_own(Message& message, bool behind_pushed = false) noexcept {
    chunk_of(message).is_queued = 1;
    if (behind_pushed) static_cast<void>(inbox_.take());
    inbox_.push_own(message);
  }
  // A chain that stands in the place of a message which had its turn.
  void push_first(Message& oldest, Message& newest) noexcept { inbox_.push_first(oldest, newest); }
  // To the queue of the process.
  void push_node(Message& message) noexcept;
  void enqueue(Message& message, const Priority& priority, PriorityQueue::Place place) {
    priorities_.push(message, priority, place);
    chunk_of(message).is_queued = 1;
  }
  void enqueue_node(Message& message, const Priority& priority, PriorityQueue::Place place);

  // Runs the handler that a message names, which gets it.
  void perform(Message& message) noexcept;

  Balance& balance() noexcept { return balance_; }
  const Balance& balance() const noexcept { return balance_; }

  // How many have run.
  std::uint64_t run(std::int64_t count) noexcept;
  // The innermost run ends. False: there is none.
  bool stop() noexcept {
    if (run_ == nullptr) return false;
    return run_->is_stopped = true;
  }
  // By a task that is over but for its return to the loop: the message that the loop would take
  // now, if that stands in the private list and is wanted; its task begins in the place of that
  // one. Null: the loop is to decide.
  template <class Wanted>
  [[gnu::always_inline]] Message* go_on(Wanted is_wanted) noexcept {
    const ProcessQueue& queue = shared_.queue;
    if (run_->is_stopped || run_->ran + 1 == run_->most) return nullptr;
    if (until_look_ == 0 || calls_.is_idle()) return nullptr;
    if (fifo_run_ >= shared_.fifo_most && (!priorities_.empty() || queue.has_prioritized()))
      return nullptr;
    if (process_turn_ >= kProcessTurn && !queue.is_empty()) return nullptr;
    Message* message = inbox_.first();
    if (message == nullptr || !is_wanted(*message)) return nullptr;
    ++run_->ran;
    ++balance_.processed;
    ++fifo_run_;
    --until_look_;
    ++process_turn_;
    static_cast<void>(inbox_.pop());
    chunk_of(*message).is_queued = 0;
    return message;
  }
  // That of ph_task_exit(), once it is known here: all runs end then, and no other begins.
  std::optional<std::int32_t>& exit_status() noexcept { return exit_status_; }
  // Serves peers and runs nothing; sleeps until wake() or an arrival.
  void serve() noexcept;

  void count(ph_task_counts& counts) const noexcept;
  ph_status fail(ph_status status, const char* format, ...) noexcept
      __attribute__((format(printf, 3, 4)));
  const ph_error& error() const noexcept { return error_; }

 private:
  static constexpr std::uint32_t kMostBetweenLooks = 16;
  static constexpr std::int64_t kMostBetweenLooksNs = 20'000;
  static constexpr std::uint32_t kProcessTurn = 64;
  static constexpr std::int64_t kWatchUs = 200;
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  struct Run {
    bool is_stopped;
    std::uint64_t most;  // tasks
    std::uint64_t ran = 0;
  };

  Message* next() noexcept;
  Message* first_come() noexcept;
  Message* prioritized() noexcept;
  bool look() noexcept;
  bool pace() noexcept;
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
  Groups groups_;
  Calls calls_;
  SiblingWatch watch_;

  std::uint32_t until_look_ = 0;     // tasks
  std::uint32_t between_looks_ = 1;  // as many as take 20 us, at most 16
  std::int64_t looked_at_ns_ = 0;
  SpinLength spin_;
  std::uint32_t fifo_run_ = 0;  // tasks without priority in a row
  std::uint32_t process_turn_ = 0;
  Run* run_ = nullptr;         // the innermost one
  std::uint32_t in_task_ = 0;  // how deep runs are nested
  std::array<void*, kParts> parts_{};
  Balance balance_;
  std::uint64_t tasks_ = 0;
  std::uint64_t sleeps_ = 0;
  std::optional<std::int32_t> exit_status_;
  ph_error error_{};
};

// A line on stderr where the setting `log` is info or debug.
void inform(const Pe& pe, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));

}  // namespace photon::task
