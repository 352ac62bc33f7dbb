// ph_map and ph_unmap over every transport: a pointer where memory is shared, words where it is
// not.
#include "settings.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kMappedBytes = 8192;

class Mapping : public OverSettings {
 protected:
  // Between ranks 0 and 1.
  static bool is_shared() {
    const std::string name = GetParam().name;
    return name.starts_with("shm") || name == "mixed_near";
  }
  // They have met. Over a network the word of that may come later than what follows it: until then
  // a call says PH_AGAIN.
  static std::vector<ph_region> meet(ph_context* context, ph_region& mine) {
    EXPECT_EQ(ph_alloc(context, kMappedBytes, &mine), PH_OK);
    const auto regions = exchange(context, mine);
    const ph_rank other = 1 - ph_rank_of(context);
    EXPECT_EQ(ph_notify(context, other, 1), PH_OK);
    EXPECT_EQ(take_remote(context, other).id, 1u);
    EXPECT_EQ(ph_flush(context, other, kTakeTimeoutUs), PH_OK);
    EXPECT_EQ(ph_barrier(context), PH_OK);
    return regions;
  }
  static std::byte* bytes_of(const ph_region& region) {
    return reinterpret_cast<std::byte*>(region.address);
  }
  static std::byte* map(ph_context* context, ph_rank rank, const ph_region& region) {
    void* local = nullptr;
    EXPECT_EQ(insist(context, [&] { return ph_map(context, rank, &region, &local); }), PH_OK)
        << last_error(context).text;
    return static_cast<std::byte*>(local);
  }
};

TEST_P(Mapping, gives_a_pointer_where_memory_is_shared_and_says_so_where_it_is_not) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{};
    const ph_region there = meet(context, mine)[1];
    if (rank == 0 && !is_shared()) {
      void* local = &mine;
      const ph_status mapped = insist(context, [&] { return ph_map(context, 1, &there, &local); });
      expect_error(context, mapped, PH_ERR_NOT_FOUND, "ph_path_to()");
      EXPECT_EQ(local, nullptr);
    } else if (rank == 0) {
      std::byte* const local = map(context, 1, there);
      ASSERT_NE(local, nullptr);
      fill({local, kMappedBytes}, 3);
      ASSERT_EQ(ph_notify(context, 1, 2), PH_OK);
      EXPECT_EQ(take_remote(context, 1).id, 3u);
      EXPECT_EQ(first_difference({local, kMappedBytes}, 4), kMappedBytes);
      EXPECT_EQ(ph_unmap(context, local), PH_OK);
      expect_error(context, ph_unmap(context, local), PH_ERR_NOT_FOUND, "unmap");
    } else if (is_shared()) {
      EXPECT_EQ(take_remote(context, 0).id, 2u);
      EXPECT_EQ(first_difference({bytes_of(mine), kMappedBytes}, 3), kMappedBytes);
      fill({bytes_of(mine), kMappedBytes}, 4);
      ASSERT_EQ(ph_notify(context, 0, 3), PH_OK);
    }
    serve_until_met(job, context);
    EXPECT_EQ(ph_unmap(context, nullptr), PH_OK);
  });
}

TEST_P(Mapping, freed_memory_waits_for_those_who_have_it_mapped) {
  if (!is_shared()) GTEST_SKIP() << "nothing is mapped";
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{}, next{};
    const ph_region there = meet(context, mine)[1];
    std::byte* const local = rank == 0 ? map(context, 1, there) : nullptr;
    if (local != nullptr) fill({local, kMappedBytes}, 3);
    serve_until_met(job, context);
    ph_context* const lane = open_lane(context, 5);
    if (rank == 1) {
      ASSERT_EQ(ph_free(context, bytes_of(mine)), PH_OK) << last_error(context).text;
      expect_error(context, ph_free(context, bytes_of(mine)), PH_ERR_NOT_FOUND, "free");
      for (ph_context* const by : {context, lane}) {
        ASSERT_EQ(ph_alloc(by, kMappedBytes, &next), PH_OK);
        EXPECT_NE(next.address, mine.address);
        fill({bytes_of(next), kMappedBytes}, 9);
        ASSERT_EQ(ph_free(by, bytes_of(next)), PH_OK);
      }
    }
    serve_until_met(job, context);
    if (rank == 0) {
      EXPECT_EQ(first_difference({local, kMappedBytes}, 3), kMappedBytes);
      void* again = nullptr;
      expect_error(context, ph_map(context, 1, &there, &again), PH_ERR_KEY, "anew");
      EXPECT_EQ(ph_unmap(context, local), PH_OK);
    }
    serve_until_met(job, context);
    if (rank == 1) {
      ASSERT_EQ(ph_alloc(lane, kMappedBytes, &next), PH_OK);
      EXPECT_EQ(next.address, mine.address) << "by whatever lane";
      const auto* bytes = bytes_of(next);
      EXPECT_TRUE(std::all_of(bytes, bytes + kMappedBytes,
                              [](std::byte one) { return one == std::byte{}; }));
    }
    serve_until_met(job, context);
  });
}

