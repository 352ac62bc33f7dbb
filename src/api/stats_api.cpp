// Counters: validate, then ask the engine.
#include <photon/stats.h>

#include <algorithm>
#include <vector>

#include "api/handle.hpp"

using photon::api::Ends;
using photon::api::in_lane;

extern "C" {

ph_status ph_count(ph_context* context, int on) {
  return in_lane<Ends::posted>(context, [on](auto& engine, auto&) {
    engine.start_counting(on != 0);
    return PH_OK;
  });
}

ph_status ph_counters(ph_context* context, ph_rank rank, ph_counter* counters, size_t capacity,
                      size_t* count) {
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
    if (count == nullptr || (counters == nullptr && capacity != 0))
      return engine.fail(PH_ERR_ARGUMENT, rank,
                         "counters: count is null, or counters is null with a capacity");
    std::vector<photon::engine::NamedCount> found;
    if (const ph_status status = engine.counters(rank, found); status != PH_OK) return status;
    *count = found.size();
    for (size_t i = 0; i < std::min(capacity, found.size()); ++i)
      counters[i] = {found[i].text.name, found[i].text.help, found[i].value};
    return PH_OK;
  });
}

}  // extern "C"
