#include "task/start/parts.hpp"

#include "task/run/relay.hpp"

namespace photon::task {

void make_parts(Crew& crew) { crew.shared().on(Kind::relay) = relay; }

}  // namespace photon::task
