// What a provider is shown of kinds with counts of their own, and members that call differently
// where a provider does one of the calls, or all.
#include "scripted_provider.hpp"

namespace photon::test {
namespace {

// Of rank r to rank t: r + t elements; 1 element of room between the blocks.
struct ExchangedBlocks {
  explicit ExchangedBlocks(Rank rank) : args(coll_args(PH_COLL_ALLTOALLV)) {
    std::uint64_t next = 0;
    for (Rank other = 0; other < kAllMembers; ++other) {
      counts.push_back(rank + other);
      offsets.push_back(next);
      next += counts.back() + 1;
    }
    in.resize(next);
    out.resize(next);
    args.in = in.data();
    args.out = out.data();
    args.in_counts = args.out_counts = counts.data();
    args.in_offsets = args.out_offsets = offsets.data();
    args.type = PH_INT64;
  }
  std::vector<std::uint64_t> counts, offsets;
  std::vector<std::int64_t> in, out;
  ph_coll_args args;
};

// As a vector, so that it can be compared.
std::vector<std::uint64_t> of_all(const std::uint64_t* numbers) {
  return {numbers, numbers + kAllMembers};
}

TEST(CollProvidedCalls, show_counts_to_begin_and_none_to_takes) {
  ProvidedMembers all;
  std::vector<ExchangedBlocks> blocks;
  for (Rank rank = 0; rank < kAllMembers; ++rank) blocks.emplace_back(rank);
  for (Rank rank = 0; rank < kAllMembers; ++rank) {
    all.scripts[rank].kind = PH_COLL_ALLTOALLV;
    all.scripts[rank].advance_says = PH_OK;
    all.begin(rank, blocks[rank].args);
  }
  const auto counts = blocks[2].counts, offsets = blocks[2].offsets;
  std::fill(blocks[2].counts.begin(), blocks[2].counts.end(), 99);  // they were copied
  all.run();
  const ph_coll_call& asked = all.scripts[2].asked;
  EXPECT_EQ(asked.count, 0u);
  EXPECT_EQ(asked.in_counts, nullptr) << "members differ in them";
  EXPECT_EQ(asked.out_counts, nullptr);
  ASSERT_EQ(all.scripts[2].calls.size(), 1u);
  const ph_coll_call& call = all.scripts[2].calls[0];
  EXPECT_EQ(of_all(call.in_counts), counts);
  EXPECT_EQ(of_all(call.in_offsets), offsets);
  EXPECT_EQ(of_all(call.out_counts), counts);
  EXPECT_EQ(of_all(call.out_offsets), offsets);
  EXPECT_EQ(call.told_counts, nullptr);
  EXPECT_EQ(call.own_count, 0u);
  for (Rank rank = 0; rank < kAllMembers; ++rank)
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
  all.members.expect_nothing_held();
}

TEST(CollProvidedCalls, show_where_counts_from_senders_go) {
  ProvidedMembers all;
  std::vector<std::uint64_t> given(kAllMembers), room(kAllMembers, 5);
  std::vector<std::int64_t> in(5 * kAllMembers), out(5 * kAllMembers);
  for (Rank rank = 0; rank < kAllMembers; ++rank) {
    all.scripts[rank].kind = PH_COLL_GATHERV;
    all.scripts[rank].advance_says = PH_OK;
    auto args = coll_args(PH_COLL_GATHERV);
    args.root = 1;
    args.type = PH_INT64;
    args.flags = PH_COUNTS_FROM_SENDERS;
    given[rank] = rank + 2;
    args.in_counts = &given[rank];
    args.in = &in[5 * rank];
    if (rank == 1) args.out = out.data();
    if (rank == 1) args.out_counts = room.data();
    all.begin(rank, args);
  }
  all.run();
  EXPECT_EQ(all.scripts[0].asked.flags, PH_COUNTS_FROM_SENDERS);
  const ph_coll_call& root = all.scripts[1].calls.at(0);
  EXPECT_EQ(of_all(root.out_counts), (std::vector<std::uint64_t>{5, 3, 5, 5}));
  EXPECT_EQ(of_all(root.out_offsets), (std::vector<std::uint64_t>{0, 5, 10, 15}));
  EXPECT_EQ(root.told_counts, room.data());
  EXPECT_EQ(room[1], 3u) << "the root's own";
  const ph_coll_call& leaf = all.scripts[3].calls.at(0);
  EXPECT_EQ(leaf.own_count, 5u);
  EXPECT_EQ(leaf.out_counts, nullptr);
  EXPECT_EQ(leaf.told_counts, nullptr);
  for (Rank rank = 0; rank < kAllMembers; ++rank)
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
}

TEST(CollProvidedCalls, are_checked_before_a_provider_sees_them) {
  ProvidedMembers all;
  all.scripts[0].kind = PH_COLL_ALLTOALLV;
  ExchangedBlocks wrong(1);
  wrong.offsets[2] = wrong.offsets[1];
  EXPECT_EQ(all.members[0].begin(all.members.world(0), wrong.args), PH_ERR_ARGUMENT);
  const std::string& words = all.members.port(0).last_error().what;
  EXPECT_NE(words.find("blocks overlap"), std::string::npos) << words;
  wrong = ExchangedBlocks(1);
  wrong.counts[3] = UINT64_MAX / 2;
  EXPECT_EQ(all.members[0].begin(all.members.world(0), wrong.args), PH_ERR_ARGUMENT);
  all.run();
  EXPECT_EQ(all.scripts[0].asked.size, 0u);
  EXPECT_EQ(all.scripts[0].joined, 0);
}

// The input of the root lies at `in`, its own block there.
TEST(CollProvidedCalls, show_in_which_buffer_a_scatter_is_in_place) {
  ProvidedMembers all;
  std::vector<std::int64_t> in(kAllMembers), out(kAllMembers);
  for (Rank rank = 0; rank < kAllMembers; ++rank) {
    all.scripts[rank].kind = PH_COLL_SCATTER;
    all.scripts[rank].advance_says = PH_OK;
    auto args = coll_args(PH_COLL_SCATTER);
    args.in = in.data();
    args.out = rank == 0 ? PH_IN_PLACE : &out[rank];
    args.count = 1;
    args.type = PH_INT64;
    all.begin(rank, args);
  }
  all.run();
  EXPECT_EQ(all.scripts[0].calls.at(0).in, in.data());
  EXPECT_EQ(all.scripts[0].calls.at(0).out, PH_IN_PLACE);
  EXPECT_EQ(all.scripts[1].calls.at(0).out, &out[1]);
  for (Rank rank = 0; rank < kAllMembers; ++rank)
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
}

// It has ended with the mistake, in words that name this member, and another one.
void expect_named(ProvidedMembers& all, Rank rank, const std::string& one,
                  const std::string& other) {
  ASSERT_EQ(all.ops[rank]->state, OpState::over) << rank;
  EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_ERR_ARGUMENT) << rank;
  const std::string& words = all.members.port(rank).last_error().what;
  EXPECT_NE(words.find(one), std::string::npos) << words;
  EXPECT_NE(words.find(other), std::string::npos) << words;
}

// Whoever begins last; one of the kinds is the provider's.
TEST(CollProvidedCalls, that_differ_in_who_does_them_end_at_all_with_both_named) {
  for (Rank odd = 0; odd < kAllMembers; ++odd)
    for (const bool odd_is_last : {false, true})
      for (const bool odd_is_provided : {false, true}) {
        SCOPED_TRACE(std::to_string(odd) + (odd_is_last ? " last" : " first") +
                     (odd_is_provided ? ", provided" : ""));
        ProvidedMembers all;
        std::vector<Sum> sums;
        for (Rank rank = 0; rank < kAllMembers; ++rank) sums.emplace_back(500, rank);
        const auto begin = [&](Rank rank) {
          const bool is_barrier = (rank == odd) == odd_is_provided;
          all.begin(rank, is_barrier ? coll_args(PH_COLL_BARRIER) : sums[rank].args);
        };
        if (!odd_is_last) begin(odd);
        all.run();
        for (Rank rank = 0; rank < kAllMembers; ++rank)
          if (rank != odd) begin(rank);
        all.run();
        if (odd_is_last) begin(odd);
        all.run();
        for (Rank rank = 0; rank < kAllMembers; ++rank)
          expect_named(all, rank, "member " + std::to_string(odd) + " ", " and ");
        all.members.expect_nothing_held();
      }
}

// Its neighbour has sent the root what it gives, and is done with it, before it hears.
TEST(CollProvidedCalls, are_compared_with_what_is_over) {
  ProvidedMembers all;
  const std::vector<std::uint64_t> ones(kAllMembers, 1);
  std::vector<std::int64_t> in(kAllMembers), out(kAllMembers);
  for (const Rank rank : {0U, 1U, 3U}) {
    auto args = coll_args(PH_COLL_GATHERV);
    args.in = &in[rank];
    args.out = out.data();
    args.in_counts = ones.data();
    std::vector<std::uint64_t> counts = ones;
    args.out_counts = counts.data();
    args.type = PH_INT64;
    all.begin(rank, args);
  }
  all.run();
  ASSERT_EQ(all.ops[3]->state, OpState::over);
  ASSERT_EQ(all.ops[0]->state, OpState::running) << "it waits for member 2";
  all.begin(2, coll_args(PH_COLL_BARRIER));
  all.run();
  for (const Rank rank : {0U, 2U})
    expect_named(all, rank, "member 2 (rank 2)", "member 3 (rank 3)");
}

// Each with its counts; a provider's messages have met another call first.
TEST(CollProvidedCalls, that_a_provider_finds_to_differ_name_both_as_well) {
  ProvidedMembers all;
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < kAllMembers; ++rank) {
    all.scripts[rank].kind = PH_COLL_ALLREDUCE;
    all.scripts[rank].advance_says = PH_ERR_ARGUMENT;
    sums.emplace_back(rank == 2 ? 4 : 5, rank);
    all.begin(rank, sums[rank].args);
  }
  all.run();
  for (Rank rank = 0; rank < kAllMembers; ++rank)
    expect_named(all, rank, "member 2 (rank 2)", "allreduce of 4 int64");
  all.members.expect_nothing_held();
}

