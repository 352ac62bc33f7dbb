#include "service/coll/plan.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::make_plan;
using service::coll::Plan;

std::int64_t in[64];
std::int64_t out[64];

ph_coll_args good(ph_coll_kind kind) {
  ph_coll_args args = coll_args(kind);
  args.in = in;
  args.out = out;
  args.count = 2;
  args.type = PH_INT64;
  args.op = PH_OP_ADD;
  return args;
}

std::string refusal(const ph_coll_args& args, std::uint32_t rank = 0) {
  Plan plan;
  std::string why;
  const ph_status status = make_plan(args, {4, rank, fold::Isa::baseline}, plan, why);
  EXPECT_EQ(status == PH_OK, why.empty());
  return why;
}

TEST(CollPlan, takes_each_kind_with_the_buffers_it_has) {
  const std::uint64_t counts[4] = {1, 0, 2, 1};
  std::uint64_t room[4] = {1, 0, 2, 1};
  for (int kind = PH_COLL_BARRIER; kind <= PH_COLL_REDUCE_SCATTER; ++kind)
    for (const std::uint32_t rank : {0U, 2U}) {
      ph_coll_args args = good(static_cast<ph_coll_kind>(kind));
      args.in_counts =
          kind == PH_COLL_GATHERV || kind == PH_COLL_ALLGATHERV ? counts + rank : counts;
      args.out_counts = kind == PH_COLL_SCATTERV ? room + rank : room;
      EXPECT_EQ(refusal(args, rank), "") << kind;
    }
}

TEST(CollPlan, says_which_argument_is_wrong) {
  const auto expect = [](const ph_coll_args& args, const char* what) {
    const std::string why = refusal(args);
    EXPECT_NE(why.find(what), std::string::npos) << why << ", expected: " << what;
  };
  ph_coll_args args = good(static_cast<ph_coll_kind>(99));
  expect(args, "kind");
  args = good(PH_COLL_ALLREDUCE);
  args.flags = 0x80000000U;
  expect(args, "flags");
  args = good(PH_COLL_BCAST);
  args.root = 4;
  expect(args, "root");
  args = good(PH_COLL_ALLREDUCE);
  args.type = static_cast<ph_type>(77);
  expect(args, "type");
  args = good(PH_COLL_ALLREDUCE);
  args.op = PH_OP_SWAP;
  expect(args, "op");
  args.type = PH_COMPLEX_FLOAT;
  args.op = PH_OP_MIN;
  expect(args, "op");
  args = good(PH_COLL_ALLREDUCE);
  args.in = nullptr;
  expect(args, "in is null");
  args = good(PH_COLL_ALLREDUCE);
  args.out = in + 1;
  expect(args, "overlap");
  args = good(PH_COLL_ALLREDUCE);
  args.in = reinterpret_cast<const void*>(~std::uintptr_t{0} - 7);
  expect(args, "wraps");
  args = good(PH_COLL_ALLTOALL);
  args.count = ~std::uint64_t{0} / 8;
  expect(args, "count");
  args = good(PH_COLL_BCAST);
  args.in = PH_IN_PLACE;
  expect(args, "PH_IN_PLACE");
  args = good(PH_COLL_BARRIER);
  args.flags = PH_COUNTS_FROM_SENDERS;
  expect(args, "PH_COUNTS_FROM_SENDERS");
  args = good(PH_COLL_BCAST);
  args.flags = PH_REPRODUCIBLE;
  expect(args, "PH_REPRODUCIBLE");
}

TEST(CollPlan, refuses_counts_that_name_no_place) {
  std::uint64_t counts[4] = {2, 2, 2, 2};
  const std::uint64_t overlapping[4] = {0, 1, 4, 6};
  ph_coll_args args = good(PH_COLL_ALLGATHERV);
  EXPECT_NE(refusal(args).find("out_counts is null"), std::string::npos);
  args.out_counts = counts;
  args.in_counts = counts;
  EXPECT_EQ(refusal(args), "");
  args.out_offsets = overlapping;
  EXPECT_NE(refusal(args).find("overlap"), std::string::npos);
  args.out_offsets = nullptr;
  std::uint64_t own = 1;
  args.in_counts = &own;
  EXPECT_NE(refusal(args).find("in_counts[0]"), std::string::npos);
  own = 2;
  counts[1] = ~std::uint64_t{0};
  EXPECT_NE(refusal(args).find("overflow"), std::string::npos);
}

