// The words for calls that name a PE and come from a thread that is not its own: they must not
// touch what belongs to the PE.
// Owner: the process. Threads: any.
#pragma once

#include <photon/types.h>

#include <cstdio>
#include <mutex>

namespace photon::task {

class Outsiders {
 public:
  ph_status refuse(const char* call, unsigned pe) noexcept {
    const std::scoped_lock lock(mutex_);
    error_ = {.status = PH_ERR_STATE, .native_errno = 0, .rank = PH_ANY_RANK, .text = {}};
    std::snprintf(error_.text, sizeof error_.text,
                  "%s: this thread is not that of PE %u: make the call there, or send a message "
                  "from a PE",
                  call, pe);
    return PH_ERR_STATE;
  }
  // The latest of all threads.
  ph_error error() const noexcept {
    const std::scoped_lock lock(mutex_);
    return error_;
  }

 private:
  mutable std::mutex mutex_;
  ph_error error_{};
};

}  // namespace photon::task
