// The C++ face of active messages that are answered, land somewhere, or are filled in place.
#include <gtest/gtest.h>
#include <photon/photon.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "thread_job.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kPulledElements = 40'000;  // elements of 4 bytes: more than is carried

// Runs `body(Context&, Messages&)` on each of two ranks.
template <class F>
void on_am_pair(F&& body) {
  ThreadJob job(2);
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    Context context({{}, &bootstrap});
    Messages messages = context.messages();
    body(context, messages);
    job.meet(context.c_context());
  });
}

std::vector<std::uint32_t> ascending_words(std::size_t count) {
  std::vector<std::uint32_t> made(count);
  std::iota(made.begin(), made.end(), 3u);
  return made;
}

TEST(AmFaceLarge, a_reply_reaches_who_has_asked) {
  on_am_pair([](Context& context, Messages& messages) {
    const Rank peer = 1 - context.rank();
    std::uint64_t answer = 0;
    const Handler square = messages.on(1, [](const Message& message) {
      EXPECT_TRUE(message.wants_reply());
      const auto number = message.value<std::uint64_t>().value_or(0);
      return message.reply(2, number * number, {.immediate = number});
    });
    const Handler take = messages.on(2, [&](const Message& message) {
      EXPECT_TRUE(message.is_reply());
      EXPECT_EQ(message.immediate(), 12u);
      answer = message.value<std::uint64_t>().value_or(0);
    });
    context.barrier();
    while (!messages.send(peer, 1, std::uint64_t{12}, {.flags = PH_AM_REPLY})) messages.poll();
    messages.quiesce();
    EXPECT_EQ(answer, 144u);
  });
}

TEST(AmFaceLarge, header_and_payload_come_whole_and_the_request_is_over) {
  on_am_pair([](Context& context, Messages& messages) {
    std::vector<std::uint32_t> came;
    std::array<std::uint16_t, 3> label{};
    const Handler keep = messages.on(4, [&](const Message& message) {
      const auto header = message.header<std::uint16_t>();
      ASSERT_EQ(header.size(), label.size());
      std::copy(header.begin(), header.end(), label.begin());
      const auto payload = message.payload<std::uint32_t>();
      came.assign(payload.begin(), payload.end());
    });
    context.barrier();
    const std::array<std::uint16_t, 3> header{1, 22, 333};
    const auto sent = ascending_words(1000);
    ph_request request = PH_REQUEST_NONE;
    while (!messages.send(
        1 - context.rank(), 4, sent,
        {.header = std::as_bytes(std::span(header)), .flags = PH_DELIVERED, .request = &request}))
      messages.poll();
    context.wait(request);  // the peer's handler has returned; it runs ours in its wait
    messages.quiesce();
    EXPECT_EQ(came, sent);
    EXPECT_EQ(label, header);
  });
}

TEST(AmFaceLarge, blocks_arrive_one_behind_the_other) {
  on_am_pair([](Context& context, Messages& messages) {
    std::vector<std::uint32_t> came;
    const Handler keep = messages.on(4, [&](const Message& message) {
      const auto payload = message.payload<std::uint32_t>();
      came.assign(payload.begin(), payload.end());
    });
    context.barrier();
    const auto sent = ascending_words(60);
    const std::array<ph_const_block, 2> blocks{{{sent.data(), 80}, {sent.data() + 20, 160}}};
    while (!messages.send_blocks(1 - context.rank(), 4, blocks)) messages.poll();
    messages.quiesce();
    EXPECT_EQ(came, sent);
  });
}

