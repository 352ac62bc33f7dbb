// Leaving: everything accepted goes out, then a word of good-bye, then no peer may copy here.
//
//   running -- all_sent --> bye said -- drained --> closed     (each step within one deadline)
#include "engine/engine.hpp"

namespace photon::engine {

ph_status Engine::finalize(LaneGuard& guard) {
  const auto timeout_us = static_cast<std::int64_t>(config_.finalize_timeout_ms) * 1000;
  dismiss_waiters(guard);
  // Meet whoever has contacted us and was not noticed yet: it is owed a good-bye.
  transport_->announce();
  look_everywhere();
  transport_->retract();
  ph_status status = wait_until(guard, [this] { return all_sent(); }, timeout_us);
  if (guard.status() != PH_OK) return guard.status();
  if (status == PH_TIMEOUT) {
    std::string who;
    for (const Peer* peer : contacted_)
      if (peer->broken == PH_OK && (!peer->idle() || !peer->acks.empty() || peer->gets_under_way))
        who += (who.empty() ? "" : ", ") + std::to_string(peer->rank);
    fail(PH_TIMEOUT, PH_ANY_RANK,
         "finalize: ranks " + who + " did not take what was sent to them within " +
             std::to_string(config_.finalize_timeout_ms) + " ms (PHOTON_FINALIZE_TIMEOUT_MS)");
  }
  const auto said = wait_until(
      guard,
      [this] {
        say_bye();
        for (const Peer* peer : contacted_)
          if (peer->broken == PH_OK && !peer->said_bye) return false;
        return transport_->drained();
      },
      status == PH_OK ? timeout_us : 0);
  if (guard.status() != PH_OK) return guard.status();
  if (status == PH_OK && said != PH_OK) status = said;
  regions_.revoke_all();
  for (std::uint64_t slot = 0; slot < regions_.slots_used(); ++slot)
    if (!wait_for_copies(static_cast<std::int64_t>(slot))) break;
  return status;
}

// The lane is closed: threads that sleep in wait() must be out before anything is torn down.
void Engine::dismiss_waiters(LaneGuard& guard) {
  for (unsigned spins = 0; waiters_ != 0; ++spins) {
    news();
    guard.release();
    transport::Policy::pause(spins);
    guard.retake();
  }
}

bool Engine::all_sent() {
  for (const Peer* peer : contacted_)
    if (peer->broken == PH_OK &&
        (!peer->idle() || !peer->acks.empty() || peer->gets_under_way != 0))
      return false;
  return transport_->drained();
}

void Engine::say_bye() {
  for (Peer* peer : contacted_) {
    if (peer->broken != PH_OK || peer->said_bye) continue;
    Outgoing out{};
    out.kind = wire::Kind::bye;
    peer->said_bye = send(*peer, out);
  }
}

}  // namespace photon::engine
