// What only the interface of active messages checks, and messages to oneself.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "shortage.hpp"

namespace photon {
namespace {

class AmApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  std::string words() const {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }
  static ph_status count(void* user, const ph_am_message* message, ph_am_landing*) {
    EXPECT_NE(message->context, nullptr);
    ++*static_cast<int*>(user);
    return PH_OK;
  }

  ph_context* context_ = nullptr;
  int handled_ = 0;
};

TEST_F(AmApi, what_is_null_or_of_another_size_is_refused_with_words) {
  EXPECT_EQ(ph_am_register(context_, 1, nullptr, nullptr), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("handler is null"), std::string::npos) << words();
  ph_am_args args{};
  EXPECT_EQ(ph_am_send(context_, 0, &args), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("sizeof(ph_am_args)"), std::string::npos) << words();
  EXPECT_EQ(ph_am_send(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_am_reply(nullptr, &args), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_am_poll(context_, 2), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("flags"), std::string::npos) << words();
}

TEST_F(AmApi, a_poll_says_whether_a_handler_ran) {
  EXPECT_EQ(ph_am_poll(context_, 0), PH_AGAIN);
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  while (ph_am_poll(context_, 0) != PH_OK) ASSERT_EQ(handled_, 0);
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(ph_am_poll(context_, 0), PH_AGAIN);
}

TEST_F(AmApi, a_visit_runs_what_is_due_and_is_refused_by_a_closed_lane) {
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  std::thread visitor([&] {
    for (ph_status status = PH_AGAIN; status == PH_AGAIN;) {
      status = ph_am_poll(context_, PH_AM_VISIT);
      ASSERT_TRUE(status == PH_AGAIN || status == PH_OK) << ph_status_text(status);
      ASSERT_EQ(handled_, status == PH_OK ? 1 : 0);
    }
    EXPECT_EQ(ph_am_poll(context_, PH_AM_VISIT), PH_AGAIN);
  });
  visitor.join();
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(ph_am_poll(nullptr, PH_AM_VISIT), PH_ERR_STATE);
  EXPECT_EQ(ph_am_poll(context_, PH_AM_VISIT | 1), PH_ERR_ARGUMENT);
  ph_context* ended = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &ended, nullptr), PH_OK);
  EXPECT_EQ(ph_finalize(ended), PH_OK);
  EXPECT_EQ(ph_am_poll(ended, PH_AM_VISIT), PH_ERR_STATE);
  ph_context_destroy(ended);
}

TEST_F(AmApi, sending_runs_no_handler) {
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  ph_am_args args{};
  args.size = sizeof args;
  args.id = 1;
  args.flags = PH_NO_LCE;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
    ASSERT_EQ(ph_am_send(context_, 0, &args), PH_OK);
  }
  EXPECT_EQ(handled_, 0);
  while (handled_ < 200) static_cast<void>(ph_am_poll(context_, 0));
}

// Who has no slot left hears of slots, and messages that have come become due by it.
TEST_F(AmApi, no_call_that_makes_no_progress_runs_what_is_due) {
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  constexpr int kMore = 129;  // than there are slots
  for (int i = 0; i < kMore; ++i) ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  ph_am_args args{};
  args.size = sizeof args;
  args.id = 1;
  args.flags = PH_DELIVERED;
  ph_request sent = PH_REQUEST_NONE, quiesce = PH_REQUEST_NONE;
  args.request = &sent;
  ASSERT_EQ(ph_am_send(context_, 0, &args), PH_OK);
  ASSERT_EQ(ph_am_quiesce_begin(context_, &quiesce), PH_OK);
  EXPECT_EQ(handled_, 0);
  ph_outcome outcome{};
  EXPECT_EQ(ph_cancel(context_, &sent, &outcome), PH_OK);
  EXPECT_EQ(outcome, PH_TOO_LATE);
  EXPECT_EQ(ph_contact(context_, 0), PH_OK);
  ph_mailbox_buffer buffer{};
  buffer.size = sizeof buffer;
  EXPECT_LT(ph_mailbox_post(context_, {}, &buffer), PH_OK);
  ph_contact_state state{};
  EXPECT_EQ(ph_peer_state(context_, 0, &state), PH_OK);
  ph_path path{};
  path.size = sizeof path;
  EXPECT_EQ(ph_path_to(context_, 0, &path), PH_OK);
  std::uint64_t under_way = 0;
  EXPECT_EQ(ph_outstanding(context_, 0, &under_way), PH_OK);
  size_t counters = 0;
  EXPECT_EQ(ph_counters(context_, 0, nullptr, 0, &counters), PH_OK);
  EXPECT_EQ(handled_, 0);
  EXPECT_EQ(ph_wait_request(context_, &sent, nullptr, PH_FOREVER), PH_OK);
  EXPECT_EQ(ph_wait_request(context_, &quiesce, nullptr, PH_FOREVER), PH_OK);
  EXPECT_EQ(handled_, kMore + 1);
}

