#include "simtest/mail_model.hpp"

#include <algorithm>
#include <cstring>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kMailMark = 0x6d61'696c'0000'0000;  // no other id has that
constexpr std::uint64_t kMailNumber = 0xffff'ffff;
constexpr std::uint32_t kPlainId = 8;

Pattern junk(const Mailed& mail) { return {Purpose::junk, kMailMark | mail.number}; }

}  // namespace

std::string Mailed::text() const {
  std::string text = "mail " + std::to_string(number) + " (" +
                     (appends       ? "append"
                      : is_nameless ? "put_u64"
                                    : "put") +
                     " of rank " + std::to_string(from) + " to " + std::to_string(to) +
                     ", mailbox " + std::to_string(address) + ", " + std::to_string(size_bytes()) +
                     " bytes at " + std::to_string(offset);
  if (epoch != PH_ANY_EPOCH) text += ", epoch " + std::to_string(epoch);
  if (incarnation != 0) text += ", incarnation " + std::to_string(incarnation);
  if (is_asking) text += ", requested";
  return text + (lane == 0 ? ")" : ", " + name_of_lane(lane) + ")");
}

// The lowest byte comes first, here and in the history of every machine that runs this.
void Mailed::fill(std::span<std::byte> bytes) const noexcept {
  Pattern(Purpose::mail, number).fill(bytes);
  if (bytes.size() < kMailNamedSize) return;
  const std::uint32_t name = number << 8 | 0x80;
  std::memcpy(bytes.data(), &name, sizeof name);
}

void MailModel::wrong(const char* kind, const Mailed& mail, const std::string& what) {
  oracle_.report(kind, mail.text() + " " + what);
}

// Bytes that name the message, if there are enough of them. The others may run before the call
// returns, and take it: so it counts as accepted until the call says something else.
Mailed& MailModel::begin(const Endpoint& from, const Step& step, std::uint64_t index) {
  Mailed& mail = mails_.emplace_back();
  mail.number = static_cast<std::uint32_t>(mails_.size());
  mail.from = from.rank;
  mail.lane = from.lane;
  mail.to = step.peer;
  mail.address = static_cast<std::uint32_t>(step.operand % kMailAddressesCount);
  mail.appends = step.verb == Verb::mail_append;
  mail.is_nameless = step.verb == Verb::mail_put_u64;
  const bool is_shared = !mail.appends && step.offset < kMailSharedBytes;
  mail.offset = step.offset + (is_shared || mail.appends ? 0 : index * step.size_bytes);
  if (may_hold_request(from)) {
    mail.id_bytes = std::max(kPlainId, step.local_id_bytes);
    mail.is_asking = step.requested && !mail.is_nameless;
  }
  mail.is_silent = mail.is_nameless || (step.flags & PH_NO_LCE) != 0;
  mail.is_large = step.size_bytes > carried_max_ && !mail.is_silent && may_hold_request(from);
  mail.source.resize(mail.is_large ? step.size_bytes : std::min(step.size_bytes, carried_max_));
  mail.fill(mail.source);
  mail.begun_at = boxes_.tick();
  mail.posted_since = oracle_.events_so_far();
  if (mail.to >= ranks_) return mail;
  mail.accepted = true;
  choose_life(mail, step);
  mail.is_cut = oracle_.is_lost(mail.from, mail.to);
  mail.to_gone = oracle_.is_dead(mail.to) || oracle_.is_leaving({mail.to, mail.lane});
  boxes_.place_of(mail).mails.push_back(&mail);
  return mail;
}

// A message that waits for a buffer is one of `requests` all the while, if it is large, or has a
// request or a long id: some are left for others.
bool MailModel::may_hold_request(const Endpoint& from) const {
  const auto held = std::count_if(mails_.begin(), mails_.end(), [&](const Mailed& mail) {
    const bool is_of_it = mail.accepted && mail.from == from.rank && mail.lane == from.lane;
    const bool may_wait = mail.place == nullptr && mail.refused == PH_OK;
    const bool has_promise = mail.id_bytes > kPlainId || mail.is_large;
    return is_of_it && (mail.request != PH_REQUEST_NONE || (has_promise && may_wait));
  });
  return static_cast<std::uint64_t>(held) < requests_ / 4;
}

// The epoch and the incarnation that it names: those that stand there as far as is known, or
// others.
void MailModel::choose_life(Mailed& mail, const Step& step) {
  if (mail.is_nameless) return;
  const auto& lives = boxes_.place_of(mail).lives;
  const std::uint64_t known = lives.empty() ? 0 : lives.back().known_epoch;
  if (step.compare != 0) mail.epoch = std::max<std::uint64_t>(known + step.compare, 2) - 2;
  if (step.kinds == 0 || lives.empty() || lives.back().incarnations.empty()) return;
  mail.incarnation = lives.back().incarnations.back();
  if (step.kinds == 2) mail.incarnation = lives.back().incarnations.front();
  if (step.kinds == 2 && lives.size() > 1) mail.incarnation = lives.front().incarnations.front();
}

