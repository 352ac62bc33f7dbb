// Active messages of the program.
#include <limits>
#include <memory>

#include "interop/mpi/call/own.hpp"
#include "interop/mpi/call/report.hpp"
#include "interop/mpi/message/registering.hpp"

namespace photon::mpi {

namespace {

constexpr Outcome kNoJob{MPI_ERR_OTHER,
                         "active messages need MPIX_Init(), or a preloaded library, at all ranks"};
constexpr Outcome kNoHandle{MPI_ERR_ARG, "no handler of active messages has that handle"};

// This reads the arguments of a message, and says what is wrong with them.
Outcome look_at(const Circle& circle, const void* immediate, int immediate_bytes, int dest) {
  if (immediate_bytes < 0 || immediate_bytes > MPIX_AM_IMMEDIATE_BYTES)
    return {MPI_ERR_COUNT, "immediate data of less than 0 or more than 4064 bytes"};
  if (immediate == nullptr && immediate_bytes != 0) return {MPI_ERR_BUFFER, "null immediate data"};
  if (dest < 0 || static_cast<std::size_t>(dest) >= circle.ranks.size())
    return {MPI_ERR_RANK, "no member of the communicator has that rank"};
  return {};
}

Outcome look_at(Job& job, const void* buffer, MPI_Count count, MPI_Datatype type,
                Elements& elements) {
  if (count < 0) return {MPI_ERR_COUNT, "a negative count of elements"};
  elements.count = static_cast<std::size_t>(count);
  elements.layout = InFunction::is_here() ? job.types().find_named(type) : job.types().find(type);
  if (elements.layout == nullptr)
    return {MPI_ERR_TYPE,
            InFunction::is_here()
                ? "in a handler a message has elements of one of MPI's own types"
                : "no type, or one whose bytes this library cannot tell the places of"};
  if (elements.layout->size_bytes != 0 &&
      elements.count > std::numeric_limits<std::int64_t>::max() / elements.layout->size_bytes)
    return {MPI_ERR_COUNT, "more elements than memory can hold"};
  if (buffer == nullptr && elements.bytes() != 0 && job.types().find_named(type) != nullptr)
    return {MPI_ERR_BUFFER, "a null buffer"};
  return {};
}

// Without a communicator, by the error handler of MPI_COMM_WORLD.
int report_alone(const Outcome& outcome) noexcept { return report_on(MPI_COMM_WORLD, outcome); }

}  // namespace

}  // namespace photon::mpi

using photon::mpi::AmServer;
using photon::mpi::Circle;
using photon::mpi::InFunction;
using photon::mpi::Job;
using photon::mpi::kInFunction;
using photon::mpi::kNoHandle;
using photon::mpi::kNoJob;
using photon::mpi::Layout;
using photon::mpi::look_at;
using photon::mpi::Outcome;
using photon::mpi::Outgoing;
using photon::mpi::report_alone;
using photon::mpi::report_on;

int photon_MPIX_Am_handler_register(MPIX_Am_hhandler* hhandler, void* user, int id, MPI_Comm comm,
                                    MPIX_Am* am) {
  Job* const job = Job::current();
  if (InFunction::is_here()) return report_on(comm, kInFunction);
  if (job == nullptr) return report_on(comm, kNoJob);
  return report_on(comm, photon::mpi::register_handler(*job, {{hhandler, user}, id, comm}, am));
}

int photon_MPIX_Am_free(MPIX_Am* am) {
  AmServer* const server = AmServer::current();
  if (InFunction::is_here()) return report_alone(kInFunction);
  int id = 0;
  const std::shared_ptr<Circle> circle =
      server == nullptr || am == nullptr ? nullptr : server->find(*am, id);
  if (circle == nullptr) return report_alone(kNoHandle);
  const MPI_Comm comm = circle->users;
  return report_on(comm, photon::mpi::free_handler(*server, am));
}

int photon_MPIX_Am_send(const void* immediate, int immediate_bytes, const void* buffer,
                        MPI_Count count, MPI_Datatype type, int dest, MPIX_Am am) {
  AmServer* const server = AmServer::current();
  Outgoing message;
  const std::shared_ptr<Circle> circle = server == nullptr ? nullptr : server->find(am, message.id);
  if (circle == nullptr) return report_alone(kNoHandle);
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  Outcome outcome = look_at(*circle, immediate, immediate_bytes, dest);
  if (outcome.is_good()) outcome = look_at(server->job(), buffer, count, type, message.elements);
  if (outcome.is_good()) {
    message.to = circle->ranks[static_cast<std::size_t>(dest)];
    message.immediate = immediate;
    message.immediate_bytes = static_cast<std::size_t>(immediate_bytes);
    message.buffer = buffer;
    outcome = server->send(*circle, message);
  }
  return report_on(circle->users, outcome);
}

int photon_MPIX_Am_quiesce(MPI_Comm comm) {
  if (InFunction::is_here()) return report_on(comm, kInFunction);
  if (Job::current() == nullptr) return report_on(comm, kNoJob);
  return report_on(comm, photon::mpi::quiesce(comm));
}

int photon_MPIX_Am_layout_create(MPI_Datatype type, MPIX_Am_layout* layout) {
  if (InFunction::is_here()) return report_alone(kInFunction);
  Job* const job = Job::current();
  AmServer* const server = job == nullptr ? nullptr : AmServer::of(*job);
  if (server == nullptr) return report_alone(kNoJob);
  if (layout == nullptr) return report_alone({MPI_ERR_ARG, "a null pointer for a layout"});
  const Layout* const described = job->types().find(type);
  if (described == nullptr)
    return report_alone(
        {MPI_ERR_TYPE, "no type, or one whose bytes this library cannot tell the places of"});
  *layout = server->layouts().create(*described);
  if (*layout == MPIX_AM_LAYOUT_NULL)
    return report_alone({MPI_ERR_NO_MEM, "no memory for a layout"});
  return MPI_SUCCESS;
}

int photon_MPIX_Am_layout_free(MPIX_Am_layout* layout) {
  AmServer* const server = AmServer::current();
  if (server == nullptr || layout == nullptr || !server->layouts().free(*layout))
    return report_alone({MPI_ERR_ARG, "no layout has that handle"});
  *layout = MPIX_AM_LAYOUT_NULL;
  return MPI_SUCCESS;
}
