// What stands behind the functions of comm_backend: one rank of Photon.
//
//   an operation:  issued -- nothing waits, and there is room --> started
//                         -- else --> waiting -- progress(), in the order of the calls --> started
//                  started -- copied, or a completion --> over: its handler runs, outside all locks
//
// Invariants: no call waits for room. Messages are handled one at a time, and begin in the order of
// the calls of their node. An operation that fails ends the process with words.
// Owner: the process, which has one, backend(). Threads: any (comm_backend.h), by one lane.
#pragma once

#include <photon/photon.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "comm_backend.h"

namespace photon::reconverse {
struct Operation {
  enum class Kind : std::uint8_t { message, get, put } kind;
  int node;
  std::uint32_t handler;  // message
  ph_target there;        // get, put
  comm_backend::Status status;
  comm_backend::CompHandler local;
  bool is_carried = false;  // copied when it starts, and over with that
};

class Backend {
 public:
  void init();
  void exit();
  int register_handler(comm_backend::CompHandler handler);
  void issue(Operation operation);
  bool progress();
  void barrier();
  comm_backend::mr_t expose(void* address, std::size_t size);
  std::size_t describe(comm_backend::mr_t mr, void* place, std::size_t room_bytes) const;
  void hide(comm_backend::mr_t mr);
  int node() const noexcept { return node_; }
  int nodes_count() const noexcept { return nodes_count_; }
  // Null before init() and after exit().
  ph_context* context() const noexcept { return context_.load(std::memory_order_relaxed); }

 private:
  static ph_status on_message(void* user, const ph_am_message* message, ph_am_landing* landing);
  ph_status start(const Operation& operation);
  bool start_waiting();
  bool take_ended();
  void check(const char* call, ph_status status) const;
  [[noreturn]] void fail(const char* call, const char* words) const;

  std::atomic<ph_context*> context_{nullptr};
  ph_context* finalized_ = nullptr;  // freed by the next init(): a late call may still be in it
  int node_ = 0;
  int nodes_count_ = 1;
  std::uint32_t handlers_count_ = 0;
  std::size_t carried_max_ = 0;  // messages of so many bytes are carried
  std::atomic<bool> is_leaving_{false};
  std::atomic<std::int64_t> under_way_{0};      // started, and photon will give a completion
  std::atomic<std::int64_t> waiting_count_{0};  // changed under mutex_
  std::mutex mutex_;                            // of what follows
  std::map<int, std::deque<const Operation*>> waiting_;
  bool is_starting_ = false;  // a thread is in start_waiting()
  std::map<comm_backend::mr_t, std::unique_ptr<ph_region>> regions_;
  std::mutex barrier_mutex_;
};
Backend& backend();  // never destroyed: threads may call until the process ends
}  // namespace photon::reconverse
