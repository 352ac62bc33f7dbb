// Collectives: prepared by init, begun by join or run.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <list>
#include <optional>

#include "compat/entry.hpp"
#include "compat/ids.hpp"
#include "compat/warn.hpp"

using photon::classic::bytes_of;
using photon::classic::Collective;
using photon::classic::Collectives;
using photon::classic::Members;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::Told;
using photon::classic::warn;
using photon::classic::with_session;
using photon::classic::Work;

namespace {

constexpr const char* kComm = "photon_collective_comm_create";
constexpr const char* kInit = "photon_collective_init";
constexpr const char* kJoin = "photon_collective_join";
constexpr const char* kRun = "photon_collective_run";

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
  std::list<Told> told;
  if ((flags & PHOTON_REQ_PWC_NO_LCE) == 0) {
    const ph_id id = bytes_of(local);
    const auto* bytes = static_cast<const std::byte*>(id.data);
    told.push_back({{bytes, bytes + id.size_bytes}, local.size == 0, PH_OK});
  }
  return session.collectives().prepare(kind, std::move(told), members);
}

// One datatype, as photon_datatype numbers them.
struct Element {
  ph_type type;
  std::size_t size_bytes;
};

constexpr Element kElements[] = {{PH_INT8, 1},
                                 {PH_UINT8, 1},
                                 {PH_INT16, 2},
                                 {PH_UINT16, 2},
                                 {PH_INT32, 4},
                                 {PH_UINT32, 4},
                                 {PH_INT64, 8},
                                 {PH_UINT64, 8},
                                 {PH_FLOAT, sizeof(float)},
                                 {PH_DOUBLE, sizeof(double)},
                                 {PH_COMPLEX_FLOAT, sizeof(std::complex<float>)},
                                 {PH_COMPLEX_DOUBLE, sizeof(std::complex<double>)},
                                 {PH_LONG_DOUBLE, sizeof(long double)},
                                 {PH_COMPLEX_LONG_DOUBLE, sizeof(std::complex<long double>)}};
static_assert(std::size(kElements) == PHOTON_DATATYPE_LAST);

constexpr ph_op kOperations[] = {PH_OP_ADD, PH_OP_MIN, PH_OP_MAX, PH_OP_MULTIPLY};
static_assert(std::size(kOperations) == PHOTON_COLL_OP_PROD);

bool is_complex(ph_type type) noexcept {
  return type == PH_COMPLEX_FLOAT || type == PH_COMPLEX_DOUBLE || type == PH_COMPLEX_LONG_DOUBLE;
}

// Join and run say this of an operation, beside its buffers.
struct Joined {
  bool is_said = false;
  int count = 0;
  photon_datatype type = PHOTON_INT8;
  bool has_op = false;
  int op = 0;
};

// Why these elements cannot be combined; null if they can, and then `work` is complete.
const char* objection(const Collective& collective, const Joined& asked, Work& work) {
  if (!asked.is_said) return "the parameters are null";
  if (asked.count < 0) return "the count is negative";
  const auto index = static_cast<std::size_t>(asked.type);
  if (index >= std::size(kElements)) return "there is no such datatype";
  if (!asked.has_op) return "the operation is null";
  if (asked.op < PHOTON_COLL_OP_SUM || asked.op > PHOTON_COLL_OP_PROD)
    return "there is no such operation";
  work.count = static_cast<std::size_t>(asked.count);
  work.type = kElements[index].type;
  work.element_bytes = kElements[index].size_bytes;
  work.op = kOperations[asked.op - PHOTON_COLL_OP_SUM];
  if (is_complex(work.type) && (work.op == PH_OP_MIN || work.op == PH_OP_MAX))
    return "complex numbers have no minimum and no maximum";
  if (work.count != 0 && work.in == nullptr) return "the elements are null";
  if (work.count != 0 && work.out == nullptr && collective.yields())
    return "the place for the result is null";
  return nullptr;
}

// Joins, by whichever call; `work` has the buffers.
Said join(Session& session, const char* call, photon_rid request, Work work, const Joined& asked) {
  auto& all = session.collectives();
  const auto collective = all.find(request);
  if (collective == nullptr || all.has_joined(*collective))
    return refuse(call, "the request names no collective that waits to be joined");
  if (collective->is_barrier())
    work = {};
  else if (const char* why = objection(*collective, asked, work))
    return refuse(call, why);
  const ph_status joined = all.join(*collective, work);
  if (joined == PH_ERR_NOT_FOUND) return refuse(call, "the request was joined before");
  if (joined != PH_OK) return joined;
  if (!collective->blocks()) return PHOTON_OK;
  const ph_status status = all.await(*collective);
  all.conclude(request);
  return photon::classic::status_of(status);
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
  return with_session(kJoin, [&](Session& session) -> Said {
    Work work;
    work.in = in;
    work.out = out;
    Joined asked{true, count, datatype, op != nullptr, 0};
    if (op != nullptr) asked.op = static_cast<int>(*static_cast<const photon_coll_op*>(op));
    return join(session, kJoin, request, work, asked);
  });
}

int photon_collective_run(photon_rid request, const photon_coll_parameters* parameters) {
  return with_session(kRun, [&](Session& session) -> Said {
    Work work;
    Joined asked;
    if (parameters != nullptr) {
      work.in = parameters->sendbuf;
      work.out = parameters->recvbuf;
      asked = {true, parameters->count, parameters->datatype, true, parameters->op};
    }
    return join(session, kRun, request, work, asked);
  });
}

}  // extern "C"
