// Collectives: prepared by init, begun by join.
#include <algorithm>
#include <optional>

#include "compat/entry.hpp"
#include "compat/ids.hpp"
#include "compat/warn.hpp"

using photon::classic::bytes_of;
using photon::classic::Collective;
using photon::classic::Collectives;
using photon::classic::element_bytes_of;
using photon::classic::fold_of;
using photon::classic::Members;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::warn;
using photon::classic::with_session;

namespace {

constexpr const char* kComm = "photon_collective_comm_create";
constexpr const char* kInit = "photon_collective_init";
constexpr const char* kJoin = "photon_collective_join";

int refuse(const char* call, const char* why) noexcept {
  warn(call, why);
  return PHOTON_ERROR;
}

// What an array of ranks says, or a communicator. Nothing after having said why.
std::optional<Members> members_of(Session& session, const char* call, const void* active, int count,
                                  int total) {
  const auto refused = [call](const char* why) {
    warn(call, why);
    return std::nullopt;
  };
  if (active == nullptr) return refused("the array of active ranks is null");
  if (Collectives::is_handle(active)) {
    auto members = session.collectives().members_of(active);
    return members ? members : refused("the communicator is none of this session");
  }
  if (count < 1 || count > total || static_cast<unsigned>(total) > session.size())
    return refused("the number of active ranks is not in 1 .. total, or total is not in the job");
  const auto* ranks = static_cast<const int*>(active);
  Members members(ranks, ranks + count);
  for (const ph_rank rank : members)
    if (rank >= session.size()) return refused("an active rank is not in the job");
  Members sorted = members;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return refused("a rank is active twice");
  if (!std::binary_search(sorted.begin(), sorted.end(), session.rank()))
    return refused("the calling rank is not active");
  return members;
}

Members everybody(const Session& session) {
  Members members(session.size());
  for (ph_rank rank = 0; rank < session.size(); ++rank) members[rank] = rank;
  return members;
}

// Why there is no such collective; null if there is.
const char* objection(const Session& session, photon_coll kind, const photon_cid& local,
                      const photon_rid* request) {
  if (request == nullptr) return "the place for the request is null";
  if (kind < PHOTON_COLL_BARRIER || kind >= PHOTON_COLL_MAXVAL)
    return "there is no such kind of collective";
  if (local.size != 0 && local.data == nullptr) return "the local id has a size and no bytes";
  if (local.size > std::max<std::uint64_t>(sizeof local.u64, session.longest_id_bytes()))
    return "the local id is longer than max_cid_size";
  return nullptr;
}

// 0: it cannot be had.
photon_rid prepare(Session& session, const Members& members, photon_coll kind,
                   const photon_cid& local, int flags) {
  Collective::Plan plan;
  plan.kind = kind;
  if ((flags & PHOTON_REQ_PWC_NO_LCE) == 0) {
    const ph_id id = bytes_of(local);
    const auto* bytes = static_cast<const std::byte*>(id.data);
    plan.told.push_back({{bytes, bytes + id.size_bytes}, local.size == 0, PH_OK});
  }
  return session.collectives().prepare(std::move(plan), members);
}

// Why these elements cannot be combined; null if they can, and then `work` is complete.
const char* objection(const Collective& collective, photon_datatype type, const void* op,
                      Collective::Work& work) {
  work.element_bytes = element_bytes_of(type);
  if (work.element_bytes == 0) return "there is no such datatype";
  if (op == nullptr) return "the operation is null";
  const auto operation = *static_cast<const photon_coll_op*>(op);
  if (operation < PHOTON_COLL_OP_SUM || operation > PHOTON_COLL_OP_PROD)
    return "there is no such operation";
  work.fold = fold_of(type, operation);
  if (work.fold == nullptr) return "complex numbers have no minimum and no maximum";
  if (work.count != 0 && work.in == nullptr) return "the elements are null";
  if (work.count != 0 && work.out == nullptr && collective.yields())
    return "the place for the result is null";
  return nullptr;
}

}  // namespace

extern "C" {

int photon_collective_comm_create(void* active, int num_active, int total,
                                  photon_coll_comm* new_comm) {
  if (new_comm != nullptr) *new_comm = nullptr;
  return with_session("photon_collective_comm_create", [&](Session& session) -> Said {
    if (new_comm == nullptr) return refuse(kComm, "the place for the communicator is null");
    auto members = members_of(session, kComm, active, num_active, total);
    if (!members) return PHOTON_ERROR;
    *new_comm = session.collectives().keep(std::move(*members));
    return PHOTON_OK;
  });
}

int photon_collective_init_new_comm(void* active, int num_active, int total, photon_coll type,
                                    photon_cid local_id, photon_rid* request, int flags) {
  if (request != nullptr) *request = 0;
  return with_session("photon_collective_init_new_comm", [&](Session& session) -> Said {
    if (const char* why = objection(session, type, local_id, request)) return refuse(kInit, why);
    const auto members = members_of(session, kInit, active, num_active, total);
    if (!members) return PHOTON_ERROR;
    *request = prepare(session, *members, type, local_id, flags);
    return *request == 0 ? PHOTON_ERROR : PHOTON_OK;
  });
}

int photon_collective_init(photon_coll type, photon_cid local_id, photon_rid* request, int flags) {
  if (request != nullptr) *request = 0;
  return with_session("photon_collective_init", [&](Session& session) -> Said {
    if (const char* why = objection(session, type, local_id, request)) return refuse(kInit, why);
    *request = prepare(session, everybody(session), type, local_id, flags);
    return *request == 0 ? PHOTON_ERROR : PHOTON_OK;
  });
}

int photon_collective_join(photon_rid request, void* in, void* out, int count,
                           photon_datatype datatype, void* op) {
  return with_session("photon_collective_join", [&](Session& session) -> Said {
    const auto collective = session.collectives().find(request);
    if (collective == nullptr || collective->has_begun())
      return refuse(kJoin, "the request names no collective that waits to be joined");
    Collective::Work work;
    if (!collective->is_barrier()) {
      if (count < 0) return refuse(kJoin, "the count is negative");
      work.in = in;
      work.out = out;
      work.count = static_cast<std::size_t>(count);
      if (const char* why = objection(*collective, datatype, op, work)) return refuse(kJoin, why);
    }
    if (!session.collectives().begin(*collective, work))
      return refuse(kJoin, "the request was joined before");
    session.collectives().progress();
    if (!collective->blocks()) return PHOTON_OK;
    session.collectives().await(*collective);
    session.collectives().conclude(request);
    return photon::classic::status_of(collective->status());
  });
}

}  // extern "C"
