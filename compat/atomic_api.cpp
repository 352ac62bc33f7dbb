// photon_atomic().
#include "compat/entry.hpp"

using photon::classic::Session;
using photon::classic::with_session;

extern "C" {

int photon_atomic(int, photonBuffer, photonBuffer, photon_datatype, photon_atomic_op, photon_rid,
                  photon_rid, int) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

}  // extern "C"
