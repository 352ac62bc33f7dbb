// Collectives: prepared by init, begun by join.
#include "compat/entry.hpp"

using photon::classic::Session;
using photon::classic::with_session;

extern "C" {

int photon_collective_comm_create(void*, int, int, photon_coll_comm*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_collective_init_new_comm(void*, int, int, photon_coll, photon_cid, photon_rid*, int) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_collective_init(photon_coll, photon_cid, photon_rid*, int) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

int photon_collective_join(photon_rid, void*, void*, int, photon_datatype, void*) {
  return with_session([](Session&) { return PHOTON_ERROR; });
}

}  // extern "C"
