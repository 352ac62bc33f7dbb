#include "service/mailbox/sender.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/finally.hpp"
#include "wire/status.hpp"

namespace photon::service::mailbox {

namespace {

constexpr std::int64_t kRetryNs = 20'000;

constexpr const char* kRefused =
    "mailbox: its receiver refused a message; the status says why (ph_mailbox_put)";
constexpr const char* kLost = "mailbox: the receiver was lost before it had taken the message";

const char* words_of(ph_status status) noexcept {
  return status == PH_ERR_PEER || status == PH_ERR_DEPARTED ? kLost : kRefused;
}

}  // namespace

ph_status Sender::check_id(Rank rank, const ph_id& local) {
  const std::uint64_t most = config_.max_cid_size;
  if (local.size_bytes > most)
    return port_.fail(PH_ERR_ID_SIZE, rank,
                      "mailbox_put: the local id has " + std::to_string(local.size_bytes) +
                          " bytes, the limit is " + std::to_string(most) +
                          "; raise PHOTON_MAX_CID_SIZE");
  if (local.size_bytes != 0 && local.data == nullptr)
    return port_.fail(PH_ERR_ARGUMENT, rank,
                      "mailbox_put: the local id has bytes but its data is null");
  return PH_OK;
}

ph_status Sender::check(Rank rank, const ph_mailbox_put_args& args) {
  const auto wrong = [&](const std::string& why) {
    return port_.fail(PH_ERR_ARGUMENT, rank,
                      "mailbox_put of " + std::to_string(args.size_bytes) + " bytes: " + why);
  };
  if ((args.flags & ~std::uint32_t{PH_NO_LCE}) != 0)
    return wrong("unknown flags " + std::to_string(args.flags));
  if (args.size_bytes != 0 && args.source == nullptr) return wrong("the source is null");
  const std::uint64_t most = config_.mailbox_carried_max;
  if (args.size_bytes > most && (args.flags & PH_NO_LCE) != 0)
    return wrong("above " + std::to_string(most) +
                 " (PHOTON_MAILBOX_CARRIED_MAX) the source is read later: that needs a completion");
  if (args.offset > ~args.size_bytes) return wrong("offset and size wrap around");
  if (reinterpret_cast<std::uint64_t>(args.source) > ~args.size_bytes)
    return wrong("source and size wrap around");
  if (args.request != nullptr && (args.flags & PH_NO_LCE) != 0)
    return wrong("a request is a local completion, and PH_NO_LCE wants none");
  if (args.landed_in != nullptr && args.request == nullptr)
    return wrong("without a request nobody says in which epoch it lands");
  return check_id(rank, args.local);
}

ph_status Sender::prepare(Rank rank, std::uint64_t bytes, To*& to) {
  if (const ph_status status = port_.contact(rank); status != PH_OK) return status;
  if (peers_[rank] == nullptr) peers_[rank] = std::make_unique<To>(port_);
  to = peers_[rank].get();
  return has_room(*to, bytes) ? PH_OK : port_.again();
}

bool Sender::has_room(To& to, std::uint64_t bytes) {
  // One is always let go, however small the credit.
  if (to.used_bytes != 0 && to.used_bytes + charge(bytes) > config_.mailbox_early_bytes)
    return false;
  to.sent.make_room();
  // All of them may be kept by their receiver: to hear of that needs no memory.
  const std::size_t most = to.waiting.size() + to.sent.size() + 1;
  if (most > kMostMails) return false;
  if (to.waiting.capacity() < most) [[unlikely]]
    to.waiting.reserve(2 * most);
  return true;
}

ph_status Sender::say_line(Rank rank, const Encoded& encoded, std::size_t count) noexcept {
  const Words& w = encoded.words;
  switch (count) {
    case 3: return port_.say_words(rank, w[0], w[1], w[2]);
    case 4: return port_.say_words(rank, w[0], w[1], w[2], w[3]);
    case 5: return port_.say_words(rank, w[0], w[1], w[2], w[3], w[4]);
    case 6: return port_.say_words(rank, w[0], w[1], w[2], w[3], w[4], w[5]);
    default: return port_.say_words(rank, w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
  }
}

// The smallest way that has room for the bytes.
ph_status Sender::send(Rank rank, const Letter& letter, std::span<const std::byte> bytes,
                       std::uint64_t number, bool& has_body) {
  Encoded encoded = encode(letter);
  if (bytes.size() <= encoded.room_bytes())
    return say_line(rank, encoded, add_bytes(encoded, bytes));
  Saying what;
  what.to = rank;
  what.header = std::as_bytes(std::span(encoded.words).first(encoded.count));
  if (bytes.size() <= wire::kMaxPackedBytes) {
    what.payload = bytes;
    return port_.say(what);
  }
  has_body = true;
  return port_.say_body(what, bytes, number);
}

// Its receiver may read it until the verdict.
ph_status Sender::expose(To& to, std::span<const std::byte> source, Letter& letter) {
  if (to.offers.size() >= kMostOffers) return port_.again();
  Offer offer{to.sent.end(), {}};
  to.offers.reserve(to.offers.size() + 1);
  const ph_status status = port_.expose(source, PH_ACCESS_READ, offer.source);
  if (status == PH_ERR_MEMORY && !to.offers.empty()) return port_.again();  // those will end
  if (status != PH_OK) return status;
  letter.is_offer = true;
  letter.source = offer.source.target;
  to.offers.push_back(offer);
  return PH_OK;
}

// If it is an offer's number.
void Sender::conceal(To& to, std::uint64_t number) noexcept {
  const auto offer = std::ranges::lower_bound(to.offers, number, {}, &Offer::number);
  if (offer == to.offers.end() || offer->number != number) return;
  port_.conceal(offer->source);
  to.offers.erase(offer);
}

ph_status Sender::put(Rank rank, const ph_mailbox_put_args& args, bool appends) {
  if (const ph_status status = check(rank, args); status != PH_OK) return status;
  Letter letter{.address = args.address,
                .mail = {args.offset, args.size_bytes, args.epoch, args.incarnation, appends},
                .asks = args.request != nullptr};
  return post(rank, args, letter);
}

ph_status Sender::post(Rank rank, const ph_mailbox_put_args& args, Letter& letter) {
  const bool is_ahead = goes_ahead(rank, args, letter.mail.appends);
  const bool is_offer = is_ahead || args.size_bytes > config_.mailbox_carried_max;
  const std::span source(static_cast<const std::byte*>(args.source), args.size_bytes);
  const std::span carried = is_offer ? source.first(0) : source;
  To* to = nullptr;
  if (const ph_status status = prepare(rank, carried.size(), to); status != PH_OK) return status;
  const std::uint64_t number = to->sent.end();
  const ph_request before = args.request != nullptr ? *args.request : ph_request{};
  Sent mail{.charge = charge(carried.size()), .asks = letter.asks || is_offer};
  mail.has_long_id = args.local.size_bytes > sizeof mail.id;
  const bool is_promised = (args.flags & PH_NO_LCE) == 0 || mail.has_long_id;
  bool is_sent = false;
  const base::Finally settled([&]() noexcept {
    if (is_sent) return;
    if (mail.promise != 0) port_.renounce(mail.promise);
    if (args.request != nullptr) *args.request = before;
    conceal(*to, number);
  });
  if (args.landed_in != nullptr) to->landings.reserve(to->landings.size() + 1);
  if (is_offer)
    if (const ph_status status = expose(*to, source, letter); status != PH_OK) return status;
  if (is_promised) {
    mail.promise =
        port_.promise({rank, args.local, args.flags, args.request, args.size_bytes, number});
    if (mail.promise == 0) return PH_AGAIN;
  }
  if (is_ahead) to->ahead.store(rank, letter, source);
  const ph_status status = letter.is_stored ? send_offer(rank, letter)
                                            : send(rank, letter, carried, number, mail.has_body);
  if (status != PH_OK) return status;
  if (!letter.is_stored && !to->ahead.empty()) to->ahead.goes_otherwise(args.address, number);
  is_sent = true;
  if (args.landed_in != nullptr) to->landings.push_back({number, args.landed_in});
  waited_for_ += mail.asks + mail.has_body;
  to->used_bytes += mail.charge;
  if (!mail.has_long_id) {
    mail.id_bytes = static_cast<std::uint8_t>(args.local.size_bytes);
    if (mail.id_bytes != 0) std::memcpy(&mail.id, args.local.data, mail.id_bytes);
  }
  if (!mail.asks && !mail.has_body) end(rank, mail, PH_OK);
  to->sent.push_unchecked(mail);
  return PH_OK;
}

// A word to a rank that is met: all that is looked at is what may keep it from going.
ph_status Sender::put_word(Rank rank, std::uint64_t address, std::uint64_t offset,
                           const std::byte* source) {
  To& to = *peers_[rank];
  if (!has_room(to, sizeof(std::uint64_t))) return port_.again();
  std::uint64_t word = 0;
  std::memcpy(&word, source, sizeof word);
  const ph_status status = port_.say_words(rank, kWordMail, address, offset, word);
  if (status != PH_OK) return status;
  if (!to.ahead.empty()) [[unlikely]]
    to.ahead.goes_otherwise(address, to.sent.end());
  to.used_bytes += charge(sizeof word);
  to.sent.push_unchecked({.charge = charge(sizeof word), .is_told = true});
  return PH_OK;
}

ph_status Sender::put_u64(Rank rank, std::uint64_t address, std::uint64_t offset,
                          std::span<const std::byte> source) {
  if (source.size() == sizeof(std::uint64_t) && source.data() != nullptr && port_.can_say(rank) &&
      peers_[rank] != nullptr && offset <= ~std::uint64_t{sizeof(std::uint64_t)}) [[likely]]
    return put_word(rank, address, offset, source.data());
  ph_mailbox_put_args args{};
  args.address = address;
  args.offset = offset;
  args.source = source.data();
  args.size_bytes = source.size();
  args.epoch = PH_ANY_EPOCH;
  args.flags = PH_NO_LCE;
  if (source.size() > std::min<std::uint64_t>(wire::kMaxPackedBytes, config_.mailbox_carried_max))
    return put(rank, args, false);
  if (const ph_status status = check(rank, args); status != PH_OK) return status;
  To* to = nullptr;
  if (const ph_status status = prepare(rank, source.size(), to); status != PH_OK) return status;
  Letter letter;
  letter.address = address;
  letter.mail.offset = offset;
  bool has_body = false;
  const ph_status status = send(rank, letter, source, to->sent.end(), has_body);
  if (status != PH_OK) return status;
  if (!to->ahead.empty()) to->ahead.goes_otherwise(address, to->sent.end());
  to->used_bytes += charge(source.size());
  to->sent.push_unchecked({.charge = charge(source.size()), .is_told = true});
  return PH_OK;
}

// The source is the user's again. Only an id that is longer than ours keeps its promise.
void Sender::let_go(Sent& mail) noexcept {
  mail.is_told = true;
  if (mail.has_long_id || mail.promise == 0) return;
  port_.release(mail.promise);
  mail.promise = 0;
}

// The user hears of it, and once more only if what was over was refused.
void Sender::end(Rank rank, Sent& mail, ph_status status) noexcept {
  if (mail.is_told && status == PH_OK) return;
  if (mail.promise == 0 && status != PH_OK) {
    mail.is_told = true;
    return told_late(rank, mail, status);
  }
  if (mail.promise != 0)
    port_.complete(mail.promise, status, status == PH_OK ? nullptr : words_of(status));
  waited_for_ -= mail.asks;
  if (status != PH_OK || mail.asks) mail.has_long_id = false;  // nothing more will be told
  mail.asks = false;
  let_go(mail);
}

void Sender::told_late(Rank rank, const Sent& mail, ph_status status) noexcept {
  const Refused refused{rank, mail, status};
  try {
    refused_.make_room();
    if (refused_.empty() && tell_refusal(refused)) return;
    refused_.push_unchecked(refused);
    if (retry_ns_ == INT64_MAX) retry_ns_ = port_.now_ns() + kRetryNs;
  } catch (const std::bad_alloc&) {  // a turn that finds no memory tries again; this one is dropped
    port_.cut_off(rank, "");         // words would need memory
  }
}

// False: `requests` operations are under way.
bool Sender::tell_refusal(const Refused& refused) {
  const ph_id id{&refused.mail.id, refused.mail.id_bytes};
  const std::uint64_t promise = port_.promise({refused.rank, id, PH_NO_LCE, nullptr, 0, 0});
  if (promise == 0) return false;
  port_.complete(promise, refused.status, words_of(refused.status));
  port_.release(promise);
  has_told_end_ = has_told_end_ || (is_closing_ && refused.status != PH_ERR_DEPARTED);
  return true;
}

// All `requests` may be held by completions that nobody will take.
bool Sender::note_refusal(const Refused& refused) noexcept {
  if (is_closing_) port_.note_unheard(refused.rank, refused.status, words_of(refused.status));
  return is_closing_;
}

void Sender::tell_refusals() {
  while (!refused_.empty() &&
         (has_told_end_ || tell_refusal(refused_.front()) || note_refusal(refused_.front())))
    refused_.pop();
  retry_ns_ = refused_.empty() ? INT64_MAX : port_.now_ns() + kRetryNs;
}

void Sender::forget(To& to, const Sent& mail) noexcept {
  waited_for_ -= mail.asks + mail.has_body;
  to.used_bytes -= mail.charge;
  if (mail.promise != 0) port_.release(mail.promise);
}

void Sender::on_local(Rank to_rank, std::uint64_t token, ph_status status) noexcept {
  To* const to = peers_[to_rank].get();
  if (to == nullptr || token < to->sent.begin() || token >= to->sent.end()) return;
  Sent& mail = to->sent.at(token);
  if (!mail.has_body) return;
  mail.has_body = false;
  --waited_for_;
  if (status != PH_OK) note_landing(*to, token, PH_ANY_EPOCH);
  if (!mail.asks || status != PH_OK) end(to_rank, mail, status);
}

bool Sender::on_reply(Rank from, const Reply& reply) noexcept {
  To* const to = peers_[from].get();
  if (to == nullptr) return false;
  switch (reply.op) {
    case Op::credit: return on_credit(*to, reply.number);
    case Op::kept: return on_kept(*to, reply.number);
    case Op::verdict: return on_verdict(from, *to, reply);
    case Op::mail:
    case Op::grant:
    case Op::ask:
    case Op::answer:
    case Op::recall: break;
  }
  return false;
}

bool Sender::on_credit(To& to, std::uint64_t number) noexcept {
  if (number <= to.sent.begin() || number > to.sent.end()) return false;
  for (; to.sent.begin() != number; to.sent.pop()) {
    const Sent& mail = to.sent.front();
    if (!mail.is_told) return false;  // nobody has said how it ended
    forget(to, mail);
  }
  return true;
}

bool Sender::on_kept(To& to, std::uint64_t number) noexcept {
  if (number < to.sent.begin() || number >= to.sent.end()) return false;
  Sent& mail = to.sent.at(number);
  if (mail.charge == 0 || mail.is_judged || mail.has_body) return false;
  if (!to.waiting.empty() && to.waiting.back().number >= number) return false;
  to.used_bytes -= std::exchange(mail.charge, 0);
  to.waiting.push_back({number, mail});  // prepare() has made room
  mail = {.is_told = true};
  return true;
}

bool Sender::on_verdict(Rank from, To& to, const Reply& reply) noexcept {
  const std::uint64_t number = reply.number;
  const ph_status status = wire::to_status(reply.status);
  if (number >= to.sent.end()) return false;
  const auto kept = std::ranges::lower_bound(to.waiting, number, {}, &Waiting::number);
  if (kept != to.waiting.end() && kept->number == number) {
    Sent mail = kept->mail;
    to.waiting.erase(kept);  // first: where memory runs out end() loses the peer, and clears them
    conceal(to, number);
    note_landing(to, number, reply.epoch);
    end(from, mail, status);
    forget(to, mail);
    return true;
  }
  if (number < to.sent.begin()) return false;
  Sent& mail = to.sent.at(number);
  const bool is_empty = status == PH_OK && !mail.asks;  // nobody has asked
  if (mail.charge == 0 || mail.has_body || mail.is_judged || is_empty) return false;
  conceal(to, number);
  note_landing(to, number, reply.epoch);
  end(from, mail, status);
  mail.is_judged = true;
  return true;
}

void Sender::on_lost(Rank rank, ph_status why) noexcept {
  To* const to = peers_[rank].get();
  if (to == nullptr) return;
  // One that was over is told of only where it may be missed: its receiver lives, or has left with
  // all that it had taken confirmed.
  const bool may_be_missed = why == PH_ERR_DEPARTED || port_.may_live(rank);
  const auto is_owed = [may_be_missed](const Sent& mail) {
    return !mail.is_told || (!mail.is_judged && may_be_missed);
  };
  for (const Landing& one : to->landings) *one.epoch = PH_ANY_EPOCH;
  to->landings.clear();
  for (; !to->sent.empty(); to->sent.pop()) {
    Sent& mail = to->sent.front();
    if (mail.charge == 0) continue;
    if (is_owed(mail)) end(rank, mail, why);
    forget(*to, mail);
  }
  for (Waiting& one : to->waiting) {
    if (is_owed(one.mail)) end(rank, one.mail, why);
    forget(*to, one.mail);
  }
  to->waiting.clear();
  for (Offer& offer : to->offers) port_.conceal(offer.source);
  to->offers.clear();
  to->ahead.clear();
}

}  // namespace photon::service::mailbox
