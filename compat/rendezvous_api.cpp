// Rendezvous: buffers announced, met, filled or read, and finished.
#include "compat/entry.hpp"

using photon::classic::Session;
using photon::classic::with_session;

extern "C" {

int photon_post_recv_buffer_rdma(int, void*, uint64_t, int, photon_rid*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_post_send_buffer_rdma(int, void*, uint64_t, int, photon_rid*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_post_send_request_rdma(int, uint64_t, int, photon_rid*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_wait_recv_buffer_rdma(int, uint64_t, int, photon_rid*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_wait_send_buffer_rdma(int, uint64_t, int, photon_rid*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_wait_send_request_rdma(int) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_get_buffer_remote(photon_rid, photonBuffer) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_post_os_put(photon_rid, int, void*, uint64_t, int, uint64_t) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_post_os_get(photon_rid, int, void*, uint64_t, int, uint64_t) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_probe_ledger(int, int* flag, int, photonStatus) {
  if (flag != nullptr) *flag = 0;
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_send_FIN(photon_rid, int, int) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

}  // extern "C"
