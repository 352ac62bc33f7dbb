// Collectives that are called wrongly: each is refused with words that name the argument, and what
// is called rightly afterwards works.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

class CollArguments : public OverSettings {};

// An allreduce of two elements that nothing is wrong with, and blocks for the kinds with counts.
struct GoodCall {
  std::array<std::int64_t, 16> in{1, 2, 3};
  std::array<std::int64_t, 16> out{};
  std::array<std::uint64_t, 2> counts{2, 2};
  std::array<std::uint64_t, 2> offsets{0, 2};
  ph_fold fold{sizeof(ph_fold), [](void*, const void*, const void*, void*, std::uint64_t) {},
               nullptr, 0, 1};
  ph_coll_args args{};

  GoodCall() {
    args.size = sizeof args;
    args.kind = PH_COLL_ALLREDUCE;
    args.in = in.data();
    args.out = out.data();
    args.count = 2;
    args.type = PH_INT64;
    args.op = PH_OP_ADD;
    args.flags = PH_NO_LCE;
  }
  void make_v(ph_coll_kind kind) {
    args.kind = kind;
    args.in_counts = counts.data();
    args.out_counts = counts.data();
    args.in_offsets = offsets.data();
    args.out_offsets = offsets.data();
  }
};

struct WrongCall {
  const char* words;
  std::function<void(GoodCall&)> spoil;
};

void expect_all_refused(ph_context* context, const std::vector<WrongCall>& calls) {
  ph_team* const team = world_of(context);
  for (const WrongCall& wrong : calls) {
    SCOPED_TRACE(wrong.words);
    GoodCall call;
    wrong.spoil(call);
    expect_error(context, ph_coll_begin(team, &call.args), PH_ERR_ARGUMENT, wrong.words);
    ph_coll* coll = nullptr;
    expect_error(context, ph_coll_prepare(team, &call.args, &coll), PH_ERR_ARGUMENT, wrong.words);
    EXPECT_EQ(coll, nullptr);
  }
}

void expect_works(ph_team* team) {
  Collective one(team, {PH_COLL_ALLREDUCE, 9, 0, false, 0});
  ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
  one.expect_right("after a refusal");
}

TEST_P(CollArguments, words_and_completions_that_mean_nothing_are_named) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank) {
    ph_request request = PH_REQUEST_NONE;
    static const std::uint64_t id = 5;
    const auto handler = [](void*, ph_status) {};
    expect_all_refused(
        context,
        {{"args->size", [](GoodCall& it) { it.args.size = 8; }},
         {"args->kind", [](GoodCall& it) { it.args.kind = static_cast<ph_coll_kind>(0); }},
         {"args->kind", [](GoodCall& it) { it.args.kind = static_cast<ph_coll_kind>(17); }},
         {"args->kind", [](GoodCall& it) { it.args.kind = static_cast<ph_coll_kind>(-1); }},
         {"args->type", [](GoodCall& it) { it.args.type = static_cast<ph_type>(0); }},
         {"args->type", [](GoodCall& it) { it.args.type = static_cast<ph_type>(99); }},
         {"args->op", [](GoodCall& it) { it.args.op = static_cast<ph_op>(77); }},
         {"args->op is not set", [](GoodCall& it) { it.args.op = static_cast<ph_op>(0); }},
         {"args->type int64 cannot be folded by args->op swap",
          [](GoodCall& it) { it.args.op = PH_OP_SWAP; }},
         {"args->op", [](GoodCall& it) { it.args.type = PH_BYTES; }},
         {"args->op",
          [](GoodCall& it) {
            it.args.type = PH_COMPLEX_DOUBLE;
            it.args.op = PH_OP_MIN;
          }},
         {"args->flags", [](GoodCall& it) { it.args.flags |= 1U << 30; }},
         {"args->reserved", [](GoodCall& it) { it.args.reserved = 1; }},
         {"PH_COUNTS_FROM_SENDERS", [](GoodCall& it) { it.args.flags |= PH_COUNTS_FROM_SENDERS; }},
         {"PH_REPRODUCIBLE",
          [](GoodCall& it) {
            it.args.kind = PH_COLL_BCAST;
            it.args.flags |= PH_REPRODUCIBLE;
          }},
         {"args->root",
          [](GoodCall& it) {
            it.args.kind = PH_COLL_REDUCE;
            it.args.root = 2;
          }},
         {"args->handler and args->request",
          [&](GoodCall& it) {
            it.args.handler = handler;
            it.args.request = &request;
          }},
         {"args->local",
          [&](GoodCall& it) {
            it.args.local = id_of(id);
            it.args.handler = handler;
          }},
         {"args->local", [](GoodCall& it) { it.args.local.size_bytes = 8; }}});
    expect_works(world_of(context));
  });
}

