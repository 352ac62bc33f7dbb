// What any PE of a process may run: messages to the process, and those that were enqueued for it
// with a priority. And who of the PEs sleeps, so that one of them is woken for each.
//
//   awake -- begin_sleep(): nothing is here --> asleep -- end_sleep() --> awake
//                                               asleep -- chosen by a push --> awake
//
// Argument that no wake-up is lost: a PE looks for messages and says that it sleeps under one lock,
// and a pusher adds a message and chooses a sleeper under it. So either the PE sees the message, or
// the pusher sees the PE, and then ph_wake() ends its next ph_wait() if it has not begun that yet.
// `size_`, which is read without the lock, only spares a PE the lock where there is nothing.
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

  explicit ProcessQueue(std::uint32_t pes) { sleepers_.reserve(pes); }

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

  // False: there is a message. Else the PE may sleep until end_sleep().
  bool begin_sleep(std::uint32_t rank) noexcept {
    const std::scoped_lock lock(mutex_);
    if (first_ != nullptr || !priorities_.empty()) return false;
    sleepers_.push_back(rank);
    return true;
  }
  void end_sleep(std::uint32_t rank) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase(sleepers_, rank);
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

  std::mutex mutex_;
  Message* first_ = nullptr;
  Message* last_ = nullptr;
  PriorityQueue priorities_;
  std::vector<std::uint32_t> sleepers_;
  // Set under the lock.
  alignas(kLineBytes) sync::Hint<sync::HardwarePolicy, std::uint64_t> size_;
  sync::Hint<sync::HardwarePolicy, std::uint64_t> prioritized_;
};

}  // namespace photon::task
