// One rank of the stress test as a process: engine_stress SECONDS SEED MAX_ID_BYTES
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../stress/rank.hpp"

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
  if (ph_barrier(context) != PH_OK) return 4;
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