TEST_P(CollArguments, folds_that_cannot_be_called_are_named) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank) {
    const auto with_fold = [](GoodCall& it) {
      it.args.fold = &it.fold;
      it.args.op = static_cast<ph_op>(0);
    };
    expect_all_refused(context,
                       {{"args->fold->size",
                         [&](GoodCall& it) {
                           with_fold(it);
                           it.fold.size = 1;
                         }},
                        {"args->fold->function",
                         [&](GoodCall& it) {
                           with_fold(it);
                           it.fold.function = nullptr;
                         }},
                        {"args->op and args->fold", [](GoodCall& it) { it.args.fold = &it.fold; }},
                        {"args->fold->element_bytes",
                         [&](GoodCall& it) {
                           with_fold(it);
                           it.fold.element_bytes = 8;
                         }},
                        {"args->fold->element_bytes is 0",
                         [&](GoodCall& it) {
                           with_fold(it);
                           it.args.type = PH_BYTES;
                         }},
                        {"args->fold", [&](GoodCall& it) {
                           with_fold(it);
                           it.args.kind = PH_COLL_BCAST;
                         }}});
    expect_works(world_of(context));
  });
}

TEST_P(CollArguments, buffers_that_cannot_be_are_named) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank) {
    const auto near_the_end = [] { return reinterpret_cast<void*>(~std::uintptr_t{0} - 7); };
    expect_all_refused(
        context,
        {{"args->in is null", [](GoodCall& it) { it.args.in = nullptr; }},
         {"args->out is null", [](GoodCall& it) { it.args.out = nullptr; }},
         {"args->in is unused",
          [](GoodCall& it) {
            it.args.kind = PH_COLL_BCAST;
            it.args.out = nullptr;
          }},
         {"overlap", [](GoodCall& it) { it.args.out = it.in.data() + 1; }},
         {"overlap", [](GoodCall& it) { it.args.out = it.in.data(); }},
         {"args->in wraps", [&](GoodCall& it) { it.args.in = near_the_end(); }},
         {"args->out wraps", [&](GoodCall& it) { it.args.out = near_the_end(); }},
         {"args->count is too large", [](GoodCall& it) { it.args.count = UINT64_MAX / 2; }},
         {"args->count is too large",
          [](GoodCall& it) {
            it.args.kind = PH_COLL_ALLGATHER;
            it.args.count = UINT64_MAX / 2 + 1;
          }},
         {"PH_IN_PLACE", [](GoodCall& it) { it.args.out = PH_IN_PLACE; }},
         {"PH_IN_PLACE", [](GoodCall& it) {
            it.args.kind = PH_COLL_SCATTER;
            it.args.in = PH_IN_PLACE;
          }}});
    expect_works(world_of(context));
  });
}

