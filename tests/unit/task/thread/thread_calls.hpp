// Threads of tasks whose bodies are lambdas of a test.
//
//   ThreadBody body = [&](ph_task_pe* pe) { ... };
//   const ph_task_thread thread = begin(pe, body);  // made and awakened
#pragma once

#include <gtest/gtest.h>
#include <photon/task.h>

#include <cstdint>
#include <functional>

#include "task/task_job.hpp"

namespace photon::task::test {

using ThreadBody = std::function<void(ph_task_pe*)>;

inline void call_thread(ph_task_pe* pe, void* user) { (*static_cast<ThreadBody*>(user))(pe); }

inline ph_task_thread_args args_of(ThreadBody& body) {
  ph_task_thread_args args{};
  args.size = sizeof args;
  args.function = call_thread;
  args.user = &body;
  return args;
}

// The body stays until the thread is over.
inline ph_task_thread make_thread(ph_task_pe* pe, ThreadBody& body) {
  const ph_task_thread_args args = args_of(body);
  ph_task_thread thread{};
  EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_OK) << words_of(pe);
  return thread;
}

inline ph_task_thread begin(ph_task_pe* pe, ThreadBody& body) {
  const ph_task_thread thread = make_thread(pe, body);
  EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_OK) << words_of(pe);
  return thread;
}

inline void run_all(ph_task_pe* pe) { EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK); }

inline ph_task_thread_counts threads_of_pe(const ph_task_pe* pe) {
  ph_task_thread_counts counts{};
  counts.size = sizeof counts;
  EXPECT_EQ(ph_task_thread_counters(pe, &counts), PH_OK);
  return counts;
}

}  // namespace photon::task::test
