// A rank that waits for one thing serves all others: puts of its peers, and their collectives.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

constexpr std::int64_t kLimitUs = 20'000'000;
constexpr std::size_t kPutBytes = 200'000;
constexpr std::uint64_t kElements = 60'000;  // their bytes are read by whoever wants them
constexpr std::uint64_t kPutId = 77;

class CollWaits : public OverSettings {};

// Rank 0 waits for the local id of a put that its target confirms, and gives the others their
// broadcast meanwhile. They wait in that, and then in a barrier that rank 0 comes to last, and take
// its put meanwhile.
TEST_P(CollWaits, ranks_that_wait_for_local_ids_serve_collectives_and_the_reverse) {
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    std::vector<std::byte> landed(kPutBytes), source(kPutBytes, std::byte{5});
    ph_region own{}, regions[3];
    ASSERT_EQ(ph_register(context, landed.data(), landed.size(), PH_ACCESS_ALL, &own), PH_OK);
    ASSERT_EQ(ph_allgather(context, &own, regions, sizeof own), PH_OK);
    for (int round = 0; round < 5; ++round) {
      Collective bcast(team, {PH_COLL_BCAST, kElements, 0, false, 0});
      ph_coll_args barrier{};
      barrier.size = sizeof barrier;
      barrier.kind = PH_COLL_BARRIER;
      if (rank == 0) {
        bcast.args().flags = PH_NO_LCE;
        ASSERT_EQ(ph_coll_begin(team, &bcast.args()), PH_OK);
        ph_put_args put{};
        put.size = sizeof put;
        put.source = source.data();
        put.size_bytes = source.size();
        put.target = ph_at(&regions[1], 0);
        put.local = {&kPutId, sizeof kPutId};
        put.flags = PH_DELIVERED | PH_NO_RCE;
        ASSERT_EQ(ph_put(context, 1, &put), PH_OK);
        ASSERT_EQ(ph_wait(context, {1, PH_LOCAL, nullptr}, kLimitUs), PH_OK);
        ph_completion found{};
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {1, PH_LOCAL, nullptr}, &found, 1, &count), PH_OK);
        ASSERT_EQ(count, 1u);
        ASSERT_EQ(found.id, kPutId);
      } else {
        ASSERT_EQ(ph_coll_run(team, &bcast.args(), PH_FOREVER), PH_OK);
        bcast.expect_right("the broadcast");
      }
      ASSERT_EQ(ph_coll_run(team, &barrier, PH_FOREVER), PH_OK);
      if (rank == 1) {
        ASSERT_EQ(landed, source);
      }
      std::fill(landed.begin(), landed.end(), std::byte{});
      ASSERT_EQ(ph_coll_run(team, &barrier, PH_FOREVER), PH_OK);
    }
    ASSERT_EQ(ph_unregister(context, own.key), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollWaits, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
