// What only the interface of teams checks, and all of it for a rank alone.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <set>
#include <string>
#include <vector>

#include "shortage.hpp"

namespace photon {
namespace {

class TeamApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override { ph_context_destroy(context_); }
  ph_context* context_ = nullptr;
};

TEST_F(TeamApi, is_refused_without_a_context_and_after_its_end) {
  ph_team* team = nullptr;
  EXPECT_EQ(ph_team_world(nullptr, &team), PH_ERR_STATE);
  EXPECT_EQ(ph_team_world(context_, nullptr), PH_ERR_ARGUMENT);
  ASSERT_EQ(ph_team_world(context_, &team), PH_OK);
  ph_team* same = nullptr;
  ASSERT_EQ(ph_team_world(context_, &same), PH_OK);
  EXPECT_EQ(same, team);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_EQ(ph_team_world(context_, &same), PH_ERR_STATE);
  EXPECT_EQ(ph_team_split(team, 0, 0, 0, &same), PH_ERR_STATE);
  EXPECT_EQ(ph_team_member(team, 0), PH_ANY_RANK);
}

TEST_F(TeamApi, knows_a_freed_team_from_a_living_one) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context_, &world), PH_OK);
  ph_team* team = nullptr;
  ASSERT_EQ(ph_team_split(world, 3, 0, PH_FOREVER, &team), PH_OK);
  EXPECT_EQ(ph_team_size(team), 1u);
  EXPECT_EQ(ph_team_rank(team), 0u);
  EXPECT_EQ(ph_team_member(team, 0), 0u);
  EXPECT_EQ(ph_team_member(team, 1), PH_ANY_RANK);
  EXPECT_EQ(ph_team_free(team), PH_OK);
  EXPECT_EQ(ph_team_size(team), 0u);
  EXPECT_EQ(ph_team_rank(team), UINT32_MAX);
  EXPECT_EQ(ph_team_free(team), PH_ERR_ARGUMENT);
  ph_team* made = nullptr;
  EXPECT_EQ(ph_team_split(team, 3, 0, 0, &made), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_free(nullptr), PH_OK);
  EXPECT_EQ(ph_team_free(world), PH_ERR_ARGUMENT);
}

TEST_F(TeamApi, agrees_and_shrinks_for_a_member_alone) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context_, &world), PH_OK);
  std::uint64_t bits = 77;
  EXPECT_EQ(ph_team_agree(world, &bits, 0), PH_OK);
  EXPECT_EQ(bits, 77u);
  ph_team* smaller = nullptr;
  ASSERT_EQ(ph_team_shrink(world, 0, &smaller), PH_OK);
  EXPECT_EQ(ph_team_size(smaller), 1u);
  EXPECT_EQ(ph_team_lost(smaller, 0), PH_OK);
  EXPECT_EQ(ph_team_agree(smaller, &bits, 0), PH_OK);
  EXPECT_EQ(ph_team_lost(smaller, 0), PH_OK);
  EXPECT_EQ(ph_team_lost(smaller, 1), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_free(smaller), PH_OK);
  EXPECT_EQ(ph_team_lost(smaller, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_agree(smaller, &bits, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_shrink(smaller, 0, &smaller), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_agree(world, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_shrink(world, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_agree(nullptr, &bits, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_team_lost(nullptr, 0), PH_ERR_ARGUMENT);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_EQ(ph_team_agree(world, &bits, 0), PH_ERR_STATE);
  EXPECT_EQ(ph_team_shrink(world, 0, &smaller), PH_ERR_STATE);
}

TEST_F(TeamApi, gives_no_team_to_a_member_without_a_colour) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context_, &world), PH_OK);
  ph_team* team = world;
  EXPECT_EQ(ph_team_split(world, PH_NO_COLOUR, 0, PH_FOREVER, &team), PH_OK);
  EXPECT_EQ(team, nullptr);
}

TEST_F(TeamApi, makes_and_frees_teams_without_end) {
  const ph_rank self = 0;
  ph_team_of_args args{sizeof args, &self, 1, 0, 7};
  for (int i = 0; i < 10'000; ++i) {
    ph_team* team = nullptr;
    ASSERT_EQ(ph_team_of(context_, &args, PH_FOREVER, &team), PH_OK);
    ASSERT_EQ(ph_team_free(team), PH_OK);
  }
  ph_team* team = nullptr;
  args.reserved = 1;
  EXPECT_EQ(ph_team_of(context_, &args, 0, &team), PH_ERR_ARGUMENT);
  args = {sizeof args, nullptr, 1, 0, 7};
  EXPECT_EQ(ph_team_of(context_, &args, 0, &team), PH_ERR_ARGUMENT);
}

// As many as are made and freed again until each has had its turn.
template <class Make, class Free>
auto handles_of(Make make, Free free) {
  std::set<const void*> found;
  for (int i = 0; i < 200; ++i) {
    auto* const handle = make();
    EXPECT_NE(handle, nullptr);
    found.insert(handle);
    EXPECT_EQ(free(handle), PH_OK);
  }
  return found;
}

// Calls that find no memory, at each of their allocations; one that does ends it.
template <class Make, class Free>
void make_without_memory(Make make, Free free) {
  int refused = 0;
  for (int allowed = 0; allowed < 40; ++allowed) {
    for (int again = 0; again < 3; ++again) {
      auto* handle = decltype(make()){};
      {
        const test::Shortage shortage(allowed);
        handle = make();
      }
      if (handle == nullptr) ++refused;
      EXPECT_EQ(free(handle), PH_OK);
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(TeamApi, keeps_no_handle_of_a_team_that_finds_no_memory) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context_, &world), PH_OK);
  const ph_rank self = 0;
  const ph_team_of_args args{sizeof args, &self, 1, 0, 7};
  const auto make = [&] {
    ph_team* team = nullptr;
    const ph_status status = ph_team_of(context_, &args, PH_FOREVER, &team);
    EXPECT_TRUE(status == PH_OK || status == PH_ERR_MEMORY) << status;
    return team;
  };
  const auto free = [](ph_team* team) { return ph_team_free(team); };
  const auto before = handles_of(make, free);
  make_without_memory(make, free);
  EXPECT_EQ(handles_of(make, free), before);
}

TEST_F(TeamApi, keeps_no_handle_of_a_prepared_operation_that_finds_no_memory) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context_, &world), PH_OK);
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = PH_COLL_BARRIER;
  const std::uint64_t id = 5;
  args.local = {&id, sizeof id};  // copied, so that it takes memory each time
  const auto make = [&] {
    ph_coll* coll = nullptr;
    const ph_status status = ph_coll_prepare(world, &args, &coll);
    EXPECT_TRUE(status == PH_OK || status == PH_ERR_MEMORY) << status;
    return coll;
  };
  const auto free = [](ph_coll* coll) { return ph_coll_free(coll); };
  const auto before = handles_of(make, free);
  make_without_memory(make, free);
  EXPECT_EQ(handles_of(make, free), before);
}

}  // namespace
}  // namespace photon
