// This process's rank in Photon, beside its rank in MPI: both have the same number.
//
//   none -- begin(), collective: by the preloaded MPI_Init(), or MPIX_Init() --> joined
//   none -- begin() fails at some rank --> none at all: windows stay MPI's
//   joined -- end(): MPI_Finalize() deletes the attributes of MPI_COMM_SELF --> none
//
// While it begins, each step that all take together starts with a vote: a rank that cannot go on
// says no in the next one, and nobody votes after that. So no rank waits for one that has given up.
//
// Owner: the process, for MPI itself is one for each process. Threads: begin() and end() as
// MPI_Init() and MPI_Finalize(); all else any, as MPI's level allows. No thread of ours calls MPI.
#pragma once

#include <photon/context.h>
#include <photon/memory.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "interop/mpi/real/real.hpp"
#include "interop/mpi/type/datatype.hpp"
#include "interop/mpi/window/server.hpp"
#include "interop/mpi/window/user_ops.hpp"
#include "sync/published.hpp"

namespace photon::mpi {

// What stands beside the windows and ends with the job, before its memory and its lanes.
class JobPart {
 public:
  JobPart() = default;
  virtual ~JobPart() = default;
  JobPart(const JobPart&) = delete;
  JobPart& operator=(const JobPart&) = delete;
};

class Job {
 public:
  // This is null where the job has not begun, or could not begin.
  static Job* current() noexcept;
  static void begin() noexcept;
  static void end() noexcept;

  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // While it begins: all say yes. Collective until somebody has said no.
  bool agree(bool mine) noexcept;

  ph_context* context() const noexcept { return context_; }
  MPI_Comm comm() const noexcept { return comm_; }  // of our own, of all ranks
  ph_rank rank() const noexcept { return rank_; }
  bool is_multiple() const noexcept { return is_multiple_; }
  // More ranks than cores on this host: who waits gives its core away soon.
  bool is_crowded() const noexcept { return is_crowded_; }
  Types& types() noexcept { return types_; }
  UserFunctions& functions() noexcept { return functions_; }

  // One turn of both engines: what came for this rank is dealt with. For threads of the program.
  void serve() noexcept;
  // Whether that rank is dead or has left. A rank is not told of the end of one that it never met,
  // so contact is made first. Any thread, ours as well.
  bool has_ended(ph_rank rank) noexcept;

  // The one that serves this rank's memory to those who cannot reach it by themselves, and asks
  // others; it begins when it is first asked for. Null: it cannot be had.
  Server* server() noexcept;
  // The one such part, which `make` gives as a std::unique_ptr when it is first asked for. Null:
  // there is none.
  template <class Make>
  JobPart* part(Make&& make) {
    const std::lock_guard guard(server_lock_);
    if (part_ == nullptr) part_ = make();
    part_there_.set(part_.get());
    return part_.get();
  }
  JobPart* part() const noexcept { return part_there_.get(); }
  // A number that no other window or communicator has, of this rank or another.
  std::uint64_t next_number() noexcept;

  // Memory that peers on this host map. Null: there is none.
  void* allocate(std::size_t bytes) noexcept;
  bool free(void* memory) noexcept;  // false: it is not of allocate()
  // The allocation that these bytes lie in, as its owner names it to others. False: none.
  bool find(const void* memory, std::size_t bytes, ph_region& region) noexcept;

  // A line on stderr where the setting `log` is info or more.
  void say(const char* format, ...) const noexcept __attribute__((format(printf, 2, 3)));

 private:
  Job() = default;
  bool join();
  void count_neighbours();

  ph_context* context_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;
  ph_rank rank_ = 0;
  bool is_multiple_ = false;
  bool is_crowded_ = false;
  bool is_talkative_ = false;
  bool is_refused_ = false;
  std::uint64_t last_window_ = 0;
  std::mutex server_lock_;  // of those that make it, and of the numbers
  std::unique_ptr<Server> server_;
  sync::Published<LockPolicy, Server> serving_;  // the same, for serve()
  std::unique_ptr<JobPart> part_;
  sync::Published<LockPolicy, JobPart> part_there_;
  Types types_;
  UserFunctions functions_;
  std::mutex memory_lock_;
  std::map<std::uintptr_t, ph_region> memory_;  // by where it ends
};

}  // namespace photon::mpi
