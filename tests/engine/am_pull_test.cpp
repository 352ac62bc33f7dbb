// Active messages with payloads over `am_carried_max`, over every transport and its settings: their
// targets read them from their senders' memory, where their handlers want them.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <numeric>
#include <vector>

#include "engine/am_pull_calls.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kOver = kCarriedMost + 1;

class AmPullOver : public OverSettings {};

TEST_P(AmPullOver, payloads_of_every_size_land_whole_with_header_and_immediate) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::size_t sent = 0;
    for (const std::size_t size :
         {kOver, std::size_t{100'000}, std::size_t{1'000'003}, std::size_t{8} << 20})
      for (const std::size_t header_bytes : {std::size_t{0}, std::size_t{13}, std::size_t{4096}}) {
        ++sent;
        const auto payload = filled(size, sent), header = filled(header_bytes, sent + 100);
        ph_am_args args = am_args(4, payload, header);
        args.immediate = sent % 2 == 0 ? 0 : sent << 40;
        ASSERT_EQ(send_to_end(context, 1 - rank, args), PH_OK) << last_error(context).text;
      }
    poll_until(context, [&] { return lander.ended() == sent; });
    for (std::size_t i = 0; i < sent; ++i) {
      const auto& one = *lander.all[i];
      EXPECT_EQ(first_difference(one.memory, i + 1), one.memory.size()) << "message " << i;
      EXPECT_EQ(first_difference(one.header, i + 101), one.header.size());
      EXPECT_EQ(one.immediate, i % 2 != 0 ? 0 : (i + 1) << 40);
      ASSERT_EQ(one.done.parts.size(), 1u);
      EXPECT_EQ(one.done.parts[0].size_bytes, one.memory.size());
      EXPECT_EQ(one.done.parts[0].data, one.memory.data());
    }
    job.meet(context);
  });
}

TEST_P(AmPullOver, a_rank_reads_what_it_sends_to_itself) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4);
    for (std::size_t i = 0; i < 5; ++i)
      ASSERT_EQ(send_to_end(context, rank, am_args(4, filled(kOver + i, i))), PH_OK);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_EQ(first_difference(lander.all[i]->memory, i), kOver + i);
  });
}

TEST_P(AmPullOver, lists_of_many_blocks_land_in_lists_of_many_others) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::vector<std::byte>> memory;
    std::vector<ph_block> places;
    for (std::size_t i = 0; i < 60; ++i) memory.emplace_back(i * 100 + 1);
    for (auto& one : memory) places.push_back({one.data(), one.size()});
    AmDone done;
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      std::vector<ph_block>& list = places;
      landing.blocks = list.data();
      landing.blocks_count = static_cast<std::uint32_t>(list.size());
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto payload = filled(100'000, 7);
    std::vector<ph_const_block> blocks;
    std::size_t at = 0;
    for (std::size_t i = 0; at != payload.size(); ++i) {
      const std::size_t size = std::min(payload.size() - at, i % 7 == 0 ? 0 : 50 * i + 1);
      blocks.push_back({size == 0 ? nullptr : payload.data() + at, size});
      at += size;
    }
    ph_am_args args = am_args(4, {});
    args.blocks = blocks.data();
    args.blocks_count = blocks.size();
    ASSERT_EQ(send_to_end(context, 1 - rank, args), PH_OK) << last_error(context).text;
    poll_until(context, [&] { return done.ends() == 1; });
    EXPECT_EQ(done.parts[0].data, nullptr) << "it lies in many blocks";
    std::vector<std::byte> landed;
    for (const auto& one : memory) landed.insert(landed.end(), one.begin(), one.end());
    landed.resize(payload.size());
    EXPECT_EQ(first_difference(landed, 7), payload.size());
    job.meet(context);
  });
}

