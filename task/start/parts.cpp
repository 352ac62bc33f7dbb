#include "task/start/parts.hpp"

#include "task/run/relay.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

void make_parts(Crew& crew) {
  Shared& shared = crew.shared();
  shared.on(Kind::relay) = relay;
  shared.on(Kind::group) = take_group;
  shared.on(Kind::many) = take_many;
  shared.on(Kind::exit) = take_exit;
}

}  // namespace photon::task
