// The short forms of put and get equal the long ones; handlers; what only the interface checks.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstring>
#include <thread>
#include <vector>

#include "api/handle.hpp"
#include "sync/policy.hpp"

namespace photon {
namespace {

class RmaApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_register(context_, memory_, sizeof memory_, PH_ACCESS_ALL, &region_), PH_OK);
  }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  std::vector<ph_completion> take(std::uint32_t kinds, std::size_t wanted) {
    std::vector<ph_completion> found(wanted);
    std::size_t got = 0;
    for (int i = 0; i < 100'000 && got < wanted; ++i) {
      std::size_t count = 0;
      EXPECT_EQ(
          ph_probe(context_, {PH_ANY_RANK, kinds, nullptr}, &found[got], wanted - got, &count),
          PH_OK);
      got += count;
    }
    EXPECT_EQ(got, wanted);
    return found;
  }

  // Whether this thread has the bias: only then does a completion lie at hand. Takes all.
  bool is_at_hand_here() {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(ph_put_u64(context_, 0, {"brief", 5}, ph_at(&region_, 0), {7, 8}), PH_OK);
    ph_u64_completion one{};
    while (one.kind == 0) one = ph_probe_u64(context_, PH_ANY_RANK, PH_LOCAL);
    std::uint64_t id = 0;
    const std::size_t taken = ph_take_local_u64(context_, PH_ANY_RANK, &id) == 1 ? 2 : 1;
    take(PH_LOCAL, 3 - taken);
    take(PH_REMOTE, 3);
    return taken == 2;
  }

  ph_context* context_ = nullptr;
  char memory_[4096] = {};
  ph_region region_{};
};

TEST_F(RmaApi, the_short_put_equals_the_long_one) {
  const std::uint64_t local = 1, remote = 2;
  const ph_put_args args = {sizeof args, "long",       4, ph_at(&region_, 0),
                            {&local, 8}, {&remote, 8}, 0};
  ASSERT_EQ(ph_put(context_, 0, &args), PH_OK);
  ASSERT_EQ(ph_put_u64(context_, 0, {"brief", 5}, ph_at(&region_, 100), {1, 2}), PH_OK);
  for (const ph_completion& one : take(PH_LOCAL, 2)) EXPECT_EQ(one.id, 1u);
  for (const ph_completion& one : take(PH_REMOTE, 2)) {
    EXPECT_EQ(one.id, 2u);
    EXPECT_EQ(one.id_size_bytes, 8u);
    EXPECT_EQ(one.long_id, nullptr);
    EXPECT_EQ(one.reserved, 0u);
  }
  EXPECT_STREQ(memory_, "long");
  EXPECT_STREQ(memory_ + 100, "brief");
}

TEST_F(RmaApi, the_short_get_equals_the_long_one) {
  std::strcpy(memory_ + 40, "to be read");
  char first[11] = {}, second[11] = {};
  const std::uint64_t local = 1, remote = 2;
  const ph_get_args args = {sizeof args, first,        11, ph_at(&region_, 40),
                            {&local, 8}, {&remote, 8}, 0};
  ASSERT_EQ(ph_get(context_, 0, &args), PH_OK);
  ASSERT_EQ(ph_get_u64(context_, 0, {second, 11}, ph_at(&region_, 40), {1, 2}), PH_OK);
  take(PH_LOCAL, 2);
  take(PH_REMOTE, 2);
  EXPECT_STREQ(first, "to be read");
  EXPECT_STREQ(second, "to be read");
}

TEST_F(RmaApi, a_notification_has_a_remote_id_and_no_local_one) {
  ASSERT_EQ(ph_notify(context_, 0, 77), PH_OK);
  EXPECT_EQ(take(PH_EITHER, 1)[0].id, 77u);
  std::size_t count = 9;
  ph_completion one{};
  EXPECT_EQ(ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, &one, 1, &count), PH_OK);
  EXPECT_EQ(count, 0u);
}

TEST_F(RmaApi, a_handler_sees_at_most_64_completions_a_call_in_order) {
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(ph_notify(context_, 0, i), PH_OK);
  std::vector<std::uint64_t> ids;
  const auto handler = [](void* user, const ph_completion* completion) {
    static_cast<std::vector<std::uint64_t>*>(user)->push_back(completion->id);
  };
  for (int i = 0; i < 100'000 && ids.size() < 200; ++i) {
    std::size_t count = 0;
    const std::size_t before = ids.size();
    ASSERT_EQ(ph_probe_each(context_, {PH_ANY_RANK, PH_REMOTE, nullptr}, handler, &ids, &count),
              PH_OK);
    EXPECT_EQ(ids.size(), before + count);
    EXPECT_LE(count, 64u);
  }
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(ids[i], i);
}

