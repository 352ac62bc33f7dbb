#include "task/start/parts.hpp"

#include <memory>
#include <vector>

#include "task/collect/collect.hpp"
#include "task/run/relay.hpp"

namespace photon::task {

void make_parts(Crew& crew) {
  crew.shared().on(Kind::relay) = relay;
  auto parts = std::make_shared<std::vector<std::shared_ptr<void>>>();
  parts->push_back(make_collect(crew));
  crew.keep(parts);
}

}  // namespace photon::task
