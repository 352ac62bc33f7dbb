#include "service/coll/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace photon::service::coll {

Collectives::Collectives(Port& port)
    : port_(port),
      choosing_(port),
      runner_(port, *this),
      providing_(port, runner_),
      slots_(1),
      making_(port, runner_, *this),
      agreeing_(port, runner_.post(), making_, *this) {}

ph_status Collectives::fail(ph_status status, const char* call, const std::string& why) {
  return port_.fail(status, PH_ANY_RANK, std::string(call) + ": " + why);
}

// ---- teams

ph_status Collectives::add_provider(ph_context* context, const ph_coll_provider& provider) {
  constexpr const char* kCall = "coll_provider_register";
  if (providing_.is_closed()) return fail(PH_ERR_STATE, kCall, "there are teams already");
  const char* const why = providing_.add(context, provider);
  return why == nullptr ? PH_OK : fail(PH_ERR_ARGUMENT, kCall, why);
}

ph_status Collectives::world(Team*& team) {
  if (const ph_status status = providing_.choose(); status != PH_OK)
    return fail(status, "team_world", providing_.words());
  team = &make_world();
  return PH_OK;
}

// Others may have begun something on it before this rank asks for it.
Team& Collectives::make_world() {
  if (slots_[0].team == nullptr) {
    std::vector<Member> members(port_.size());
    for (Rank rank = 0; rank < port_.size(); ++rank) members[rank].rank = rank;
    auto made = std::make_unique<Team>(std::move(members), port_.rank(),
                                       static_cast<std::uint32_t>(port_.config().coll_window));
    made->is_world = true;
    made->shares_lines = runner_.lines().are_shared(*made);
    Choosing::lay_out(port_, *made);
    slots_[0].team = std::move(made);
    note_gone(*slots_[0].team);
  }
  return *slots_[0].team;
}

ph_status Collectives::split(Team& parent, std::int64_t colour, std::int64_t key, Team*& team) {
  if (!making_.is_splitting(parent)) {  // one that goes on ends as its operation does
    if (const ph_status status = may_begin(parent, "team_split"); status != PH_OK) return status;
    if (const ph_status status = contact_neighbours(parent); status != PH_OK) return status;
  }
  const ph_status status = making_.split(parent, colour, key, team);
  return status < PH_OK ? port_.fail(status, PH_ANY_RANK, making_.words()) : status;
}

ph_status Collectives::of(const ph_team_of_args& args, Team*& team) {
  if (is_closed_) return fail(PH_ERR_STATE, "team_of", "the lane is being closed");
  ph_status status = providing_.choose();
  if (status != PH_OK) return fail(status, "team_of", providing_.words());
  status = making_.of(args, team);
  return status < PH_OK ? port_.fail(status, PH_ANY_RANK, making_.words()) : status;
}

// A team whose members die can still agree: nothing else is asked of it.
ph_status Collectives::agree(Team& team, std::uint64_t& bits) {
  if (is_closed_) return fail(PH_ERR_STATE, "team_agree", "the lane is being closed");
  return agreeing_.agree(team, bits);
}

ph_status Collectives::shrink(Team& team, Team*& smaller) {
  if (is_closed_) return fail(PH_ERR_STATE, "team_shrink", "the lane is being closed");
  return agreeing_.shrink(team, smaller);
}

ph_status Collectives::free(Team& team) {
  if (team.is_world)
    return fail(PH_ERR_ARGUMENT, "team_free", "the team of all ranks is the library's");
  if (team.alive != 0 || making_.is_splitting(team))
    return fail(PH_ERR_STATE, "team_free",
                "operations of the team are under way, or prepared ones were not freed");
  if (Agreeing::is_under_way(team))
    return fail(PH_ERR_STATE, "team_free",
                "team_agree or team_shrink of the team is under way: call it again first");
  runner_.drop_team(team);
  providing_.freed(team);
  slots_[team.slot].gone_number = team.number;
  slots_[team.slot].gone_status = static_cast<ph_status>(team.broken.status);
  slots_[team.slot].gone_begun = team.channels.one_shot().begun;
  agreeing_.forget(team);
  bury(team);
  return PH_OK;
}

void Collectives::hand_over(const Mail& mail) noexcept {
  const std::span<const std::byte> bytes(mail.bytes);
  const Message message{mail.from, bytes.first(mail.header_bytes),
                        bytes.subspan(mail.header_bytes)};
  try {
    if (dispatch(message)) return;
  } catch (const std::bad_alloc&) {
    return port_.cut_off(mail.from, "there was no memory for a message of its");
  }
  port_.cut_off(mail.from, "a message of a collective is malformed");
}

// Members that were ready before us may have sent something: it is handed over now.
Team& Collectives::add(std::unique_ptr<Team> made) {
  Slot& slot = slots_[made->slot];
  Team& team = *made;
  team.shares_lines = runner_.lines().are_shared(team);
  slot.team = std::move(made);
  slot.is_reserved = false;
  note_gone(team);
  const std::vector<Mail> mail = std::move(slot.mail);
  for (const Mail& one : mail) hand_over(one);
  return team;
}

