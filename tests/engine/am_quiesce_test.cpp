// Quiescence over every transport and its settings: when it ends, all that was sent before and all
// that handlers have sent because of it was handled, whatever ways it took; who dies ends it.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {
namespace {

class AmQuiesce : public OverSettings {};

constexpr std::uint32_t kRanks = 6;  // rank 1 has a parent and a child
constexpr std::uint32_t kHandler = 11;

std::uint64_t first_word(const ph_am_message& message) {
  std::uint64_t word = 0;
  std::memcpy(&word, message.payload, sizeof word);
  return word;
}

// Hands each message on until its first word is 0, and counts.
class Forwarder {
 public:
  Forwarder(ph_context* context, std::atomic<std::uint64_t>& handled, std::uint32_t flags = 0)
      : handler_([context, &handled, flags](const ph_am_message& message, ph_am_landing&) {
          const std::uint64_t hops = first_word(message);
          if ((message.flags & PH_AM_REPLY) != 0) {
            const std::vector<std::byte> none(8);
            const ph_am_args answer = am_args(kHandler, none);
            EXPECT_EQ(ph_am_reply(&message, &answer), PH_OK) << last_error(context).text;
          }
          if (hops != 0) {
            auto payload = copy_of(message.payload, message.payload_bytes);
            const std::uint64_t less = hops - 1;
            std::memcpy(payload.data(), &less, sizeof less);
            const ph_rank to = (ph_rank_of(context) + 1 + message.source) % ph_size_of(context);
            ph_am_args args = am_args(kHandler, payload);
            args.flags |= flags;
            EXPECT_EQ(ph_am_send(context, to, &args), PH_OK) << last_error(context).text;
          }
          ++handled;
          return PH_OK;
        }) {
    handler_.enroll(context, kHandler);
  }

 private:
  AmHandler handler_;
};

std::vector<std::byte> hopping(std::uint64_t hops, std::size_t size_bytes) {
  auto bytes = filled(size_bytes, hops);
  std::memcpy(bytes.data(), &hops, sizeof hops);
  return bytes;
}

TEST_P(AmQuiesce, ChainOfHandlersIsNotCutShort) {
  constexpr std::uint64_t kHops = 20, kEach = 5, kRounds = 5;
  std::atomic<std::uint64_t> handled = 0;
  ThreadJob job(kRanks, options({{"am_slots", "4"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    Forwarder forwarder(context, handled);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const auto to = static_cast<ph_rank>((rank + i) % kRanks);
        ASSERT_EQ(small_surely(context, to, kHandler, hopping(kHops, 8)), PH_OK);
      }
      ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
      EXPECT_EQ(handled, round * kRanks * kEach * (kHops + 1));
      job.meet(context);
    }
  });
}

TEST_P(AmQuiesce, EveryWayCounts) {
  constexpr std::uint64_t kHops = 2;
  const std::vector<std::size_t> sizes = {8, 48, 49, 200, 1024, 5000, 32'768};
  std::atomic<std::uint64_t> handled = 0;
  ThreadJob job(3, options({{"am_slots", "4"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    Forwarder forwarder(context, handled);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (int round = 1; round <= 3; ++round) {
      for (const std::size_t size : sizes)
        for (const std::uint32_t flags : {0u, PH_AM_REPLY}) {
          const auto payload = hopping(kHops, size);
          ph_am_args args = am_args(kHandler, payload);
          args.flags |= flags;
          const ph_rank to = (rank + 1) % 3;
          ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, to, &args); }), PH_OK)
              << last_error(context).text;
        }
      ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
      EXPECT_EQ(handled,
                static_cast<std::uint64_t>(round) * 3 * sizes.size() * (2 * (kHops + 1) + 1));
      job.meet(context);
    }
  });
}

TEST_P(AmQuiesce, OneThatFindsNoHandlerIsOver) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    for (int i = 0; i < 10; ++i)
      ASSERT_EQ(small_surely(context, 1 - rank, 99, filled(8, 1)), PH_OK);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    for (int late = 0; late < 10; ++late) {
      const ph_completion one = take_polling(context, kAnyLocal);
      EXPECT_EQ(one.status, PH_ERR_NOT_FOUND);
    }
    job.meet(context);
  });
}

// Two at least of each quiesce, and each ends at every rank.
TEST_P(AmQuiesce, TheWavesOfEachAreCountedAlikeAtAllRanks) {
  constexpr std::uint64_t kQuiesces = 3;
  std::array<std::atomic<std::uint64_t>, kRanks> waves{};
  ThreadJob job(kRanks, options());
  job.run([&](ph_context* context, ph_rank rank) {
    EXPECT_EQ(am_counter(context, "am_waves"), 0u);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t i = 0; i < kQuiesces; ++i)
      ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    waves[rank] = am_counter(context, "am_waves");
    EXPECT_GE(waves[rank], 2 * kQuiesces);
    job.meet(context);
    EXPECT_EQ(waves[rank], waves[0]);
  });
}

