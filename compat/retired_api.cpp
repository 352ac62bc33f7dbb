// Calls of an experiment that has ended: there to link, and to say so.
#include <photon.h>

#include <mutex>

#include "compat/warn.hpp"

namespace {

int retired(std::once_flag& said, const char* call) noexcept {
  std::call_once(said, [call] { photon::classic::warn(call, "is retired; it does nothing"); });
  return PHOTON_ERROR;
}

}  // namespace

extern "C" {

int photon_probe(photonAddr, int* flag, photonStatus) {
  static std::once_flag said;
  if (flag != nullptr) *flag = 0;
  return retired(said, "photon_probe");
}

int photon_send(photonAddr, void*, uint64_t, int, uint64_t* request) {
  static std::once_flag said;
  if (request != nullptr) *request = 0;
  return retired(said, "photon_send");
}

int photon_recv(uint64_t, void*, uint64_t, int) {
  static std::once_flag said;
  return retired(said, "photon_recv");
}

int photon_register_addr(photonAddr, int) {
  static std::once_flag said;
  return retired(said, "photon_register_addr");
}

int photon_unregister_addr(photonAddr, int) {
  static std::once_flag said;
  return retired(said, "photon_unregister_addr");
}

int photon_get_dev_addr(int, photonAddr) {
  static std::once_flag said;
  return retired(said, "photon_get_dev_addr");
}

int photon_get_dev_name(char*) {
  static std::once_flag said;
  return retired(said, "photon_get_dev_name");
}

}  // extern "C"
