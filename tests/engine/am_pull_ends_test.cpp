// How active messages end whose payload is read by their target: landings of every wrong kind,
// handlers that fail, replies, handlers that are unregistered, lanes that close.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "engine/am_pull_calls.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kPayload = 100'000;

// What a header handler may name for it, and what becomes of the message.
struct Naming {
  const char* name;
  void (*names)(ph_am_landing& landing, std::vector<std::byte>& memory);
  ph_status end;
};

constexpr Naming kNamings[] = {
    {"a_drop", [](ph_am_landing& landing, std::vector<std::byte>&) { landing.flags = PH_AM_DROP; },
     PH_OK},
    {"none", [](ph_am_landing&, std::vector<std::byte>&) {}, PH_ERR_ARGUMENT},
    {"too_small",
     [](ph_am_landing& landing, std::vector<std::byte>& memory) {
       landing.buffer = memory.data();
       landing.buffer_bytes = kPayload - 1;
     },
     PH_ERR_RANGE},
    {"null",
     [](ph_am_landing& landing, std::vector<std::byte>&) { landing.buffer_bytes = kPayload; },
     PH_ERR_ARGUMENT},
    {"a_buffer_and_a_drop",
     [](ph_am_landing& landing, std::vector<std::byte>& memory) {
       landing.buffer = memory.data();
       landing.buffer_bytes = kPayload;
       landing.flags = PH_AM_DROP;
     },
     PH_ERR_ARGUMENT},
    {"a_ring_of_one_place",
     [](ph_am_landing& landing, std::vector<std::byte>& memory) {
       landing.buffer = memory.data();
       landing.buffer_bytes = landing.chunk_bytes = 1000;
       landing.flags = PH_AM_CYCLE;
     },
     PH_ERR_ARGUMENT}};

class AmPullEnds : public OverSettings {};

TEST_P(AmPullEnds, each_wrong_landing_is_told_once_to_both_sides) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kPayload);
    AmDone done;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing& landing) {
      EXPECT_EQ(message.payload, nullptr);
      kNamings[message.immediate].names(landing, memory);
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto payload = filled(kPayload, 1);
    for (std::uint64_t i = 0; i < std::size(kNamings); ++i) {
      ph_am_args args = am_args(4, payload);
      args.immediate = i;
      EXPECT_EQ(send_to_end(context, 1 - rank, args), kNamings[i].end) << kNamings[i].name;
    }
    poll_until(context, [&] { return done.parts.size() == std::size(kNamings); });
    for (std::size_t i = 0; i < std::size(kNamings); ++i) {
      EXPECT_EQ(done.parts[i].status, kNamings[i].end) << kNamings[i].name;
      EXPECT_EQ(done.parts[i].is_last, 1) << kNamings[i].name;
      EXPECT_EQ(done.parts[i].size_bytes, kNamings[i].end == PH_OK ? kPayload : 0);
    }
    EXPECT_TRUE(all_are(memory, std::byte{0})) << "something was written to a landing";
    job.meet(context);
  });
}

TEST_P(AmPullEnds, an_id_without_a_handler_and_one_that_fails_read_nothing) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmDone done;
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      landing.flags = PH_AM_DROP;
      done.name(landing);
      return PH_ERR_KEY;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto payload = filled(kPayload, 1);
    EXPECT_EQ(send_to_end(context, 1 - rank, am_args(4, payload)), PH_ERR_KEY);
    EXPECT_EQ(send_to_end(context, 1 - rank, am_args(5, payload)), PH_ERR_NOT_FOUND);
    EXPECT_NE(std::string(last_error(context).text).find("no handler"), std::string::npos)
        << last_error(context).text;
    job.meet(context);
    EXPECT_TRUE(done.parts.empty()) << "the landing of a handler that failed was used";
  });
}

TEST_P(AmPullEnds, an_error_of_a_part_ends_the_rest_and_is_told_to_both_sides) {
  static constexpr std::size_t kChunk = 9'000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kPayload);
    AmDone done([&](const ph_am_message&, const ph_am_part& part) {
      return part.offset == kChunk && part.status == PH_OK ? PH_ERR_EPOCH : PH_OK;
    });
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      landing.buffer = memory.data();
      landing.buffer_bytes = memory.size();
      landing.chunk_bytes = kChunk;
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(send_to_end(context, 1 - rank, am_args(4, filled(kPayload, 1))), PH_ERR_EPOCH);
    poll_until(context, [&] { return done.ends() == 1; });
    ASSERT_EQ(done.parts.size(), 3u);
    EXPECT_EQ(done.parts[2].status, PH_ERR_EPOCH);
    EXPECT_EQ(done.parts[2].offset, 2 * kChunk);
    job.meet(context);
  });
}

TEST_P(AmPullEnds, an_error_behind_the_local_completion_comes_late_with_its_id) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kPayload);
    AmDone done([](const ph_am_message&, const ph_am_part&) { return PH_ERR_EPOCH; });
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      landing.buffer = memory.data();
      landing.buffer_bytes = memory.size();
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto payload = filled(kPayload, 1);
      const std::uint64_t local = 4711;
      ph_am_args args = am_args(4, payload);
      args.flags = 0;
      args.local = id_of(local);
      ASSERT_EQ(send_all(context, 1, args), PH_OK);
      ph_completion one = take_polling(context, {1, PH_LOCAL, nullptr});
      EXPECT_EQ(one.id, local);
      EXPECT_EQ(one.status, PH_OK) << "the payload was read";
      one = take_polling(context, {1, PH_LOCAL, nullptr});
      EXPECT_EQ(one.id, local);
      EXPECT_EQ(one.status, PH_ERR_EPOCH);
    }
    job.meet(context);
  });
}