TEST_P(CollArguments, counts_and_offsets_that_cannot_be_are_named) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank) {
    expect_all_refused(context, {{"args->in_counts is null",
                                  [](GoodCall& it) {
                                    it.make_v(PH_COLL_ALLTOALLV);
                                    it.args.in_counts = nullptr;
                                  }},
                                 {"args->in_counts is null",
                                  [](GoodCall& it) {
                                    it.make_v(PH_COLL_REDUCE_SCATTER);
                                    it.args.in_counts = nullptr;
                                  }},
                                 {"args->out_counts is null",
                                  [](GoodCall& it) {
                                    it.make_v(PH_COLL_ALLGATHERV);
                                    it.args.out_counts = nullptr;
                                  }},
                                 {"blocks overlap in args->out",
                                  [](GoodCall& it) {
                                    it.make_v(PH_COLL_ALLTOALLV);
                                    it.offsets[1] = 1;
                                    it.args.in_offsets = nullptr;
                                  }},
                                 {"args->in_counts overflow",
                                  [](GoodCall& it) {
                                    it.make_v(PH_COLL_REDUCE_SCATTER);
                                    it.counts = {UINT64_MAX, 2};
                                  }},
                                 {"args->out_counts overflow",
                                  [](GoodCall& it) {
                                    it.make_v(PH_COLL_ALLGATHERV);
                                    it.offsets[1] = UINT64_MAX;
                                  }},
                                 {"args->in_counts[0]", [](GoodCall& it) {
                                    static const std::uint64_t own = 1;
                                    it.make_v(PH_COLL_ALLGATHERV);
                                    it.args.in_counts = &own;
                                  }}});
    expect_works(world_of(context));
  });
}

TEST_P(CollArguments, null_and_freed_handles_are_refused) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    GoodCall call;
    ph_team* const world = world_of(context);
    EXPECT_EQ(ph_team_world(context, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_coll_begin(nullptr, &call.args), PH_ERR_ARGUMENT);
    expect_error(context, ph_coll_begin(world, nullptr), PH_ERR_ARGUMENT, "args is null");
    expect_error(context, ph_coll_prepare(world, &call.args, nullptr), PH_ERR_ARGUMENT,
                 "coll is null");
    EXPECT_EQ(ph_coll_start(nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_coll_free(nullptr), PH_OK);
    EXPECT_EQ(ph_team_free(nullptr), PH_OK);
    EXPECT_EQ(ph_team_rank(nullptr), UINT32_MAX);
    EXPECT_EQ(ph_team_size(nullptr), 0u);
    EXPECT_EQ(ph_team_member(world, 2), PH_ANY_RANK);
    expect_error(context, ph_team_free(world), PH_ERR_ARGUMENT, "team_free");
    expect_error(context, ph_coll_run(world, &call.args, 1000), PH_ERR_ARGUMENT, "args->request");
    ph_team* none = world;
    ASSERT_EQ(ph_team_split(world, rank == 0 ? 1 : PH_NO_COLOUR, 0, PH_FOREVER, &none), PH_OK);
    EXPECT_EQ(none == nullptr, rank == 1);
    if (none != nullptr) {
      EXPECT_EQ(ph_team_size(none), 1u);
      EXPECT_EQ(ph_team_free(none), PH_OK);
    }
    expect_works(world);
  });
}

TEST_P(CollArguments, lists_that_make_no_team_are_refused) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* team = nullptr;
    const auto refused = [&](const std::vector<ph_rank>& list, ph_status status) {
      const ph_team_of_args args{sizeof args, list.data(), static_cast<std::uint32_t>(list.size()),
                                 0, 3};
      EXPECT_EQ(ph_team_of(context, &args, 0, &team), status);
      EXPECT_EQ(team, nullptr);
    };
    refused({}, PH_ERR_ARGUMENT);
    refused({0, 1, 0}, PH_ERR_ARGUMENT);
    refused({1 - rank}, PH_ERR_ARGUMENT);
    refused({0, 1, 2}, PH_ERR_RANK);
    EXPECT_EQ(ph_team_of(context, nullptr, 0, &team), PH_ERR_ARGUMENT);
    expect_works(world_of(context));
  });
}