TEST_P(Mapping, outlives_the_owner_that_finalizes) {
  if (!is_shared()) GTEST_SKIP() << "nothing is mapped";
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{};
    const ph_region there = meet(context, mine)[1];
    std::byte* const local = rank == 0 ? map(context, 1, there) : nullptr;
    serve_until_met(job, context);
    if (rank == 1) {
      fill({bytes_of(mine), kMappedBytes}, 3);
      EXPECT_EQ(ph_finalize(context), PH_OK);
      job.meet();
      return;
    }
    job.meet();
    EXPECT_EQ(ph_wait(context, {1, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_ERR_DEPARTED);
    EXPECT_EQ(first_difference({local, kMappedBytes}, 3), kMappedBytes);
    fill({local, kMappedBytes}, 4);
    EXPECT_EQ(first_difference({local, kMappedBytes}, 4), kMappedBytes);
    void* again = nullptr;
    expect_error(context, ph_map(context, 1, &there, &again), PH_ERR_DEPARTED, "rank 1");
    EXPECT_EQ(ph_unmap(context, local), PH_OK);
    EXPECT_EQ(ph_unmap(context, local), PH_ERR_NOT_FOUND);
  });
}

TEST_P(Mapping, refuses_what_it_cannot_be_asked) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{}, registered{};
    const auto regions = meet(context, mine);
    std::vector<std::byte> ordinary(64);
    ASSERT_EQ(ph_register(context, ordinary.data(), 64, PH_ACCESS_ALL, &registered), PH_OK);
    const ph_region not_allocated = exchange(context, registered)[1];
    void* local = nullptr;
    ph_context* const lane = open_lane(context, 5);
    if (rank == 0) {
      const ph_region& there = regions[1];
      expect_error(context, ph_map(context, 1, nullptr, &local), PH_ERR_ARGUMENT, "map");
      expect_error(context, ph_map(context, 1, &there, nullptr), PH_ERR_ARGUMENT, "map");
      expect_error(context, ph_map(context, 2, &there, &local), PH_ERR_RANK, "job of 2");
      expect_error(lane, ph_map(lane, 1, &there, &local), PH_ERR_ARGUMENT, "lane");
      expect_error(lane, ph_unmap(lane, bytes_of(there)), PH_ERR_ARGUMENT, "lane");
      expect_error(context, ph_unmap(context, &local), PH_ERR_NOT_FOUND, "unmap");
      const ph_region none{there.address, 0, there.key};
      expect_error(context, ph_map(context, 1, &none, &local), PH_ERR_ARGUMENT, "size 0");
      expect_error(context, ph_map(context, 1, &not_allocated, &local), PH_ERR_NOT_FOUND,
                   is_shared() ? "ph_alloc" : "map");
      const ph_region larger{there.address, kMappedBytes + 1, there.key};
      const ph_region other{there.address, kMappedBytes, there.key ^ std::uint64_t{1} << 40};
      if (is_shared()) {
        expect_error(context, ph_map(context, 1, &larger, &local), PH_ERR_RANGE, "leaves");
        expect_error(context, ph_map(context, 1, &other, &local), PH_ERR_KEY, "anew");
      }
      EXPECT_EQ(local, nullptr);
    }
    serve_until_met(job, context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Mapping, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
