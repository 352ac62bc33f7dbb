// Arguments that no call accepts: each has its documented code, and a message that says what.
#include "settings.hpp"

namespace photon::test {
namespace {

class BadArgument : public OverSettings {};

constexpr ph_query kAny = {PH_ANY_RANK, PH_EITHER, nullptr};

TEST_P(BadArgument, an_unknown_rank_is_named_with_the_size_of_the_job) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank) {
    std::uint64_t id = 7;
    std::byte bytes[8] = {};
    std::size_t count = 0;
    ph_completion one{};
    ph_path path{};
    path.size = sizeof path;
    for (const ph_rank rank : {ph_rank{2}, ph_rank{1000000}, PH_ANY_RANK - 1}) {
      const ph_put_args put = put_args(bytes, {1, 1}, id, id);
      const ph_get_args get = get_args(bytes, {1, 1}, id, id);
      const std::string name = std::to_string(rank);
      expect_error(context, ph_put(context, rank, &put), PH_ERR_RANK, name);
      expect_error(context, ph_get(context, rank, &get), PH_ERR_RANK, name);
      expect_error(context, ph_put_u64(context, rank, {bytes, 8}, {1, 1}, {1, 2}), PH_ERR_RANK,
                   "job of 2");
      expect_error(context, ph_get_u64(context, rank, {bytes, 8}, {1, 1}, {1, 2}), PH_ERR_RANK,
                   name);
      expect_error(context, ph_notify(context, rank, 5), PH_ERR_RANK, name);
      expect_error(context, ph_fence(context, rank), PH_ERR_RANK, name);
      expect_error(context, ph_flush(context, rank, 0), PH_ERR_RANK, name);
      expect_error(context, ph_probe(context, {rank, PH_EITHER, nullptr}, &one, 1, &count),
                   PH_ERR_RANK, name);
      expect_error(context, ph_wait(context, {rank, PH_EITHER, nullptr}, 0), PH_ERR_RANK, name);
      expect_error(context, ph_path_to(context, rank, &path), PH_ERR_RANK, name);
    }
    // The one number that means "any" is no target.
    expect_error(context, ph_notify(context, PH_ANY_RANK, 5), PH_ERR_RANK, "ranks are 0 to 1");
    expect_error(context, ph_fence(context, PH_ANY_RANK), PH_ERR_RANK, "ranks are 0 to 1");
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
  });
}

// Whether keys can be seen or not, and before anything is sent, so the pair goes on.
TEST_P(BadArgument, sizes_that_no_memory_can_have_are_refused_by_the_call) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    static std::byte memory[2][64];
    ph_region mine{};
    ph_region all[2];
    ASSERT_EQ(ph_register(context, memory[rank], 64, PH_ACCESS_ALL, &mine), PH_OK);
    ASSERT_EQ(ph_allgather(context, &mine, all, sizeof mine), PH_OK);
    const ph_target there = ph_at(&all[1 - rank], 0);
    std::byte bytes[64] = {};
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, SIZE_MAX / 4 + 1}) {
      const std::string number = std::to_string(size);
      expect_error(context, ph_put_u64(context, 1 - rank, {bytes, size}, there, {1, 2}),
                   PH_ERR_RANGE, number);
      expect_error(context, ph_get_u64(context, 1 - rank, {bytes, size}, there, {1, 2}),
                   PH_ERR_RANGE, number);
    }
    const ph_target at_the_end{~std::uint64_t{0} - 7, there.key};
    expect_error(context, ph_put_u64(context, 1 - rank, {bytes, 64}, at_the_end, {1, 2}),
                 PH_ERR_RANGE, "64");
    ASSERT_EQ(ph_put_u64(context, 1 - rank, {bytes, 64}, there, {1, 2}), PH_OK);
    ASSERT_EQ(ph_wait(context, {1 - rank, PH_REMOTE, nullptr}, 20'000'000), PH_OK);
    EXPECT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(ph_flush(context, PH_ANY_RANK, 20'000'000), PH_OK);
  });
}

