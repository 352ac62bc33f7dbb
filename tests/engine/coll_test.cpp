// Collectives over every transport and its settings: each kind leaves what it has to, whatever the
// counts, the roots, the team, and however it is begun and told.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

class Coll : public OverSettings {};

constexpr int kKinds = PH_COLL_REDUCE_SCATTER;

std::string name(int kind, std::uint64_t count) {
  return "kind " + std::to_string(kind) + " of " + std::to_string(count);
}

// reduce_scatter in place leaves the rest of `out` undefined, and alltoallv has equal blocks then.
bool may_be_in_place(int kind) {
  return kind == PH_COLL_REDUCE || kind == PH_COLL_ALLREDUCE || kind == PH_COLL_SCAN ||
         kind == PH_COLL_EXSCAN || kind == PH_COLL_GATHER || kind == PH_COLL_SCATTER ||
         kind == PH_COLL_ALLGATHER || kind == PH_COLL_ALLTOALL;
}

void run_all_kinds(ph_team* team, std::uint64_t count) {
  for (int kind = PH_COLL_BARRIER; kind <= kKinds; ++kind)
    for (const bool in_place : {false, true}) {
      if (in_place && !may_be_in_place(kind)) continue;
      for (const std::uint32_t root : {0U, ph_team_size(team) - 1}) {
        Collective one(team, {static_cast<ph_coll_kind>(kind), count, root, in_place, 0});
        ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK) << name(kind, count);
        one.expect_right(name(kind, count));
      }
    }
}

TEST_P(Coll, every_kind_leaves_what_it_has_to) {
  for (const std::uint32_t ranks : {2U, 3U, 5U}) {
    ThreadJob job(ranks, options());
    job.run([&](ph_context* context, ph_rank) {
      for (const std::uint64_t count : {0, 1, 7, 300, 5000})
        run_all_kinds(world_of(context), count);
    });
  }
}

TEST_P(Coll, large_ones_come_whole) {
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank) {
    ph_team* const team = world_of(context);
    for (const ph_coll_kind kind : {PH_COLL_BCAST, PH_COLL_ALLREDUCE, PH_COLL_ALLTOALLV}) {
      Collective one(team, {kind, 100'000, 1, false, 0});
      ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
      one.expect_right(name(kind, 100'000));
    }
  });
}

// Many under way, told by id; ids of puts come between them, and none is lost.
TEST_P(Coll, a_users_probe_never_meets_a_collective_and_misses_no_id) {
  constexpr std::uint64_t kRounds = 20;
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    std::uint64_t next = 0, ended = 0, noticed = 0, sent = 0;
    std::vector<std::unique_ptr<Collective>> all;
    for (std::uint64_t round = 0; round < kRounds; ++round)
      all.push_back(std::make_unique<Collective>(
          team, Collective::Shape{PH_COLL_ALLREDUCE, round * 40 + 1, 0, false, 0}));
    while (ended < kRounds || noticed < kRounds) {
      if (next < kRounds) {
        const std::uint64_t id = 1000 + next;
        all[next]->args().local = {&id, sizeof id};
        const ph_status status = ph_coll_begin(team, &all[next]->args());
        ASSERT_TRUE(status == PH_OK || status == PH_AGAIN);
        next += status == PH_OK;
      }
      if (sent < kRounds) sent += ph_notify(context, (rank + 1) % 3, sent) == PH_OK;
      ph_completion found[4];
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 4, &count), PH_OK);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[i].status, PH_OK);
        if (found[i].kind == PH_REMOTE) {
          ASSERT_EQ(found[i].id, noticed++) << "a notice";
          continue;
        }
        ASSERT_EQ(found[i].peer, rank);
        ASSERT_GE(found[i].id, 1000u);
        all.at(found[i].id - 1000)->expect_right("allreduce");
        ++ended;
      }
    }
  });
}

TEST_P(Coll, requests_and_handlers_tell_the_end_too) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank) {
    ph_team* const team = world_of(context);
    ph_request request = PH_REQUEST_NONE;
    Collective one(team, {PH_COLL_ALLREDUCE, 200, 0, false, 0});
    one.args().request = &request;
    ASSERT_EQ(ph_coll_begin(team, &one.args()), PH_OK);
    ph_result result{};
    ASSERT_EQ(ph_wait_any(context, {&request, 1}, &result, PH_FOREVER), PH_OK);
    one.expect_right("by request");
    struct Chain {
      ph_team* team;
      ph_coll_args args;
      int left;
    } chain{team, {}, 5};
    chain.args.size = sizeof chain.args;
    chain.args.kind = PH_COLL_BARRIER;
    chain.args.user = &chain;
    chain.args.handler = [](void* user, ph_status status) {
      auto* const it = static_cast<Chain*>(user);
      EXPECT_EQ(status, PH_OK);
      if (--it->left > 0) {
        EXPECT_EQ(ph_coll_begin(it->team, &it->args), PH_OK);
      }
    };
    ASSERT_EQ(ph_coll_begin(team, &chain.args), PH_OK);
    std::size_t count = 0;
    while (chain.left > 0) {
      ASSERT_EQ(ph_probe(context, kAnyLocal, nullptr, 0, &count), PH_OK);
    }
  });
}