// A reply that is pulled itself, too, and one that comes from the last of several parts.
TEST_P(AmPullEnds, completion_handlers_reply_and_replies_are_read) {
  static constexpr std::size_t kRounds = 10;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kPayload), answer(kPayload);
    AmDone summed([&](const ph_am_message& message, const ph_am_part& part) {
      EXPECT_EQ(message.flags, std::uint32_t{PH_AM_REPLY});
      if (part.is_last == 0) return PH_OK;
      answer = memory;
      for (std::byte& one : answer) one ^= std::byte{0xff};
      const bool is_long = message.immediate % 2 == 0;
      ph_am_args args = am_args(5, std::span(answer).first(is_long ? kPayload : 100));
      args.immediate = message.immediate;
      EXPECT_EQ(ph_am_reply(&message, &args), PH_OK) << last_error(context).text;
      EXPECT_EQ(ph_am_reply(&message, &args), PH_ERR_STATE) << "a second reply";
      return PH_OK;
    });
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      landing.buffer = memory.data();
      landing.buffer_bytes = memory.size();
      landing.chunk_bytes = 30'000;
      summed.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    AmLander replies(context, 5);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      const auto payload = filled(kPayload, i);
      ph_am_args args = am_args(4, payload);
      args.immediate = i;
      ASSERT_EQ(send_to_end(context, 1 - rank, args, PH_AM_REPLY), PH_OK);
      poll_until(context, [&] { return replies.ended() == i; });
      auto& landed = replies.all.back()->memory;
      EXPECT_EQ(replies.all.back()->immediate, i);
      EXPECT_EQ(landed.size(), i % 2 == 0 ? kPayload : 100);
      for (std::byte& one : landed) one ^= std::byte{0xff};
      EXPECT_EQ(first_difference(landed, i), landed.size());
      // What we answer with is lent until the peer has read it.
      ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK);
    }
    job.meet(context);
  });
}

TEST_P(AmPullEnds, requests_that_nobody_answers_leave_the_room_for_more) {
  ThreadJob job(2, options({{"am_slots", "4"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto payload = filled(kPayload, 1);
    for (int i = 0; i < 12; ++i)
      ASSERT_EQ(send_to_end(context, 1 - rank, am_args(4, payload), PH_AM_REPLY), PH_OK);
    poll_until(context, [&] { return lander.ended() == 12; });
    job.meet(context);
  });
}

TEST_P(AmPullEnds, unregister_waits_for_the_last_part) {
  static constexpr std::size_t kCount = 10;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4, 8'000);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto payload = filled(kPayload, 1);
      std::vector<ph_request> requests(kCount, PH_REQUEST_NONE);
      for (ph_request& request : requests) {
        ph_am_args args = am_args(4, payload);
        args.flags = PH_DELIVERED;
        args.request = &request;
        ASSERT_EQ(send_all(context, 1, args), PH_OK);
      }
      for (ph_request& request : requests) {
        const ph_status status = ph_wait_request(context, &request, nullptr, PH_FOREVER);
        EXPECT_TRUE(status == PH_OK || status == PH_ERR_NOT_FOUND) << status;
      }
    } else {
      poll_until(context, [&] { return !lander.all.empty(); });
      ASSERT_EQ(ph_am_unregister(context, 4), PH_OK);
      EXPECT_EQ(lander.ended(), lander.all.size()) << "a handler is still to be called";
      for (const auto& one : lander.all)
        EXPECT_EQ(first_difference(one->memory, 1), one->memory.size());
    }
    job.meet(context);
  });
}

// No handler runs any more, and nothing is written to a landing when the close has returned.
TEST_P(AmPullEnds, a_lane_that_closes_gives_landings_back_and_tells_the_sources) {
  static constexpr std::size_t kCount = 12;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lane = nullptr;
    ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK) << last_error(context).text;
    AmLander lander(lane, 4, 8'000);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto payload = filled(kPayload, 1);
      std::vector<ph_request> requests(kCount, PH_REQUEST_NONE);
      for (ph_request& request : requests) {
        ph_am_args args = am_args(4, payload);
        args.flags = PH_DELIVERED;
        args.request = &request;
        ASSERT_EQ(send_all(lane, 1, args), PH_OK);
      }
      for (ph_request& request : requests) {
        const ph_status status = ph_wait_request(lane, &request, nullptr, PH_FOREVER);
        EXPECT_TRUE(status == PH_OK || status == PH_ERR_DEPARTED) << status;
      }
      EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(context).text;
    } else {
      poll_until(lane, [&] { return lander.all.size() >= 2; });
      EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(context).text;
      const auto before = lander.ended();
      std::vector<std::vector<std::byte>> copies;
      for (const auto& one : lander.all) copies.push_back(one->memory);
      job.meet(context);
      EXPECT_EQ(lander.ended(), before);
      for (std::size_t i = 0; i < copies.size(); ++i) EXPECT_EQ(copies[i], lander.all[i]->memory);
      return;
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmPullEnds, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
