// Targets that an operation must not touch: each is refused, here or by the owner, its id is not
// delivered, and no byte of the owner's memory changes.
#include "base/hex.hpp"
#include "settings.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kRegionBytes = 4096;
// Inside one line, in several lines, through the bulk ring in one chunk and in many.
constexpr std::size_t kSizes[] = {1, 8, 100, 1000, 4000, 70000};

class BadTarget : public OverSettings {};

// A place, and what is to be said of it.
struct Bad {
  ph_target target;
  std::size_t size_bytes;
  ph_status wanted;
};

// Posts to rank 1 and takes the one error that must come of it, at once or as a completion.
void expect_refusal(ph_context* context, const Bad& bad, bool is_get, bool posted_by_args) {
  SCOPED_TRACE((is_get ? "get of " : "put of ") + std::to_string(bad.size_bytes));
  std::vector<std::byte> mine(bad.size_bytes, std::byte{0x77});
  const std::uint64_t local = 41, remote = 42;
  ph_status status = PH_OK;
  if (is_get) {
    status = ph_get_u64(context, 1, {mine.data(), mine.size()}, bad.target, {local, remote});
  } else if (posted_by_args) {
    ph_put_args args = put_args(mine, bad.target, local, remote);
    args.flags = PH_DELIVERED | PH_NO_LCE;  // an error is told all the same
    status = ph_put(context, 1, &args);
  } else {
    status = ph_put_u64(context, 1, {mine.data(), mine.size()}, bad.target, {local, remote});
  }
  if (status == PH_OK) {
    ph_completion done = take(context, PH_LOCAL, 1);
    // Without PH_DELIVERED the source is free before the owner's refusal is here.
    if (done.status == PH_OK && !is_get && !posted_by_args) done = take(context, PH_LOCAL, 1);
    status = done.status;
    EXPECT_EQ(done.id, local);
  }
  EXPECT_EQ(status, bad.wanted) << ph_status_text(status);
  EXPECT_EQ(last_error(context).rank, 1u);
  const std::string text = last_error(context).text;
  EXPECT_TRUE(text.find(base::hex(bad.target.address)) != std::string::npos ||
              text.find("local id 41") != std::string::npos)
      << "which operation was it? " << text;
  if (is_get) {
    EXPECT_TRUE(std::all_of(mine.begin(), mine.end(), [](std::byte b) {
      return b == std::byte{0x77};
    })) << "a refused get wrote to its destination";
  }
}

// Rank 0 tries `bads`; rank 1 owns the memory, hears only of a good put at the end, and finds
// nothing else changed.
void try_all(ph_context* context, ph_rank rank, std::uint32_t access,
             const std::function<std::vector<Bad>(const ph_region&, std::size_t)>& bads) {
  Guarded memory(kRegionBytes);
  Guarded beside(64);
  ph_region bad_region{}, good_region{};
  ASSERT_EQ(ph_register(context, memory.data(), kRegionBytes, access, &bad_region), PH_OK);
  ASSERT_EQ(ph_register(context, beside.data(), 64, PH_ACCESS_ALL, &good_region), PH_OK);
  const ph_region target = exchange(context, bad_region)[1];
  const ph_region good = exchange(context, good_region)[1];
  if (rank == 0) {
    for (const std::size_t size : kSizes)
      for (const Bad& bad : bads(target, size))
        for (const bool is_get : {false, true}) {
          expect_refusal(context, bad, is_get, false);
          if (!is_get) expect_refusal(context, bad, is_get, true);
        }
    const std::uint64_t value = 0x1234;
    ASSERT_EQ(ph_put_u64(context, 1, {&value, 8}, ph_at(&good, 8), {1, 99}), PH_OK);
    EXPECT_EQ(take(context, PH_LOCAL, 1).status, PH_OK);
    EXPECT_EQ(count_now(context, PH_EITHER), 0u) << "more than one error for an operation";
  } else {
    const ph_completion first = take(context, PH_REMOTE, 0);
    EXPECT_EQ(first.id, 99u) << "the id of a refused operation was delivered";
    EXPECT_EQ(reinterpret_cast<std::uint64_t*>(beside.data())[1], 0x1234u);
    // A chunk may lie inside the region though its operation leaves it.
    EXPECT_TRUE(memory.guards_whole());
    EXPECT_TRUE(beside.guards_whole());
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
  }
}

