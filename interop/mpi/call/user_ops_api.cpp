// Operations of the program: what MPI is told of them, and windows that know them.
#include "interop/mpi/call/own.hpp"
#include "interop/mpi/call/report.hpp"
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/window/members.hpp"
#include "interop/mpi/window/windows.hpp"

using photon::mpi::Job;
using photon::mpi::next;
using photon::mpi::Outcome;
using photon::mpi::UserFunction;
using photon::mpi::Window;
using photon::mpi::Windows;

int photon_MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  const int result = next().Op_create(function, commutes, op);
  Job* const job = Job::current();
  if (result == MPI_SUCCESS && job != nullptr) job->functions().note(*op, {.small = function});
  return result;
}

#if MPI_VERSION >= 4
int photon_MPI_Op_create_c(MPI_User_function_c* function, int commutes, MPI_Op* op) {
  const int result = next().Op_create_c(function, commutes, op);
  Job* const job = Job::current();
  if (result == MPI_SUCCESS && job != nullptr) job->functions().note(*op, {.large = function});
  return result;
}
#endif

// Windows that know it go on to know its number; MPI may give its handle to another at once.
int photon_MPI_Op_free(MPI_Op* op) {
  Job* const job = Job::current();
  if (job == nullptr || op == nullptr || *op == MPI_OP_NULL) return next().Op_free(op);
  const MPI_Op old = *op;
  const UserFunction function = job->functions().find(old);
  job->functions().forget(old);
  const int result = next().Op_free(op);
  if (result == MPI_SUCCESS)
    Windows::forget(old);
  else if (function.is_there())
    job->functions().note(old, function);
  return result;
}

namespace photon::mpi {

namespace {

constexpr Outcome kNotOurs{MPI_ERR_WIN,
                           "a window that is MPI's own, which has no operations of the program"};

// The operation is entered at all members, or at none: each member knows so when it returns.
Outcome enter(Members& members, Window& window, MPI_Op op, int id) noexcept {
  const UserFunction function = window.job().functions().find(op);
  Outcome mine;
  if (id < 0)
    mine = {MPI_ERR_ARG, "a negative number for an operation"};
  else if (!function.is_there())
    mine = {MPI_ERR_OP, "an operation that was not made by MPI_Op_create() before this library"};
  const Outcome outcome = members.agree(id, mine);
  if (!outcome.is_good()) return outcome;
  const bool is_in = window.ops().add(op, static_cast<std::uint32_t>(id), function);
  const Outcome end =
      members.agree(id, is_in ? Outcome{}
                              : Outcome{MPI_ERR_ARG,
                                        "an operation or a number that the window has already, "
                                        "or one more than the 48 that it can have"});
  if (!end.is_good() && is_in) window.ops().remove(static_cast<std::uint32_t>(id));
  return end;
}

// The operations that this rank has issued are done before the window forgets theirs.
Outcome leave(Members& members, Window& window, MPI_Op op, int id) noexcept {
  const UserOp* const known = id < 0 ? nullptr : window.ops().find(static_cast<std::uint32_t>(id));
  // Of one that has been freed there is the number alone.
  const UserOp* const named = window.ops().find(op);
  const bool is_known = known != nullptr && (known == named || named == nullptr);
  Outcome mine;
  if (!is_known)
    mine = Outcome{MPI_ERR_OP,
                   "an operation that the window does not have, or "
                   "has by another number"};
  else if (!window.settle_all())
    mine = {MPI_ERR_OTHER, "a member of the window has ended, or has lost what was sent to it"};
  const Outcome outcome = members.agree(id, mine);
  if (outcome.is_good()) window.ops().remove(static_cast<std::uint32_t>(id));
  return outcome;
}

using Change = Outcome (*)(Members&, Window&, MPI_Op, int) noexcept;

int change(MPI_Op op, int id, MPI_Win win, Change call) noexcept {
  Window* const window = Windows::find(win);
  if (window == nullptr) return report(win, kNotOurs);
  if (InFunction::is_here()) return report(win, kInFunction);
  Members members = Members::of_window(*window, win);
  return report(win, call(members, *window, op, id));
}

}  // namespace

}  // namespace photon::mpi

int photon_MPIX_Op_register(MPI_Op op, int id, MPI_Win win) {
  return photon::mpi::change(op, id, win, photon::mpi::enter);
}

int photon_MPIX_Op_deregister(MPI_Op op, int id, MPI_Win win) {
  return photon::mpi::change(op, id, win, photon::mpi::leave);
}