// Rank 1 begins only when rank 0 has tried everything with what is under way.
TEST_P(CollArguments, what_is_under_way_is_neither_started_nor_freed) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    ph_request request = PH_REQUEST_NONE;
    Collective one(team, {PH_COLL_ALLREDUCE, 20, 0, false, 0});
    one.args().request = &request;
    ph_coll* coll = nullptr;
    ASSERT_EQ(ph_coll_prepare(team, &one.args(), &coll), PH_OK);
    if (rank == 1) {
      ASSERT_EQ(ph_wait(context, kAnyRemote, PH_FOREVER), PH_OK);
    }
    ASSERT_EQ(ph_coll_start(coll), PH_OK);
    if (rank == 0) {
      EXPECT_EQ(ph_coll_start(coll), PH_ERR_STATE);
      EXPECT_EQ(ph_coll_free(coll), PH_ERR_STATE);
      ASSERT_EQ(ph_notify(context, 1, 1), PH_OK);
    }
    ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
    one.expect_right("prepared");
    EXPECT_EQ(ph_coll_free(coll), PH_OK);
  });
}

// Member 0 fills the window before member 1 has begun anything.
TEST_P(CollArguments, what_the_window_has_no_room_for_is_begun_again_later) {
  constexpr std::size_t kWindow = 16;
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    std::array<ph_request, kWindow + 1> requests{};
    std::vector<std::unique_ptr<Collective>> all;
    for (std::size_t i = 0; i <= kWindow; ++i) {
      all.push_back(std::make_unique<Collective>(
          team, Collective::Shape{PH_COLL_ALLREDUCE, 30 + i, 0, false, 0}));
      all[i]->args().request = &requests[i];
    }
    if (rank == 1) {
      ASSERT_EQ(ph_wait(context, kAnyRemote, PH_FOREVER), PH_OK);
    }
    for (std::size_t i = 0; i < kWindow; ++i)
      ASSERT_EQ(insist(context, [&] { return ph_coll_begin(team, &all[i]->args()); }), PH_OK);
    if (rank == 0) {
      EXPECT_EQ(ph_coll_begin(team, &all[kWindow]->args()), PH_AGAIN);
      ASSERT_EQ(ph_notify(context, 1, 1), PH_OK);
    }
    ASSERT_EQ(insist(context, [&] { return ph_coll_begin(team, &all[kWindow]->args()); }), PH_OK);
    for (std::size_t i = 0; i <= kWindow; ++i) {
      ASSERT_EQ(ph_wait_request(context, &requests[i], nullptr, PH_FOREVER), PH_OK);
      all[i]->expect_right("of the window");
    }
  });
}

// With progress alone. The job's deadline is the limit.
void await_departure(ph_context* context, ph_rank rank) {
  ph_contact_state state = PH_PEER_UNKNOWN;
  while (state != PH_PEER_DEPARTED) {
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
    ASSERT_EQ(ph_peer_state(context, rank, &state), PH_OK);
    std::this_thread::yield();
  }
}

// Telling the others of the refusal must not cost its words.
TEST_P(CollArguments, a_refusal_after_a_member_has_left_names_member_and_call) {
  ThreadJob job(3, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    Collective first(team, {PH_COLL_ALLREDUCE, 2, 0, false, 0});
    ASSERT_EQ(ph_coll_run(team, &first.args(), PH_FOREVER), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(ph_finalize(context), PH_OK);
      return;
    }
    await_departure(context, 0);
    Collective late(team, {PH_COLL_BCAST, 2, 0, false, 0});
    expect_error(context, ph_coll_begin(team, &late.args()), PH_ERR_DEPARTED,
                 "coll_begin: member 0 of the team is lost");
    expect_error(context, ph_coll_run(team, &late.args(), PH_FOREVER), PH_ERR_DEPARTED,
                 "coll_run: member 0 of the team is lost");
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollArguments, testing::ValuesIn(both_transports()),
                         setting_name);

}  // namespace
}  // namespace photon::test
