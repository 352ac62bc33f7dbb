#include "interop/mpi/call/requests.hpp"

namespace photon::mpi {

namespace {

// MPI_Wait() and its kin say of it that it has no bytes, from nobody.
int query(void*, MPI_Status* status) {
  real().Status_set_elements(status, MPI_BYTE, 0);
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int free_nothing(void*) { return MPI_SUCCESS; }
int cancel_nothing(void*, int) { return MPI_SUCCESS; }

}  // namespace

int complete_request(MPI_Request* request) noexcept {
  const int result = real().Grequest_start(query, free_nothing, cancel_nothing, nullptr, request);
  return result == MPI_SUCCESS ? real().Grequest_complete(*request) : result;
}

}  // namespace photon::mpi