TEST_F(AmApi, a_flood_of_small_ones_allocates_nothing_once_it_is_warm) {
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  std::uint64_t sent = 0;
  const auto flood = [&](int messages) {
    for (const int end = handled_ + messages; handled_ < end;) {
      if (ph_am_send_small(context_, 0, 1, {&sent, sizeof sent}) == PH_OK)
        ++sent;
      else
        static_cast<void>(ph_am_poll(context_, 0));
    }
    while (static_cast<std::uint64_t>(handled_) < sent) static_cast<void>(ph_am_poll(context_, 0));
  };
  flood(20'000);
  EXPECT_EQ(test::allocations_of([&] { flood(20'000); }), 0);
}

// A rank's own slots are free when its handlers have run: the next send hears of it by itself.
TEST_F(AmApi, who_sends_hears_of_slots_before_a_message_has_to_wait) {
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  const auto queued = [&] {
    ph_counter counters[256];
    size_t found = 0;
    EXPECT_EQ(ph_counters(context_, 0, counters, 256, &found), PH_OK);
    for (size_t i = 0; i < found; ++i)
      if (std::string(counters[i].name) == "am_queued") return counters[i].value;
    ADD_FAILURE() << "no such counter";
    return uint64_t{0};
  };
  constexpr int kSlots = 128;
  for (int i = 0; i < kSlots; ++i) ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  while (handled_ < kSlots) static_cast<void>(ph_am_poll(context_, 0));
  for (int i = 0; i < kSlots; ++i) ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  EXPECT_EQ(queued(), 0u);
  ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  EXPECT_EQ(queued(), 1u) << "no handler has run";
}

TEST_F(AmApi, a_finalized_context_takes_no_call) {
  ph_context* other = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &other, nullptr), PH_OK);
  ASSERT_EQ(ph_finalize(other), PH_OK);
  EXPECT_EQ(ph_am_register(other, 1, count, &handled_), PH_ERR_STATE);
  EXPECT_EQ(ph_am_unregister(other, 1), PH_ERR_STATE);
  EXPECT_EQ(ph_am_send_small(other, 0, 1, {}), PH_ERR_STATE);
  EXPECT_EQ(ph_am_poll(other, 0), PH_ERR_STATE);
  ph_context_destroy(other);
}

// Holds the thread that runs it, and then says whether later ones saw what was sent.
struct Gatekeeper {
  std::atomic<bool> is_inside = false;
  std::atomic<bool> may_leave = false;
  std::atomic<int> whole = 0;

  static ph_status hold(void* user, const ph_am_message* message, ph_am_landing*) {
    auto& self = *static_cast<Gatekeeper*>(user);
    self.is_inside = true;
    while (!self.may_leave) std::this_thread::yield();
    const auto* const bytes = static_cast<const char*>(message->payload);
    if (std::string(bytes, message->payload_bytes) == std::string(kBytes, 'x')) ++self.whole;
    return PH_OK;
  }
  void fill(ph_context* lane) {
    ASSERT_EQ(ph_am_register(lane, 1, hold, this), PH_OK);
    const std::string payload(kBytes, 'x');
    ph_am_args args{};
    args.size = sizeof args;
    args.id = 1;
    args.flags = PH_NO_LCE;
    args.payload = payload.data();
    args.payload_bytes = payload.size();
    for (int i = 0; i < kMessages; ++i) ASSERT_EQ(ph_am_send(lane, 0, &args), PH_OK);
  }
  void await() const {
    while (!is_inside) std::this_thread::yield();
  }

  static constexpr std::size_t kBytes = 100;
  static constexpr int kMessages = 3;
};

// One thread closes the lane and waits for its handler; who finalizes waits for that thread, and
// serves the context meanwhile, of which a handler runs, too.
TEST(AmApiThreads, finalize_drops_no_message_under_the_handlers_that_run) {
  using namespace std::chrono_literals;
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
  Gatekeeper of_context;
  Gatekeeper of_lane;
  of_context.fill(context);
  of_lane.fill(lane);
  const auto poll = [](ph_context* one, const Gatekeeper& keeper) {
    while (!keeper.is_inside) static_cast<void>(ph_am_poll(one, 0));
  };
  std::thread runs_context([&] { poll(context, of_context); });
  std::thread runs_lane([&] { poll(lane, of_lane); });
  of_context.await();
  of_lane.await();
  std::thread closes([&] { EXPECT_EQ(ph_lane_close(lane), PH_OK); });
  while (ph_notify(lane, 0, 1) != PH_ERR_STATE) std::this_thread::yield();
  std::thread finalizes([&] { EXPECT_EQ(ph_finalize(context), PH_OK); });
  std::this_thread::sleep_for(50ms);
  of_context.may_leave = true;
  runs_context.join();
  EXPECT_EQ(of_context.whole, Gatekeeper::kMessages) << "they were dropped while they ran";
  of_lane.may_leave = true;
  for (std::thread* one : {&runs_lane, &closes, &finalizes}) one->join();
  ph_context_destroy(context);
}

}  // namespace
}  // namespace photon
