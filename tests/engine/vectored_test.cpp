// Vectored operations over every transport and its settings: random lists and strides, both ways.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <random>
#include <vector>

#include "engine/settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class Vectored : public OverSettings {};

constexpr std::size_t kListBytes = 100'000;

// Pieces of [0, kListBytes) in any order, some left out, and where each lies on the other side.
struct Cut {
  std::size_t own, there, size_bytes;
};
std::vector<Cut> cut_up(std::mt19937_64& random, std::size_t longest) {
  std::vector<Cut> cuts;
  for (std::size_t at = 0; at < kListBytes;) {
    const std::size_t size = std::min<std::size_t>(1 + random() % longest, kListBytes - at);
    if (random() % 4 != 0) cuts.push_back({at, at, size});
    at += size;
  }
  std::shuffle(cuts.begin(), cuts.end(), random);
  std::size_t own = 0;
  for (Cut& cut : cuts) {
    cut.own = own;
    own += cut.size_bytes;
  }
  return cuts;
}

// Posts until it is accepted, and waits for its end.
template <class Args>
void finish(ph_context* context, Args& args, ph_status (*call)(ph_context*, ph_rank, const Args*)) {
  ph_request request = PH_REQUEST_NONE;
  args.size = sizeof args;
  args.request = &request;
  ph_status status = PH_AGAIN;
  while (status == PH_AGAIN) status = call(context, 1, &args);
  ASSERT_EQ(status, PH_OK) << last_error(context).text;
  ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK)
      << last_error(context).text;
}