// Nobody has words for what it means.
TEST(CollProvidedCalls, end_by_what_a_provider_says_where_members_have_called_alike) {
  ProvidedMembers all;
  all.begin_barrier();
  all.scripts[1].advance_says = PH_ERR_ARGUMENT;
  for (int i = 0; i < 10'000 && all.ops[1]->state != OpState::over; ++i) all.run();
  EXPECT_EQ(all.scripts[1].advanced, 1) << "it is over there";
  EXPECT_EQ(all.scripts[1].cancelled, 0);
  for (Rank rank = 0; rank < kAllMembers; ++rank)
    expect_named(all, rank, "failed at member 1", "by a function or an argument there");
  all.members.expect_nothing_held();
}

// A member without the setting does the same call in its own way.
TEST(CollProvidedCalls, that_one_member_alone_gives_to_a_provider_end_at_all) {
  ProvidedMembers all;
  for (Rank rank = 1; rank < kAllMembers; ++rank)
    all.scripts[rank].kind = all.scripts[rank].second_kind = PH_COLL_SCAN;
  all.begin_barrier();
  all.run();
  for (Rank rank = 0; rank < kAllMembers; ++rank)
    expect_named(all, rank, "member 0 (rank 0)", "the setting coll has to be the same");
}

// The second one's digest finds no grant, so that its note waits for the next member.
TEST(CollProvidedCalls, are_told_to_the_next_member_also_beyond_the_grant) {
  ProvidedMembers all(64);
  for (Scripted& script : all.scripts) script.advance_says = PH_OK;
  all.begin(0, coll_args(PH_COLL_BARRIER));
  all.run();
  ASSERT_EQ(all.ops[0]->state, OpState::over);
  EXPECT_EQ(all.members[0].done(*all.ops[0]), PH_OK);
  all.begin(0, coll_args(PH_COLL_BARRIER));
  all.run();
  EXPECT_EQ(all.ops[0]->state, OpState::running);
  for (const Rank rank : {1U, 2U, 3U}) {
    all.begin(rank, coll_args(PH_COLL_BARRIER));
    all.run();
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
  }
  EXPECT_EQ(all.ops[0]->state, OpState::running) << "its first one has no partner's second yet";
  all.begin(1, coll_args(PH_COLL_BARRIER));
  all.run();
  EXPECT_EQ(all.ops[0]->state, OpState::over);
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
}

}  // namespace
}  // namespace photon::test
