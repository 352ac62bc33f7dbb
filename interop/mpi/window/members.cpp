#include "interop/mpi/window/members.hpp"

#include <algorithm>

namespace photon::mpi {

Members Members::of_window(Window& window, MPI_Win win) noexcept {
  constexpr std::uint64_t kTags = 1 << 14;  // any MPI has twice as many
  const auto tag = static_cast<int>(window.number() % kTags);
  Job& job = window.job();
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  if (real().Win_get_group(win, &group) == MPI_SUCCESS) {
    real().Comm_create_group(job.comm(), group, tag, &comm);
    real().Group_free(&group);
  }
  if (comm != MPI_COMM_NULL) real().Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return {job, comm, true};
}

Members::~Members() {
  if (is_own_ && comm_ != MPI_COMM_NULL) real().Comm_free(&comm_);
}

bool Members::least_of(std::int64_t* numbers, int count) noexcept {
  std::int64_t all[kMost] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  if (comm_ == MPI_COMM_NULL ||
      real().Iallreduce(numbers, all, count, MPI_INT64_T, MPI_MIN, comm_, &request) != MPI_SUCCESS)
    return false;
  for (int is_over = 0; is_over == 0;) {
    job_.serve();
    if (real().Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
  }
  std::copy_n(all, count, numbers);
  return true;
}

Outcome Members::agree(int id, const Outcome& mine) noexcept {
  std::int64_t said[3] = {id, -std::int64_t{id}, mine.is_good() ? 1 : 0};
  if (!least_of(said, 3)) return {MPI_ERR_OTHER, "the members of a collective call cannot meet"};
  if (!mine.is_good()) return mine;
  if (said[0] != -said[1])
    return {MPI_ERR_ARG, "the members give different numbers for an operation or a handler"};
  if (said[2] == 0) return {MPI_ERR_OP, "another member refuses the operation or the handler"};
  return {};
}

}  // namespace photon::mpi
