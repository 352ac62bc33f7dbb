// One PE in each process of the job, over the job's context. All ranks make one; it ends with the
// question.
// Owner: the question.
#pragma once

#include <photon/task.h>

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
  ~TaskPe() { static_cast<void>(ph_task_end(pe_)); }
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
};

}  // namespace photon::perf
