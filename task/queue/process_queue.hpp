// What any PE of a process may run: messages to the process, and those that were enqueued for it
// with a priority. And who of the PEs sleeps, so that one of them is woken for each.
//
//   awake -- begin_sleep(): nothing is here --> asleep -- end_sleep() --> awake
//                                               asleep -- chosen by a push, or by a PE that was
//                                               chosen and has something else to do --> awake
//
// Argument that no wake-up is lost: a PE looks for messages and says that it sleeps under one lock,
// and a pusher adds a message and chooses a sleeper under it. So either the PE sees the message, or
// the pusher sees the PE, and then ph_wake() ends its next ph_wait() if it has not begun that yet.
// `size_`, which is read without the lock, only spares a PE the lock where there is nothing.
//
// One of those that sleep keeps watch while others are awake: it sleeps for short times only, and
// looks after the lanes of those that are busy.
//
//   nobody -- begin_sleep(), others are awake --> this one watches
//   nobody -- another one rises, or ends its watch or its serving --> a sleeper, which is woken
//   one watches -- end_watch(): it runs a task, or its run is over --> nobody, and as above
//               -- begin_sleep() by it, nobody is awake --> nobody
//
// Argument that no busy PE is left alone: whoever wakes up while nobody watches wakes a sleeper,
// under the same lock under which a watcher finds that nobody is awake. The sleeper then watches.
// Owner: the process. Threads: all of its PEs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sync/hint.hpp"
#include "task/queue/priority_queue.hpp"

namespace photon::task {

class ProcessQueue {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  enum class Rest : std::uint8_t { none, sleep, watch };

  // `watches`: what comes by the lane of a busy PE may be for others.
  ProcessQueue(std::uint32_t pes, bool watches) : pes_(pes), watches_(watches) {
    sleepers_.reserve(pes);
  }

  // The PE to be woken, or kNobody.
  std::uint32_t push(Message& message) noexcept {
    const std::scoped_lock lock(mutex_);
    message.link = 0;
    if (first_ == nullptr)
      first_ = &message;
    else
      last_->link = name_of(&message);
    last_ = &message;
    grow();
    return choose();
  }
  // The same. Throws bad_alloc: nothing was done.
  std::uint32_t push(Message& message, const Priority& priority, PriorityQueue::Place place) {
    const std::scoped_lock lock(mutex_);
    priorities_.push(message, priority, place);
    prioritized_.set(priorities_.size());
    grow();
    return choose();
  }

  bool is_empty() const noexcept { return size_.get() == 0; }
  bool has_prioritized() const noexcept { return prioritized_.get() != 0; }
  Message* pop() noexcept {
    if (is_empty()) return nullptr;
    const std::scoped_lock lock(mutex_);
    Message* message = first_;
    if (message == nullptr) return nullptr;
    first_ = named(message->link);
    shrink();
    return message;
  }
  // The first of the priority queue, if it comes before `than`; null: before anything.
  Message* pop_before(const Priority* than) noexcept {
    if (!has_prioritized()) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (priorities_.empty()) return nullptr;
    if (than != nullptr && !(priorities_.first() < *than)) return nullptr;
    Message& message = priorities_.pop();
    prioritized_.set(priorities_.size());
    shrink();
    return &message;
  }

  // none: there is a message. Else the PE may sleep until end_sleep(), or keep watch.
  Rest begin_sleep(std::uint32_t rank) noexcept {
    const std::scoped_lock lock(mutex_);
    if (first_ != nullptr || !priorities_.empty()) return Rest::none;
    sleepers_.push_back(rank);
    if (!watches_ || (watcher_ != kNobody && watcher_ != rank)) return Rest::sleep;
    const bool is_anybody_awake = sleepers_.size() + serving_ < pes_;
    watcher_ = is_anybody_awake ? rank : kNobody;
    return is_anybody_awake ? Rest::watch : Rest::sleep;
  }
  // By a PE that leaves what is here to others: it was chosen, and has a task of its own, or its
  // run is over. The PE to be woken, or kNobody.
  std::uint32_t pass_over() noexcept {
    const std::scoped_lock lock(mutex_);
    return first_ == nullptr && priorities_.empty() ? kNobody : choose();
  }
  // Whether this one watches now, and the PE to be woken, so that it does, or kNobody.
  struct Risen {
    std::uint32_t to_wake;
    bool watches;
  };
  Risen end_sleep(std::uint32_t rank) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase(sleepers_, rank);
    return {choose_watcher(), watcher_ == rank};
  }
  // By the watcher, which has a task to run, or leaves its run. The PE to be woken, as above.
  std::uint32_t end_watch() noexcept {
    const std::scoped_lock lock(mutex_);
    watcher_ = kNobody;
    return choose_watcher();
  }
  // A PE serves its lane itself, and runs nothing, until end_serving(). The PE to be woken.
  void begin_serving() noexcept {
    const std::scoped_lock lock(mutex_);
    ++serving_;
  }
  std::uint32_t end_serving() noexcept {
    const std::scoped_lock lock(mutex_);
    --serving_;
    return choose_watcher();
  }

 private:
  void grow() noexcept { size_.set(size_.get() + 1); }
  void shrink() noexcept { size_.set(size_.get() - 1); }
  // Who has slept for the shortest time: its memory is the warmest.
  std::uint32_t choose() noexcept {
    if (sleepers_.empty()) return kNobody;
    const std::uint32_t rank = sleepers_.back();
    sleepers_.pop_back();
    return rank;
  }
  std::uint32_t choose_watcher() noexcept {
    if (!watches_ || watcher_ != kNobody) return kNobody;
    return watcher_ = choose();
  }

  const std::uint32_t pes_;
  const bool watches_;
  std::mutex mutex_;
  Message* first_ = nullptr;
  Message* last_ = nullptr;
  PriorityQueue priorities_;
  std::vector<std::uint32_t> sleepers_;
  std::uint32_t watcher_ = kNobody;
  std::uint32_t serving_ = 0;  // PEs
  // Set under the lock.
  alignas(kLineBytes) sync::Hint<sync::HardwarePolicy, std::uint64_t> size_;
  sync::Hint<sync::HardwarePolicy, std::uint64_t> prioritized_;
};

}  // namespace photon::task
