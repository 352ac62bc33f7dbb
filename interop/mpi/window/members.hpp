// Ranks that call together: how they find out whether all of them can, and mean the same. While one
// waits for the others it serves both engines, for they may need that to come.
// Owner: the stack of one call. Threads: one call at a time of the same members.
#pragma once

#include <cstdint>

#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/outcome.hpp"
#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

class Members {
 public:
  // Those of a window, on a communicator that lives as long as this object.
  static Members of_window(Window& window, MPI_Win win) noexcept;
  // Those of a communicator of ours, which stays the caller's.
  Members(Job& job, MPI_Comm comm) noexcept : job_(job), comm_(comm) {}
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // All members give the same number, and all can. Whoever gets a good outcome knows so of all.
  Outcome agree(int id, const Outcome& mine) noexcept;
  // What the least of all says, for each of at most kMost numbers. False: MPI fails.
  static constexpr int kMost = 4;
  bool least_of(std::int64_t* numbers, int count) noexcept;

 private:
  Members(Job& job, MPI_Comm comm, bool is_own) noexcept
      : job_(job), comm_(comm), is_own_(is_own) {}

  Job& job_;
  MPI_Comm comm_;
  bool is_own_ = false;
};

}  // namespace photon::mpi
