// Reads and writes of buffers in a simulated job of tasks, and what must come of each.
//
//   offered by its owner -- the other PE issues a get or a put --> under way -- both dones --> over
//                        -- a death ------------------------------------------------------->
//                        excused
//
// Invariant: a source has its bytes until its done, and others from then on; a destination is
// looked at when its own done has come. Owner: the run of a case. Threads: one.
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simtest/task_oracle.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

class TaskTransfers {
 public:
  explicit TaskTransfers(TaskOracle& oracle) : oracle_(oracle) {}
  TaskTransfers(const TaskTransfers&) = delete;
  TaskTransfers& operator=(const TaskTransfers&) = delete;

  // On each PE, in the same order as all handlers.
  void enroll(ph_task_pe* pe);
  // Makes a buffer and sends its descriptor to that PE, which reads it or writes to it.
  void offer(ph_task_pe* pe, std::uint32_t own, std::uint32_t other,
             transport::sim::Random& random);
  // It is said that nothing is left to do: each operation must be over, or excused.
  // Also where the other side has died its issuer has had its done.
  void quiet();

  std::uint64_t over() const noexcept { return over_; }

 private:
  struct End {
    std::vector<std::byte> memory;
    ph_task_buffer buffer = 0;
    std::uint32_t pe = 0;
    bool has_done = false;
  };
  struct Transfer {
    TaskTransfers* all = nullptr;
    std::uint64_t number = 0;
    std::uint64_t size_bytes = 0;
    bool is_get = false;
    bool is_begun = false;
    bool is_accepted = false;        // so its issuer gets a done, whoever dies
    std::uint32_t registration = 0;  // of the end that issues it
    std::uint32_t deregistration = 0;
    End source, destination;
    End& offered() noexcept { return is_get ? source : destination; }
    End& issuing() noexcept { return is_get ? destination : source; }
  };

  static void on_offer(ph_task_pe* pe, ph_task_message* message, void* user);
  static void on_done(ph_task_pe* pe, ph_task_message* message, void* user);
  void make(ph_task_pe* pe, Transfer& transfer, End& end, std::uint32_t registration,
            std::uint32_t deregistration);
  void issue(ph_task_pe* pe, Transfer& transfer, const ph_task_descriptor& descriptor);
  void take(ph_task_pe* pe, Transfer& transfer, const ph_task_done& done);
  bool is_excused(const Transfer& transfer) const {
    return oracle_.is_dead(transfer.source.pe) || oracle_.is_dead(transfer.destination.pe);
  }
  void must(ph_status status, const char* call);

  TaskOracle& oracle_;
  std::uint32_t offer_handler_ = 0, done_handler_ = 0;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::uint64_t over_ = 0;
};

}  // namespace photon::simtest
