#include "interop/mpi/message/registering.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "interop/mpi/window/in_function.hpp"
#include "interop/mpi/window/members.hpp"

namespace photon::mpi {

namespace {

using Kept = std::shared_ptr<Circle>;  // the value of the attribute

constexpr Outcome kNoCircle{MPI_ERR_OTHER,
                            "active messages cannot be had: a member is not of MPI_COMM_WORLD, or "
                            "has no lane or no thread for them (PHOTON_LOG=info says more)"};

// Nobody needs it any more.
void let_go(Circle& circle) noexcept {
  if (!circle.handlers.empty() || circle.users != MPI_COMM_NULL || circle.is_broken) return;
  AmServer* const server = AmServer::current();
  if (server == nullptr) return;  // MPI ends
  server->circles().leave(circle);
  if (circle.comm != MPI_COMM_NULL) real().Comm_free(&circle.comm);
}

int on_deletion(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(value));
  (*kept)->users = MPI_COMM_NULL;
  let_go(**kept);
  return MPI_SUCCESS;
}

Kept circle_of(const AmServer& server, MPI_Comm comm) noexcept {
  void* value = nullptr;
  int is_there = 0;
  if (real().Comm_get_attr(comm, server.keyval(), &value, &is_there) != MPI_SUCCESS ||
      is_there == 0)
    return nullptr;
  return *static_cast<Kept*>(value);
}

// Its members' ranks in the job. False: one has none.
bool find_ranks(Job& job, Circle& circle) {
  const Real& mpi = real();
  int size = 0;
  if (mpi.Comm_size(circle.comm, &size) != MPI_SUCCESS ||
      mpi.Comm_rank(circle.comm, &circle.own) != MPI_SUCCESS)
    return false;
  const auto count = static_cast<std::size_t>(size);
  std::vector<int> own(count);
  std::vector<int> ranks(count, MPI_UNDEFINED);
  std::iota(own.begin(), own.end(), 0);
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  if (mpi.Comm_group(circle.comm, &members) == MPI_SUCCESS &&
      mpi.Comm_group(job.comm(), &all) == MPI_SUCCESS)
    mpi.Group_translate_ranks(members, size, own.data(), all, ranks.data());
  if (members != MPI_GROUP_NULL) mpi.Group_free(&members);
  if (all != MPI_GROUP_NULL) mpi.Group_free(&all);
  circle.ranks.assign(ranks.begin(), ranks.end());
  return std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end();
}

// What has to be there before the members agree. Null: it is not.
Kept prepare(Job& job, MPI_Comm own) noexcept {
  try {
    auto circle = std::make_shared<Circle>();
    circle->comm = own;
    return find_ranks(job, *circle) && AmServer::of(job) != nullptr ? circle : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool attach(AmServer& server, const Kept& circle, MPI_Comm comm) noexcept {
  try {
    auto kept = std::make_unique<Kept>(circle);
    if (!server.circles().enter(circle)) return false;
    if (real().Comm_set_attr(comm, server.keyval(), kept.get()) != MPI_SUCCESS) return false;
    circle->users = comm;
    static_cast<void>(kept.release());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// All members make it together. Null: not all can.
Kept make(Job& job, MPI_Comm comm) noexcept {
  MPI_Comm own = MPI_COMM_NULL;
  if (real().Comm_dup(comm, &own) != MPI_SUCCESS) return nullptr;
  real().Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  Kept circle = prepare(job, own);
  Members members(job, own);
  const bool leads = circle != nullptr && circle->own == 0;
  std::int64_t said[2] = {circle != nullptr ? 1 : 0,
                          leads ? -static_cast<std::int64_t>(job.next_number()) : 0};
  bool is_made = members.least_of(said, 2) && said[0] == 1;
  if (is_made) {
    circle->number = static_cast<std::uint64_t>(-said[1]);
    std::int64_t is_attached = attach(*AmServer::current(), circle, comm) ? 1 : 0;
    is_made = members.least_of(&is_attached, 1) && is_attached == 1;
    if (!is_made) AmServer::current()->circles().leave(*circle);
  }
  if (is_made) return circle;
  real().Comm_free(&own);
  return nullptr;
}

Outcome check(MPI_Comm comm) noexcept {
  int has_two_groups = 0;
  if (comm == MPI_COMM_NULL) return {MPI_ERR_COMM, "a null communicator"};
  if (real().Comm_test_inter(comm, &has_two_groups) != MPI_SUCCESS || has_two_groups != 0)
    return {MPI_ERR_COMM, "a communicator with two groups"};
  return {};
}

// False: the number is in use, or there is no memory.
bool add(AmServer& server, Circle& circle, const Wanted& wanted) noexcept {
  const std::lock_guard guard(server.circles().mutex());
  try {
    return circle.handlers.try_emplace(wanted.id, wanted.handler).second;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void remove(AmServer& server, Circle& circle, int id) noexcept {
  const std::lock_guard guard(server.circles().mutex());
  circle.handlers.erase(id);
}

}  // namespace

int make_circle_keyval() noexcept {
  const auto copy_nothing = [](MPI_Comm, int, void*, void*, void*, int* is_copied) -> int {
    *is_copied = 0;
    return MPI_SUCCESS;
  };
  int keyval = MPI_KEYVAL_INVALID;
  if (real().Comm_create_keyval(copy_nothing, on_deletion, &keyval, nullptr) != MPI_SUCCESS)
    return MPI_KEYVAL_INVALID;
  return keyval;
}

Outcome register_handler(Job& job, const Wanted& wanted, MPIX_Am* handle) noexcept {
  if (const Outcome outcome = check(wanted.comm); !outcome.is_good()) return outcome;
  const AmServer* const before = AmServer::current();
  Kept circle = before == nullptr ? nullptr : circle_of(*before, wanted.comm);
  if (circle == nullptr) circle = make(job, wanted.comm);
  if (circle == nullptr) return kNoCircle;
  AmServer& server = *AmServer::current();
  Members members(job, circle->comm);
  Outcome mine;
  if (wanted.id < 0)
    mine = {MPI_ERR_ARG, "a negative number for a handler"};
  else if (wanted.handler.function == nullptr || handle == nullptr)
    mine = {MPI_ERR_ARG, "a null pointer for a header handler, or for its handle"};
  const Outcome outcome = members.agree(wanted.id, mine);
  if (!outcome.is_good()) return outcome;
  const bool is_in = add(server, *circle, wanted);
  const MPIX_Am made = is_in ? server.register_handle(circle, wanted.id) : MPIX_AM_NULL;
  const Outcome end = members.agree(
      wanted.id, made != MPIX_AM_NULL ? Outcome{}
                                      : Outcome{MPI_ERR_ARG,
                                                "a number that another handler of the communicator "
                                                "has, or no memory for a handler"});
  if (end.is_good()) {
    *handle = made;
    return end;
  }
  if (is_in) remove(server, *circle, wanted.id);
  if (made != MPIX_AM_NULL) server.drop(made);
  return end;
}

Outcome free_handler(AmServer& server, MPIX_Am* handle) noexcept {
  int id = 0;
  const Kept circle = server.find(*handle, id);
  if (circle == nullptr) return {MPI_ERR_ARG, "a handle of a handler that is freed already"};
  if (InFunction::is_here()) return kInFunction;
  const Outcome ended = server.quiesce(*circle);
  Outcome outcome;
  if (!circle->is_broken && !server.agree(*circle, id, outcome)) circle->is_broken = true;
  if (!outcome.is_good()) return outcome;
  remove(server, *circle, id);
  server.await_handlers(*circle);
  server.drop(*handle);
  *handle = MPIX_AM_NULL;
  let_go(*circle);
  return ended;
}

Outcome quiesce(MPI_Comm comm) noexcept {
  if (const Outcome outcome = check(comm); !outcome.is_good()) return outcome;
  AmServer* const server = AmServer::current();
  const Kept circle = server == nullptr ? nullptr : circle_of(*server, comm);
  return circle == nullptr ? Outcome{} : server->quiesce(*circle);
}

}  // namespace photon::mpi
