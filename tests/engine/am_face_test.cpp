// Active messages of the C++ face: callables run as handlers and live as long as they may be
// called, landings and slots close themselves, outcomes are values or errors as elsewhere.
#include <gtest/gtest.h>
#include <photon/photon.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "thread_job.hpp"

namespace photon::test {
namespace {

using OfMessage = decltype([](const Message&) {});
using OfLanding = decltype([](const Message&, Landing&) { return PH_OK; });
using OfPart = decltype([](const Message&, const Part&) {});
static_assert(MessageHandler<OfMessage> && MessageHandler<OfLanding>);
static_assert(PartHandler<OfPart> && !MessageHandler<OfPart>);
static_assert(SmallValue<std::uint64_t> && !SmallValue<std::array<char, 8>>);
static_assert(!SmallValue<std::unique_ptr<int>>);
static_assert(!std::is_copy_constructible_v<Message> && !std::is_copy_constructible_v<Landing>);
static_assert(!std::is_copy_constructible_v<Handler> && std::is_move_assignable_v<Handler>);
static_assert(!std::is_copy_constructible_v<Slot> && std::is_move_constructible_v<Slot>);

// Runs `body(Context&)` on each rank of a job of threads.
template <class F>
void on_am_ranks(std::uint32_t ranks_count, F&& body) {
  ThreadJob job(ranks_count);
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    Context context({{}, &bootstrap});
    body(context);
    job.meet(context.c_context());
  });
}

// Polls until it is so.
template <class F>
void poll_face_until(Messages& messages, F&& is_done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_done()) {
    messages.poll();
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("it did not come in 20 s");
  }
}

// Sends until it is accepted.
template <class... Arguments>
void send_until_taken(Messages& messages, const Arguments&... arguments) {
  while (!messages.send(arguments...)) messages.poll();
}

std::vector<std::uint32_t> line_of_words(std::size_t count) {
  std::vector<std::uint32_t> made(count);
  std::iota(made.begin(), made.end(), 7u);
  return made;
}

TEST(AmFace, a_lambda_sees_the_value_that_was_sent) {
  on_am_ranks(2, [](Context& context) {
    Messages messages = context.messages();
    const Rank peer = 1 - context.rank();
    std::uint64_t sum = 0;
    std::optional<std::uint32_t> of_wrong_size;
    std::uint64_t seen = 0;
    const Handler add = messages.on(3, [&](const Message& message) {
      EXPECT_EQ(message.source(), peer);
      EXPECT_EQ(message.id(), 3u);
      EXPECT_TRUE(message.is_here());
      EXPECT_FALSE(message.wants_reply() || message.is_reply());
      of_wrong_size = message.value<std::uint32_t>();
      sum += message.value<std::uint64_t>().value_or(1000);
      ++seen;
    });
    EXPECT_EQ(add.id(), 3u);
    context.barrier();
    send_until_taken(messages, peer, 3u, std::uint64_t{5});
    send_until_taken(messages, peer, 3u, std::uint64_t{6});
    poll_face_until(messages, [&] { return seen == 2; });
    EXPECT_EQ(sum, 11u);
    EXPECT_FALSE(of_wrong_size.has_value());
    context.barrier();
  });
}

TEST(AmFace, a_range_arrives_as_a_span_of_its_elements) {
  on_am_ranks(2, [](Context& context) {
    Messages messages = context.messages();
    std::vector<std::uint32_t> came;
    const Handler keep = messages.on(1, [&](const Message& message) {
      const auto payload = message.payload<std::uint32_t>();
      came.assign(payload.begin(), payload.end());
    });
    context.barrier();
    const auto sent = line_of_words(12);  // what goes in one line
    send_until_taken(messages, 1 - context.rank(), 1u, sent);
    poll_face_until(messages, [&] { return !came.empty(); });
    EXPECT_EQ(came, sent);
    context.barrier();
  });
}

TEST(AmFace, what_a_callable_has_captured_lives_until_its_registration_ends) {
  on_am_ranks(1, [](Context& context) {
    Messages messages = context.messages();
    const auto kept = std::make_shared<int>(0);
    {
      Handler first = messages.on(9, [kept](const Message&) { ++*kept; });
      EXPECT_EQ(kept.use_count(), 2);
      Handler second;
      second = std::move(first);
      send_until_taken(messages, context.rank(), 9u, 1);
      poll_face_until(messages, [&] { return *kept == 1; });
      EXPECT_EQ(kept.use_count(), 2) << "a move made no second callable, and lost none";
    }
    EXPECT_EQ(kept.use_count(), 1);
    const Handler again = messages.on(9, [](const Message&) {});
    EXPECT_THROW(static_cast<void>(messages.on(9, [](const Message&) {})), Error)
        << "the id is taken";
  });
}

TEST(AmFace, a_handler_that_outlives_its_context_or_lane_harms_nobody) {
  on_am_ranks(1, [](Context& context) {
    Handler kept;
    {
      Lane lane = context.lane(1);
      Messages messages = lane.messages();
      kept = messages.on(1, [](const Message&) {});
      EXPECT_TRUE(lane.close());
    }
    kept = Handler();
    Handler of_context = context.messages().on(1, [](const Message&) {});
    EXPECT_TRUE(context.finalize());
    of_context = Handler();
  });
}

TEST(AmFace, an_exception_that_leaves_a_handler_ends_the_process_in_words) {
  const auto throws = [] {
    Context context({.options = {{"transport", "shm"}}});
    Messages messages = context.messages();
    const Handler bad =
        messages.on(7, [](const Message&) { throw std::runtime_error("from the handler"); });
    send_until_taken(messages, context.rank(), 7u, 1);
    poll_face_until(messages, [] { return false; });
  };
  EXPECT_DEATH(throws(), "handler of active message 7 .*let an exception out");
}

TEST(AmFace, errors_are_thrown_and_back_pressure_is_not) {
  on_am_ranks(1, [](Context& context) {
    Messages messages = context.messages();
    EXPECT_THROW(static_cast<void>(messages.send(1, 1, 1)), Error) << "there is no rank 1";
    EXPECT_THROW(static_cast<void>(messages.send(0, PH_AM_MAX_ID + 1, 1)), Error);
    EXPECT_FALSE(messages.poll());
  });
}

}  // namespace
}  // namespace photon::test
