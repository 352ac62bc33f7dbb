// contacted: rank 0 contacts rank 1 without an id; rank 1 is killed when both have met; rank 0
// hears of it by progress alone. With callbacks, by forked ranks.
#include <unistd.h>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::require;

ph_contact_state state_of(ph_context* context, ph_rank rank) {
  ph_contact_state state = PH_PEER_UNKNOWN;
  require(context, ph_peer_state(context, rank, &state), "peer_state");
  return state;
}

// Nothing ever completes.
void await(ph_context* context, ph_rank rank, ph_contact_state wanted) {
  while (state_of(context, rank) != wanted) {
    ph_completion found{};
    std::size_t count = 0;
    require(context, ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &found, 1, &count),
            "probe");
    if (count != 0) fail(context, "a completion came", found.status);
    ::sched_yield();
  }
}

int run(const ph_bootstrap& bootstrap) {
  const ph_config config = {sizeof config, &bootstrap, nullptr, 0};
  ph_context* context = nullptr;
  if (ph_context_create(&config, &context, nullptr) != PH_OK) return 3;
  const ph_rank other = 1 - bootstrap.rank;
  if (bootstrap.rank == 0) require(context, ph_contact(context, other), "contact");
  await(context, other, PH_PEER_CONNECTED);
  require(context, ph_barrier(context), "barrier");
  if (bootstrap.rank == 1) ::kill(::getpid(), SIGKILL);
  await(context, 1, PH_PEER_DEAD);
  const ph_status again = ph_contact(context, 1);
  if (again != PH_ERR_PEER) fail(context, "contact with a dead rank", again);
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}

}  // namespace

int main() { return photon::test::run_ranks(2, {}, true, &run); }
