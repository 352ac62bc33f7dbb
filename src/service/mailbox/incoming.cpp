// Mails that come for mailboxes are judged or kept, and their senders are told.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/finally.hpp"
#include "service/mailbox/receiver.hpp"
#include "service/mailbox/sender.hpp"

namespace photon::service::mailbox {

namespace {

constexpr std::uint64_t kMostCarried = std::uint64_t{1} << 20;  // the range of mailbox_carried_max
constexpr std::uint64_t kMailsPerCredit = 64;
constexpr std::int64_t kTellNs = 100'000;  // a sender may wait for its last credits

void copy_all(std::span<const std::span<const std::byte>> parts, std::byte* to) noexcept {
  for (const std::span<const std::byte> part : parts) {
    if (part.empty()) continue;
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
}

}  // namespace

bool Receiver::on_mail(Rank from, const Decoded& mail) {
  const From& sender = peer(from);
  if (mail.letter.is_offer && sender.offers >= kMostOffers) return false;
  const std::span<const std::byte> part[] = {mail.bytes};
  judge(from, mail.letter, part);
  return true;
}

bool Receiver::land_word(const WordMail& mail) noexcept {
  From* const sender = peers_[mail.from].get();
  Box* const box = table_.find(mail.named);
  if (sender == nullptr || check(box, mail.from) != PH_OK) return false;
  if (!box->window->land_word(mail, *this)) return false;
  ++sender->judged;
  owe(mail.from, Sender::charge(sizeof(mail.word)));
  return true;
}

ph_status Receiver::check(const Box* box, Rank from) noexcept {
  if (box == nullptr) return PH_ERR_NOT_FOUND;
  return box->source == PH_ANY_RANK || box->source == from ? PH_OK : PH_ERR_ACCESS;
}

// The mailbox that the address names, or else the catch-all, if it takes what that rank sends. An
// epoch or an incarnation that a message names is that of the address that it names, too.
Receiver::Box* Receiver::box_for(Rank from, const Letter& letter) const noexcept {
  Box* const named = table_.find(letter.address);
  if (named != nullptr || catch_all_ == nullptr || letter.mail.withdraws) return named;
  const bool means_one = letter.mail.epoch != PH_ANY_EPOCH || letter.mail.incarnation != 0;
  return !means_one && check(catch_all_, from) == PH_OK ? catch_all_ : nullptr;
}

// True: the address is not open, and its senders, if they did not ask, hear nothing.
bool Receiver::is_silent(std::uint64_t address) const noexcept {
  const auto past = past_.find(address);
  if (past != past_.end()) return past->second.is_silent;
  return config_.mailbox_refusals == base::Switch::off;
}

// An offer is read into one buffer.
bool Receiver::is_divided(const Box& box, const Letter& letter) noexcept {
  return !letter.is_offer && box.window->divides(letter.mail);
}

// Admission, the copy, and the count; that of an offer follows. `end`: of what does not wait.
Fate Receiver::place(Box& box, const Arrival& mail, End& end) noexcept {
  Window& window = *box.window;
  if (window.policy().grants && !end_grants(box, 1)) return Fate::waits;
  if (mail.letter.mail.withdraws) [[unlikely]] {
    const Outcome outcome = window.withdraw(mail.letter.mail, *this);
    end = {outcome.status, outcome.epoch};
    return outcome.fate;
  }
  const bool divides = is_divided(box, mail.letter);
  const Outcome outcome =
      divides ? window.admit_all(mail.letter.mail) : window.admit(mail.letter.mail, *this);
  end.status = outcome.status;
  if (outcome.is_admitted()) end.epoch = outcome.epoch;
  if (outcome.fate != Fate::lands)
    return outcome.fate == Fate::scatters ? scatter(box, mail, outcome, end) : outcome.fate;
  if (divides) {
    fill(box, mail.letter.mail, mail.parts, end.epoch);
    return Fate::lands;
  }
  if (!mail.letter.is_offer) {
    copy_all(mail.parts, outcome.place);
    window.landed(mail.letter.mail, outcome, *this);
    return Fate::lands;
  }
  end.status = begin_pull(box, mail, outcome);
  return end.status == PH_OK ? Fate::lands : Fate::refused;
}

// The same of one whose bytes have several places.
Fate Receiver::scatter(Box& box, const Arrival& mail, const Outcome& outcome, End& end) noexcept {
  if (mail.letter.is_offer) {
    end.status = begin_pull(box, mail, outcome);
    return end.status == PH_OK ? Fate::lands : Fate::refused;
  }
  ByteReader reader(mail.parts);
  copy(outcome, mail.letter.mail.size_bytes, reader);
  box.window->scattered(mail.letter.mail, outcome, *this);
  watch_linger(box);
  return Fate::lands;
}

// The next mail of that sender: it has come whole, or is an offer.
void Receiver::judge(Rank from, const Letter& letter, Parts parts) {
  const Round round(*this);
  From& sender = *peers_[from];
  const Arrival mail{from, sender.judged++, letter, parts};
  Box* const box = box_for(from, letter);
  End end{.status = check(box, from)};
  if (box == nullptr && !letter.asks && is_silent(letter.address)) {
    port_.note_dropped();
    if (letter.is_offer) reports_.say(from, Op::verdict, mail.number);  // its source is waited for
    return owe(from, Sender::charge(letter.carried_bytes()));
  }
  Fate fate = Fate::refused;
  if (end.status == PH_OK && land_stored(*box, mail)) return;
  if (end.status == PH_OK) {
    fate = place(*box, mail, end);
    give_grants(*box);
  }
  if (fate == Fate::waits && !keep(*box, mail)) {
    fate = Fate::refused;
    end.status = PH_ERR_NO_BUFFER;
  }
  if (fate == Fate::waits || (fate == Fate::lands && letter.is_offer)) {
    if (letter.is_offer) ++sender.offers;
    reports_.say(from, Op::kept, mail.number);
    if (fate == Fate::waits && is_divided(*box, letter)) try_early(*box);
    return owe(from, 0);  // it is charged no more
  }
  if (end.status != PH_OK || letter.asks) reports_.say(from, Op::verdict, mail.number, end);
  owe(from, Sender::charge(letter.carried_bytes()));
}

// An offer costs no room: its bytes are still at its sender.
std::uint64_t Receiver::Early::charge() const noexcept {
  return letter.is_offer ? 0 : Sender::charge(bytes.size());
}

// False: there is no room for it.
bool Receiver::keep(Box& box, const Arrival& mail) noexcept {
  From& sender = *peers_[mail.from];
  bool is_kept = false;
  try {
    Early early{mail.from, mail.number, mail.letter, {}};
    const bool is_offer = mail.letter.is_offer;
    const std::uint64_t bytes = is_offer ? 0 : Sender::charge(mail.letter.carried_bytes());
    if (bytes != 0 && (sender.early_bytes + bytes > config_.mailbox_early_bytes ||
                       early_bytes_ + bytes > config_.mailbox_early_total_bytes))
      return false;
    early.bytes.resize(mail.letter.carried_bytes());
    if (!is_offer) copy_all(mail.parts, early.bytes.data());
    sender.kept.emplace_hint(sender.kept.end(), mail.number, &box);
    const base::Finally settled([&]() noexcept {
      if (!is_kept) sender.kept.erase(mail.number);
    });
    box.early.push_back(std::move(early));
    is_kept = true;
    sender.early_bytes += bytes;
    early_bytes_ += bytes;
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++early_mails_;
  return true;
}

// It waits no more.
void Receiver::forget_early(const Early& mail) noexcept {
  peers_[mail.from]->early_bytes -= mail.charge();
  peers_[mail.from]->kept.erase(mail.number);
  early_bytes_ -= mail.charge();
  --early_mails_;
}

// Ends a message whose sender has been told that it waits.
void Receiver::give_verdict(Rank to, std::uint64_t number, bool is_offer, const End& end) noexcept {
  if (is_offer && pulls_.owe(to, number, end)) return;  // its source is still read
  if (is_offer) --peers_[to]->offers;
  reports_.say(to, Op::verdict, number, end);
}

Fate Receiver::place_early(Box& box, Early& early, End& end) noexcept {
  if (is_divided(box, early.letter)) return place_rest(box, early, end);
  const std::span<const std::byte> part[] = {early.bytes};
  return place(box, {early.from, early.number, early.letter, part}, end);
}

// After a buffer was posted, or the epochs have changed: in the order in which they came.
void Receiver::try_early(Box& box) noexcept {
  const Round round(*this);
  std::size_t left = 0;
  for (std::size_t i = 0; i < box.early.size(); ++i) {
    Early& mail = box.early[i];
    End end;
    const Fate fate = place_early(box, mail, end);
    if (fate == Fate::waits) {
      if (left != i) box.early[left] = std::move(mail);
      ++left;
      continue;
    }
    forget_early(mail);
    const bool is_read = fate == Fate::lands && mail.letter.is_offer;
    if (!is_read) give_verdict(mail.from, mail.number, mail.letter.is_offer, end);
  }
  box.early.resize(left);
}

void Receiver::drop_early(Box& box, ph_status status) noexcept {
  const Round round(*this);
  const bool is_silent = status == PH_ERR_NOT_FOUND && box.window->policy().closes_silently;
  for (const Early& mail : box.early) {
    const bool drops = is_silent && !mail.letter.asks;
    if (drops) port_.note_dropped();
    forget_early(mail);
    give_verdict(mail.from, mail.number, mail.letter.is_offer, {drops ? PH_OK : status});
  }
  box.early.clear();
  box.early.shrink_to_fit();
}

// ---- gets

std::span<const std::byte> Receiver::on_ask(Rank from, const Ask& ask, Answer& answer) noexcept {
  Box* const box = table_.find(ask.address);
  answer = {ask.token, check(box, from), 0, 0};
  if (answer.status != PH_OK) return {};
  const Outcome outcome = box->window->read(ask.what);
  answer = {ask.token, outcome.status, outcome.epoch, box->window->incarnation()};
  if (outcome.status != PH_OK) return {};
  if (outcome.fate == Fate::lands) return {outcome.place, ask.what.size_bytes};
  gathered_.clear();
  try {
    while (gathered_.size() < ask.what.size_bytes) {
      const auto piece = outcome.piece(gathered_.size(), ask.what.size_bytes - gathered_.size());
      gathered_.insert(gathered_.end(), piece.begin(), piece.end());
    }
  } catch (const std::bad_alloc&) {
    answer.status = PH_ERR_MEMORY;
    gathered_ = {};
  }
  return gathered_;
}

void Receiver::counted(const Ask& ask, const Answer& answer) noexcept {
  Box* const box = table_.find(ask.address);
  if (box == nullptr || answer.status != PH_OK) return;
  box->window->was_read(ask.what, {Fate::lands, PH_OK, answer.epoch, nullptr}, *this);
}

// ---- bodies

bool Receiver::begin_body(const Chunk& chunk, Coming& coming) {
  const auto op = op_of(chunk.message.header);
  if (op != Op::mail || chunk.size_bytes > kMostCarried) return false;
  const auto mail = decode_mail(chunk.message.header, chunk.message.payload, chunk.size_bytes);
  if (!mail) return false;
  coming.letter = mail->letter;
  coming.letter.mail.from = chunk.message.from;
  coming.copy.clear();
  return true;
}

Verdict Receiver::on_chunk(const Chunk& chunk) {
  From& sender = peer(chunk.message.from);
  Coming& coming = sender.coming;
  if (chunk.offset == 0 && !begin_body(chunk, coming)) return Verdict::malformed;
  if (chunk.bytes.empty()) {  // its sender knows why
    coming.copy = {};
    const std::uint64_t bytes = Sender::charge(coming.letter.mail.size_bytes);
    ++sender.judged;
    owe(chunk.message.from, bytes);
    return Verdict::taken;
  }
  // A chunk that stayed in the ring would hold up all that comes behind it there, and with others'
  // bytes behind it the rest of its own body could not come.
  const bool is_whole = chunk.offset == 0 && chunk.is_last();
  if (!is_whole) coming.copy.insert(coming.copy.end(), chunk.bytes.begin(), chunk.bytes.end());
  if (!chunk.is_last()) return Verdict::taken;
  const std::span<const std::byte> part[] = {is_whole ? chunk.bytes
                                                      : std::span<const std::byte>(coming.copy)};
  judge(chunk.message.from, coming.letter, part);
  coming.copy = {};  // it may be large
  return Verdict::taken;
}

// A mail that came whole stays; a body that did not, and an offer, have left no trace.
void Receiver::on_lost(Rank from) noexcept {
  From* const sender = peers_[from].get();
  if (sender == nullptr) {  // nothing has come from it
    if (rounds_ == 0) drop_grants(from);
    return;
  }
  reports_.on_lost(from);
  sender->is_lost = has_lost_ = true;
  if (rounds_ == 0) drop_lost();
}

void Receiver::drop_lost() noexcept {
  has_lost_ = false;
  for (Rank from = 0; from < peers_.size(); ++from) {
    From* const sender = peers_[from].get();
    if (sender == nullptr || !std::exchange(sender->is_lost, false)) continue;
    sender->coming.copy = {};
    if (sender->offers != 0) drop_offers(from);
    drop_grants(from);
  }
}

// ---- what senders are told

// Its sender may use that much again. It is told in batches, and at the latest a little later.
void Receiver::owe(Rank to, std::uint64_t bytes) noexcept {
  From& sender = *peers_[to];
  sender.owed_bytes += bytes;
  if (sender.judged - sender.told >= kMailsPerCredit ||
      sender.owed_bytes >= config_.mailbox_early_bytes / 4)
    return tell(to);
  if (std::exchange(sender.is_owing, true)) return;
  owing_.push_unchecked(to);  // peer() has made room
  if (tell_by_ns_ == INT64_MAX) tell_by_ns_ = port_.now_ns() + kTellNs;
}

void Receiver::tell(Rank to) noexcept {
  From& sender = *peers_[to];
  if (sender.told == sender.judged) return;
  if (!reports_.say_credit(to, sender.judged)) {
    // No sender goes on for so long without a credit, whatever its settings are.
    if (sender.judged - sender.told > kMostMails)
      port_.cut_off(to, "mailbox: it sends on without the credits that it does not read");
    return;
  }
  sender.told = sender.judged;
  sender.owed_bytes = 0;
}

void Receiver::tell_all() noexcept {
  for (; !owing_.empty(); owing_.pop()) {
    const Rank to = owing_.front();
    peers_[to]->is_owing = false;
    tell(to);
  }
  tell_by_ns_ = INT64_MAX;
}

}  // namespace photon::service::mailbox