std::vector<std::byte> MailModel::id_of(const Mailed& mail) {
  std::vector<std::byte> id(mail.id_bytes);
  const std::uint64_t word = kMailMark | mail.number;
  Pattern(Purpose::id, word).fill(id);
  std::memcpy(id.data(), &word, sizeof word);
  return id;
}

void MailModel::withdraw(Mailed& mail) {
  mail.accepted = false;
  std::erase(boxes_.place_of(mail).mails, &mail);
  mail.source = {};
}

void MailModel::posted(Mailed& mail, ph_status status) {
  if (oracle_.failed()) return;
  oracle_.note({mail.from, mail.lane}, mail.text() + " = " + std::to_string(status));
  if (mail.to >= ranks_) {
    if (status != PH_ERR_RANK) wrong("status", mail, "said " + std::to_string(status));
    return;
  }
  if (status == PH_OK) {
    oracle_.also_under_way({mail.from, mail.lane}, mail.to);
    return;
  }
  if (status != PH_AGAIN && !may_be_told_of_loss(mail, status))
    wrong("status", mail, "was refused by the call with " + std::to_string(status));
  if (mail.place != nullptr || mail.refused != PH_OK || mail.local_seen)
    wrong("unexpected", mail,
          "landed or was completed, though the call said " + std::to_string(status));
  withdraw(mail);
}

bool MailModel::may_be_told_of_loss(const Mailed& mail, ph_status status) {
  return oracle_.may_be_gone({mail.to, mail.lane}, status) ||
         oracle_.may_be_lost(mail.from, mail.to, status);
}

// Whether there was a time since then when nobody had that address open.
bool MailModel::was_away(const Mailed& mail) {
  const auto& lives = boxes_.place_of(mail).lives;
  return std::none_of(lives.begin(), lives.end(), [&](const MailBox& box) {
    return box.opened_at <= mail.begun_at && box.is_open() && !box.is_changing;
  });
}

// Whether what may have waited at its receiver, and this one, can have been more than there is room
// for.
bool MailModel::may_lack_room(const Mailed& mail) {
  std::uint64_t of_sender = 0, in_all = 0;
  for (const Mailed& other : mails_) {
    if (!other.accepted || other.to != mail.to || other.lane != mail.lane) continue;
    if (other.is_large || (other.over_at != 0 && other.over_at < mail.begun_at)) continue;
    in_all += other.charge();
    if (other.from == mail.from) of_sender += other.charge();
  }
  return of_sender > early_bytes_ || in_all > early_total_bytes_;
}

// Whether that mailbox, which was open meanwhile, may have said so.
bool MailModel::may_refuse(const MailBox& box, const Mailed& mail, ph_status status) {
  const std::uint64_t source = box.args.source;
  switch (status) {
    case PH_ERR_ACCESS:
      return box.is_for_reading() || (source != PH_ANY_RANK && source != mail.from);
    case PH_ERR_RANGE:
      if (box.is_managed())
        return mail.size_bytes() > box.least_bytes || mail.epoch != PH_ANY_EPOCH;
      return mail.end() > box.least_bytes;
    case PH_ERR_EPOCH: {
      const auto& lives = box.incarnations;
      const bool is_other = mail.incarnation != 0 && (box.is_changing || lives.size() > 1 ||
                                                      std::find(lives.begin(), lives.end(),
                                                                mail.incarnation) == lives.end());
      return is_other || (mail.epoch != PH_ANY_EPOCH && mail.epoch < box.most_epoch);
    }
    case PH_ERR_NO_BUFFER:
      return (box.args.flags & PH_MAILBOX_REFUSE_EARLY) != 0 ||
             (!mail.is_large && may_lack_room(mail));
    case PH_ERR_ARGUMENT:
      return mail.appends != box.is_managed() ||
             (box.is_managed() && (mail.offset != 0 || mail.size_bytes() == 0));
    default: return false;
  }
}

bool MailModel::may_end_with(const Mailed& mail, ph_status status) {
  if (may_be_told_of_loss(mail, status)) return true;
  if (status == PH_ERR_NOT_FOUND) return was_away(mail);
  auto& lives = boxes_.place_of(mail).lives;
  return std::any_of(lives.begin(), lives.end(), [&](const MailBox& box) {
    const bool is_met = box.is_open() || box.ends_with_its_lane || box.closed_at > mail.begun_at;
    return is_met && may_refuse(box, mail, status);
  });
}

