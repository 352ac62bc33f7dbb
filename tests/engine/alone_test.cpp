// Puts and gets with PH_ALONE over every transport: the bytes come although their target makes no
// call, or the call says that there is no such way.
#include "settings.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kAloneBytes = 1 << 20;
constexpr std::size_t kAloneSizes[] = {1, 8, 40, 200, 5000, 300'000};

class Alone : public OverSettings {
 protected:
  static bool is(const char* name) { return std::string(GetParam().name).starts_with(name); }
  // Rank 0's to rank 1.
  static bool has_way() {
    const std::string name = GetParam().name;
    return is("shm") || name == "mixed_near" || (is("sim") && name != "sim" && !is("sim_small"));
  }
  // Libfabric moves bytes in the target's process, and only where there are enough of them.
  static bool may_have_way() { return is("ofi"); }

  static ph_put_args put_of(std::span<const std::byte> source, ph_target at,
                            const std::uint64_t& id) {
    ph_put_args args = put_args(source, at, id, id);
    args.flags = PH_ALONE;
    return args;
  }
  static void expect_way(ph_context* context, ph_status status) {
    if (may_have_way() && status == PH_OK) return;
    if (!has_way()) return expect_error(context, status, PH_ERR_NOT_FOUND, "PH_ALONE");
    EXPECT_EQ(status, PH_OK) << last_error(context).text;
  }
};

// Rank 1 waits outside the library; when it comes back the bytes are there before its first call.
TEST_P(Alone, bytes_of_every_size_come_without_any_call_of_their_target) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{};
    ASSERT_EQ(ph_alloc(context, kAloneBytes, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    auto* const bytes = reinterpret_cast<std::byte*>(mine.address);
    ASSERT_EQ(ph_notify(context, 1 - rank, 1), PH_OK);
    EXPECT_EQ(take_remote(context).id, 1u);
    ASSERT_EQ(ph_flush(context, 1 - rank, kTakeTimeoutUs), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::size_t offset = 0;
    std::vector<bool> came;
    static std::vector<ph_status> statuses;
    if (rank == 0) statuses.clear();
    if (rank == 0) {
      for (const std::size_t size : kAloneSizes) {
        const auto source = filled(size, size);
        const std::uint64_t id = size;
        ph_put_args args = put_of(source, ph_at(&there, offset), id);
        args.flags |= PH_DELIVERED;
        const ph_status status = insist(context, [&] { return ph_put(context, 1, &args); });
        expect_way(context, status);
        statuses.push_back(status);
        offset += size;
        if (status != PH_OK) continue;
        EXPECT_EQ(take_local(context, 1).status, PH_OK);
        std::vector<std::byte> back(size);
        ph_get_args get = get_args(back, ph_at(&there, offset - size), id, id);
        get.flags = PH_ALONE | PH_NO_RCE;
        ASSERT_EQ(ph_get(context, 1, &get), PH_OK) << last_error(context).text;
        EXPECT_EQ(take_local(context, 1).status, PH_OK);
        EXPECT_EQ(first_difference(back, size), size);
      }
      EXPECT_EQ(count_now(context, PH_EITHER), 0u);
    }
    // Only what libfabric moves takes the target's process.
    if (may_have_way())
      serve_until_met(job, context);
    else
      job.meet();
    if (rank == 1) {
      std::size_t i = 0;
      for (const std::size_t size : kAloneSizes) {
        const bool is_there = first_difference({bytes + offset, size}, size) == size;
        EXPECT_EQ(is_there, statuses[i] == PH_OK) << size;
        offset += size;
        ++i;
      }
      for (i = 0; i < std::size(kAloneSizes); ++i)
        if (statuses[i] == PH_OK) {
          EXPECT_EQ(take_remote(context, 0).id, kAloneSizes[i]);
        }
      EXPECT_EQ(count_now(context, PH_EITHER), 0u) << "what was refused sent nothing";
    }
    serve_until_met(job, context);
  });
}

TEST_P(Alone, vectored_forms_go_the_same_way) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{};
    ASSERT_EQ(ph_alloc(context, kAloneBytes, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    ASSERT_EQ(ph_notify(context, 1 - rank, 1), PH_OK);
    EXPECT_EQ(take_remote(context).id, 1u);
    ASSERT_EQ(ph_flush(context, 1 - rank, kTakeTimeoutUs), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto source = filled(3000, 7);
    if (rank == 0) {
      const std::uint64_t id = 5;
      const ph_put_segment segments[] = {{source.data(), 1000, ph_at(&there, 0)},
                                         {source.data() + 1000, 2000, ph_at(&there, 2000)}};
      ph_put_vector_args args{};
      args.size = sizeof args;
      args.segments = segments;
      args.segments_count = 2;
      args.local = args.remote = id_of(id);
      args.flags = PH_ALONE;
      const ph_status status = insist(context, [&] { return ph_put_vector(context, 1, &args); });
      expect_way(context, status);
      if (status == PH_OK) {
        EXPECT_EQ(take_local(context, 1).status, PH_OK);
      }
      ASSERT_EQ(ph_notify(context, 1, status == PH_OK ? 8 : 9), PH_OK);
    } else {
      std::uint64_t id = take_remote(context, 0).id;
      if (id == 5) {
        const auto* bytes = reinterpret_cast<std::byte*>(mine.address);
        EXPECT_EQ(std::memcmp(bytes, source.data(), 1000), 0);
        EXPECT_EQ(std::memcmp(bytes + 2000, source.data() + 1000, 2000), 0);
        id = take_remote(context, 0).id;
        EXPECT_EQ(id, 8u);
      } else {
        EXPECT_EQ(id, 9u);
      }
    }
    serve_until_met(job, context);
  });
}

// A caller learns "not yet" from "never": from the first call on, before anything was sent.
TEST_P(Alone, at_first_contact_it_says_again_until_it_knows) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_region mine{};
    ASSERT_EQ(ph_alloc(context, kAloneBytes, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    if (rank == 0) {
      const auto source = filled(8, 7);
      const std::uint64_t id = 5;
      const ph_put_args args = put_of(source, ph_at(&there, 0), id);
      expect_way(context, insist(context, [&] { return ph_put(context, 1, &args); }));
    }
    drain_until_met(job, context);
  });
}

TEST_P(Alone, is_unknown_to_atomics) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    ph_atomic_args args{};
    args.size = sizeof args;
    args.flags = PH_ALONE;
    EXPECT_EQ(ph_atomic(context, 0, &args), PH_ERR_ARGUMENT);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Alone, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
