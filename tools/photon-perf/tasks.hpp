// PEs for as long as an object lives, over the job's context, with handlers that are the same on
// all of them.
// Invariant: all processes make one, and end it, together. After a failure of this rank the PEs are
// left as they are: the others are not told of it before the process ends, and the end would wait
// for them.
// Owner: a question.
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "job.hpp"
#include "pinning.hpp"

namespace photon::perf {

class TaskPes {
 public:
  struct Shape {
    std::uint32_t pes;  // of each process
    std::vector<ph_task_handler> handlers;
    void* user;  // of all
    // Of PEs other than the first: where their thread runs, and what; null: what comes, until a
    // handler stops it.
    const Processors* processors = nullptr;
    std::uint32_t first_processor = 0;
    std::function<void(ph_task_pe* pe)> work = nullptr;
    bool keeps_messages = true;  // else each message is memory of the heap, made for it
  };

  TaskPes(Job& job, Shape shape) : shape_(std::move(shape)) {
    ph_task_config config{};
    config.size = sizeof config;
    config.context = job.context();
    config.pes = shape_.pes;
    config.main = work;
    config.user = this;
    if (!shape_.keeps_messages) config.pool_bytes = config.arena_bytes = 1;
    ph_error error{};
    if (ph_task_start(&config, &pe_, &error) != PH_OK) throw Failure(error.text);
    enroll(pe_);
  }
  ~TaskPes() {
    if (std::uncaught_exceptions() == exceptions_) static_cast<void>(ph_task_end(pe_));
  }
  TaskPes(const TaskPes&) = delete;
  TaskPes& operator=(const TaskPes&) = delete;

  ph_task_pe* pe() const noexcept { return pe_; }

  static void check(ph_task_pe* pe, ph_status status) {
    if (status == PH_OK) [[likely]]
      return;
    ph_error error{};
    ph_task_error(pe, &error);
    throw Failure(error.text);
  }
  static ph_task_message* make(ph_task_pe* pe, std::uint32_t handler, std::uint64_t size_bytes) {
    ph_task_message* message = nullptr;
    check(pe, ph_task_alloc(pe, size_bytes, &message));
    ph_task_set_handler(message, handler);
    return message;
  }

 private:
  static void work(ph_task_pe* pe, void* user) {
    const auto& self = *static_cast<const TaskPes*>(user);
    ph_task_place place{};
    place.size = sizeof place;
    check(pe, ph_task_shape(pe, &place));
    if (self.shape_.processors != nullptr)
      self.shape_.processors->bind(self.shape_.first_processor + place.rank);
    self.enroll(pe);
    if (self.shape_.work) return self.shape_.work(pe);
    check(pe, ph_task_run(pe, -1, nullptr));
  }
  void enroll(ph_task_pe* pe) const {
    for (const ph_task_handler handler : shape_.handlers) {
      std::uint32_t number = 0;
      check(pe, ph_task_register(pe, handler, shape_.user, &number));
    }
    check(pe, ph_task_agree(pe));
  }

  Shape shape_;
  ph_task_pe* pe_ = nullptr;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace photon::perf