TEST_F(RmaApi, a_refused_probe_says_that_it_took_nothing) {
  std::size_t count = 9;
  ph_completion one{};
  EXPECT_EQ(ph_probe(context_, {PH_ANY_RANK, 0, nullptr}, &one, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(count, 0u);
  count = 9;
  EXPECT_EQ(ph_probe(context_, {PH_ANY_RANK, PH_LOCAL, nullptr}, nullptr, 1, &count),
            PH_ERR_ARGUMENT);
  EXPECT_EQ(count, 0u);
}

TEST_F(RmaApi, the_short_probe_takes_one_completion_at_a_time_of_either_kind) {
  constexpr std::uint64_t kPuts = 200;
  for (std::uint64_t i = 0; i < kPuts; ++i)
    ASSERT_EQ(ph_put_u64(context_, 0, {"brief", 5}, ph_at(&region_, 0), {i, 1000 + i}), PH_OK);
  std::uint64_t locals = 0, remotes = 0;
  for (int i = 0; i < 100'000 && locals + remotes < 2 * kPuts; ++i) {
    const ph_u64_completion one = ph_probe_u64(context_, PH_ANY_RANK, PH_EITHER);
    EXPECT_EQ(one.status, PH_OK);
    if (one.kind == 0) continue;
    EXPECT_EQ(one.peer, 0u);
    EXPECT_EQ(one.id_size_bytes, 8u);
    EXPECT_EQ(one.id, one.kind == PH_LOCAL ? locals : 1000 + remotes);
    (one.kind == PH_LOCAL ? locals : remotes) += 1;
    // Neither kind keeps the other away for long.
    EXPECT_LE(locals, remotes + 64);
  }
  EXPECT_EQ(locals, kPuts);
  EXPECT_EQ(remotes, kPuts);
}

TEST_F(RmaApi, the_next_local_ones_of_a_run_lie_at_hand_but_for_the_last) {
  if (!sync::register_heavy_barrier()) GTEST_SKIP() << "no thread has the bias: no membarrier";
  constexpr std::uint64_t kPuts = 10;
  std::uint64_t id = 99;
  EXPECT_EQ(ph_take_local_u64(nullptr, 0, &id), 0);
  for (std::uint64_t i = 0; i < kPuts; ++i)
    ASSERT_EQ(ph_put_u64(context_, 0, {"brief", 5}, ph_at(&region_, 0), {i, 1000 + i}), PH_OK);
  EXPECT_EQ(ph_take_local_u64(context_, 0, &id), 0) << "no run has begun";
  EXPECT_EQ(id, 99u);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_EITHER).id, 0u);
  EXPECT_EQ(ph_take_local_u64(context_, 1, &id), 0) << "of another peer";
  for (std::uint64_t i = 1; i + 1 < kPuts; ++i) {
    ASSERT_EQ(ph_take_local_u64(context_, i % 2 == 0 ? 0 : PH_ANY_RANK, &id), 1);
    EXPECT_EQ(id, i);
  }
  EXPECT_EQ(ph_take_local_u64(context_, 0, &id), 0);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).id, kPuts - 1);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).kind, 0u);
  EXPECT_EQ(ph_take_local_u64(context_, 0, &id), 0);
}

TEST_F(RmaApi, a_local_id_that_is_no_word_does_not_lie_at_hand) {
  const std::uint64_t remote = 2;
  for (int i = 0; i < 4; ++i) {
    const ph_put_args args = {sizeof args, nullptr, 0, {}, {"abc", 3}, {&remote, 8}, 0};
    ASSERT_EQ(ph_put(context_, 0, &args), PH_OK);
  }
  std::uint64_t id = 99;
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).id_size_bytes, 3u);
  EXPECT_EQ(ph_take_local_u64(context_, 0, &id), 0);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).id_size_bytes, 3u);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).kind, 0u);
}

// Of another thread than the lane's own, whose bias it leaves where it is.
TEST_F(RmaApi, a_probe_in_a_visit_takes_what_has_come_and_leaves_the_lane_to_its_thread) {
  const bool has_bias = is_at_hand_here();
  ASSERT_EQ(ph_put_u64(context_, 0, {"brief", 5}, ph_at(&region_, 0), {1, 2}), PH_OK);
  std::thread([&] {
    for (const ph_completion& one : take(PH_REMOTE | PH_VISIT, 1)) EXPECT_EQ(one.id, 2u);
    for (const ph_completion& one : take(PH_LOCAL | PH_VISIT, 1)) EXPECT_EQ(one.id, 1u);
    const ph_u64_completion none = ph_probe_u64(context_, PH_ANY_RANK, PH_EITHER | PH_VISIT);
    EXPECT_EQ(none.kind, 0);
    EXPECT_EQ(none.status, PH_OK);
    std::size_t count = 9;
    EXPECT_EQ(ph_probe(context_, {PH_ANY_RANK, PH_VISIT, nullptr}, nullptr, 0, &count),
              PH_ERR_ARGUMENT);
    EXPECT_EQ(count, 0u);
  }).join();
  EXPECT_EQ(is_at_hand_here(), has_bias) << "a visit has taken the lane away";
  EXPECT_EQ(ph_wait(context_, {PH_ANY_RANK, PH_EITHER | PH_VISIT, nullptr}, 0), PH_ERR_ARGUMENT)
      << "who waits is inside for long";
}

