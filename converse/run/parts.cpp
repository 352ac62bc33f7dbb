#include "converse/run/parts.hpp"

#include "converse/buffer/buffers.hpp"
#include "converse/collect/collect.hpp"
#include "converse/run/conditions.hpp"
#include "converse/run/leaving.hpp"
#include "converse/run/schedule.hpp"
#include "converse/run/watch.hpp"
#include "converse/send/groups.hpp"
#include "converse/thread/threads.hpp"

namespace photon::converse {

void start_parts(Pe& pe) {
  start_schedule(pe);
  start_conditions(pe);
  start_groups(pe);
  start_leaving(pe);
  start_threads(pe);
  start_collect(pe);
  start_buffers(pe);
  start_watch(pe);
}

}  // namespace photon::converse
