// Collectives of a provider over every transport: the example that does them by plain puts on a
// lane of its own, kinds with counts of their own among them, and members that call differently.
#include <gtest/gtest.h>
#include <photon/coll_provider.h>
#include <photon/photon.h>

#include <deque>

#include "engine/coll_calls.hpp"
#include "examples/coll_pwc/pwc_provider.hpp"

namespace photon::test {
namespace {

// A job whose ranks have the provider, and its name as the setting.
class PwcJob {
 public:
  PwcJob(std::uint32_t ranks, Options options)
      : providers_(ranks), job_(ranks, with(std::move(options), {{"coll", "pwc"}})) {}
  template <class Body>
  void run(Body body) {
    job_.run([&](ph_context* context, ph_rank rank) {
      ASSERT_EQ(ph_coll_provider_register(context, &providers_[rank].table()), PH_OK);
      body(context, world_of(context));
    });
  }

 private:
  std::deque<PwcProvider> providers_;  // they outlive the contexts
  ThreadJob job_;
};

class CollProvider : public OverSettings {};

constexpr ph_coll_kind kProvidedKinds[] = {PH_COLL_BARRIER, PH_COLL_BCAST,   PH_COLL_ALLREDUCE,
                                           PH_COLL_SCAN,    PH_COLL_GATHERV, PH_COLL_ALLTOALLV};

// What the library itself has done.
std::uint64_t own_operations(ph_context* context) {
  std::uint64_t found = 0;
  ph_coll_counter counters[256];
  std::size_t count = 0;
  EXPECT_EQ(ph_coll_counters(context, counters, 256, &count), PH_OK);
  for (std::size_t i = 0; i < count; ++i) found += counters[i].operations;
  return found;
}

TEST_P(CollProvider, does_every_kind_that_it_takes) {
  for (const std::uint32_t ranks : {2U, 3U, 5U}) {
    PwcJob job(ranks, options());
    job.run([&](ph_context* context, ph_team* team) {
      for (const std::uint64_t count : {0, 1, 7, 300, 5000})
        for (const ph_coll_kind kind : kProvidedKinds)
          for (const std::uint32_t root : {0U, ranks - 1}) {
            Collective one(team, {kind, count, root, false, 0});
            ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
            one.expect_right("kind " + std::to_string(kind) + " of " + std::to_string(count));
          }
      EXPECT_EQ(own_operations(context), 0u);
    });
  }
}

TEST_P(CollProvider, leaves_the_rest_to_the_library_and_runs_beside_it) {
  PwcJob job(3, options());
  job.run([&](ph_context* context, ph_team* team) {
    std::vector<std::unique_ptr<Collective>> all;
    std::vector<ph_request> requests;
    for (int kind = PH_COLL_BARRIER; kind <= PH_COLL_REDUCE_SCATTER; ++kind)
      all.push_back(std::make_unique<Collective>(
          team, Collective::Shape{static_cast<ph_coll_kind>(kind), 200, 1, false, 0}));
    requests.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i]->args().request = &requests[i];
      ph_status status = PH_AGAIN;
      while ((status = ph_coll_begin(team, &all[i]->args())) == PH_AGAIN) {
        std::size_t none = 0;
        ASSERT_EQ(ph_probe(context, kAnyLocal, nullptr, 0, &none), PH_OK);
      }
      ASSERT_EQ(status, PH_OK);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(ph_wait_request(context, &requests[i], nullptr, PH_FOREVER), PH_OK);
      all[i]->expect_right("kind " + std::to_string(i + 1));
    }
    EXPECT_EQ(own_operations(context), all.size() - std::size(kProvidedKinds));
  });
}

// The last member's block first, and elements between the blocks.
TEST_P(CollProvider, exchanges_blocks_in_place_at_their_offsets) {
  constexpr std::uint32_t kRanks = 3;
  PwcJob job(kRanks, options());
  job.run([&](ph_context*, ph_team* team) {
    const std::uint32_t own = ph_team_rank(team);
    Counts counts(kRanks, 2);
    const Counts places = {7, 4, 0};
    Elements out(9, kUntouched);
    for (std::uint32_t to = 0; to < kRanks; ++to)
      for (std::uint64_t i = 0; i < 2; ++i) out[places[to] + i] = value_of(own, to, i);
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = PH_COLL_ALLTOALLV;
    args.in = PH_IN_PLACE;
    args.out = out.data();
    args.out_counts = counts.data();
    args.out_offsets = places.data();
    args.type = PH_INT64;
    ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
    for (std::uint32_t from = 0; from < kRanks; ++from)
      for (std::uint64_t i = 0; i < 2; ++i)
        EXPECT_EQ(out[places[from] + i], value_of(from, own, i)) << from;
    for (const std::size_t gap : {2U, 3U, 6U}) EXPECT_EQ(out[gap], kUntouched);
  });
}

TEST_P(CollProvider, gathers_blocks_in_place_at_their_offsets) {
  constexpr std::uint32_t kRanks = 3, kRoot = 1;
  PwcJob job(kRanks, options());
  job.run([&](ph_context*, ph_team* team) {
    const std::uint32_t own = ph_team_rank(team);
    Counts counts = {1, 2, 3};
    const Counts places = {8, 4, 0};
    Elements all(10, kUntouched), mine(counts[own]);
    for (std::uint64_t i = 0; i < counts[own]; ++i) mine[i] = value_of(own, 0, i);
    if (own == kRoot) std::copy(mine.begin(), mine.end(), all.begin() + 4);
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = PH_COLL_GATHERV;
    args.root = kRoot;
    args.in = own == kRoot ? PH_IN_PLACE : mine.data();
    args.in_counts = &counts[own];
    args.out = all.data();
    args.out_counts = counts.data();
    args.out_offsets = places.data();
    args.type = PH_INT64;
    ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
    for (std::uint32_t from = 0; own == kRoot && from < kRanks; ++from)
      for (std::uint64_t i = 0; i < counts[from]; ++i)
        EXPECT_EQ(all[places[from] + i], value_of(from, 0, i)) << from;
    for (const std::size_t gap : {3U, 6U, 7U, 9U}) EXPECT_EQ(all[gap], kUntouched);
  });
}

