// Handles of lanes: what a call that comes too late finds, forks, and the C++ face.
#include <photon/photon.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <thread>

namespace photon {
namespace {

TEST(LaneApi, a_lane_of_a_finalized_context_refuses_with_words_and_can_be_closed) {
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
  ASSERT_EQ(ph_finalize(context), PH_OK);
  EXPECT_EQ(ph_notify(lane, 0, 1), PH_ERR_STATE);
  ph_error error{};
  ph_last_error(lane, &error);
  EXPECT_NE(std::string(error.text).find("lane was closed"), std::string::npos);
  EXPECT_EQ(ph_rank_of(lane), 0u);
  EXPECT_EQ(ph_lane_of(lane), 1u);
  ph_context* late = nullptr;
  EXPECT_EQ(ph_lane_open(context, 2, &late), PH_ERR_STATE);
  EXPECT_EQ(ph_lane_close(lane), PH_OK);
  ph_context_destroy(context);
}

TEST(LaneApi, destroying_a_context_frees_the_lanes_that_were_left) {
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
  EXPECT_EQ(ph_notify(lane, 0, 1), PH_OK);
  ph_context_destroy(context);  // leaks are the sanitizer's to find
}

TEST(LaneApi, destroying_a_lane_closes_it) {
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
  ph_context_destroy(lane);
  EXPECT_EQ(ph_lane_open(context, 1, &lane), PH_ERR_STATE) << "it was closed";
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST(LaneApi, a_forked_child_is_refused_and_can_only_destroy) {
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = ph_notify(lane, 0, 1) == PH_ERR_FORKED &&
                         ph_lane_close(lane) == PH_ERR_FORKED &&
                         ph_finalize(context) == PH_ERR_FORKED;
    ph_context_destroy(context);
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ph_notify(lane, 0, 1), PH_OK) << "the parent's lives";
  EXPECT_EQ(ph_lane_close(lane), PH_OK);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

// While it lives no thread can be started: each would ask for more stack than there are addresses.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_attr_init(&before_);
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(LaneApi, a_lane_that_can_start_no_progress_thread_goes_on_without_and_says_so) {
  const ph_option wanted[] = {{"progress_thread", "on"}, {"log", "warn"}};
  const ph_config config{sizeof(ph_config), nullptr, wanted, 2};
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_context_create(&config, &context, nullptr), PH_OK);
  testing::internal::CaptureStderr();
  {
    const NoThreads none;
    EXPECT_THROW(std::thread([] {}).join(), std::system_error);
    EXPECT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cannot start the progress thread"), std::string::npos) << said;
  EXPECT_NE(said.find("lane 1 goes on without"), std::string::npos) << said;
  ASSERT_NE(lane, nullptr);
  EXPECT_EQ(ph_notify(lane, 0, 1), PH_OK);
  EXPECT_EQ(ph_lane_close(lane), PH_OK);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

// Whoever closes and whoever finalizes may come at the same time.
TEST(LaneApi, closing_and_finalizing_at_once_ends_both) {
  for (int round = 0; round < 50; ++round) {
    ph_context* context = nullptr;
    ph_context* lane = nullptr;
    ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
    ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
    EXPECT_EQ(ph_notify(lane, 0, 1), PH_OK);
    std::thread other([&] { EXPECT_EQ(ph_lane_close(lane), PH_OK); });
    EXPECT_EQ(ph_finalize(context), PH_OK);
    other.join();
    ph_context_destroy(context);
  }
}

TEST(LaneCpp, a_lane_is_an_object_that_closes_itself) {
  Context context;
  EXPECT_EQ(context.number(), 0u);
  {
    Lane lane = context.lane(3);
    EXPECT_EQ(lane.number(), 3u);
    EXPECT_TRUE(lane.notify(0, 5));
    lane.wait(kRemote);
    EXPECT_EQ(lane.probe_one(kRemote)->id, 5u);
    EXPECT_FALSE(context.probe_one(kRemote));
  }
  EXPECT_THROW((void)context.lane(3), Error);
  Lane lane = context.lane(4);
  EXPECT_TRUE(lane.close());
  EXPECT_THROW((void)lane.notify(0, 1), Error);
  EXPECT_THROW(static_cast<Lane&>(context).close(), Error) << "a context is finalized";
}

TEST(LaneCpp, memory_registered_by_a_lane_outlives_it) {
  Context context;
  std::vector<std::uint64_t> values(8, 7);
  Registration registered;
  Allocation<std::uint64_t> allocated;
  {
    Lane lane = context.lane(1);
    registered = lane.register_memory(values);
    allocated = lane.allocate<std::uint64_t>(8);
  }
  Lane other = context.lane(2);
  ASSERT_TRUE(other.put(0, values, at<std::uint64_t>(allocated.region(), 0), {.remote = 1}));
  other.wait(kRemote);
  EXPECT_EQ(allocated[7], 7u);
}

TEST(LaneCpp, a_lane_may_outlive_its_context) {
  auto context = std::make_unique<Context>();
  Lane lane = context->lane(1);
  context.reset();
  EXPECT_THROW((void)lane.notify(0, 1), Error);
}

}  // namespace
}  // namespace photon