TEST_P(AmPullOver, a_table_of_1024_blocks_and_a_long_header_come_whole) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto payload = filled(PH_AM_BLOCKS * 40, 3), header = filled(4096, 4);
      std::vector<ph_const_block> blocks;
      for (std::size_t i = 0; i < PH_AM_BLOCKS; ++i)
        blocks.push_back({payload.data() + 40 * i, 40});
      ph_am_args args = am_args(4, {}, header);
      args.blocks = blocks.data();
      args.blocks_count = blocks.size();
      ASSERT_EQ(send_to_end(context, 1, args), PH_OK) << last_error(context).text;
    } else {
      poll_until(context, [&] { return lander.ended() == 1; });
      EXPECT_EQ(first_difference(lander.all[0]->memory, 3), PH_AM_BLOCKS * 40u);
      EXPECT_EQ(first_difference(lander.all[0]->header, 4), 4096u);
    }
    job.meet(context);
  });
}

TEST_P(AmPullOver, parts_are_told_in_order_and_have_landed_then) {
  static constexpr std::size_t kBytes = 300'000, kChunk = 14'000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kBytes);
    std::uint64_t next = 0;
    AmDone done([&](const ph_am_message& message, const ph_am_part& part) {
      EXPECT_EQ(message.payload_bytes, kBytes);
      EXPECT_EQ(part.status, PH_OK);
      EXPECT_EQ(part.offset, next);
      EXPECT_EQ(part.data, memory.data() + next);
      next += part.size_bytes;
      EXPECT_EQ(part.is_last != 0, next == kBytes);
      EXPECT_EQ(first_difference({memory.data(), next}, 9), next) << "told before it was there";
      return PH_OK;
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
    ASSERT_EQ(send_to_end(context, 1 - rank, am_args(4, filled(kBytes, 9))), PH_OK);
    poll_until(context, [&] { return done.ends() == 1; });
    EXPECT_EQ(done.parts.size(), (kBytes + kChunk - 1) / kChunk);
    job.meet(context);
  });
}

TEST_P(AmPullOver, a_ring_smaller_than_the_payload_is_filled_again_behind_its_handler) {
  static constexpr std::size_t kBytes = 500'001, kChunk = 9'000, kPlaces = 3;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kChunk * kPlaces), seen;
    AmDone done([&](const ph_am_message&, const ph_am_part& part) {
      const auto* const data = static_cast<const std::byte*>(part.data);
      EXPECT_EQ(data, memory.data() + part.offset / kChunk % kPlaces * kChunk);
      seen.insert(seen.end(), data, data + part.size_bytes);
      return PH_OK;
    });
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      landing.buffer = memory.data();
      landing.buffer_bytes = memory.size();
      landing.chunk_bytes = kChunk;
      landing.flags = PH_AM_CYCLE;
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(send_to_end(context, 1 - rank, am_args(4, filled(kBytes, 11))), PH_OK);
    poll_until(context, [&] { return done.ends() == 1; });
    ASSERT_EQ(seen.size(), kBytes);
    EXPECT_EQ(first_difference(seen, 11), kBytes);
    job.meet(context);
  });
}

TEST_P(AmPullOver, payloads_of_memory_that_was_registered_or_allocated_here_land_there) {
  static constexpr std::size_t kBytes = 200'000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_region arena{};
    ASSERT_EQ(ph_alloc(context, 2 * kBytes, &arena), PH_OK) << last_error(context).text;
    auto* const base = reinterpret_cast<std::byte*>(arena.address);
    fill({base, kBytes}, 1);
    std::vector<std::byte> registered = filled(kBytes, 2);
    ph_region region{};
    ASSERT_EQ(ph_register(context, registered.data(), kBytes, PH_ACCESS_ALL, &region), PH_OK);
    AmDone done;
    AmHandler handler([&](const ph_am_message&, ph_am_landing& landing) {
      landing.buffer = base + kBytes;
      landing.buffer_bytes = kBytes;
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(send_to_end(context, 1 - rank, am_args(4, {base, kBytes})), PH_OK);
    poll_until(context, [&] { return done.ends() == 1; });
    EXPECT_EQ(first_difference({base + kBytes, kBytes}, 1), kBytes);
    job.meet(context);
    ASSERT_EQ(send_to_end(context, 1 - rank, am_args(4, registered)), PH_OK);
    poll_until(context, [&] { return done.ends() == 2; });
    EXPECT_EQ(first_difference({base + kBytes, kBytes}, 2), kBytes);
    job.meet(context);
    EXPECT_EQ(ph_unregister(context, region.key), PH_OK) << "it is still lent";
    EXPECT_EQ(ph_free(context, base), PH_OK);
  });
}

