// What the programs of classic clients share: how many ranks they have and on what ground, and how
// they put until they are not refused.
// Owner: none (functions, and a fixture).
#pragma once

#include <atomic>
#include <string>
#include <tuple>

#include "classic_job.hpp"
#include "rounds.hpp"

namespace photon::test {

class Clients : public testing::TestWithParam<std::tuple<Ground, int>> {
 protected:
  static Ground ground() { return std::get<0>(GetParam()); }
  static int ranks() { return std::get<1>(GetParam()); }
};
inline auto all_clients() {
  return testing::Combine(testing::Values(Ground::shm, Ground::sim), testing::Values(2, 8));
}
inline std::string client_name(const testing::TestParamInfo<std::tuple<Ground, int>>& one) {
  return name_of(std::get<0>(one.param)) + "_" + std::to_string(std::get<1>(one.param));
}

// Who plays with whom, where two do.
inline int partner_of(int rank) { return rank ^ 1; }

struct CompletionIds {
  photon_cid local, remote;
  int flags = 0;
};
// As old programs do it. `refusals` counts the tries that were in vain.
inline int put_until_taken(int to, photon_buffer_t* from, photon_buffer_t* place, CompletionIds ids,
                           std::atomic<std::uint64_t>* refusals = nullptr) {
  int status = PHOTON_ERROR_RESOURCE;
  while (status == PHOTON_ERROR_RESOURCE) {
    status = photon_put_with_completion(to, from == nullptr ? 0 : from->size, from, place,
                                        ids.local, ids.remote, ids.flags);
    if (status == PHOTON_ERROR_RESOURCE && refusals != nullptr) ++*refusals;
  }
  return status;
}

}  // namespace photon::test
