// Collective operations: validate what only the ABI can get wrong, then call the service.
#include <photon/coll.h>

#include "api/handle.hpp"
#include "service/coll/collectives.hpp"

using photon::api::Ends;
using photon::api::in_service;
using photon::service::coll::Collectives;
using photon::service::coll::Operation;

namespace {

constexpr auto kCollOwner = photon::wire::Owner::coll;

// Runs `call(service, engine, guard)` if the team lives and args are of this version.
template <Ends ends = Ends::running, class Call>
ph_status at_team(ph_team* team, const ph_coll_args* args, const char* name, Call call) noexcept {
  if (team == nullptr) return PH_ERR_ARGUMENT;
  return in_service<Collectives, ends>(
      team->home, kCollOwner, [&](Collectives& all, auto& engine, auto& guard) {
        const char* why = nullptr;
        if (team->team == nullptr) why = ": the team was freed";
        if (args == nullptr || args->size != sizeof(ph_coll_args))
          why = ": args is null, or args->size is not sizeof(ph_coll_args)";
        if (why == nullptr) return call(all, engine, guard);
        return engine.port(kCollOwner).fail(PH_ERR_ARGUMENT, PH_ANY_RANK, std::string(name) + why);
      });
}

template <Ends ends = Ends::running, class Call>
ph_status at_coll(ph_coll* coll, const char* name, Call call) noexcept {
  if (coll == nullptr) return PH_ERR_ARGUMENT;
  return in_service<Collectives, ends>(
      coll->home, kCollOwner, [&](Collectives& all, auto& engine, auto&) {
        if (coll->op != nullptr) return call(all);
        return engine.port(kCollOwner)
            .fail(PH_ERR_ARGUMENT, PH_ANY_RANK, std::string(name) + ": the operation was freed");
      });
}

// The caller waits inside the lane, and nobody else is told.
ph_status run_here(ph_team* team, const ph_coll_args* args) noexcept {
  return at_team(team, args, "coll_run", [&](Collectives& all, auto& engine, auto& guard) {
    // Nothing may be begun that cannot be waited for.
    if (const ph_status status = engine.check_wait(); status != PH_OK) return status;
    ph_coll_args quiet = *args;
    quiet.request = nullptr;
    Operation* op = nullptr;
    ph_status status = all.begin(*team->team, quiet, &op);
    while (status == PH_AGAIN) {  // others of the team are under way
      engine.push_out();
      status = engine.wait_for(
          guard, [&] { return team->team == nullptr || all.has_room(*team->team); }, PH_FOREVER);
      if (guard.status() != PH_OK || status != PH_OK) return status;
      if (team->team == nullptr)
        return engine.port(kCollOwner)
            .fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "coll_run: the team was freed");
      status = all.begin(*team->team, quiet, &op);
    }
    if (status != PH_OK) return status;
    using photon::service::coll::OpState;
    if (op->state != OpState::over) {
      engine.push_out();
      const ph_status waited = engine.wait_for(
          guard, [op] { return op->state == OpState::over; }, PH_FOREVER);
      if (guard.status() != PH_OK || waited != PH_OK) return waited;
    }
    return all.done(*op);
  });
}

}  // namespace

extern "C" {

ph_status ph_coll_begin(ph_team* team, const ph_coll_args* args) {
  return at_team<Ends::posted>(team, args, "coll_begin", [&](Collectives& all, auto&, auto&) {
    return all.begin(*team->team, *args);
  });
}

ph_status ph_coll_run(ph_team* team, const ph_coll_args* args, int64_t timeout_us) {
  const char* why = nullptr;
  if (args != nullptr && args->size == sizeof(ph_coll_args)) {
    if (args->handler != nullptr || args->local.size_bytes != 0)
      why = "coll_run: args->handler or args->local is set";
    if (timeout_us != PH_FOREVER && args->request == nullptr)
      why = "coll_run: a time limit needs args->request, which names what goes on after it";
  }
  if (team != nullptr && why != nullptr) return photon::api::bad_argument(team->home, why);
  if (args != nullptr && args->request != nullptr) *args->request = PH_REQUEST_NONE;
  if (timeout_us == PH_FOREVER) return run_here(team, args);
  const ph_status begun = ph_coll_begin(team, args);
  if (begun != PH_OK) return begun;
  return ph_wait_request(team->home, args->request, nullptr, timeout_us);
}

ph_status ph_coll_prepare(ph_team* team, const ph_coll_args* args, ph_coll** coll) {
  if (coll == nullptr) {
    return team == nullptr ? PH_ERR_ARGUMENT
                           : photon::api::bad_argument(team->home, "coll_prepare: coll is null");
  }
  *coll = nullptr;
  return at_team(team, args, "coll_prepare", [&](Collectives& all, auto&, auto&) {
    photon::api::Lent<ph_coll> handle(team->home->coll.colls, team->home);
    const ph_status status = all.prepare(*team->team, *args, handle->op);
    if (status == PH_OK) *coll = handle.keep();
    return status;
  });
}

ph_status ph_coll_start(ph_coll* coll) {
  return at_coll<Ends::posted>(coll, "coll_start",
                               [&](Collectives& all) { return all.start(*coll->op); });
}

ph_status ph_coll_change(ph_coll* coll, const ph_coll_args* args) {
  if (coll != nullptr && (args == nullptr || args->size != sizeof(ph_coll_args)))
    return photon::api::bad_argument(
        coll->home, "coll_change: args is null, or args->size is not sizeof(ph_coll_args)");
  return at_coll(coll, "coll_change",
                 [&](Collectives& all) { return all.change(*coll->op, *args); });
}

ph_status ph_coll_free(ph_coll* coll) {
  if (coll == nullptr) return PH_OK;
  return at_coll(coll, "coll_free", [&](Collectives& all) {
    const ph_status status = all.free(*coll->op);
    if (status == PH_OK) coll->home->coll.colls.take_back(*coll);
    return status;
  });
}

}  // extern "C"
