#include "task/start/parts.hpp"

#include "task/buffer/make_buffers.hpp"
#include "task/run/relay.hpp"

namespace photon::task {

void make_parts(Crew& crew) {
  crew.shared().on(Kind::relay) = relay;
  crew.keep(make_buffers(crew));
}

}  // namespace photon::task
