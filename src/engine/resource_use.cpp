// What operations hold on to, for audits.
#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

ResourceUse Engine::resource_use() noexcept {
  ResourceUse all;
  for (Peer* peer : contacted_) {
    settle(*peer);
    all.queued += peer->replies.size() + peer->serves.size() + peer->unexpected.size() +
                  peer->late.size() + (peer->reservation.is_open() ? 1 : 0);
  }
  all.queued += services_->held();
  all.requests = requests_.used();
  all.events = static_cast<std::int64_t>(config_.requests) - completions_.free();
  all.blocks = id_blocks_.used() + payload_blocks_.used() + tables_.used() + layouts_.used();
  all.most_blocks = id_blocks_.made() + payload_blocks_.made();
  all.pins = sources_.pins();
  return all;
}

}  // namespace photon::engine
