// A classic program under the launcher, with a zeroed configuration: a ring of puts, then an exit
// with photon_finalize() or without.
//
//   classic_launched [leave [TIMES]]    leave: photon_finalize() first; then from the beginning
#include <photon.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

photon_cid word(std::uint64_t value) {
  photon_cid id{};
  id.u64 = value;
  return id;
}

std::uint64_t take(int flags) {
  int flag = 0;
  photon_cid id{};
  while (flag == 0)
    if (photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, nullptr, nullptr, flags) !=
        PHOTON_OK)
      return ~std::uint64_t{0};
  return id.u64;
}

bool go_round(int rank, int size) {
  constexpr std::uint64_t kRounds = 100;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    if (photon_put_with_completion((rank + 1) % size, 0, nullptr, nullptr, word(round), word(round),
                                   0) != PHOTON_OK)
      return false;
    if (take(PHOTON_PROBE_EVQ) != round || take(PHOTON_PROBE_LEDGER) != round) return false;
  }
  std::printf("rank %d of %d went round\n", rank, size);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool leaves = argc > 1 && std::string_view(argv[1]) == "leave";
  const int times = argc > 2 ? std::atoi(argv[2]) : 1;
  for (int i = 0; i < times; ++i) {
    photon_config_t config;
    std::memset(&config, 0, sizeof config);
    if (photon_init(&config) != PHOTON_OK) return 1;
    if (!go_round(config.address, config.nproc)) return 1;
    if (leaves && photon_finalize() != PHOTON_OK) return 1;
  }
  return 0;
}