TEST_P(AmPullOver, hundreds_under_way_both_ways_all_land) {
  static constexpr std::size_t kCount = 150, kMost = 50;
  ThreadJob job(2, options({{"am_slots", "16"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4, 10'000);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::vector<std::vector<std::byte>> sources;
    std::vector<ph_request> requests(kCount, PH_REQUEST_NONE);
    for (std::size_t i = 0; i < kCount; ++i) sources.push_back(filled(kOver + 17 * i, i));
    for (std::size_t i = 0; i < kCount + kMost; ++i) {
      if (i >= kMost) {  // requests that are over count as well, until they are taken
        ASSERT_EQ(ph_wait_request(context, &requests[i - kMost], nullptr, PH_FOREVER), PH_OK);
        fill(sources[i - kMost], 77);  // it is ours again
      }
      if (i >= kCount) continue;
      ph_am_args args = am_args(4, sources[i]);
      args.flags = i % 2 == 0 ? 0 : PH_DELIVERED;
      args.request = &requests[i];
      ASSERT_EQ(send_all(context, 1 - rank, args), PH_OK) << last_error(context).text;
    }
    poll_until(context, [&] { return lander.ended() == kCount; });
    for (std::size_t i = 0; i < kCount; ++i)
      ASSERT_EQ(first_difference(lander.all[i]->memory, i), kOver + 17 * i) << "message " << i;
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmPullOver, testing::ValuesIn(all_settings()), setting_name);

class AmOrder : public OverSettings {};

TEST_P(AmOrder, line_record_chunk_and_pulled_of_one_source_begin_in_order) {
  static constexpr std::uint64_t kCount = 200;
  static constexpr std::size_t kSizes[] = {8, 600, 9'000, 40'000};
  ThreadJob job(2, options({{"am_slots", "8"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t begun = 0, ended = 0;
    std::vector<std::byte> memory(40'000);
    AmDone done([&](const ph_am_message&, const ph_am_part& part) {
      ended += part.is_last != 0 ? 1 : 0;
      return PH_OK;
    });
    AmHandler handler([&](const ph_am_message& message, ph_am_landing& landing) {
      EXPECT_EQ(message.immediate, begun + 1) << "another one's turn";
      ++begun;
      if (message.payload != nullptr) {
        ++ended;
        return PH_OK;
      }
      landing.buffer = memory.data();
      landing.buffer_bytes = memory.size();
      done.name(landing);
      return PH_OK;
    });
    handler.enroll(context, 4);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto payload = filled(40'000, 5);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::size_t size = kSizes[(i * 7 + i / 5) % 4];
      ph_am_args args = am_args(4, std::span(payload).first(size));
      args.immediate = i + 1;
      ASSERT_EQ(send_all(context, 1 - rank, args), PH_OK) << last_error(context).text;
    }
    poll_until(context, [&] { return ended == kCount; });
    job.meet(context);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK);  // its payload is lent until then
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmOrder, testing::ValuesIn(all_settings()), setting_name);

class AmSource : public OverSettings {};

TEST_P(AmSource, is_its_owners_after_the_local_completion) {
  static constexpr std::size_t kBytes = 150'000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmLander lander(context, 4, 20'000);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t i = 0; i < 20; ++i) {
      auto payload = std::make_unique<std::vector<std::byte>>(filled(kBytes, i));
      ASSERT_EQ(send_to_end(context, 1 - rank, am_args(4, *payload), 0), PH_OK);
      fill(*payload, 200);
      payload.reset();
    }
    poll_until(context, [&] { return lander.ended() == 20; });
    for (std::uint64_t i = 0; i < 20; ++i)
      EXPECT_EQ(first_difference(lander.all[i]->memory, i), kBytes) << "message " << i;
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmSource, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
