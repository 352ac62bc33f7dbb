// The calls of progress.h: bad arguments, handles that are over, forks, and the C++ face.
#include <photon/photon.hpp>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "shortage.hpp"

namespace photon {
namespace {

struct Call {
  const char* name;
  ph_status (*make)(ph_context*);
};

constexpr Call kCalls[] = {
    {"progress_start", &ph_progress_start},
    {"progress_stop", &ph_progress_stop},
    {"wake", &ph_wake},
    {"event_fd",
     [](ph_context* context) {
       int fd = 7;
       const ph_status status = ph_event_fd(context, &fd);
       EXPECT_EQ(fd >= 0, status == PH_OK);
       return status;
     }},
    {"event_arm", &ph_event_arm},
};

TEST(ProgressApi, a_null_handle_and_one_that_is_over_are_refused) {
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ASSERT_EQ(ph_finalize(context), PH_OK);
  for (const Call& call : kCalls) {
    EXPECT_EQ(call.make(nullptr), PH_ERR_STATE) << call.name;
    EXPECT_EQ(call.make(context), PH_ERR_STATE) << call.name;
    ph_error error{};
    ph_last_error(context, &error);
    EXPECT_NE(std::string(error.text).find("finalized"), std::string::npos) << call.name;
  }
  ph_context_destroy(context);
}

TEST(ProgressApi, a_place_for_the_descriptor_is_needed) {
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  EXPECT_EQ(ph_event_fd(context, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST(ProgressApi, starting_and_stopping_are_idempotent_and_may_be_done_by_several_threads) {
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  EXPECT_EQ(ph_progress_stop(context), PH_OK) << "there is none";
  const auto start_and_stop = [context] {
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(ph_progress_start(context), PH_OK);
      EXPECT_EQ(ph_progress_start(context), PH_OK);
      EXPECT_EQ(ph_progress_stop(context), PH_OK);
      EXPECT_EQ(ph_progress_stop(context), PH_OK);
    }
  };
  std::thread other(start_and_stop);
  start_and_stop();
  other.join();
  EXPECT_EQ(ph_progress_start(context), PH_OK);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST(ProgressApi, starting_without_memory_leaves_no_thread_behind) {
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  int failures = 0;
  for (bool is_started = false; !is_started; ++failures) {
    ph_status status = PH_OK;
    std::thread starter([&] {  // the lane has been another thread's so far
      const test::Shortage shortage(failures);
      status = ph_progress_start(context);
    });
    starter.join();
    is_started = status == PH_OK;
    ASSERT_TRUE(is_started || status == PH_ERR_MEMORY) << failures << ": " << status;
    EXPECT_EQ(ph_progress_stop(context), PH_OK) << failures;
  }
  EXPECT_GT(failures, 1);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST(ProgressApi, a_forked_child_is_refused) {
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = true;
    for (const Call& call : kCalls) good = good && call.make(context) == PH_ERR_FORKED;
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST(ProgressApi, the_cpp_face_does_the_same) {
  Context context;
  context.progress_start();
  context.progress_stop();
  context.wake();
  context.wait();
  const int fd = context.event_fd();
  while (!context.event_arm()) static_cast<void>(context.probe_one());
  context.wake();
  pollfd one{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&one, 1, 0), 1);
  EXPECT_FALSE(context.event_arm());
}

}  // namespace
}  // namespace photon
