// Spans that are filled where the target reads them: what is committed comes whole and in order,
// and what else goes through the ring waits and goes on.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {
namespace {

class AmSlot : public OverSettings {
 protected:
  static ph_status prepare(ph_context* context, ph_rank rank, std::uint64_t least,
                           ph_am_slot& slot) {
    return ph_am_prepare(context, rank, least, least, &slot);
  }
  static void fill_slot(const ph_am_slot& slot, std::size_t size, std::uint64_t seed) {
    fill({static_cast<std::byte*>(slot.data), size}, seed);
  }
};

TEST_P(AmSlot, what_was_filled_comes_whole_and_in_order) {
  const std::vector<std::size_t> sizes = {0, 1, 48, 49, 193, 1024, 1500, 5000, 20'000, 32'768};
  ThreadJob job(2, options({{"am_slots", "4"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 3);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::uint64_t seed = 0;
    for (int round = 0; round < 10; ++round)
      for (const std::size_t size : sizes) {
        ph_am_slot slot{};
        const std::size_t most = size == 0 ? 1 : size;
        ASSERT_EQ(prepare(context, 1 - rank, most, slot), PH_OK) << last_error(context).text;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(slot.data) % 64, 0u);
        fill_slot(slot, size, ++seed);
        const auto header = filled(seed % 3 == 0 ? 50 : 0, seed + 1000);
        ASSERT_EQ(
            send_surely(context, [&] { return ph_am_commit(&slot, 3, block_of(header), size); }),
            PH_OK)
            << last_error(context).text;
        if (seed % 4 == 0) {
          ++seed;
          ASSERT_EQ(small_surely(context, 1 - rank, 3, filled(8, seed)), PH_OK);
        }
      }
    poll_until(context, [&] { return record.all.size() == seed; });
    for (std::uint64_t i = 1; i <= seed; ++i) {
      const Handled& one = record.all[i - 1];
      ASSERT_EQ(first_difference(one.payload, i), one.payload.size()) << i;
      ASSERT_EQ(first_difference(one.header, i + 1000), one.header.size()) << i;
    }
    job.meet(context);
  });
}

TEST_P(AmSlot, while_one_is_open_lines_go_on_and_bodies_wait) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 3);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ph_am_slot slot{};
      ASSERT_EQ(prepare(context, 1, 1000, slot), PH_OK);
      ASSERT_EQ(small_surely(context, 1, 3, filled(8, 1)), PH_OK);
      fill_slot(slot, 1000, 3);
      ph_am_args args = am_args(3, {});
      const auto bytes = filled(6000, 2);
      args.payload = bytes.data();
      args.payload_bytes = bytes.size();
      ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1, &args); }), PH_OK);
      ASSERT_EQ(send_surely(context, [&] { return ph_am_commit(&slot, 3, {}, 1000); }), PH_OK);
      ASSERT_EQ(ph_flush(context, 1, PH_FOREVER), PH_OK);
    } else {
      poll_until(context, [&] { return record.all.size() == 3; });
      for (std::uint64_t i = 0; i < 3; ++i)
        EXPECT_EQ(first_difference(record.all[i].payload, i + 1), record.all[i].payload.size());
    }
    job.meet(context);
  });
}

TEST_P(AmSlot, a_cancelled_one_gives_the_ring_back) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 3);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t i = 0; i < 50; ++i) {
      ph_am_slot slot{};
      ASSERT_EQ(prepare(context, 1 - rank, 1500, slot), PH_OK);
      ph_am_slot second{};
      ASSERT_EQ(prepare(context, 1 - rank, 1, second), PH_AGAIN);
      ASSERT_EQ(ph_am_cancel(&slot), PH_OK);
      ph_am_args args = am_args(3, {});
      const auto bytes = filled(3000, i);
      args.payload = bytes.data();
      args.payload_bytes = bytes.size();
      ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1 - rank, &args); }), PH_OK);
    }
    poll_until(context, [&] { return record.all.size() == 50; });
    for (std::uint64_t i = 0; i < 50; ++i)
      EXPECT_EQ(first_difference(record.all[i].payload, i), 3000u);
    job.meet(context);
  });
}

TEST_P(AmSlot, one_that_is_open_when_a_lane_closes_is_said_so) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lane = nullptr;
    ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
    ph_am_slot slot{};
    ASSERT_EQ(prepare(lane, 1 - rank, 100, slot), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(ph_lane_close(lane), PH_ERR_STATE);
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmSlot, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
