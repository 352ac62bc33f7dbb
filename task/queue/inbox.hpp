// What waits for a PE, first come first served: what other threads have pushed, behind what the PE
// has taken already or has sent to itself.
//
//   pushed -- take() --> in the list -- pop() --> its handler runs
//   own sends: in the list at once, without an atomic operation
//
// Invariant: messages of one sender are popped in the order in which they were pushed. The owner
// takes now and then, also while its list is not empty: else it could keep others out for ever.
// Owner: the PE. Threads: push() any; all else its own.
#pragma once

#include <cstdint>

#include "sync/mpsc_queue.hpp"
#include "task/pool/layout.hpp"

namespace photon::task {

class Inbox {
 public:
  // True: the PE sleeps, and the caller wakes its lane.
  bool push(Message& message) noexcept { return pushed_.push(name_of(&message)); }

  void push_own(Message& message) noexcept { append(&message, &message); }
  // A chain by its links, before all that is in the list.
  void push_first(Message& oldest, Message& newest) noexcept {
    newest.link = name_of(first_);
    if (first_ == nullptr) last_ = &newest;
    first_ = &oldest;
  }
  // False: nothing had been pushed.
  bool take() noexcept {
    const std::uint64_t newest = pushed_.take();
    if (newest == 0) return false;
    append(named(pushed_.turned(newest)), named(newest));
    return true;
  }
  bool empty() const noexcept { return first_ == nullptr; }  // the list
  Message* first() const noexcept { return first_; }         // null: it is empty
  Message* pop() noexcept {
    Message* message = first_;
    if (message == nullptr) return nullptr;
    first_ = named(message->link);
    return message;
  }

  // With an empty list. False: something was pushed. Else the PE may sleep until rise().
  bool try_sleep() noexcept { return pushed_.try_sleep(); }
  void rise() noexcept { pushed_.rise(); }

 private:
  void append(Message* oldest, Message* newest) noexcept {
    newest->link = 0;
    if (first_ == nullptr)
      first_ = oldest;
    else
      last_->link = name_of(oldest);
    last_ = newest;
  }

  alignas(kLineBytes) sync::MpscQueue<sync::HardwarePolicy, MessageLinks> pushed_;
  alignas(kLineBytes) Message* first_ = nullptr;
  Message* last_ = nullptr;  // of a list that is not empty
};

}  // namespace photon::task
