#include "task/start/parts.hpp"

#include <memory>
#include <vector>

#include "task/buffer/make_buffers.hpp"
#include "task/collect/collect.hpp"
#include "task/run/exits.hpp"
#include "task/run/relay.hpp"
#include "task/run/sends.hpp"
#include "task/thread/thread_parts.hpp"

namespace photon::task {

void make_parts(Crew& crew, const ph_task_config& config) {
  Shared& shared = crew.shared();
  shared.on(Kind::relay) = relay;
  shared.on(Kind::group) = take_group;
  shared.on(Kind::many) = take_many;
  shared.on(Kind::exit) = take_exit;
  auto parts = std::make_shared<std::vector<std::shared_ptr<void>>>();
  parts->push_back(make_collect(crew));
  parts->push_back(
      make_threads(crew, {.stack_bytes = config.stack_bytes, .guards = config.guards}));
  parts->push_back(make_buffers(crew));
  crew.keep(parts);
}

}  // namespace photon::task
