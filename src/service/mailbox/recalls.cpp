// Messages that their senders call back.
//
// Honest recalls name mails that have come, each once, and only those that ask for a verdict. What
// is over when its recall comes has a verdict that crosses it, so such a recall says nothing: a
// receiver does not remember what is over, and need not, for a recall reaches nothing but what its
// own sender has sent and what waits or is read here.
#include <algorithm>

#include "service/mailbox/receiver.hpp"
#include "service/mailbox/sender.hpp"

namespace photon::service::mailbox {

// ---- the receiver

bool Receiver::on_recall(Rank from, std::uint64_t number) noexcept {
  const Round round(*this);
  From* const sender = peers_[from].get();
  if (sender == nullptr || number >= sender->judged || sender->recalls >= sender->judged)
    return false;
  ++sender->recalls;
  if (const auto kept = sender->kept.find(number); kept != sender->kept.end())
    return recall_early(*kept->second, from, number);
  const Pull* const pull = sender->offers == 0 ? nullptr : pulls_.find(from, number);
  if (pull == nullptr) return true;
  if (!pull->letter.asks) return false;
  if (const auto over = pulls_.call_off(from, number)) end_pull(*over, kCalledOff);
  return true;
}

// A message that has begun to land goes on: its bytes may be in buffers that were handed over.
bool Receiver::recall_early(Box& box, Rank from, std::uint64_t number) noexcept {
  const auto mail = std::find_if(box.early.begin(), box.early.end(), [&](const Early& one) {
    return one.number == number && one.from == from;
  });
  const Letter& letter = mail->letter;
  if (!letter.asks) return false;
  const bool is_offer = letter.is_offer;
  if (is_divided(box, letter) && letter.mail.size_bytes != mail->bytes.size()) return true;
  forget_early(*mail);
  box.early.erase(mail);
  give_verdict(from, number, is_offer, {kCalledOff});
  return true;
}

// ---- the sender

// Null: it is over.
Sender::Sent* Sender::find(To& to, std::uint64_t number) noexcept {
  const auto kept = std::ranges::lower_bound(to.waiting, number, {}, &Waiting::number);
  if (kept != to.waiting.end() && kept->number == number) return &kept->mail;
  return number < to.sent.begin() || number >= to.sent.end() ? nullptr : &to.sent.at(number);
}

// If its user has asked for the epoch. Any: it has landed in none.
void Sender::note_landing(To& to, std::uint64_t number, std::uint64_t epoch) noexcept {
  const auto found = std::ranges::lower_bound(to.landings, number, {}, &Landing::number);
  if (found == to.landings.end() || found->number != number) return;
  *found->epoch = epoch;
  to.landings.erase(found);
}

ph_outcome Sender::on_cancel(Rank rank, std::uint64_t number) {
  To* const to = peers_[rank].get();
  const Sent* const mail = to == nullptr ? nullptr : find(*to, number);
  if (mail == nullptr || !mail->asks || mail->is_recalled) return PH_TOO_LATE;
  const std::uint64_t word = first_word(Op::recall, number);
  Saying what;
  what.to = rank;
  what.header = std::as_bytes(std::span(&word, 1));
  what.must_go = true;  // one for each mail
  if (port_.say(what) != PH_OK) return PH_TOO_LATE;
  if (Sent* const said = find(*to, number)) said->is_recalled = true;
  return PH_TOO_LATE;
}

}  // namespace photon::service::mailbox
