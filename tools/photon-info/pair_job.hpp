// A job of two real processes without a launcher: this one and a forked child. Paths between
// processes (kernel copies, mapped memory) can only be tried between processes.
//
//   two processes, one socketpair: it carries the callbacks of ph_bootstrap
#pragma once

#include <sys/types.h>

#include <photon/photon.hpp>

namespace photon_info {

class PairJob {
 public:
  PairJob();  // forks; call before any context exists
  PairJob(const PairJob&) = delete;
  PairJob& operator=(const PairJob&) = delete;
  ~PairJob();  // the parent waits for the child's end

  [[nodiscard]] bool is_child() const { return child_ == 0; }
  [[nodiscard]] const ph_bootstrap& bootstrap() const { return bootstrap_; }

 private:
  static int allgather(void* user, const void* mine, void* all, std::size_t size_bytes);
  static int barrier(void* user);

  int socket_ = -1;
  pid_t child_ = -1;
  ph_bootstrap bootstrap_ = {};
};

}  // namespace photon_info