// Its sender hears that it was refused, or lost.
void MailModel::refused(Mailed& mail, ph_status status) {
  if (!may_end_with(mail, status))
    return wrong("status", mail, "was refused with " + std::to_string(status) + " for no reason");
  // Who is lost, or dies, may take the news with it that a message has landed.
  const bool is_word_lost = may_be_told_of_loss(mail, status) && status != PH_ERR_DEPARTED;
  if (mail.refused != PH_OK || mail.is_known_landed())
    return wrong("twice", mail, "is refused with " + std::to_string(status) + " after its end");
  if (mail.place != nullptr && !is_word_lost)
    return wrong("unexpected", mail,
                 "is refused with " + std::to_string(status) + ", though it has landed");
  mail.refused = status;
  // What was lost for its sender may wait at its receiver all the same.
  if (mail.over_at == 0 && !is_word_lost) mail.over_at = boxes_.tick();
  if (mail.is_large && !mail.is_asking) give_source_back(mail);
}

// It is filled with something else at once. Until now the library has not touched it.
void MailModel::give_source_back(Mailed& mail) {
  std::vector<std::byte> right(mail.size_bytes());
  mail.fill(right);
  if (mail.source != right) return wrong("bytes", mail, "has another source than it had");
  junk(mail).fill(mail.source);
}

bool MailModel::completed(const Endpoint& at, const ph_completion& one) {
  if ((one.id & ~kMailNumber) != kMailMark) return false;
  if (oracle_.failed()) return true;
  const std::uint64_t number = one.id & kMailNumber;
  const std::string seen = "rank " + std::to_string(at.rank) + " probed a " + text_of(one);
  if (number == 0 || number > mails_.size()) {
    oracle_.report("id", seen + ": no message has that id");
    return true;
  }
  Mailed& mail = mails_[number - 1];
  oracle_.note(at,
               "local id of mail " + std::to_string(number) + " = " + std::to_string(one.status));
  const std::vector<std::byte> id = id_of(mail);
  const bool has_all =
      one.id_size_bytes == mail.id_bytes &&
      (one.long_id == nullptr ? mail.id_bytes == kPlainId
                              : std::memcmp(one.long_id, id.data(), id.size()) == 0);
  const bool is_late = one.status != PH_OK && one.id_size_bytes == kPlainId;
  const bool is_its_place = one.kind == PH_LOCAL && mail.accepted && mail.from == at.rank &&
                            mail.lane == at.lane && one.peer == mail.to;
  if (!is_its_place || (!has_all && !is_late))
    wrong("unexpected", mail, "yields this: " + seen);
  else if (mail.is_asking)
    wrong("unexpected", mail, "has a request, and yields this: " + seen);
  else if (one.status != PH_OK)
    refused(mail, one.status);
  else if (mail.is_silent || mail.refused != PH_OK)
    wrong("unexpected", mail, "yields a local completion with PH_OK");
  else if (std::exchange(mail.local_seen, true))
    wrong("twice", mail, "yields a second local completion with PH_OK");
  else
    landed_or_copied(mail);
  return true;
}

// Its local completion has come, with PH_OK: a large one has landed.
void MailModel::landed_or_copied(Mailed& mail) {
  if (mail.is_large && mail.over_at == 0) mail.over_at = boxes_.tick();
  give_source_back(mail);
}

std::uint32_t MailModel::count_nameless(const Endpoint& at, const ph_completion& one) {
  std::uint32_t able = 0;
  for (const Mailed& mail : mails_) {
    if (!mail.is_nameless || !mail.accepted || mail.from != at.rank || mail.lane != at.lane)
      continue;
    const bool may_have_landed = one.status == PH_ERR_PEER || one.status == PH_ERR_PROTOCOL;
    if (mail.to == one.peer && (mail.place == nullptr || may_have_landed) &&
        may_end_with(mail, one.status))
      ++able;
  }
  return able;
}

bool MailModel::takes_nameless(const Endpoint& at, const ph_completion& one) {
  if (count_nameless(at, one) == 0) return false;
  ++nameless_[{at.rank, at.lane, one.peer}];
  return true;
}

void MailModel::ended(Mailed& mail, const ph_result& result) {
  if (oracle_.failed()) return;
  oracle_.note({mail.from, mail.lane}, "the request of mail " + std::to_string(mail.number) +
                                           " = " + std::to_string(result.status));
  const std::uint64_t moved = result.status == PH_OK ? mail.size_bytes() : 0;
  if (mail.request != PH_REQUEST_NONE || result.peer != mail.to || result.size_bytes != moved)
    return wrong("unexpected", mail,
                 "ended with " + std::to_string(result.size_bytes) + " bytes of rank " +
                     std::to_string(result.peer));
  give_source_back(mail);
  if (result.status != PH_OK) return refused(mail, result.status);
  mail.local_seen = mail.confirmed = true;
  if (mail.over_at == 0) mail.over_at = boxes_.tick();
}

