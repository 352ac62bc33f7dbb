#include "converse/run/parts.hpp"

#include "converse/run/leaving.hpp"
#include "converse/run/schedule.hpp"

namespace photon::converse {

void start_parts(Pe& pe) {
  start_schedule(pe);
  start_leaving(pe);
}

}  // namespace photon::converse
