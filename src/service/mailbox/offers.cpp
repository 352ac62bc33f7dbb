// Offers: messages whose bytes their receiver reads from the sender's memory.
#include <algorithm>
#include <new>

#include "service/mailbox/receiver.hpp"

namespace photon::service::mailbox {

ph_status Receiver::begin_pull(Box& box, const Arrival& offer, const Outcome& outcome) noexcept {
  ph_status status = PH_ERR_MEMORY;
  try {
    status = pulls_.begin({.from = offer.from,
                           .number = offer.number,
                           .letter = offer.letter,
                           .window = &*box.window,
                           .outcome = outcome});
  } catch (const std::bad_alloc&) {
  }
  if (status != PH_OK) box.window->failed(offer.letter.mail, outcome, *this);
  return status;
}

void Receiver::on_local(Rank from, std::uint64_t token, ph_status status) noexcept {
  const Round round(*this);
  if (const auto pull = pulls_.on_local(from, token, status))
    end_pull(*pull, pull->is_called_off ? kCalledOff : pull->status);
}

void Receiver::end_pull(const Pull& pull, ph_status status) noexcept {
  Window& window = *pull.window;
  Box& box = *boxes_[window.tag()];
  if (pull.is_stray) {
    if (!is_closing_) window.let_go(pull.outcome.epoch, *this);
    if (pull.is_owed) give_verdict(pull.from, pull.number, true, pull.owed);
    return;
  }
  if (status != PH_OK)
    window.failed(pull.letter.mail, pull.outcome, *this);
  else if (pull.outcome.fate == Fate::scatters)
    window.scattered(pull.letter.mail, pull.outcome, *this);
  else
    window.landed(pull.letter.mail, pull.outcome, *this);
  watch_linger(box);
  give_verdict(pull.from, pull.number, true, {status, pull.outcome.epoch});
  if (!box.early.empty()) try_early(box);
  give_grants(box);
}

void Receiver::start_pulls() noexcept {
  const Round round(*this);
  Pull failed;
  for (;;) {
    const ph_status status = pulls_.start_next(failed);
    if (status == PH_AGAIN) return;
    if (status != PH_OK) end_pull(failed, status);
  }
}

// In the order in which they were admitted, and in front of all that waits.
void Receiver::recall(Window& window, std::uint64_t epoch) noexcept {
  const Round round(*this);
  Box& box = *boxes_[window.tag()];
  const Pulls::List recalled = pulls_.recall(window, epoch);
  for (const auto& [number, pull] : recalled)
    if (!pull.is_read()) window.let_go(epoch, *this);
  std::size_t waiting = 0;
  for (const auto& [number, pull] : recalled) admit_anew(box, pull, waiting);
}

void Receiver::admit_anew(Box& box, const Pull& pull, std::size_t& waiting) noexcept {
  const Arrival offer{pull.from, pull.number, pull.letter, {}};
  End end{.status = box.is_open ? PH_OK : PH_ERR_NOT_FOUND};
  Fate fate = Fate::refused;
  if (end.status == PH_OK) fate = place(box, offer, end);
  if (fate == Fate::lands) return;
  if (fate == Fate::waits) {
    std::map<std::uint64_t, Box*>& kept = peers_[pull.from]->kept;
    try {
      kept.emplace(pull.number, &box);
      box.early.insert(box.early.begin() + static_cast<std::ptrdiff_t>(waiting),
                       {pull.from, pull.number, pull.letter, {}});
      ++waiting;
      ++early_mails_;
      return;
    } catch (const std::bad_alloc&) {
      kept.erase(pull.number);
      end.status = PH_ERR_MEMORY;
    }
  }
  give_verdict(pull.from, pull.number, true, end);
}

// Forgets the offers of a sender that is lost: nothing can be read of it any more. Gets that are
// under way end with its status.
void Receiver::drop_offers(Rank from) noexcept {
  const Round round(*this);
  for (const auto& [number, pull] : pulls_.lose(from)) end_pull(pull, PH_ERR_PEER);
  for (const auto& box : boxes_) {
    const auto is_its = [&](const Early& mail) {
      if (!mail.letter.is_offer || mail.from != from) return false;
      forget_early(mail);
      --peers_[from]->offers;
      return true;
    };
    std::erase_if(box->early, is_its);
  }
  start_pulls();
}

}  // namespace photon::service::mailbox