TEST_P(CollProvider, is_given_no_blocks_that_overlap) {
  PwcJob job(3, options());
  job.run([&](ph_context* context, ph_team* team) {
    Collective one(team, {PH_COLL_ALLTOALLV, 40, 0, false, 0});
    const std::uint64_t same[] = {0, 0, 0};
    one.args().out_offsets = same;
    EXPECT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_ERR_ARGUMENT);
    ph_error error{};
    ph_last_error(context, &error);
    EXPECT_NE(std::string(error.text).find("blocks overlap"), std::string::npos) << error.text;
    one.args().out_offsets = nullptr;
    ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK) << "the team goes on";
    one.expect_right("alltoallv");
  });
}

// Of the first kind and of the second one the provider takes both, one, or one with other counts.
TEST_P(CollProvider, leaves_nobody_waiting_where_members_call_differently) {
  struct Pair {
    ph_coll_kind first, second;
  };
  for (const char* const check : {"off", "on"}) {
    PwcJob job(3, options({{"coll_check", check}}));
    job.run([&](ph_context* context, ph_team* team) {
      for (const Pair& kinds :
           {Pair{PH_COLL_BARRIER, PH_COLL_ALLGATHER}, Pair{PH_COLL_ALLTOALL, PH_COLL_ALLREDUCE},
            Pair{PH_COLL_BARRIER, PH_COLL_SCAN}, Pair{PH_COLL_ALLREDUCE, PH_COLL_ALLREDUCE}}) {
        const bool is_odd = ph_team_rank(team) == 1;
        Collective one(team,
                       {is_odd ? kinds.second : kinds.first, is_odd ? 301U : 300U, 0, false, 0});
        ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_ERR_ARGUMENT);
        ph_error error{};
        ph_last_error(context, &error);
        const std::string words = error.text;
        for (const char* word : {"member 1 (rank 1)", " has begun ", "as the same operation"})
          EXPECT_NE(words.find(word), std::string::npos) << words;
        Collective next(team, {PH_COLL_ALLREDUCE, 10, 0, false, 0});
        ASSERT_EQ(ph_coll_run(team, &next.args(), PH_FOREVER), PH_OK) << "the team goes on";
        next.expect_right("after a mistake");
      }
    });
  }
}

void expect_words(ph_context* context, const std::string& expected) {
  ph_error error{};
  ph_last_error(context, &error);
  const std::string words = error.text;
  EXPECT_NE(words.find(expected), std::string::npos) << words;
}

// The others wait for it in a call that it will never make.
TEST_P(CollProvider, tells_who_calls_on_after_others_have_freed_the_team) {
  for (const char* const check : {"off", "on"}) {
    PwcJob job(3, options({{"coll_check", check}}));
    job.run([&](ph_context* context, ph_team* world) {
      ph_team* team = nullptr;
      ASSERT_EQ(ph_team_split(world, 0, 0, PH_FOREVER, &team), PH_OK);
      Collective one(team, {PH_COLL_ALLREDUCE, 30, 0, false, 0});
      ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
      one.expect_right("before");
      if (ph_team_rank(world) != 1)
        for (const ph_coll_kind kind : {PH_COLL_BARRIER, PH_COLL_ALLTOALL}) {
          Collective more(team, {kind, 5, 0, false, 0});
          ASSERT_EQ(ph_coll_run(team, &more.args(), PH_FOREVER), PH_ERR_ARGUMENT);
          expect_words(context, "member 1 (rank 1) has freed the team after 1 call on it");
        }
      ASSERT_EQ(ph_team_free(team), PH_OK);
      Collective next(world, {PH_COLL_ALLREDUCE, 10, 0, false, 0});
      ASSERT_EQ(ph_coll_run(world, &next.args(), PH_FOREVER), PH_OK) << "the job goes on";
      next.expect_right("after a mistake");
    });
  }
}

TEST_P(CollProvider, tells_who_starts_what_others_have_freed) {
  PwcJob job(3, options());
  job.run([&](ph_context* context, ph_team* team) {
    Collective one(team, {PH_COLL_ALLREDUCE, 30, 0, false, 0});
    ph_request request = PH_REQUEST_NONE;
    one.args().request = &request;
    ph_coll* coll = nullptr;
    ASSERT_EQ(ph_coll_prepare(team, &one.args(), &coll), PH_OK);
    ASSERT_EQ(ph_coll_start(coll), PH_OK);
    ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
    one.expect_right("the first start");
    if (ph_team_rank(team) != 1) {
      ASSERT_EQ(ph_coll_start(coll), PH_OK);
      ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_ERR_ARGUMENT);
      expect_words(context, "member 1 (rank 1) has freed prepared operation 1 after 1 start");
    }
    ASSERT_EQ(ph_coll_free(coll), PH_OK);
    Collective next(team, {PH_COLL_ALLREDUCE, 10, 0, false, 0});
    ASSERT_EQ(ph_coll_run(team, &next.args(), PH_FOREVER), PH_OK) << "the team goes on";
    next.expect_right("after a mistake");
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollProvider, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