TEST_P(BadArgument, null_pointers_and_sizes_of_another_version_are_refused) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    std::uint64_t id = 7;
    std::byte bytes[8] = {};
    std::size_t count = 0;
    ph_completion one{};
    ph_region region{};
    expect_error(context, ph_put(context, 0, nullptr), PH_ERR_ARGUMENT, "args");
    expect_error(context, ph_get(context, 0, nullptr), PH_ERR_ARGUMENT, "args");
    ph_put_args put = put_args(bytes, {1, 1}, id, id);
    put.size = 8;
    expect_error(context, ph_put(context, 0, &put), PH_ERR_ARGUMENT, "args->size");
    ph_get_args get = get_args(bytes, {1, 1}, id, id);
    get.size = sizeof get + 8;
    expect_error(context, ph_get(context, 0, &get), PH_ERR_ARGUMENT, "args->size");

    expect_error(context, ph_put_u64(context, 0, {nullptr, 8}, {1, 1}, {1, 2}), PH_ERR_ARGUMENT,
                 "source is null");
    expect_error(context, ph_put_u64(context, 0, {nullptr, 1 << 20}, {1, 1}, {1, 2}),
                 PH_ERR_ARGUMENT, "source is null");
    expect_error(context, ph_get_u64(context, 0, {nullptr, 8}, {1, 1}, {1, 2}), PH_ERR_ARGUMENT,
                 "destination is null");
    put = put_args(bytes, {1, 1}, id, id);
    put.local = {nullptr, 8};
    expect_error(context, ph_put(context, 0, &put), PH_ERR_ARGUMENT, "local id");
    get = get_args(bytes, {1, 1}, id, id);
    get.remote = {nullptr, 8};
    expect_error(context, ph_get(context, 0, &get), PH_ERR_ARGUMENT, "remote id");

    expect_error(context, ph_probe(context, kAny, nullptr, 1, &count), PH_ERR_ARGUMENT, "probe");
    expect_error(context, ph_probe(context, kAny, &one, 1, nullptr), PH_ERR_ARGUMENT, "probe");
    expect_error(context, ph_probe_each(context, kAny, nullptr, nullptr, &count), PH_ERR_ARGUMENT,
                 "handler");
    expect_error(context, ph_register(context, nullptr, 8, PH_ACCESS_ALL, &region), PH_ERR_ARGUMENT,
                 "register");
    expect_error(context, ph_register(context, bytes, 8, PH_ACCESS_ALL, nullptr), PH_ERR_ARGUMENT,
                 "register");
    expect_error(context, ph_alloc(context, 8, nullptr), PH_ERR_ARGUMENT, "alloc");
    expect_error(context, ph_find_region(context, bytes, 8, nullptr), PH_ERR_ARGUMENT,
                 "find_region");
    expect_error(context, ph_allgather(context, nullptr, bytes, 8), PH_ERR_ARGUMENT, "allgather");
    expect_error(context, ph_allgather(context, bytes, nullptr, 8), PH_ERR_ARGUMENT, "allgather");
    expect_error(context, ph_path_to(context, 0, nullptr), PH_ERR_ARGUMENT, "path");
    ph_path path{};
    expect_error(context, ph_path_to(context, 0, &path), PH_ERR_ARGUMENT, "path");
    EXPECT_EQ(ph_setting_at(context, 0, nullptr), PH_ERR_ARGUMENT);
    ph_setting setting{};
    EXPECT_EQ(ph_setting_at(context, 0, &setting), PH_ERR_ARGUMENT);
    ph_last_error(context, nullptr);
    EXPECT_EQ(ph_free(context, nullptr), PH_OK);
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
  });
}

TEST_P(BadArgument, unknown_flags_and_kinds_are_refused) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    std::uint64_t id = 7;
    std::size_t count = 0;
    ph_completion one{};
    for (const std::uint32_t flags : {64u, 0x80000000u, std::uint32_t{PH_NOTICE_ACCEPTED}}) {
      ph_put_args put = put_args({}, {}, id, id);
      put.flags = flags;
      expect_error(context, ph_put(context, 0, &put), PH_ERR_ARGUMENT, "flags");
    }
    for (const std::uint32_t flags : {64u, 0x80000000u, std::uint32_t{PH_DELIVERED}}) {
      ph_get_args get = get_args({}, {}, id, id);
      get.flags = flags;
      expect_error(context, ph_get(context, 0, &get), PH_ERR_ARGUMENT, "flags");
    }
    for (const std::uint32_t kinds : {0u, 4u, 0xffffffffu}) {
      const ph_query query = {PH_ANY_RANK, kinds, nullptr};
      expect_error(context, ph_probe(context, query, &one, 1, &count), PH_ERR_ARGUMENT, "kinds");
      expect_error(context, ph_wait(context, query, 0), PH_ERR_ARGUMENT, "kinds");
      const auto handler = [](void*, const ph_completion*) {};
      expect_error(context, ph_probe_each(context, query, handler, nullptr, nullptr),
                   PH_ERR_ARGUMENT, "kinds");
    }
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
  });
}

TEST_P(BadArgument, an_over_long_id_is_refused_with_its_size_and_the_setting) {
  for (const std::uint32_t most : {0u, 4u, 8u, 100u}) {
    ThreadJob job(1, options({{"max_cid_size", std::to_string(most)}}));
    job.run([most](ph_context* context, ph_rank) {
      const std::vector<std::byte> long_id(most + 1);
      ph_put_args put = put_args({}, {}, 0, 0);
      put.local = put.remote = {long_id.data(), most};
      put.remote.size_bytes = most + 1;
      expect_error(context, ph_put(context, 0, &put), PH_ERR_ID_SIZE,
                   "remote id has " + std::to_string(most + 1) + " bytes");
      put.remote.size_bytes = 0xffffffff;
      expect_error(context, ph_put(context, 0, &put), PH_ERR_ID_SIZE, "PHOTON_MAX_CID_SIZE");
      ph_get_args get = get_args({}, {}, 0, 0);
      get.local = {long_id.data(), most + 1};
      get.remote = {};
      expect_error(context, ph_get(context, 0, &get), PH_ERR_ID_SIZE, "local id");
      if (most < 8) {
        expect_error(context, ph_notify(context, 0, 1), PH_ERR_ID_SIZE, "8 bytes");
        expect_error(context, ph_put_u64(context, 0, {nullptr, 0}, {}, {1, 2}), PH_ERR_ID_SIZE,
                     "8 bytes");
      }
      EXPECT_EQ(count_now(context, PH_EITHER), 0u);
    });
  }
}

