#include "compat/communicator.hpp"

#include <string_view>

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
  note(context, status, team);
}

void Communicator::end_wait(ph_context* context, ph_status status, ph_team* team) noexcept {
  is_waited_for_ = false;
  note(context, status, team);
}

// Memory may be there later. The context's words are those of the call that has just ended, if none
// of another thread's have come since.
void Communicator::note(ph_context* context, ph_status status, ph_team* team) noexcept {
  if (status == PH_OK) team_ = team;
  if (status >= PH_OK || status == PH_ERR_MEMORY) return;
  status_ = status;
  ph_last_error(context, &words_);
  if (words_.status == status) return;
  const std::string_view text = ph_status_text(status);
  words_.text[text.copy(words_.text, sizeof words_.text - 1)] = '\0';
}

}  // namespace photon::classic
