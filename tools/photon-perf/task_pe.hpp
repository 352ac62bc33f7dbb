// One PE in each process of the job, over the job's context. All ranks make one; it ends with the
// question. After a failure of this rank it is left as it is: the others are not told of it before
// the process ends, and the end would wait for them.
// Owner: the question.
#pragma once

#include <photon/task.h>

#include <exception>

#include "failure.hpp"
#include "job.hpp"

namespace photon::perf {

class TaskPe {
 public:
  explicit TaskPe(Job& job) {
    ph_task_config config{};
    config.size = sizeof config;
    config.context = job.context();
    ph_error error{};
    if (ph_task_start(&config, &pe_, &error) != PH_OK) throw Failure(error.text);
  }
  ~TaskPe() {
    if (std::uncaught_exceptions() == exceptions_) static_cast<void>(ph_task_end(pe_));
  }
  TaskPe(const TaskPe&) = delete;
  TaskPe& operator=(const TaskPe&) = delete;

  operator ph_task_pe*() const noexcept { return pe_; }
  // Throws the words of a call that has failed.
  void check(ph_status status) const {
    if (status == PH_OK) [[likely]]
      return;
    ph_error error{};
    ph_task_error(pe_, &error);
    throw Failure(error.text);
  }

 private:
  ph_task_pe* pe_ = nullptr;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace photon::perf
