// Registering memory and finding its keys.
#include "compat/entry.hpp"

using photon::classic::Said;
using photon::classic::Session;
using photon::classic::with_session;

extern "C" {

int photon_register_buffer(void* buf, uint64_t size) {
  return with_session("photon_register_buffer",
                      [&](Session& session) { return session.registrations().add(buf, size); });
}

int photon_unregister_buffer(void* buf, uint64_t size) {
  return with_session("photon_unregister_buffer", [&](Session& session) -> Said {
    const ph_status status = session.registrations().remove(buf, size);
    if (status == PH_ERR_NOT_FOUND) return Said("just this range is not registered");
    return status;
  });
}

int photon_get_buffer_private(void* buf, uint64_t size, const photon_buffer_priv_t** pbuf) {
  if (pbuf != nullptr) *pbuf = nullptr;
  return with_session("photon_get_buffer_private", [&](Session& session) {
    const photon_buffer_priv_t* found = session.registrations().find(buf, size);
    if (pbuf != nullptr) *pbuf = found;
    return found == nullptr || pbuf == nullptr ? PHOTON_ERROR : PHOTON_OK;
  });
}

}  // extern "C"
