// photon_init() and photon_finalize(), and whether the one was called without the other.
#include "compat/entry.hpp"
#include "compat/warn.hpp"

using photon::classic::current;
using photon::classic::current_process;
using photon::classic::ProcessSession;
using photon::classic::Session;
using photon::classic::warn;

extern "C" {

int photon_initialized(void) {
  const Session* session = current();
  return session != nullptr && !session->is_of_parent() ? 1 : 0;
}

int photon_init(photonConfig cfg) {
  if (cfg == nullptr) {
    warn("photon_init", "the configuration is null");
    return PHOTON_ERROR;
  }
  ProcessSession& process = *current_process;
  const std::scoped_lock lock(process.changing);
  const Session* running = process.running.get();
  if (running != nullptr && !running->is_of_parent()) {
    warn("photon_init", "called again without photon_finalize(); the first call counts");
    running->tell(*cfg);
    return PHOTON_OK;
  }
  if (running != nullptr) process.retire();  // in a fork's child nothing works by its parent's
  try {
    std::unique_ptr<Session> session = Session::open(*cfg);
    if (session == nullptr) return PHOTON_ERROR;
    process.running.set(session.release());
    photon::classic::settle_at_exit();
    return PHOTON_OK;
  } catch (const std::bad_alloc&) {
    warn("photon_init", "out of memory");
    return PHOTON_ERROR;
  }
}

int photon_finalize(void) {
  ProcessSession& process = *current_process;
  const std::scoped_lock lock(process.changing);
  Session* session = process.running.get();
  if (session == nullptr) return photon::classic::without_session("photon_finalize");
  process.retire();
  return session->close();
}

}  // extern "C"