TEST_P(BadTarget, a_wrong_key_is_refused) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    try_all(context, rank, PH_ACCESS_ALL, [](const ph_region& region, std::size_t size) {
      return std::vector<Bad>{{{region.address, 0}, size, PH_ERR_KEY},
                              {{region.address, region.key ^ (1ull << 40)}, size, PH_ERR_KEY},
                              {{region.address, region.key + 2}, size, PH_ERR_KEY},
                              {{region.address, ~0ull}, size, PH_ERR_KEY}};
    });
  });
}

TEST_P(BadTarget, an_access_that_leaves_its_region_is_refused_also_where_sums_wrap_around) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    try_all(context, rank, PH_ACCESS_ALL, [](const ph_region& region, std::size_t size) {
      const std::uint64_t end = region.address + region.size_bytes;
      std::vector<Bad> bads = {{{region.address - 1, region.key}, size, PH_ERR_RANGE},
                               {{end, region.key}, size, PH_ERR_RANGE},
                               {{end - size + 1, region.key}, size, PH_ERR_RANGE},
                               {{0, region.key}, size, PH_ERR_RANGE},
                               {{~0ull - size + 1, region.key}, size, PH_ERR_RANGE},
                               {{~0ull, region.key}, size, PH_ERR_RANGE}};
      if (size > kRegionBytes) bads.push_back({{region.address, region.key}, size, PH_ERR_RANGE});
      return bads;
    });
  });
}

TEST_P(BadTarget, an_access_that_the_region_does_not_grant_is_refused) {
  for (const std::uint32_t granted : {PH_ACCESS_READ, PH_ACCESS_WRITE}) {
    ThreadJob job(2, options());
    job.run([granted](ph_context* context, ph_rank rank) {
      Guarded memory(kRegionBytes);
      ph_region mine{};
      ASSERT_EQ(ph_register(context, memory.data(), kRegionBytes, granted, &mine), PH_OK);
      const ph_region target = exchange(context, mine)[1];
      const bool get_is_bad = granted == PH_ACCESS_WRITE;
      if (rank == 0) {
        for (const std::size_t size : {1ul, 100ul, 4000ul})
          expect_refusal(context, {{target.address, target.key}, size, PH_ERR_ACCESS}, get_is_bad,
                         false);
        ASSERT_EQ(ph_notify(context, 1, 99), PH_OK);
      } else {
        EXPECT_EQ(take(context, PH_REMOTE, 0).id, 99u);
        EXPECT_TRUE(memory.untouched());
      }
    });
  }
}

TEST_P(BadTarget, a_stale_key_is_refused_also_when_its_slot_is_used_again) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    Guarded memory(kRegionBytes);
    ph_region stale{}, fresh{};
    ASSERT_EQ(ph_register(context, memory.data(), kRegionBytes, PH_ACCESS_ALL, &stale), PH_OK);
    const ph_region target = exchange(context, stale)[1];
    ASSERT_EQ(ph_unregister(context, stale.key), PH_OK);
    ASSERT_EQ(ph_register(context, memory.data(), kRegionBytes, PH_ACCESS_ALL, &fresh), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_NE(stale.key, fresh.key);
    if (rank == 0) {
      for (const std::size_t size : {1ul, 8ul, 100ul, 1000ul, 4000ul})
        for (const bool is_get : {false, true})
          expect_refusal(context, {{target.address, target.key}, size, PH_ERR_KEY}, is_get, false);
      ASSERT_EQ(ph_notify(context, 1, 99), PH_OK);
    } else {
      expect_error(context, ph_unregister(context, stale.key), PH_ERR_KEY, "unregister");
      EXPECT_EQ(take(context, PH_REMOTE, 0).id, 99u);
      EXPECT_TRUE(memory.untouched());
    }
  });
}

TEST_P(BadTarget, a_refused_operation_of_size_0_looks_at_no_key) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      ASSERT_EQ(ph_put_u64(context, 1, {nullptr, 0}, {1, 1}, {5, 6}), PH_OK);
      ASSERT_EQ(ph_get_u64(context, 1, {nullptr, 0}, {1, 1}, {7, 8}), PH_OK);
      EXPECT_EQ(take(context, PH_LOCAL, 1).id, 5u);
      EXPECT_EQ(take(context, PH_LOCAL, 1).id, 7u);
    } else {
      EXPECT_EQ(take(context, PH_REMOTE, 0).id, 6u);
      EXPECT_EQ(take(context, PH_REMOTE, 0).id, 8u);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, BadTarget, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
