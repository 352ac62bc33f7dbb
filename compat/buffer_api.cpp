// Registering memory and finding its keys.
#include "compat/entry.hpp"

using photon::classic::Session;
using photon::classic::status_of;
using photon::classic::with_session;

extern "C" {

int photon_register_buffer(void* buf, uint64_t size) {
  return with_session(
      [&](Session& session) { return status_of(session.registrations().add(buf, size)); });
}

int photon_unregister_buffer(void* buf, uint64_t size) {
  return with_session(
      [&](Session& session) { return status_of(session.registrations().remove(buf, size)); });
}

int photon_get_buffer_private(void* buf, uint64_t size, const photon_buffer_priv_t** pbuf) {
  if (pbuf != nullptr) *pbuf = nullptr;
  return with_session([&](Session& session) {
    const photon_buffer_priv_t* found = session.registrations().find(buf, size);
    if (pbuf != nullptr) *pbuf = found;
    return found == nullptr || pbuf == nullptr ? PHOTON_ERROR : PHOTON_OK;
  });
}

}  // extern "C"