TEST_F(RmaApi, a_probe_in_a_visit_by_the_lanes_own_thread_is_a_probe) {
  ASSERT_EQ(ph_put_u64(context_, 0, {"brief", 5}, ph_at(&region_, 0), {1, 2}), PH_OK);
  for (const ph_completion& one : take(PH_EITHER | PH_VISIT, 2))
    EXPECT_EQ(one.id, one.kind == PH_LOCAL ? 1u : 2u);
  ASSERT_EQ(ph_notify(context_, 0, 3), PH_OK);
  ph_u64_completion one{};
  while ((one = ph_probe_u64(context_, 0, PH_REMOTE | PH_VISIT)).kind == 0)
    ASSERT_EQ(one.status, PH_OK);
  EXPECT_EQ(one.id, 3u);
}

TEST_F(RmaApi, the_short_probe_for_one_kind_leaves_the_other) {
  ASSERT_EQ(ph_put_u64(context_, 0, {nullptr, 0}, {}, {1, 2}), PH_OK);
  ph_u64_completion one{};
  for (int i = 0; i < 100'000 && one.kind == 0; ++i) one = ph_probe_u64(context_, 0, PH_REMOTE);
  EXPECT_EQ(one.id, 2u);
  EXPECT_EQ(one.kind, PH_REMOTE);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_REMOTE).kind, 0u);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).id, 1u);
  EXPECT_EQ(ph_probe_u64(context_, 0, PH_LOCAL).kind, 0u);
}

TEST_F(RmaApi, the_short_probe_says_what_is_wrong_in_its_status) {
  EXPECT_EQ(ph_probe_u64(nullptr, 0, PH_EITHER).status, PH_ERR_STATE);
  EXPECT_EQ(ph_probe_u64(context_, 1, PH_EITHER).status, PH_ERR_RANK);
  EXPECT_EQ(ph_probe_u64(context_, 0, 0).status, PH_ERR_ARGUMENT);
  const ph_option long_ids = {"max_cid_size", "16"};
  const ph_config config = {sizeof config, nullptr, &long_ids, 1};
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(&config, &context, nullptr), PH_OK);
  EXPECT_EQ(ph_probe_u64(context, 0, PH_EITHER).status, PH_ERR_ID_SIZE);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  EXPECT_EQ(ph_probe_u64(context, 0, PH_EITHER).status, PH_ERR_STATE);
  ph_context_destroy(context);
}

// It is no less a visit where the short probe cannot be had at all.
TEST_F(RmaApi, a_short_probe_in_a_visit_that_is_refused_leaves_the_lane_to_its_thread) {
  const ph_option long_ids = {"max_cid_size", "16"};
  const ph_config config = {sizeof config, nullptr, &long_ids, 1};
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(&config, &context, nullptr), PH_OK);
  const auto is_biased = [&] { return engine::LaneGuard(*context->lane).is_biased(); };
  bool has_bias = false;
  for (int i = 0; i < 1000 && !has_bias; ++i) has_bias = is_biased();
  const auto visit = [&] {
    int status = PH_OK;
    std::thread([&] { status = ph_probe_u64(context, 0, PH_EITHER | PH_VISIT).status; }).join();
    return status;
  };
  EXPECT_EQ(visit(), PH_ERR_ID_SIZE);
  EXPECT_EQ(is_biased(), has_bias) << "a visit has taken the lane away";
  {
    const engine::LaneGuard guard(*context->lane);
    EXPECT_EQ(visit(), PH_AGAIN) << "somebody is inside, and it does not wait";
  }
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

TEST_F(RmaApi, outstanding_counts_what_was_posted_and_not_probed) {
  std::uint64_t count = 9;
  EXPECT_EQ(ph_outstanding(context_, PH_ANY_RANK, &count), PH_OK);
  EXPECT_EQ(count, 0u);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(ph_put_u64(context_, 0, {}, {}, {1, 2}), PH_OK);
  for (const ph_rank rank : {PH_ANY_RANK, ph_rank{0}}) {
    EXPECT_EQ(ph_outstanding(context_, rank, &count), PH_OK);
    EXPECT_EQ(count, 3u);
  }
  take(PH_LOCAL, 3);
  EXPECT_EQ(ph_outstanding(context_, 0, &count), PH_OK);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(ph_outstanding(context_, 7, &count), PH_ERR_RANK);
  EXPECT_EQ(ph_outstanding(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_outstanding(nullptr, 0, &count), PH_ERR_STATE);
  take(PH_REMOTE, 3);
}

}  // namespace
}  // namespace photon
