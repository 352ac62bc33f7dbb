// A C++11 program of libphoton 1.1 beside one of the new interface.
#include <photon.h>
#include <photon/photon.h>

#include <cstring>

int main() {
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  if (photon_initialized() != 0 || photon_init(&config) != PHOTON_OK) return 1;
  if (!photon_initialized()) return 1;
  photon_cid id;
  id.u64 = 5;
  id.size = 0;
  if (photon_put_with_completion(0, 0, nullptr, nullptr, id, id, PHOTON_REQ_PWC_NO_LCE) !=
      PHOTON_OK)
    return 1;
  int flag = 0;
  while (flag == 0)
    photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, nullptr, nullptr,
                            PHOTON_PROBE_LEDGER);
  return id.u64 == 5 && ph_version() >= 100 ? photon_finalize() : 1;
}
