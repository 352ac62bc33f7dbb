// photon_gettime_(): the one call that needs no session.
#include <photon.h>

#include <chrono>

extern "C" int photon_gettime_(double* seconds) {
  if (seconds == nullptr) return PHOTON_ERROR;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  *seconds = std::chrono::duration<double>(since_epoch).count();
  return PHOTON_OK;
}
