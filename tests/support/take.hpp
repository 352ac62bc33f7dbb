// Taking completions in tests: sleep until there is one, then take it.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>

#include <stdexcept>
#include <string>

namespace photon::test {

inline constexpr std::int64_t kTakeTimeoutUs = 20'000'000;

// The next completion of these kinds; throws (a failure under ThreadJob) if none comes in 20 s.
// Ids of more than 8 bytes need `id_buffer` with max_cid_size bytes.
inline ph_completion take(ph_context* context, std::uint32_t kinds, ph_rank peer = PH_ANY_RANK,
                          void* id_buffer = nullptr) {
  const ph_query query = {peer, kinds, id_buffer};
  ph_completion completion = {};
  std::size_t count = 0;
  while (count == 0) {
    ph_status status = ph_probe(context, query, &completion, 1, &count);
    if (status == PH_OK && count == 0) status = ph_wait(context, query, kTakeTimeoutUs);
    if (status != PH_OK)
      throw std::runtime_error(std::string("no completion: ") + ph_status_text(status));
  }
  return completion;
}

inline ph_completion take_local(ph_context* context, ph_rank peer = PH_ANY_RANK) {
  return take(context, PH_LOCAL, peer);
}

inline ph_completion take_remote(ph_context* context, ph_rank peer = PH_ANY_RANK) {
  return take(context, PH_REMOTE, peer);
}

}  // namespace photon::test
