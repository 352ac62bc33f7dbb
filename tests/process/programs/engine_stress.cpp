// One rank of the stress test as a process: engine_stress SECONDS SEED MAX_ID_BYTES
#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../stress/rank.hpp"

namespace {

// Has met each peer, so that a link that goes down later holds up traffic and no first contact.
ph_status meet_all(ph_context* context, std::uint32_t max_id_bytes) {
  std::vector<std::byte> id(max_id_bytes);  // a probe wants room where ids may be long
  const ph_rank ranks = ph_size_of(context);
  for (ph_rank rank = 0; rank < ranks; ++rank)
    if (const ph_status status = ph_contact(context, rank); status != PH_OK) return status;
  for (ph_rank rank = 0; rank < ranks; ++rank) {
    ph_contact_state state = PH_PEER_UNKNOWN;
    while (state != PH_PEER_CONNECTED) {
      ph_completion none{};
      std::size_t count = 0;
      ph_status status = ph_probe(context, {PH_ANY_RANK, PH_EITHER, id.data()}, &none, 1, &count);
      if (status == PH_OK) status = ph_peer_state(context, rank, &state);
      if (status != PH_OK) return status;
      if (count != 0 || state > PH_PEER_CONNECTED) return PH_ERR_STATE;
      ::sched_yield();
    }
  }
  return PH_OK;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: engine_stress SECONDS SEED MAX_ID_BYTES\n");
    return 2;
  }
  photon::stress::Plan plan;
  plan.duration = std::chrono::milliseconds(static_cast<long>(1000 * std::atof(argv[1])));
  plan.seed = std::strtoull(argv[2], nullptr, 10);
  plan.max_id_bytes = static_cast<std::uint32_t>(std::atoi(argv[3]));
  const ph_option option = {"max_cid_size", argv[3]};
  const ph_config config = {sizeof config, nullptr, &option, 1};
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "create: %s\n", error.text);
    return 3;
  }
  if (meet_all(context, plan.max_id_bytes) != PH_OK || ph_barrier(context) != PH_OK) return 4;
  std::printf("running %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  photon::stress::Rank rank(context, plan);
  const std::string wrong = rank.run();
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 1;
  }
  if (ph_barrier(context) != PH_OK || ph_finalize(context) != PH_OK) return 4;
  ph_context_destroy(context);
  std::printf("verified %llu messages\n", static_cast<unsigned long long>(rank.messages_count()));
  return 0;
}