// Members that were lost before.
void Collectives::note_gone(Team& team) noexcept {
  for (std::uint32_t i = 0; i < team.size(); ++i)
    if (const ph_status status = port_.state(team.members[i].rank); status != PH_OK)
      note_lost(team, i, status);
}

Team* Collectives::find(const Name& name) {
  if (name.slot >= slots_.size()) return nullptr;
  Team* team = slots_[name.slot].team.get();
  if (name.slot == 0 && team == nullptr) team = &make_world();
  return team != nullptr && team->number == name.number && !team->is_freed ? team : nullptr;
}

// ---- operations

ph_status Collectives::may_begin(Team& team, const char* call) {
  if (is_closed_) return fail(PH_ERR_STATE, call, "the lane is being closed");
  if (team.broken.status == PH_OK) return PH_OK;
  runner_.spread_left(team);
  const auto status = static_cast<ph_status>(team.broken.status);
  if (status == PH_ERR_ARGUMENT) return fail(status, call, text_of(team.broken, team));
  std::string why = std::string(call) + ": member " + std::to_string(team.broken.member) +
                    " of the team is lost: " + ph_status_text(status);
  if (status == PH_ERR_DEPARTED)
    why += " (a barrier before ph_finalize() keeps a member until all have come so far)";
  return port_.fail(status, team.members[team.broken.member].rank, why);
}

// As may_begin(), of the next operation of that order. Where it is refused because a member has
// left, the others, who may have begun it, are told so. Telling the member that has left fails, and
// leaves words of its own: so the reason is given once more.
ph_status Collectives::join(Team& team, std::uint32_t channel, const char* call) {
  ph_status status = may_begin(team, call);
  if (status == PH_OK) status = contact_neighbours(team);
  if (status == PH_OK || is_closed_ || team.broken.status != PH_ERR_DEPARTED) return status;
  runner_.decline(team, channel);
  return may_begin(team, call);
}

// A team's deaths are noticed by neighbours, who must have met: once for each team.
ph_status Collectives::contact_neighbours(Team& team) {
  if (team.is_contacted) return PH_OK;
  const std::uint32_t size = team.size();
  for (std::uint32_t distance = 1; distance < size; distance *= 2)
    for (const std::uint32_t to : {distance, size - distance}) {
      const std::uint32_t member = (team.own + to) % size;
      const ph_status status = port_.contact(team.members[member].rank);
      if (status == PH_OK) continue;
      if (status == PH_ERR_PEER || status == PH_ERR_DEPARTED) note_lost(team, member, status);
      return port_.fail(status, team.members[member].rank,
                        "coll_begin: member " + std::to_string(member) +
                            " cannot be met: " + ph_status_text(status));
    }
  if (const ph_status status = choosing_.tell(runner_.post(), team); status != PH_OK) return status;
  team.is_contacted = true;
  return PH_OK;
}

// How its end will be told is reserved.
ph_status Collectives::promise(Operation& op) {
  const Plan& plan = op.plan;
  const bool is_told = plan.request != nullptr || (plan.flags & PH_NO_LCE) == 0;
  if (op.waits || plan.handler != nullptr || !is_told) {
    if (plan.handler == nullptr) return PH_OK;
    due_.reserve(due_.size() + handlers_ + 1);
    ++handlers_;
    return PH_OK;
  }
  if (const ph_status status = port_.contact(port_.rank()); status != PH_OK) return status;
  UserEnd end;
  end.rank = port_.rank();
  end.local = {plan.local.data(), static_cast<std::uint32_t>(plan.local.size())};
  end.flags = plan.flags & PH_NO_LCE;
  end.request = plan.request;
  end.size_bytes = plan.size_bytes;
  op.promise = port_.promise(end);
  return op.promise == 0 ? PH_AGAIN : PH_OK;
}

ph_status Collectives::begin_now(Operation& op) {
  try {
    if (const ph_status status = promise(op); status != PH_OK) return status;
  } catch (const std::bad_alloc&) {
    if (!op.is_prepared) runner_.free(op);
    throw;
  }
  ph_request* const request = op.plan.request;
  const std::uint64_t promised = op.promise;
  if (!op.is_prepared) ++op.team->alive;
  try {
    if (op.plan.is_provided)
      providing_.reserve();
    else
      choosing_.begun(op.plan);
    runner_.begin(op);
  } catch (const std::bad_alloc&) {  // nothing has begun
    if (!op.is_prepared) --op.team->alive;
    if (op.plan.handler != nullptr) --handlers_;
    if (promised != 0) port_.renounce(promised);
    op.promise = 0;
    if (!op.is_prepared) runner_.free(op);
    throw;
  }
  if (op.is_with_provider) providing_.begin(op);
  if (promised != 0) port_.hand_over(promised, request);
  return PH_OK;
}

Asker Collectives::asker_of(const Team& team) const noexcept {
  return {team.size(),        team.own,        isa_, &choosing_.choices(), team.layout,
          choosing_.checks(), team.hosts.get()};
}