TEST(AmFaceLarge, a_landing_is_filled_and_its_callable_goes_with_the_last_part) {
  on_am_pair([](Context& context, Messages& messages) {
    std::vector<std::uint32_t> room(kPulledElements);
    const auto kept = std::make_shared<int>(0);
    std::uint64_t told_bytes = 0;
    bool was_last = false;
    const Handler land = messages.on(5, [&](const Message& message, Landing& landing) {
      EXPECT_FALSE(message.is_here());
      EXPECT_EQ(message.payload_bytes(), kPulledElements * sizeof(std::uint32_t));
      landing.into(
          room,
          [&, kept](const Message& whole, const Part& part) {
            EXPECT_EQ(whole.id(), 5u);
            EXPECT_EQ(part.status(), PH_OK);
            EXPECT_EQ(part.offset(), told_bytes);
            told_bytes += part.size_bytes();
            was_last = part.is_last();
          },
          65536);
    });
    context.barrier();
    const auto sent = ascending_words(kPulledElements);
    while (!messages.send(1 - context.rank(), 5, sent)) messages.poll();
    messages.quiesce();
    EXPECT_EQ(room, sent);
    EXPECT_EQ(told_bytes, kPulledElements * sizeof(std::uint32_t));
    EXPECT_TRUE(was_last);
    EXPECT_EQ(kept.use_count(), 1);
  });
}

TEST(AmFaceLarge, a_ring_that_is_smaller_than_the_payload_shows_all_of_it) {
  on_am_pair([](Context& context, Messages& messages) {
    std::vector<std::uint32_t> ring(8192);
    std::vector<std::uint32_t> came;
    const Handler land = messages.on(5, [&](const Message&, Landing& landing) {
      landing.into_ring(ring, 16384, [&](const Message&, const Part& part) {
        const auto data = part.data<std::uint32_t>();
        came.insert(came.end(), data.begin(), data.end());
      });
    });
    context.barrier();
    const auto sent = ascending_words(kPulledElements);
    while (!messages.send(1 - context.rank(), 5, sent)) messages.poll();
    messages.quiesce();
    EXPECT_EQ(came, sent);
  });
}

TEST(AmFaceLarge, a_landing_of_a_refused_message_keeps_no_callable) {
  on_am_pair([](Context& context, Messages& messages) {
    std::vector<std::uint32_t> room(kPulledElements);
    const auto kept = std::make_shared<int>(0);
    const Handler refuse = messages.on(5, [&](const Message&, Landing& landing) {
      landing.into(room, [kept](const Message&, const Part&) { FAIL() << "it was refused"; });
      return PH_ERR_ARGUMENT;
    });
    context.barrier();
    const auto sent = ascending_words(kPulledElements);
    ph_request request = PH_REQUEST_NONE;
    while (
        !messages.send(1 - context.rank(), 5, sent, {.flags = PH_DELIVERED, .request = &request}))
      messages.poll();
    EXPECT_THROW(context.wait(request), Error);
    messages.quiesce();
    EXPECT_EQ(kept.use_count(), 1);
  });
}

TEST(AmFaceLarge, a_slot_is_filled_and_sent_and_one_that_is_dropped_shuts_nothing) {
  on_am_pair([](Context& context, Messages& messages) {
    const Rank peer = 1 - context.rank();
    std::vector<std::uint32_t> came;
    const Handler keep = messages.on(6, [&](const Message& message) {
      const auto payload = message.payload<std::uint32_t>();
      came.assign(payload.begin(), payload.end());
    });
    context.barrier();
    {
      const auto dropped = messages.prepare(peer, 64, 4096);
      ASSERT_TRUE(dropped.has_value());
      EXPECT_FALSE(messages.prepare(peer, 64, 4096).has_value()) << "one is open";
    }
    auto slot = messages.prepare(peer, 400, 4096);
    ASSERT_TRUE(slot.has_value());
    const auto sent = ascending_words(100);
    ASSERT_GE(slot->data<std::uint32_t>().size(), sent.size());
    std::copy(sent.begin(), sent.end(), slot->data<std::uint32_t>().begin());
    while (!slot->commit(6, 400)) messages.poll();
    slot.reset();  // closed: nothing to cancel
    messages.quiesce();
    EXPECT_EQ(came, sent);
  });
}

TEST(AmFaceLarge, a_quiesce_ends_in_time_or_by_its_request) {
  on_am_pair([](Context& context, Messages& messages) {
    if (context.rank() == 0) {
      EXPECT_FALSE(messages.quiesce_for(std::chrono::milliseconds(1))) << "the peer has not called";
    }
    context.barrier();
    messages.quiesce();
    ph_request request = PH_REQUEST_NONE;
    while (!messages.quiesce_begin(request)) messages.poll();
    context.wait(request);
  });
}

}  // namespace
}  // namespace photon::test
