// Collectives of the C++ face: types and operations are found at compile time, ranges are checked.
#include <gtest/gtest.h>
#include <photon/photon.hpp>

#include <array>
#include <complex>
#include <functional>
#include <vector>

#include "thread_job.hpp"

namespace photon::test {
namespace {

static_assert(detail::coll_type<std::int8_t>() == PH_INT8);
static_assert(detail::coll_type<unsigned long long>() == PH_UINT64);
static_assert(detail::coll_type<std::complex<float>>() == PH_COMPLEX_FLOAT);
static_assert(FoldOf<std::plus<>, double> && FoldOf<std::plus<double>, double>);
static_assert(FoldOf<Min, std::int64_t> && !FoldOf<Min, std::complex<double>>);
static_assert(FoldOf<std::bit_xor<>, int> && !FoldOf<std::bit_xor<>, float>);
static_assert(!FoldOf<std::minus<>, int> && !FoldOf<std::plus<>, bool>);
static_assert(!std::is_copy_constructible_v<Team> && std::is_move_assignable_v<Team>);

template <class F>
void on_members(std::uint32_t ranks_count, F&& body) {
  ThreadJob job(ranks_count);
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    Context context({{}, &bootstrap});
    body(context);
    job.meet(context.c_context());
  });
}

TEST(CollFace, operations_are_run_over_ranges) {
  on_members(3, [](Context& context) {
    Team team = context.world();
    const int own = static_cast<int>(team.rank());
    const std::array<int, 2> in{own, 10 - own};
    std::array<int, 2> out{};
    team.run(allreduce(in, out, std::plus<>{}));
    EXPECT_EQ(out, (std::array{3, 27}));
    team.run(allreduce(in, out, Max{}));
    EXPECT_EQ(out, (std::array{2, 10}));
    team.run(scan(in, out, std::plus<>{}).reproducible());
    EXPECT_EQ(out[0], own * (own + 1) / 2);
    std::vector<int> all(6);
    team.run(allgather(in, all));
    EXPECT_EQ(all, (std::vector{0, 10, 1, 9, 2, 8}));
    std::vector<int> sent{own, own + 10, own + 20}, got(3);
    team.run(alltoall(sent, got));
    EXPECT_EQ(got, (std::vector{own * 10, own * 10 + 1, own * 10 + 2}));
    std::array<double, 1> value{own == 1 ? 2.5 : 0};
    team.run(bcast(value, 1));
    EXPECT_EQ(value[0], 2.5);
    team.barrier();
  });
}

TEST(CollFace, ranges_of_other_lengths_throw_and_nothing_is_lost) {
  on_members(2, [](Context& context) {
    Team team = context.world();
    std::vector<float> in(4, 1), out(3);
    EXPECT_THROW(team.run(allreduce(in, out, std::plus<>{})), Error);
    EXPECT_THROW(team.run(allgather(in, out)), Error);
    out.resize(4);
    team.run(allreduce(in, out, std::plus<>{}));
    EXPECT_EQ(out, std::vector<float>(4, 2));
  });
}

TEST(CollFace, begun_and_prepared_ones_tell_their_end_by_requests) {
  on_members(2, [](Context& context) {
    Team team = context.world();
    std::vector<std::int64_t> in(50, 3), out(50);
    ph_request request = PH_REQUEST_NONE;
    ASSERT_TRUE(team.begin(allreduce(in, out, std::multiplies<>{}), {.request = &request}));
    context.wait(request);
    EXPECT_EQ(out, std::vector<std::int64_t>(50, 9));
    Prepared prepared = team.prepare(allreduce(in, out, std::plus<>{}), {.request = &request});
    for (std::int64_t round = 0; round < 3; ++round) {
      in.assign(50, round);
      ASSERT_TRUE(prepared.start());
      context.wait(request);
      EXPECT_EQ(out, std::vector<std::int64_t>(50, 2 * round));
    }
  });
}

TEST(CollFace, members_agree_and_make_a_team_of_those_that_live) {
  on_members(3, [](Context& context) {
    Team world = context.world();
    EXPECT_EQ(world.agree(~(std::uint64_t{1} << world.rank())), ~std::uint64_t{7});
    EXPECT_FALSE(world.is_lost(2));
    EXPECT_THROW(static_cast<void>(world.is_lost(3)), Error);
    Team smaller = world.shrink();
    EXPECT_EQ(smaller.size(), 3u);
    EXPECT_EQ(smaller.rank(), world.rank());
    smaller.barrier();
  });
}

TEST(CollFace, teams_are_split_and_free_themselves) {
  on_members(3, [](Context& context) {
    Team world = context.world();
    const bool is_out = world.rank() == 1;
    std::optional<Team> pair = world.split(is_out ? PH_NO_COLOUR : 1, -int(world.rank()));
    ASSERT_EQ(pair.has_value(), !is_out);
    if (is_out) return;
    EXPECT_EQ(pair->size(), 2u);
    EXPECT_EQ(pair->member(0), 2u);
    pair->barrier();
  });
}

}  // namespace
}  // namespace photon::test