TEST(CollPlan, refuses_folds_and_ends_that_contradict_each_other) {
  const auto function = [](void*, const void*, const void*, void*, std::uint64_t) {};
  ph_fold fold{sizeof fold, function, nullptr, 0, 0};
  ph_coll_args args = good(PH_COLL_ALLREDUCE);
  args.fold = &fold;
  EXPECT_NE(refusal(args).find("both set"), std::string::npos);
  args.op = static_cast<ph_op>(0);
  EXPECT_EQ(refusal(args), "");
  fold.element_bytes = 3;
  EXPECT_NE(refusal(args).find("PH_BYTES"), std::string::npos);
  args.type = PH_BYTES;
  EXPECT_EQ(refusal(args), "");
  fold.function = nullptr;
  EXPECT_NE(refusal(args).find("null"), std::string::npos);
  ph_request request = PH_REQUEST_NONE;
  args = good(PH_COLL_ALLREDUCE);
  args.request = &request;
  args.handler = [](void*, ph_status) {};
  EXPECT_NE(refusal(args).find("both set"), std::string::npos);
}

// Where buffers lie says nothing about which algorithm is taken.
TEST(CollPlan, chooses_alike_at_all_members) {
  for (const std::uint64_t count : {1, 2, 60}) {
    ph_coll_args args = good(PH_COLL_ALLREDUCE);
    args.count = count / 4 + 1;
    Plan plan;
    std::string why;
    ASSERT_EQ(make_plan(args, {4, 0, fold::Isa::baseline}, plan, why), PH_OK);
    const schedule::Algorithm first = plan.call.algorithm;
    for (std::uint32_t rank = 1; rank < 4; ++rank) {
      Plan other;
      args.in = rank % 2 == 0 ? in : PH_IN_PLACE;
      ASSERT_EQ(make_plan(args, {4, rank, fold::Isa::baseline}, other, why), PH_OK);
      EXPECT_EQ(other.call.algorithm, first);
      EXPECT_EQ(other.digest, plan.digest);
    }
  }
}

// Of every kind without counts of its own, at each of four members: no range is cut to 32 bits,
// none leaves its buffer, and the last element is written by those who get it. (The memory is only
// named: tests/engine/coll_large_test.cpp moves it.)
TEST(CollPlan, counts_beyond_32_bits_reach_the_last_element_and_no_further) {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 33) + 4099;
  const auto there = [](std::uint64_t at) { return reinterpret_cast<void*>(at << 40); };
  for (const ph_coll_kind kind : {PH_COLL_BCAST, PH_COLL_REDUCE, PH_COLL_ALLREDUCE, PH_COLL_SCAN,
                                  PH_COLL_GATHER, PH_COLL_ALLGATHER, PH_COLL_ALLTOALL})
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      ph_coll_args args = good(kind);
      args.in = there(1);
      args.out = there(16);
      args.count = kMany;
      Plan plan;
      std::string why;
      ASSERT_EQ(make_plan(args, {4, rank, fold::Isa::baseline}, plan, why), PH_OK) << why;
      const bool is_all =
          kind == PH_COLL_GATHER || kind == PH_COLL_ALLGATHER || kind == PH_COLL_ALLTOALL;
      const std::uint64_t room = is_all ? 4 * kMany : kMany;
      const bool gets = rank == 0 || (kind != PH_COLL_REDUCE && kind != PH_COLL_GATHER);
      std::uint64_t end = 0;
      const std::uint64_t phases = schedule::phases_of(plan.call);
      for (const std::uint64_t index : {std::uint64_t{0}, phases / 2, phases - 1}) {
        schedule::Phase phase;
        schedule::phase_at(plan.call, index, phase);
        for (std::uint32_t i = 0; i < phase.count; ++i) {
          const schedule::Range& to = phase.steps[i].to;
          if (to.space != schedule::Space::out) continue;
          EXPECT_LE(to.first + to.count, room) << kind << ", member " << rank;
          end = std::max(end, to.first + to.count);
        }
      }
      const bool is_root_of_bcast = kind == PH_COLL_BCAST && rank == 0;
      if (gets && !is_root_of_bcast && phases <= 3) {
        EXPECT_EQ(end, room) << kind << ", member " << rank;
      }
    }
}

}  // namespace
}  // namespace photon::test