std::vector<Mailed*> MailModel::asked_by(const Endpoint& at) {
  std::vector<Mailed*> all;
  for (Mailed& mail : mails_)
    if (mail.request != PH_REQUEST_NONE && mail.from == at.rank && mail.lane == at.lane &&
        !mail.from_gone)
      all.push_back(&mail);
  return all;
}

void MailModel::gone(const Endpoint& end) {
  for (Mailed& mail : mails_) {
    const bool is_there = end.lane == 0 || mail.lane == end.lane;
    if (is_there && mail.from == end.rank) mail.from_gone = true;
    if (is_there && mail.to == end.rank) mail.to_gone = true;
  }
  boxes_.gone(end);
}

void MailModel::link_lost(ph_rank a, ph_rank b) {
  for (Mailed& mail : mails_)
    if ((mail.from == a && mail.to == b) || (mail.from == b && mail.to == a)) mail.is_cut = true;
}

// One that was told to leave may have no time left while a message of its waits for a buffer, or
// while its completions, which nobody takes any more, leave no room for a refusal.
bool MailModel::explains(const Endpoint& end, ph_status status) {
  return std::any_of(mails_.begin(), mails_.end(), [&](const Mailed& mail) {
    const bool is_of_it = mail.from == end.rank && (end.lane == 0 || mail.lane == end.lane);
    if (!is_of_it || !mail.accepted || mail.refused != PH_OK) return false;
    return may_end_with(mail, status) || (status == PH_TIMEOUT && mail.place == nullptr);
  });
}

void MailModel::finalized(ph_rank rank) {
  for (const Mailed& mail : mails_) {
    if (mail.from != rank || !mail.accepted || !mail.is_cut || mail.is_counted_only()) continue;
    if (mail.place != nullptr || mail.refused != PH_OK || mail.is_known_landed()) continue;
    if (mail.is_uncertain) continue;
    if (mail.is_nameless && nameless_.contains({mail.from, mail.lane, mail.to})) continue;
    if (!oracle_.was_told_since({rank, mail.lane}, mail.to, mail.posted_since))
      return wrong("silent", mail,
                   "was accepted and never landed: its link was lost, and nobody was told, not by "
                   "ph_finalize() either");
  }
}

bool MailModel::lacks_word(const Mailed& mail) const {
  if (!mail.accepted || mail.from_gone || oracle_.is_dead(mail.from)) return false;
  if (mail.is_asking) return mail.request != PH_REQUEST_NONE;
  return !mail.is_silent && !mail.local_seen && mail.refused == PH_OK;
}

bool MailModel::lacks_fate(const Mailed& mail) const {
  if (!mail.accepted || mail.from_gone || mail.to_gone || mail.is_cut) return false;
  return mail.place == nullptr && mail.refused == PH_OK && !mail.is_uncertain;
}

// Of those that are counted only as many are missing as were not counted.
bool MailModel::is_settled(const MailPlace& place) {
  std::uint64_t empty = 0, shared = 0;
  for (const Mailed* mail : place.mails) {
    if (lacks_word(*mail)) return false;
    if (!lacks_fate(*mail)) continue;
    if (mail->is_counted_only())
      ++(mail->is_shared() ? shared : empty);
    else if (!mail->is_nameless)
      return false;
  }
  return place.may_lack || (empty <= place.empty_count && shared <= place.shared_count);
}

bool MailModel::is_settled() {
  for (const MailPlace& place : boxes_.places())
    if (!is_settled(place)) return false;
  std::map<NamelessKey, std::uint32_t> missing;
  for (const Mailed& mail : mails_) {
    if (!mail.is_nameless || !lacks_fate(mail)) continue;
    const NamelessKey key{mail.from, mail.lane, mail.to};
    const auto told = nameless_.find(key);
    if (told == nameless_.end() || ++missing[key] > told->second) return false;
  }
  return boxes_.is_settled();
}

void MailModel::report_pending() {
  for (const Mailed& mail : mails_) {
    if (lacks_word(mail)) return wrong("lost", mail, "has not ended for its sender");
    if (lacks_fate(mail) && !mail.is_counted_only() && !mail.is_nameless)
      return wrong("lost", mail, "has neither landed nor been refused");
  }
  for (const MailPlace& place : boxes_.places())
    if (!is_settled(place))
      return oracle_.report("lost", "messages to " + name_of(place.lives.back()) +
                                        " have neither landed nor been refused");
  boxes_.report_pending();
  if (!oracle_.failed() && !is_settled())
    oracle_.report("lost", "a message without an id has neither landed nor been refused");
}

}  // namespace photon::simtest
