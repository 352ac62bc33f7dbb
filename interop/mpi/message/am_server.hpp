// Sends active messages of the program, and runs its handlers (docs/mpi.md, "Active messages"). It
// has a lane of its own, and a thread that looks after it while the program computes.
//
// Its lane is not the server's: a handler of the program may take long, and errors of its messages
// are no errors of windows; handlers of two lanes do not wait for each other.
// Invariants: no call of MPI is made in its thread, or in a handler. Program threads make progress
// on this lane in calls of this layer alone, so no lock of a window is held where handlers run.
// Owner: the job; it begins with the first handler. Threads: any; the thread runs run() alone.
#pragma once

#include <photon/photon.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "interop/mpi/message/circle.hpp"
#include "interop/mpi/message/layouts.hpp"
#include "interop/mpi/type/walk.hpp"
#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/outcome.hpp"
#include "sync/hint.hpp"

namespace photon::mpi {

// What MPIX_Am_send() is given, once it is known to be right.
struct Outgoing {
  int id = 0;
  ph_rank to = 0;
  const void* immediate = nullptr;
  std::size_t immediate_bytes = 0;
  const void* buffer = nullptr;
  Elements elements{};
};

class AmServer : public JobPart {
 public:
  // The job's; the first call begins it. Null: there is no lane or no thread to be had.
  static AmServer* of(Job& job) noexcept;
  static AmServer* current() noexcept;  // null: it has not begun
  ~AmServer() override;

  Job& job() noexcept { return job_; }
  Circles& circles() noexcept { return circles_; }
  Layouts& layouts() noexcept { return layouts_; }

  // Handles of the program. Null: there is no such one, or no memory for one.
  MPIX_Am register_handle(const std::shared_ptr<Circle>& circle, int id) noexcept;
  std::shared_ptr<Circle> find(MPIX_Am handle, int& id) noexcept;
  void drop(MPIX_Am handle) noexcept;

  // On communicators, so that they know their circle.
  int keyval() const noexcept { return keyval_; }

  Outcome send(Circle& circle, const Outgoing& message) noexcept;
  // All messages of the circle are over.
  Outcome quiesce(Circle& circle) noexcept;
  // All members name the same handler. False: a member is lost.
  bool agree(Circle& circle, int id, Outcome& outcome) noexcept;
  // No handler of the circle runs here, or will for what has begun to come.
  void await_handlers(Circle& circle) noexcept;

 private:
  friend class Landing;

  // A payload that is lent to the library.
  struct Lent {
    ph_request request = PH_REQUEST_NONE;
    std::vector<std::byte> bytes;
  };

  explicit AmServer(Job& job) noexcept : job_(job) {}
  bool begin(ph_error& why);
  void run() noexcept;
  bool do_turn() noexcept;
  void take_errors() noexcept;
  bool take_back_lent() noexcept;  // true: some are still lent

  // A turn of all engines, by a thread of the program that waits.
  void serve() noexcept;
  ph_status post(ph_rank to, ph_am_args& args) noexcept;
  ph_status send_lent(ph_rank to, ph_am_args& args, std::vector<std::byte>&& bytes) noexcept;
  ph_status await(ph_request& request) noexcept;

  // No handler of the target's has seen the message.
  static bool is_refusal(ph_status status) noexcept {
    return status == PH_ERR_NOT_FOUND || status == PH_ERR_PROTOCOL;
  }
  static ph_status on_message(void* server, const ph_am_message* message, ph_am_landing* landing);
  static ph_status on_news(void* server, const ph_am_message* message, ph_am_landing* landing);
  // A message that was handled here is over; its sender is told if it did not end well.
  void end(Circle& circle, ph_rank source, Fault fault) noexcept;

  // One wave over all members, from the circle's `wave` to its `sums`. False: a member is lost.
  bool reduce(Circle& circle, MPI_Op op) noexcept;
  bool sum_up(Circle& circle) noexcept;
  bool await_own(Circle& circle) noexcept;
  // Whether the members are there, one after the other, each millisecond.
  class Watch;

  Job& job_;
  ph_context* lane_ = nullptr;
  std::size_t carried_bytes_ = 0;
  int keyval_ = MPI_KEYVAL_INVALID;
  Circles circles_;
  Layouts layouts_;
  sync::Hint<Policy, bool> has_refused_;  // a message of this process that nobody has counted
  std::thread thread_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  bool is_ending_ = false;
  std::list<Lent> lent_;
  std::set<MPIX_Am> handles_;
};

}  // namespace photon::mpi
