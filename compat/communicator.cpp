#include "compat/communicator.hpp"

namespace photon::classic {

namespace {

// Programs written for libphoton make no teams themselves.
constexpr std::uint64_t kTeamTag = 0xc0113c71;

bool is_everybody(const Members& members, ph_context* context) noexcept {
  if (members.size() != ph_size_of(context)) return false;
  for (ph_rank rank = 0; rank < members.size(); ++rank)
    if (members[rank] != rank) return false;
  return true;
}

}  // namespace

ph_status Communicator::wait(ph_context* context, std::int64_t timeout_us,
                             ph_team*& team) const noexcept {
  if (is_everybody(members_, context)) return ph_team_world(context, &team);
  ph_team_of_args args{};
  args.size = sizeof args;
  args.ranks = members_.data();
  args.count = static_cast<std::uint32_t>(members_.size());
  args.tag = kTeamTag;
  return ph_team_of(context, &args, timeout_us, &team);
}

void Communicator::look(ph_context* context) noexcept {
  if (!may_wait()) return;
  ph_team* team = nullptr;
  const ph_status status = wait(context, 0, team);
  note(status, team);
}

void Communicator::end_wait(ph_status status, ph_team* team) noexcept {
  is_waited_for_ = false;
  note(status, team);
}

// Memory may be there later.
void Communicator::note(ph_status status, ph_team* team) noexcept {
  if (status == PH_OK) team_ = team;
  if (status < PH_OK && status != PH_ERR_MEMORY) status_ = status;
}

}  // namespace photon::classic
