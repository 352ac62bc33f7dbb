// Active messages over every transport and its settings: lines, records and bodies come with their
// bytes, in order, to the handler that is registered; what cannot be is refused with words.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {
namespace {

class AmOver : public OverSettings {};

TEST_P(AmOver, a_line_comes_with_its_bytes) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 7);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::size_t size = 0; size <= PH_AM_SMALL_BYTES; ++size)
      ASSERT_EQ(small_surely(context, 1 - rank, 7, filled(size, size)), PH_OK);
    poll_until(context, [&] { return record.all.size() > PH_AM_SMALL_BYTES; });
    for (std::size_t size = 0; size <= PH_AM_SMALL_BYTES; ++size) {
      const Handled& one = record.all[size];
      EXPECT_EQ(one.source, 1 - rank);
      EXPECT_EQ(one.id, 7u);
      EXPECT_EQ(one.flags | one.immediate, 0u);
      EXPECT_TRUE(one.header.empty());
      ASSERT_EQ(one.payload.size(), size);
      EXPECT_EQ(first_difference(one.payload, size), size);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(AmOver, many_more_lines_than_slots_come_in_order_both_ways) {
  constexpr std::uint64_t kCount = 3000;
  ThreadJob job(2, options({{"am_slots", "8"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t next = 0;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      std::uint64_t value = 0;
      std::memcpy(&value, message.payload, sizeof value);
      EXPECT_EQ(value, next++);
      return PH_OK;
    });
    handler.enroll(context, 65535);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(small_surely(context, 1 - rank, 65535, std::as_bytes(std::span(&i, 1))), PH_OK);
    poll_until(context, [&] { return next == kCount; });
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(AmOver, a_rank_sends_to_itself) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 0);
    for (int i = 0; i < 500; ++i)
      ASSERT_EQ(small_surely(context, rank, 0, filled(8, static_cast<std::uint64_t>(i))), PH_OK);
    poll_until(context, [&] { return record.all.size() == 500; });
    EXPECT_EQ(first_difference(record.all.back().payload, 499), 8u);
  });
}

TEST_P(AmOver, records_and_bodies_come_whole_with_header_and_immediate) {
  const std::vector<std::size_t> sizes = {0,    1,    47,   48,   49,     191,    192,   193,
                                          1000, 1024, 1025, 4096, 10'000, 32'767, 32'768};
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 3);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::uint64_t seed = 0;
    for (const std::size_t size : sizes)
      for (const std::size_t header_bytes : {0, 5, 40, 4096}) {
        ++seed;
        const auto payload = filled(size, seed), header = filled(header_bytes, seed + 1000);
        ph_am_args args = am_args(3, payload, header);
        args.immediate = seed % 2 == 0 ? 0 : seed << 40;
        ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1 - rank, &args); }), PH_OK)
            << last_error(context).text;
      }
    poll_until(context, [&] { return record.all.size() == seed; });
    seed = 0;
    for (const std::size_t size : sizes)
      for (const std::size_t header_bytes : {0, 5, 40, 4096}) {
        const Handled& one = record.all[seed++];
        ASSERT_EQ(one.payload.size(), size);
        ASSERT_EQ(one.header.size(), header_bytes);
        ASSERT_EQ(first_difference(one.payload, seed), size) << header_bytes;
        ASSERT_EQ(first_difference(one.header, seed + 1000), header_bytes) << size;
        ASSERT_EQ(one.immediate, seed % 2 == 0 ? 0 : seed << 40);
      }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(AmOver, a_list_of_blocks_comes_as_one_payload) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 3);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (const std::size_t size : {std::size_t{30}, std::size_t{700}, std::size_t{20'000}}) {
      const auto bytes = filled(size, size);
      const std::size_t a = size / 3, b = size / 2;
      const ph_const_block blocks[] = {
          {bytes.data(), a}, {nullptr, 0}, {bytes.data() + a, b - a}, {bytes.data() + b, size - b}};
      ph_am_args args = am_args(3, {});
      args.blocks = blocks;
      args.blocks_count = 4;
      ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1 - rank, &args); }), PH_OK);
    }
    poll_until(context, [&] { return record.all.size() == 3; });
    for (const Handled& one : record.all)
      EXPECT_EQ(first_difference(one.payload, one.payload.size()), one.payload.size());
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