TEST_P(Coll, prepared_collectives_read_their_buffers_at_each_start_in_any_order_of_starts) {
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    std::vector<std::unique_ptr<Collective>> all;
    ph_coll* colls[4] = {};
    ph_request requests[4] = {};
    for (std::size_t i = 0; i < 4; ++i) {
      all.push_back(std::make_unique<Collective>(
          team, Collective::Shape{i % 2 == 0 ? PH_COLL_ALLREDUCE : PH_COLL_ALLTOALL,
                                  1 + i * i * 100, 0, false, 0}));
      all[i]->args().request = &requests[i];
      ASSERT_EQ(ph_coll_prepare(team, &all[i]->args(), &colls[i]), PH_OK);
    }
    for (std::uint64_t round = 0; round < 5; ++round) {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t which = (i * (rank == 0 ? 1 : 3) + rank + round) % 4;
        all[which]->refill(round);
        ASSERT_EQ(ph_coll_start(colls[which]), PH_OK);
      }
      for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_EQ(ph_wait_request(context, &requests[i], nullptr, PH_FOREVER), PH_OK);
        all[i]->expect_right("prepared " + std::to_string(i));
      }
    }
    for (ph_coll* coll : colls) EXPECT_EQ(ph_coll_free(coll), PH_OK);
  });
}

// Every fold in team order: a product of 2 x 2 matrices, whose elements wrap around.
void multiply(void*, const void* left, const void* right, void* out, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t a[4], b[4], c[4];
    std::memcpy(a, static_cast<const char*>(left) + i * sizeof a, sizeof a);
    std::memcpy(b, static_cast<const char*>(right) + i * sizeof b, sizeof b);
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 2; ++column)
        c[row * 2 + column] = a[row * 2] * b[column] + a[row * 2 + 1] * b[2 + column];
    std::memcpy(static_cast<char*>(out) + i * sizeof c, c, sizeof c);
  }
}

using Matrix = std::array<std::uint64_t, 4>;
Matrix matrix_of(std::uint64_t member, std::uint64_t i) {
  return {member + 2, i + 1, 3, member * 5 + 1};
}

TEST_P(Coll, a_function_that_does_not_commute_keeps_team_order_for_every_root_and_size) {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    ThreadJob job(ranks, options());
    job.run([&](ph_context* context, ph_rank rank) {
      ph_team* const team = world_of(context);
      const ph_fold fold{sizeof fold, multiply, nullptr, sizeof(Matrix), 0};
      for (const std::uint64_t count : {1, 30, 3000})
        for (std::uint32_t which = 0; which <= ranks; ++which) {
          std::vector<Matrix> in(count), out(count);
          for (std::uint64_t i = 0; i < count; ++i) in[i] = matrix_of(rank, i);
          ph_coll_args args{};
          args.size = sizeof args;
          args.kind = which == ranks ? PH_COLL_ALLREDUCE : PH_COLL_REDUCE;
          args.root = which == ranks ? 0 : which;
          args.in = in.data();
          args.out = out.data();
          args.count = count;
          args.type = PH_BYTES;
          args.fold = &fold;
          ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
          if (which != ranks && which != rank) continue;
          for (std::uint64_t i = 0; i < count; ++i) {
            Matrix right = matrix_of(0, i);
            for (std::uint32_t member = 1; member < ranks; ++member) {
              const Matrix next = matrix_of(member, i);
              multiply(nullptr, &right, &next, &right, 1);
            }
            ASSERT_EQ(out[i], right) << count << ", " << which << ", " << i;
          }
        }
    });
  }
}