TEST_P(AmQuiesce, OneRankAloneIsThroughToo) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::atomic<std::uint64_t> handled = 0;
    Forwarder forwarder(context, handled);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    ASSERT_EQ(small_surely(context, rank, kHandler, hopping(5, 8)), PH_OK);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    EXPECT_EQ(handled, 6u);
  });
}

TEST_P(AmQuiesce, ATimeLimitLeavesOneThatTheNextCallGoesOnWith) {
  std::atomic<std::uint64_t> handled = 0;
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Forwarder forwarder(context, handled);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 2) {
      ASSERT_EQ(small_surely(context, 0, kHandler, hopping(3, 8)), PH_OK);
      EXPECT_EQ(ph_am_quiesce(context, 0), PH_TIMEOUT);
      EXPECT_EQ(ph_am_quiesce(context, 2000), PH_TIMEOUT);
      ph_request request = PH_REQUEST_NONE;
      expect_error(context, ph_am_quiesce_begin(context, &request), PH_ERR_STATE, "is not over");
    }
    job.meet(context);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    EXPECT_EQ(handled, 4u);
  });
}

TEST_P(AmQuiesce, ARequestIsOverWhenAllWasHandled) {
  std::atomic<std::uint64_t> handled = 0;
  ThreadJob job(kRanks, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Forwarder forwarder(context, handled);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      ASSERT_EQ(small_surely(context, (rank + 1) % kRanks, kHandler, hopping(10, 8)), PH_OK);
      ph_request request = PH_REQUEST_NONE;
      ASSERT_EQ(ph_am_quiesce_begin(context, &request), PH_OK) << last_error(context).text;
      if (request != PH_REQUEST_NONE) {
        ph_request other = PH_REQUEST_NONE;
        const ph_status again = ph_am_quiesce_begin(context, &other);
        if (again == PH_OK) ADD_FAILURE() << "two at a time";
        ph_result result{};
        ASSERT_EQ(ph_wait_request(context, &request, &result, PH_FOREVER), PH_OK);
        EXPECT_EQ(result.status, PH_OK);
      }
      EXPECT_EQ(handled, round * kRanks * 11);
      job.meet(context);
    }
  });
}

TEST_P(AmQuiesce, EachLaneHasItsOwn) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lane = open_lane(context, 1);
    ASSERT_NE(lane, nullptr);
    AmRecord here(context, kHandler), there(lane, kHandler);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(small_surely(lane, 1 - rank, kHandler, filled(8, 1)), PH_OK);
    ASSERT_EQ(ph_am_quiesce(lane, PH_FOREVER), PH_OK) << last_error(lane).text;
    EXPECT_EQ(there.all.size(), 1u);
    ASSERT_EQ(small_surely(context, 1 - rank, kHandler, filled(8, 1)), PH_OK);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    EXPECT_EQ(here.all.size(), 1u);
    job.meet(context);
    EXPECT_EQ(ph_lane_close(lane), PH_OK);
  });
}

TEST_P(AmQuiesce, AHandlerOfTheLaneIsRefused) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    bool has_run = false;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      ph_request request = PH_REQUEST_NONE;
      expect_error(context, ph_am_quiesce(context, 0), PH_ERR_STATE, "handler");
      expect_error(context, ph_am_quiesce_begin(context, &request), PH_ERR_STATE, "handler");
      has_run = true;
      return PH_OK;
    });
    handler.enroll(context, kHandler);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(small_surely(context, 1 - rank, kHandler, filled(8, 1)), PH_OK);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    EXPECT_TRUE(has_run);
    job.meet(context);
  });
}

// Also at the ranks that have never heard of it: along the tree.
TEST_P(AmQuiesce, AMemberThatDiesIsNamedAtAllRanks) {
  if (!is_sim()) GTEST_SKIP() << "callbacks tell nobody that a rank of the same process ended";
  ThreadJob job(kRanks, options());
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    ph_context* const context = job.create(bootstrap);
    ASSERT_NE(context, nullptr);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    job.meet(context);
    if (bootstrap.rank == 1) {
      ph_context_destroy(context);
      return;
    }
    for (int call = 0; call < 2; ++call)
      expect_error(context, ph_am_quiesce(context, PH_FOREVER), PH_ERR_PEER, "rank 1");
    EXPECT_EQ(last_error(context).rank, 1u);
    ph_request request = PH_REQUEST_NONE;
    EXPECT_EQ(ph_am_quiesce_begin(context, &request), PH_ERR_PEER);
    ph_finalize(context);
    ph_context_destroy(context);
  });
}

TEST_P(AmQuiesce, AMemberThatLeavesEndsItAtThoseThatStay) {
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK) << last_error(context).text;
    if (rank == 2) {
      EXPECT_EQ(ph_finalize(context), PH_OK);
      return;
    }
    expect_error(context, ph_am_quiesce(context, PH_FOREVER), PH_ERR_DEPARTED, "rank 2");
    EXPECT_EQ(last_error(context).rank, 2u);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmQuiesce, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