// Rank 0 puts and gets in memory of rank 1, allocated or registered, and reads back what it wrote.
TEST_P(Vectored, lists_of_any_sizes_arrive_and_come_back) {
  for (const bool allocated : {true, false}) {
    ThreadJob job(2, options());
    std::vector<std::byte> ordinary(kListBytes);
    job.run([&](ph_context* context, ph_rank rank) {
      ph_region mine{};
      if (rank == 1) {
        ASSERT_EQ(allocated
                      ? ph_alloc(context, kListBytes, &mine)
                      : ph_register(context, ordinary.data(), kListBytes, PH_ACCESS_ALL, &mine),
                  PH_OK);
      }
      const ph_region there = exchange(context, mine)[1];
      std::mt19937_64 random(7);
      std::vector<std::byte> known(kListBytes), whole(kListBytes), back(kListBytes);
      for (const std::size_t longest : {200u, 3000u, 40'000u}) {
        const auto own = filled(kListBytes, longest);
        const auto cuts = cut_up(random, longest);
        if (rank == 0) {
          std::vector<ph_put_segment> puts;
          std::vector<ph_get_segment> gets;
          for (const Cut& cut : cuts) {
            puts.push_back({own.data() + cut.own, cut.size_bytes, ph_at(&there, cut.there)});
            gets.push_back({back.data() + cut.own, cut.size_bytes, ph_at(&there, cut.there)});
            std::memcpy(known.data() + cut.there, own.data() + cut.own, cut.size_bytes);
          }
          ph_put_vector_args put{};
          put.segments = puts.data();
          put.segments_count = puts.size();
          put.flags = PH_DELIVERED;
          const std::uint64_t written = longest, read = longest + 1;
          put.remote = id_of(written);
          finish(context, put, &ph_put_vector);
          ph_get_args all{};
          all.destination = whole.data();
          all.size_bytes = kListBytes;
          all.source = ph_at(&there, 0);
          all.flags = PH_NO_RCE;
          finish(context, all, &ph_get);
          EXPECT_EQ(whole, known);
          ph_get_vector_args get{};
          get.segments = gets.data();
          get.segments_count = gets.size();
          get.remote = id_of(read);
          finish(context, get, &ph_get_vector);
          for (const Cut& cut : cuts)
            ASSERT_EQ(std::memcmp(back.data() + cut.own, own.data() + cut.own, cut.size_bytes), 0);
        } else {
          EXPECT_EQ(take(context, PH_REMOTE, 0).id, longest);
          EXPECT_EQ(take(context, PH_REMOTE, 0).id, longest + 1);
        }
      }
      job.meet(context);
    });
  }
}

TEST_P(Vectored, faces_of_a_cube_arrive_and_come_back) {
  constexpr std::size_t kSide = 20;
  constexpr std::size_t kCube = kSide * kSide * kSide * 8;
  const auto place = [](std::size_t x, std::size_t y, std::size_t z) {
    return (x + kSide * (y + kSide * z)) * 8;
  };
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_region mine{};
    std::vector<std::byte> cube(kCube), back(kCube);
    if (rank == 0) fill(cube, 3);
    ASSERT_EQ(ph_register(context, cube.data(), kCube, PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region there = exchange(context, mine)[1];
    if (rank == 0) {
      ph_put_strided_args put{};
      put.source = cube.data() + place(3, 0, 0);
      put.target = ph_at(&there, place(5, kSide - 1, 0));  // another plane, upside down
      put.block_bytes = 8;
      put.dimensions_count = 2;
      put.dimensions[0] = {kSide, kSide * 8, -static_cast<std::ptrdiff_t>(kSide * 8)};
      put.dimensions[1] = {kSide, kSide * kSide * 8, kSide * kSide * 8};
      const std::uint64_t first = 1, second = 2;
      put.remote = id_of(first);
      put.flags = PH_DELIVERED;
      finish(context, put, &ph_put_strided);
      ph_get_strided_args get{};
      get.destination = back.data();
      get.source = put.target;
      get.block_bytes = 8;
      get.dimensions_count = 2;
      get.dimensions[0] = {kSide, 8, -static_cast<std::ptrdiff_t>(kSide * 8)};
      get.dimensions[1] = {kSide, kSide * 8, kSide * kSide * 8};
      get.remote = id_of(second);
      finish(context, get, &ph_get_strided);
      for (std::size_t y = 0; y < kSide; ++y)
        for (std::size_t z = 0; z < kSide; ++z)
          ASSERT_EQ(std::memcmp(back.data() + (y + kSide * z) * 8, cube.data() + place(3, y, z), 8),
                    0);
    } else {
      EXPECT_EQ(take(context, PH_REMOTE, 0).id, 1u);
      EXPECT_EQ(take(context, PH_REMOTE, 0).id, 2u);
      for (std::size_t i = 0; i < kCube; ++i) {
        const std::size_t x = i / 8 % kSide;
        const std::size_t y = i / 8 / kSide % kSide;
        const std::size_t z = i / 8 / kSide / kSide;
        const std::byte wanted =
            x == 5 ? pattern(3, place(3, kSide - 1 - y, z) + i % 8) : std::byte{0};
        ASSERT_EQ(cube[i], wanted) << i;
      }
    }
    job.meet(context);
  });
}

// In posting order with other ids, and what is wrong with one segment is wrong with all.
TEST_P(Vectored, one_id_in_its_turn_or_none) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_region mine{};
    Guarded memory(30'000);
    ASSERT_EQ(ph_register(context, memory.data(), 30'000, PH_ACCESS_ALL, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    const auto own = filled(30'000, 5);
    if (rank == 0) {
      std::vector<ph_put_segment> list;
      for (std::size_t i = 0; i < 100; ++i)
        list.push_back({own.data() + i * 100, 90, ph_at(&there, i * 200)});
      ph_put_vector_args put{};
      put.segments = list.data();
      put.segments_count = list.size();
      ASSERT_EQ(ph_notify(context, 1, 1), PH_OK);
      const std::uint64_t good = 2, bad = 77;
      put.remote = id_of(good);
      finish(context, put, &ph_put_vector);
      list[57].target.address = there.address + there.size_bytes - 10;
      ph_request request = PH_REQUEST_NONE;
      put.request = &request;
      put.remote = id_of(bad);
      put.flags = PH_DELIVERED;
      ph_status status = ph_put_vector(context, 1, &put);
      if (status == PH_OK) status = ph_wait_request(context, &request, nullptr, PH_FOREVER);
      EXPECT_EQ(status, PH_ERR_RANGE);
      while (ph_notify(context, 1, 3) == PH_AGAIN) {
      }
    } else {
      for (const std::uint64_t id : {1u, 2u, 3u}) EXPECT_EQ(take(context, PH_REMOTE, 0).id, id);
      for (std::size_t i = 0; i < 100; ++i)
        ASSERT_EQ(std::memcmp(memory.data() + i * 200, own.data() + i * 100, 90), 0);
    }
    job.meet(context);
    EXPECT_TRUE(memory.guards_whole());
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Vectored, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