TEST_P(BadArgument, long_ids_need_an_id_buffer) {
  ThreadJob job(1, options({{"max_cid_size", "64"}}));
  job.run([](ph_context* context, ph_rank) {
    ASSERT_EQ(ph_notify(context, 0, 1), PH_OK);
    ph_completion one{};
    std::size_t count = 7;
    expect_error(context, ph_probe(context, kAny, &one, 1, &count), PH_ERR_ARGUMENT, "id_buffer");
    EXPECT_EQ(count, 0u);
    std::byte room[64];
    EXPECT_EQ(take(context, PH_REMOTE, 0, room).id, 1u);
  });
}

TEST_P(BadArgument, a_registration_needs_a_range_and_an_access) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    std::byte bytes[64];
    ph_region region{};
    const auto add = [&](void* base, std::size_t size_bytes, std::uint32_t access) {
      return ph_register(context, base, size_bytes, access, &region);
    };
    expect_error(context, add(bytes, 0, PH_ACCESS_ALL), PH_ERR_ARGUMENT, "register");
    expect_error(context, add(bytes, SIZE_MAX, PH_ACCESS_ALL), PH_ERR_ARGUMENT, "wraps");
    expect_error(context, add(bytes, SIZE_MAX - 4096, PH_ACCESS_ALL), PH_ERR_ARGUMENT, "wraps");
    expect_error(context, add(bytes, std::size_t{1} << 62, PH_ACCESS_ALL), PH_ERR_ARGUMENT,
                 "register");
    expect_error(context, add(bytes, 64, 0), PH_ERR_ARGUMENT, "access");
    expect_error(context, add(bytes, 64, 4), PH_ERR_ARGUMENT, "access");
    expect_error(context, add(bytes, 64, PH_ACCESS_ALL | 0x80000000u), PH_ERR_ARGUMENT, "access");
    expect_error(context, ph_alloc(context, 0, &region), PH_ERR_ARGUMENT, "alloc");
    expect_error(context, ph_alloc(context, SIZE_MAX, &region), PH_ERR_MEMORY, "alloc");
    expect_error(context, ph_free(context, bytes), PH_ERR_NOT_FOUND, "ph_alloc");
    expect_error(context, ph_unregister(context, 0), PH_ERR_KEY, "unregister");
    expect_error(context, ph_unregister(context, 12345), PH_ERR_KEY, "unregister");
    expect_error(context, ph_find_region(context, bytes, 64, &region), PH_ERR_NOT_FOUND, "64");
    EXPECT_EQ(region.key, 0u) << "a failed call wrote a region";
  });
}

TEST_P(BadArgument, more_than_the_arena_holds_is_an_error_that_names_the_setting) {
  ThreadJob job(1, options({{"arena_bytes", "1048576"}}));
  job.run([](ph_context* context, ph_rank) {
    ph_region region{};
    expect_error(context, ph_alloc(context, (1 << 20) + 1, &region), PH_ERR_MEMORY,
                 "PHOTON_ARENA_BYTES");
    EXPECT_EQ(ph_alloc(context, 1 << 16, &region), PH_OK);
    EXPECT_EQ(ph_free(context, reinterpret_cast<void*>(region.address)), PH_OK);
  });
}

TEST_P(BadArgument, more_regions_than_the_limit_are_an_error_that_names_the_setting) {
  ThreadJob job(1, options({{"max_regions", "16"}}));
  job.run([](ph_context* context, ph_rank) {
    std::byte bytes[32];
    std::vector<ph_region> regions(17);
    for (std::size_t i = 0; i < 16; ++i)
      ASSERT_EQ(ph_register(context, &bytes[i], 1, PH_ACCESS_ALL, &regions[i]), PH_OK);
    expect_error(context, ph_register(context, &bytes[16], 1, PH_ACCESS_ALL, &regions[16]),
                 PH_ERR_MEMORY, "PHOTON_MAX_REGIONS");
    expect_error(context, ph_alloc(context, 8, &regions[16]), PH_ERR_MEMORY, "PHOTON_MAX_REGIONS");
    ASSERT_EQ(ph_unregister(context, regions[3].key), PH_OK);
    EXPECT_EQ(ph_register(context, &bytes[16], 1, PH_ACCESS_ALL, &regions[16]), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, BadArgument, testing::ValuesIn(both_transports()),
                         setting_name);

}  // namespace
}  // namespace photon::test