TEST_P(Coll, every_member_gets_the_same_bits_and_reproducible_ones_those_of_a_loop) {
  constexpr std::uint32_t kRanks = 4;
  ThreadJob job(kRanks, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    const auto input = [](ph_rank member, std::uint64_t i) {
      return 1.0F / static_cast<float>(3 * member + i % 101 + 1) * (member % 2 == 0 ? 1 : 1e7F);
    };
    for (const std::uint64_t count : {1, 100, 20'000})
      for (const std::uint32_t flags : {0U, PH_REPRODUCIBLE}) {
        std::vector<float> in(count), out(count), all(count * kRanks);
        for (std::uint64_t i = 0; i < count; ++i) in[i] = input(rank, i);
        ph_coll_args args{};
        args.size = sizeof args;
        args.kind = PH_COLL_ALLREDUCE;
        args.in = in.data();
        args.out = out.data();
        args.count = count;
        args.type = PH_FLOAT;
        args.op = PH_OP_ADD;
        args.flags = flags;
        ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
        args.kind = PH_COLL_ALLGATHER;
        args.in = out.data();
        args.out = all.data();
        args.flags = 0;
        ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
        for (ph_rank member = 0; member < kRanks; ++member)
          ASSERT_EQ(std::memcmp(&all[member * count], out.data(), count * sizeof out[0]), 0);
        if (flags == 0) continue;
        for (std::uint64_t i = 0; i < count; ++i) {
          float right = input(0, i);
          for (ph_rank member = 1; member < kRanks; ++member) right += input(member, i);
          ASSERT_EQ(out[i], right) << i;
        }
      }
  });
}

TEST_P(Coll, teams_are_split_made_of_lists_and_freed) {
  ThreadJob job(4, options());
  job.run([&](ph_context* context, ph_rank rank) {
    for (int round = 0; round < 10; ++round) {
      ph_team* half = nullptr;
      ASSERT_EQ(
          ph_team_split(world_of(context), rank % 2, -static_cast<int>(rank), PH_FOREVER, &half),
          PH_OK);
      ASSERT_EQ(ph_team_size(half), 2u);
      EXPECT_EQ(ph_team_member(half, 0), rank % 2 + 2);
      run_all_kinds(half, 10);
      const ph_rank list[] = {3, 0, 2};
      const ph_team_of_args args{sizeof args, list, 3, 0, 5};
      ph_team* three = nullptr;
      if (rank != 1) {
        ASSERT_EQ(ph_team_of(context, &args, PH_FOREVER, &three), PH_OK);
        EXPECT_EQ(ph_team_rank(three), rank == 3 ? 0U : rank == 0 ? 1U : 2U);
        run_all_kinds(three, 3);
        EXPECT_EQ(ph_team_free(three), PH_OK);
      }
      EXPECT_EQ(ph_team_free(half), PH_OK);
    }
  });
}

TEST_P(Coll, a_time_limit_leaves_a_request_behind_that_can_be_waited_for) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    Collective one(team, {PH_COLL_ALLREDUCE, 50, 0, false, 0});
    ph_request request = PH_REQUEST_NONE;
    one.args().request = &request;
    if (rank == 0) {
      ASSERT_EQ(ph_coll_run(team, &one.args(), 1000), PH_TIMEOUT);
      EXPECT_NE(request, PH_REQUEST_NONE);
      ASSERT_EQ(ph_notify(context, 1, 1), PH_OK);
      ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
    } else {
      ASSERT_EQ(ph_wait(context, kAnyRemote, PH_FOREVER), PH_OK);
      ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
    }
    one.expect_right("after a time limit");
  });
}

// The choice of buffers is each member's own.
TEST_P(Coll, members_with_different_memory_take_the_same_algorithm) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    for (const std::uint64_t count : {1, 127, 129, 4095, 4097, 65'537}) {
      std::vector<std::int64_t> in(count, rank + 1), own(count);
      ph_region region{};
      if (rank == 0) {
        ASSERT_EQ(ph_alloc(context, count * sizeof in[0], &region), PH_OK);
      }
      auto* const out = rank == 0 ? reinterpret_cast<std::int64_t*>(region.address) : own.data();
      ph_coll_args args{};
      args.size = sizeof args;
      args.kind = PH_COLL_ALLREDUCE;
      args.in = in.data();
      args.out = out;
      args.count = count;
      args.type = PH_INT64;
      args.op = PH_OP_ADD;
      ASSERT_EQ(ph_coll_run(world_of(context), &args, PH_FOREVER), PH_OK);
      for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(out[i], 3) << count << ", " << i;
      if (rank == 0) {
        ASSERT_EQ(ph_free(context, out), PH_OK);
      }
    }
  });
}

TEST_P(Coll, what_members_have_begun_differently_ends_with_words_at_both) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    for (const std::uint64_t count : {1, 5000}) {
      Collective one(team, {PH_COLL_ALLREDUCE, count + rank, 0, false, 0});
      ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_ERR_ARGUMENT);
      ph_error error{};
      ph_last_error(context, &error);
      for (const char* word : {"member 0 (rank 0)", "member 1 (rank 1)", "allreduce of "})
        EXPECT_NE(std::string(error.text).find(word), std::string::npos) << error.text;
      run_all_kinds(team, 3);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Coll, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
