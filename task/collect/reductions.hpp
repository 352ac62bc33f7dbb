// Reductions: parts of all PEs, or of all processes, become one (docs/tasks.md, "Timers,
// conditions, reductions, barriers").
//
//   part: made by a PE -- to the first PE of its process --> gathered there
//   gathered -- all siblings and the processes below are there --> merged
//   merged -- in process 0 --> sent to its handler
//          -- elsewhere ----> a part, to the first PE of the process above
//
// A reduction is named by its scope, its name, and how many of these were called before.
// Invariant: a place of what is gathered is filled once. What a peer sent fills the place of its
// process and nothing else; merge function and target are those of the own part.
// Owner: a PE, whose thread makes every call; parts are gathered at the first of a process alone.
#pragma once

#include <photon/task.h>

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "task/run/pe.hpp"
#include "task/run/route.hpp"

namespace photon::task {

enum class Scope : std::uint64_t { pes, processes };

// How often each name was called. Of a process, it is shared by its PEs.
class CallNumbers {
 public:
  std::uint64_t next(std::uint64_t name) {  // throws bad_alloc
    const std::scoped_lock lock(mutex_);
    return calls_[name]++;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> calls_;
};

// How a part is merged, and where the result goes.
struct Reduction {
  ph_task_merge merge;
  void* user;
  std::uint64_t fixed_bytes;  // 0: parts and results are of any size
  std::uint32_t to;           // PE
  std::uint32_t flags;
};

class Reductions {
 public:
  Reductions(Pe& pe, CallNumbers& of_process);
  ~Reductions();  // parts that were not merged are freed
  Reductions(const Reductions&) = delete;
  Reductions& operator=(const Reductions&) = delete;

  // Gives the message away, if PH_OK. PH_ERR_MEMORY; is_lost(): a neighbour of this process.
  ph_status contribute(Scope scope, std::uint64_t name, const Reduction& reduction,
                       Message& message);
  // A message of Kind::part, which is over then. Throws bad_alloc.
  void take(Message& message);

 private:
  struct Key {
    Scope scope;
    std::uint64_t name;
    std::uint64_t number;
    auto operator<=>(const Key&) const = default;
  };
  // In front of the message while a part travels. Behind `key` and `handler` it is of the own
  // process, and means nothing elsewhere.
  struct Front {
    Key key;
    std::uint32_t handler;
    std::uint32_t reserved;
    Reduction reduction;
  };
  static_assert(sizeof(Front) == kFrontBytes);
  struct Gathered {
    std::vector<ph_task_message*> parts;  // the own one first; null: not there yet
    std::size_t missing = 0;
    Reduction reduction{};
  };

  std::uint32_t places_of(Scope scope) const noexcept;
  std::uint32_t place_of(const Message& message, Scope scope) const noexcept;
  Message* wrapped(const Message& message, const Front& front) noexcept;
  Message& merged(const Key& key, const Gathered& gathered);
  void expect_fixed(const Gathered& gathered, const Message& message) const noexcept;
  void expect_sound(const Key& key, const Gathered& gathered,
                    ph_task_message* result) const noexcept;
  void hand_on(const Key& key, const Reduction& reduction, Message& result);
  void deliver(Scope scope, const Reduction& reduction, Message& result);
  ph_status lost_neighbour() const noexcept;
  // The process to which what was merged goes; of any but process 0.
  std::uint32_t above() const noexcept {
    return static_cast<std::uint32_t>(Route::parent_of(pe_.shared().process));
  }

  Pe& pe_;
  CallNumbers own_;
  CallNumbers& of_process_;
  const Children below_;
  std::map<Key, Gathered> gathered_;
};

}  // namespace photon::task
