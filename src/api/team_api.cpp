// Teams: validate what only the ABI can get wrong, then call the service.
#include <photon/team.h>

#include "api/handle.hpp"
#include "service/coll/collectives.hpp"

using photon::api::bad_argument;
using photon::api::in_lane;
using photon::api::in_service;
using photon::service::coll::Collectives;
using photon::service::coll::Team;

namespace {

constexpr auto kTeamOwner = photon::wire::Owner::coll;

ph_status no_team(ph_context* home, const char* call) noexcept {
  return in_lane(home, [&](auto& engine, auto&) {
    return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                       std::string(call) + ": the team is null, or was freed");
  });
}

ph_team* fill(ph_team* handle, Team& team) noexcept {
  handle->team = &team;
  handle->rank = team.own;
  handle->size = team.size();
  return handle;
}

// Calls `look()` until it says another thing than PH_TIMEOUT, or the time is over.
template <class Look>
ph_status look_until(Collectives& all, photon::engine::Engine& engine,
                     photon::engine::LaneGuard& guard, int64_t timeout_us, const Look& look) {
  // Nothing may be begun that cannot be waited for.
  if (const ph_status refused = engine.check_wait(); refused != PH_OK) return refused;
  ph_status status = look();
  if (status != PH_TIMEOUT) return status;
  std::uint64_t seen = all.making_news();
  engine.push_out();
  const ph_status waited = engine.wait_for(
      guard,
      [&] {
        if (seen == all.making_news()) return false;
        seen = all.making_news();
        status = look();
        return status != PH_TIMEOUT;
      },
      timeout_us);
  return guard.status() != PH_OK || status == PH_TIMEOUT ? waited : status;
}

// The handle is there before the team is, so that no team is left without one; without a team it
// goes back, also where memory ends.
template <class Look>
ph_status make_team(ph_context* context, int64_t timeout_us, ph_team** handle,
                    const Look& look) noexcept {
  *handle = nullptr;
  return in_service<Collectives>(
      context, kTeamOwner, [&](Collectives& all, auto& engine, auto& guard) {
        photon::api::Lent<ph_team> made(context->coll.teams, context);
        Team* team = nullptr;
        const ph_status status =
            look_until(all, engine, guard, timeout_us, [&] { return look(all, team); });
        if (guard.status() != PH_OK) {
          made.keep();  // the lane is closed: nothing here is ours
          return status;
        }
        if (team != nullptr) *handle = fill(made.keep(), *team);
        return status;
      });
}

}  // namespace

extern "C" {

ph_status ph_team_world(ph_context* context, ph_team** team) {
  if (team == nullptr) return bad_argument(context, "team_world: team is null");
  return in_service<Collectives>(context, kTeamOwner, [&](Collectives& all, auto&, auto&) {
    Team* found = nullptr;
    if (const ph_status status = all.world(found); status != PH_OK) return status;
    photon::api::CollHandles& handles = context->coll;
    if (handles.world == nullptr) handles.world = fill(&handles.teams.give(context), *found);
    *team = handles.world;
    return PH_OK;
  });
}

ph_status ph_team_split(ph_team* parent, int64_t colour, int64_t key, int64_t timeout_us,
                        ph_team** team) {
  if (parent == nullptr) return PH_ERR_ARGUMENT;
  if (team == nullptr) return bad_argument(parent->home, "team_split: team is null");
  if (parent->team == nullptr) return no_team(parent->home, "team_split");
  return make_team(parent->home, timeout_us, team, [&](Collectives& all, Team*& made) {
    return all.split(*parent->team, colour, key, made);
  });
}

ph_status ph_team_of(ph_context* context, const ph_team_of_args* args, int64_t timeout_us,
                     ph_team** team) {
  if (args == nullptr || args->size != sizeof(ph_team_of_args) || team == nullptr)
    return bad_argument(
        context, "team_of: args or team is null, or args->size is not sizeof(ph_team_of_args)");
  if (args->ranks == nullptr || args->count == 0 || args->reserved != 0)
    return bad_argument(context, "team_of: the list is empty, or args->reserved is not 0");
  return make_team(context, timeout_us, team,
                   [&](Collectives& all, Team*& made) { return all.of(*args, made); });
}

ph_status ph_team_free(ph_team* team) {
  if (team == nullptr) return PH_OK;
  ph_context* const context = team->home;
  return in_service<Collectives>(context, kTeamOwner, [&](Collectives& all, auto& engine, auto&) {
    if (team->team == nullptr)
      return engine.port(kTeamOwner).fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "team_free: it was freed");
    const ph_status status = all.free(*team->team);
    if (status == PH_OK) context->coll.teams.take_back(*team);
    return status;
  });
}

ph_status ph_team_agree(ph_team* team, uint64_t* bits, int64_t timeout_us) {
  if (team == nullptr) return PH_ERR_ARGUMENT;
  if (bits == nullptr) return bad_argument(team->home, "team_agree: bits is null");
  if (team->team == nullptr) return no_team(team->home, "team_agree");
  return in_service<Collectives>(team->home, kTeamOwner,
                                 [&](Collectives& all, auto& engine, auto& guard) {
                                   return look_until(all, engine, guard, timeout_us,
                                                     [&] { return all.agree(*team->team, *bits); });
                                 });
}

ph_status ph_team_shrink(ph_team* team, int64_t timeout_us, ph_team** smaller) {
  if (team == nullptr) return PH_ERR_ARGUMENT;
  if (smaller == nullptr) return bad_argument(team->home, "team_shrink: smaller is null");
  if (team->team == nullptr) return no_team(team->home, "team_shrink");
  return make_team(team->home, timeout_us, smaller,
                   [&](Collectives& all, Team*& made) { return all.shrink(*team->team, made); });
}

ph_status ph_team_lost(const ph_team* team, uint32_t member) {
  if (team == nullptr) return PH_ERR_ARGUMENT;
  return in_lane(team->home, [&](auto& engine, auto&) {
    if (team->team != nullptr && member < team->size) return Collectives::lost(*team->team, member);
    return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                       "team_lost: the team was freed, or has no such member");
  });
}

uint32_t ph_team_rank(const ph_team* team) { return team == nullptr ? UINT32_MAX : team->rank; }

uint32_t ph_team_size(const ph_team* team) { return team == nullptr ? 0 : team->size; }

ph_rank ph_team_member(const ph_team* team, uint32_t member) {
  if (team == nullptr || member >= team->size) return PH_ANY_RANK;
  ph_rank rank = PH_ANY_RANK;
  in_lane(team->home, [&](auto&, auto&) {
    if (team->team != nullptr) rank = team->team->members[member].rank;
    return PH_OK;
  });
  return rank;
}

}  // extern "C"
