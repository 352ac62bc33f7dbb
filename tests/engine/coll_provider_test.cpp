// Collectives of a provider: the example that does them by plain puts on a lane of its own, kinds
// with counts of their own among them.
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

INSTANTIATE_TEST_SUITE_P(Transports, CollProvider, testing::Values(all_settings().front()),
                         setting_name);

}  // namespace
}  // namespace photon::test