// An operation that has not begun; `blame` says how its arguments are wrong.
Operation& Collectives::plan_for(Team& team, const ph_coll_args& args, const char* call) {
  Operation& op = runner_.make();
  try {
    std::string why;
    op.blame.status = make_plan(args, asker_of(team), op.plan, why);
    if (op.blame.status != PH_OK) fail(static_cast<ph_status>(op.blame.status), call, why);
    if (op.blame.status == PH_OK) providing_.ask(op.plan, team);
  } catch (const std::bad_alloc&) {
    runner_.free(op);
    throw;
  }
  op.team = &team;
  return op;
}

ph_status Collectives::begin(Team& team, const ph_coll_args& args, Operation** waited) {
  const char* const call = waited == nullptr ? "coll_begin" : "coll_run";
  if (making_.is_splitting(team))
    return fail(PH_ERR_STATE, call, "a split of the team is under way");
  if (!is_closed_ && team.broken.status == PH_OK && !has_room(team)) return port_.again();
  if (const ph_status status = join(team, 0, call); status != PH_OK) return status;
  Operation& op = plan_for(team, args, call);
  ph_status status = static_cast<ph_status>(op.blame.status);
  op.waits = waited != nullptr;
  if (status == PH_OK) status = begin_now(op);
  if (status != PH_OK)
    runner_.free(op);
  else if (waited != nullptr)
    *waited = &op;
  return status;
}

ph_status Collectives::prepare(Team& team, const ph_coll_args& args, Operation*& op) {
  if (is_closed_) return fail(PH_ERR_STATE, "coll_prepare", "the lane is being closed");
  Operation& made = plan_for(team, args, "coll_prepare");
  if (made.blame.status != PH_OK) {
    const auto status = static_cast<ph_status>(made.blame.status);
    runner_.free(made);
    return status;
  }
  made.is_prepared = true;
  try {
    team.reserve_gone();
    made.channel = team.channels.prepare();
  } catch (const std::bad_alloc&) {
    runner_.free(made);
    throw;
  }
  ++team.alive;
  team.channels.find(made.channel)->prepared = &made;
  op = &made;
  return PH_OK;
}

ph_status Collectives::start(Operation& op) {
  if (op.is_under_way()) return fail(PH_ERR_STATE, "coll_start", "it is under way");
  if (const ph_status status = join(*op.team, op.channel, "coll_start"); status != PH_OK)
    return status;
  return begin_now(op);
}

// The old arguments stay where the new ones are refused.
ph_status Collectives::change(Operation& op, const ph_coll_args& args) {
  if (op.is_under_way()) return fail(PH_ERR_STATE, "coll_change", "it is under way");
  Plan plan;
  std::string why;
  const Team& team = *op.team;
  const ph_status status = make_plan(args, asker_of(team), plan, why);
  if (status != PH_OK) return fail(status, "coll_change", why);
  providing_.ask(plan, team);
  op.plan = std::move(plan);
  op.is_changed = true;
  return PH_OK;
}

ph_status Collectives::free(Operation& op) {
  if (op.is_under_way()) return fail(PH_ERR_STATE, "coll_free", "it is under way");
  runner_.drop_channel(*op.team, op.channel);
  op.team->note_gone(op);
  op.team->channels.free(op.channel);
  --op.team->alive;
  runner_.free(op);
  return PH_OK;
}

// Ends an operation that its caller has waited for.
ph_status Collectives::done(Operation& op) {
  const auto status = static_cast<ph_status>(op.blame.status);
  const std::string why = status == PH_OK ? std::string() : text_of(op.blame, *op.team);
  --op.team->alive;
  runner_.free(op);
  return status == PH_OK ? PH_OK : fail(status, "coll_run", why);
}

void Collectives::ended(Operation& op) noexcept {
  if (op.is_internal) return making_.ended(op);
  const auto status = static_cast<ph_status>(op.blame.status);
  if (op.waits) return port_.wake();  // done() gives its team back
  if (!op.is_prepared) --op.team->alive;
  if (op.plan.handler != nullptr) {
    --handlers_;
    due_.push_back({op.plan.handler, op.plan.handler_user, status});  // promise() has made room
    port_.wants_run();
  }
  if (op.promise != 0) {
    std::string why;
    try {
      if (status != PH_OK) why = text_of(op.blame, *op.team);
    } catch (const std::bad_alloc&) {  // the status alone tells
    }
    port_.complete(op.promise, status, why.empty() ? nullptr : why.c_str());
    port_.release(op.promise);
    op.promise = 0;
  }
  if (!op.is_prepared) runner_.free(op);
}

void Collectives::collect() {
  running_.reserve(due_.size() + handlers_);
  providing_.collect();
  std::swap(running_, due_);  // last: what threw before is tried again
}

void Collectives::run() noexcept {
  for (const Due& due : running_) due.handler(due.user, due.status);
  running_.clear();
  providing_.run();
}

void Collectives::ran() noexcept { providing_.ran(); }

}  // namespace photon::service::coll
