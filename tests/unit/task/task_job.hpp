// A job of several processes with several PEs each, all of them threads of this process.
//
//   TaskJob job(2, 2);
//   job.run([](ph_task_pe* pe, const ph_task_place& place) { ... });
//
// The body runs on every PE, between start and end.
#pragma once

#include <gtest/gtest.h>
#include <photon/task.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "thread_job.hpp"

namespace photon::task::test {

using Body = std::function<void(ph_task_pe*, const ph_task_place&)>;
using Function = std::function<void(ph_task_pe*, ph_task_message*)>;

inline ph_task_place place_of(const ph_task_pe* pe) {
  ph_task_place place{};
  place.size = sizeof place;
  EXPECT_EQ(ph_task_shape(pe, &place), PH_OK);
  return place;
}

inline std::string words_of(const ph_task_pe* pe) {
  ph_error error{};
  ph_task_error(pe, &error);
  return error.text;
}

inline void call(ph_task_pe* pe, ph_task_message* message, void* user) {
  (*static_cast<Function*>(user))(pe, message);
}

// The function stays until the end.
inline std::uint32_t enroll(ph_task_pe* pe, Function& function) {
  std::uint32_t number = 0;
  EXPECT_EQ(ph_task_register(pe, call, &function, &number), PH_OK);
  return number;
}

inline ph_task_message* make(ph_task_pe* pe, std::uint32_t handler, std::uint64_t value,
                             std::uint64_t size_bytes = sizeof(std::uint64_t)) {
  ph_task_message* message = nullptr;
  EXPECT_EQ(ph_task_alloc(pe, size_bytes, &message), PH_OK);
  ph_task_set_handler(message, handler);
  std::memcpy(ph_task_body(message), &value, sizeof value);
  return message;
}

inline std::uint64_t value_of(ph_task_message* message) {
  std::uint64_t value = 0;
  std::memcpy(&value, ph_task_body(message), sizeof value);
  return value;
}

inline ph_task_counts counts_of(const ph_task_pe* pe) {
  ph_task_counts counts{};
  counts.size = sizeof counts;
  EXPECT_EQ(ph_task_counters(pe, &counts), PH_OK);
  return counts;
}

class TaskJob {
 public:
  TaskJob(std::uint32_t processes, std::uint32_t pes, photon::test::Options options = {})
      : pes_(pes), job_(processes, std::move(options)) {}
  // What else the PEs are started with.
  ph_task_config& settings() { return settings_; }

  void run(const Body& body) {
    body_ = body;
    job_.run([this](ph_context* context, ph_rank /*rank*/) { start(context); });
  }

 private:
  static void main(ph_task_pe* pe, void* user) {
    static_cast<TaskJob*>(user)->body_(pe, place_of(pe));
  }
  void start(ph_context* context) {
    ph_task_config config = settings_;
    config.size = sizeof config;
    config.context = context;
    config.pes = pes_;
    config.main = main;
    config.user = this;
    ph_task_pe* pe = nullptr;
    ph_error error{};
    ASSERT_EQ(ph_task_start(&config, &pe, &error), PH_OK) << error.text;
    main(pe, this);
    EXPECT_EQ(ph_task_end(pe), PH_OK);
  }

  std::uint32_t pes_;
  ph_task_config settings_{};
  photon::test::ThreadJob job_;
  Body body_;
};

}  // namespace photon::task::test
