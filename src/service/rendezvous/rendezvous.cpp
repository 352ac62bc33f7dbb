// Announcing buffers, at their owner, and the messages of both sides. What the peer does with them:
// buffers.cpp.
#include "service/rendezvous/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

#include "base/finally.hpp"
#include "wire/status.hpp"

namespace photon::service::rendezvous {

namespace {

constexpr std::size_t kMostWords = 5;

bool is_kind(std::int64_t kind) noexcept {
  return kind >= PH_RECV_BUFFER && kind <= PH_SEND_REQUEST;
}

// What another process wrote: what it announces must be something that there can be.
bool is_sound(const ph_buffer& buffer, std::size_t payload_bytes) noexcept {
  if (!is_kind(buffer.kind) || buffer.tag == PH_ANY_TAG) return false;
  const auto [address, key] = buffer.target;
  if (key == 0 && address != 0) return false;
  if (payload_bytes != 0)
    return buffer.kind == PH_SEND_BUFFER && payload_bytes == buffer.size_bytes && key == 0;
  if (buffer.kind == PH_SEND_REQUEST) return key == 0;
  return (key == 0) == (buffer.size_bytes == 0) && address <= ~buffer.size_bytes;
}

}  // namespace

Rendezvous::Rendezvous(Port& port) : port_(port), unfinished_(port.size()) {}

Rendezvous::~Rendezvous() {
  for (Offer& offer : offers_)
    if (offer.is_used) port_.conceal(offer.exposed);
}

ph_status Rendezvous::check_announce(Rank rank, const ph_announce_args& args) {
  const auto wrong = [&](const std::string& why) {
    return port_.fail(PH_ERR_ARGUMENT, rank, "announce" + why);
  };
  const std::string bytes = std::to_string(args.size_bytes) + " bytes";
  const std::uint64_t most_id = port_.config().max_cid_size;
  if (!is_kind(args.kind)) return wrong(": no kind " + std::to_string(args.kind));
  if ((args.flags & ~std::uint32_t{PH_NO_LCE}) != 0)
    return wrong(": unknown flags " + std::to_string(args.flags));
  if (args.tag == PH_ANY_TAG) return wrong(": PH_ANY_TAG is for those who look for buffers");
  if (args.size_bytes > wire::kMaxBufferBytes) return wrong(": no buffer has " + bytes);
  if (args.kind != PH_SEND_REQUEST && args.size_bytes != 0) {
    const auto address = reinterpret_cast<std::uint64_t>(args.buffer);
    if (address == 0) return wrong(" of " + bytes + ": the buffer is null");
    if (address > ~args.size_bytes)
      return wrong(" of " + bytes + ": the buffer wraps around the address space");
  }
  if (args.request != nullptr && (args.flags & PH_NO_LCE) != 0)
    return wrong(": a request is a local completion, and PH_NO_LCE wants none");
  if (args.local.size_bytes > most_id)
    return port_.fail(PH_ERR_ID_SIZE, rank,
                      "announce to rank " + std::to_string(rank) + ": the local id has " +
                          std::to_string(args.local.size_bytes) + " bytes, the limit is " +
                          std::to_string(most_id) + "; raise PHOTON_MAX_CID_SIZE");
  if (args.local.size_bytes != 0 && args.local.data == nullptr)
    return wrong(": the local id has bytes but its data is null");
  return PH_OK;
}

// Free, and no allocation is due when it is used or freed.
std::uint32_t Rendezvous::new_offer() {
  if (free_.empty()) {
    if (offers_.size() == offers_.capacity())
      offers_.reserve(std::max<std::size_t>(64, 2 * offers_.size()));
    free_.reserve(offers_.capacity());
    offers_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(offers_.size() - 1));
  }
  return free_.back();
}

std::uint64_t Rendezvous::token_of(const Offer& offer, std::uint32_t index) noexcept {
  return (std::uint64_t{offer.generation} << 32 | index) & kTokenMask;
}

Rendezvous::Offer* Rendezvous::find(std::uint64_t token) noexcept {
  const auto index = static_cast<std::uint32_t>(token);
  if (index >= offers_.size()) return nullptr;
  Offer& offer = offers_[index];
  return offer.is_used && token_of(offer, index) == token ? &offer : nullptr;
}

void Rendezvous::free_offer(Offer& offer) noexcept {
  if (!offer.is_over_for_user) --exposed_;
  --used_;
  offer.is_used = false;
  offer.generation = std::max(1U, (offer.generation + 1) & 0xfffffff);
  free_.push_back(static_cast<std::uint32_t>(&offer - offers_.data()));
}

// Its first word says what it is, too.
ph_status Rendezvous::say(Rank rank, Op op, std::span<std::uint64_t> words, bool behind_all) {
  words[0] |= static_cast<std::uint64_t>(op) << kOpShift;
  Saying what;
  what.to = rank;
  what.header = std::as_bytes(words);
  what.must_go = true;
  what.behind_all = behind_all;
  return port_.say(what);
}

ph_status Rendezvous::send(std::uint32_t index, std::span<const std::byte> payload) {
  Offer& offer = offers_[index];
  const std::array<std::uint64_t, kMostWords> words{
      token_of(offer, index) | static_cast<std::uint64_t>(Op::announced) << kOpShift, offer.what,
      offer.tag, offer.exposed.target.address, offer.exposed.target.key};
  Saying what;
  what.to = offer.rank;
  what.header = std::as_bytes(std::span(words));
  what.payload = payload;
  what.must_go = true;
  const ph_status status = port_.say(what, &offer.ticket);
  offer.mark = port_.mark(offer.rank);
  return status;
}

ph_status Rendezvous::announce(Rank rank, const ph_announce_args& args) {
  if (const auto status = check_announce(rank, args); status != PH_OK) return status;
  if (const auto status = port_.contact(rank); status != PH_OK) return status;
  // A quarter is left for transfers: those of two ranks that wait for each other's must go on.
  const std::uint64_t quota = std::min(port_.config().requests, kMostUnfinished);
  if (used_ >= quota - quota / 4) return port_.again();
  const std::uint32_t index = new_offer();
  const bool comes_along =
      args.kind == PH_SEND_BUFFER && args.size_bytes <= port_.config().packed_max;
  const std::span bytes(static_cast<std::byte*>(args.buffer), args.size_bytes);
  Offer& offer = offers_[index];
  const std::uint32_t generation = offer.generation;
  offer = Offer{};
  offer.generation = std::max(1U, generation);
  offer.rank = rank;
  offer.what = args.size_bytes | static_cast<std::uint64_t>(args.kind) << wire::kBufferKindShift;
  offer.tag = args.tag;
  UserEnd end;
  end.rank = rank;
  end.local = args.local;
  end.flags = args.flags;
  end.request = args.request;
  end.size_bytes = args.size_bytes;
  end.token = token_of(offer, index);
  const ph_request before = args.request == nullptr ? PH_REQUEST_NONE : *args.request;
  offer.promise = port_.promise(end);
  if (offer.promise == 0) return PH_AGAIN;
  bool is_taken = false;  // else all of it is given up, as if nothing had been asked
  const base::Finally undone([&]() noexcept {
    if (is_taken) return;
    port_.conceal(offer.exposed);
    port_.renounce(offer.promise);
    if (args.request != nullptr) *args.request = before;
  });
  const bool is_exposed = args.kind != PH_SEND_REQUEST && args.size_bytes != 0 && !comes_along;
  if (is_exposed) {
    const std::uint32_t access = args.kind == PH_RECV_BUFFER ? PH_ACCESS_WRITE : PH_ACCESS_READ;
    if (const auto status = port_.expose(bytes, access, offer.exposed); status != PH_OK)
      return status;
  }
  const auto status = send(index, comes_along ? bytes : std::span<std::byte>());
  if (status != PH_OK) return status;
  is_taken = true;
  free_.pop_back();
  offer.is_used = true;
  ++used_;
  offer.is_over_for_user = comes_along || args.kind == PH_SEND_REQUEST;
  if (offer.is_over_for_user)
    port_.complete(offer.promise, PH_OK);
  else
    ++exposed_;
  port_.hand_over(offer.promise, args.request);
  return PH_OK;
}

// The peer has said that it is done, so nothing of its is under way; one that is lost may be in the
// middle of a copy. What was complete at once only gives its place back.
void Rendezvous::over(Offer& offer, ph_status status, const char* why) {
  port_.conceal(offer.exposed);
  if (!offer.is_over_for_user || status != PH_OK) port_.complete(offer.promise, status, why);
  port_.release(offer.promise);
  free_offer(offer);
}

// Its caller wants it back: the peer shall say that it is done, if nobody there has taken it.
ph_outcome Rendezvous::on_cancel(Rank /*rank*/, std::uint64_t token) {
  Offer* const offer = find(token);
  if (offer == nullptr) return PH_ALREADY_DONE;
  if (port_.unsay(offer->rank, offer->ticket)) {
    port_.conceal(offer->exposed);
    free_offer(*offer);
    return PH_CANCELLED;
  }
  if (offer->is_cancelled) return PH_TOO_LATE;
  std::array<std::uint64_t, 3> words{token, offer->what, offer->tag};
  offer->is_cancelled = say(offer->rank, Op::cancelled, words) == PH_OK;
  return PH_TOO_LATE;
}

bool Rendezvous::on_message(const Message& message) {
  std::array<std::uint64_t, kMostWords> all{};
  const std::size_t bytes = message.header.size();
  if (bytes % sizeof all[0] != 0 || bytes == 0 || bytes > sizeof all) return false;
  std::memcpy(all.data(), message.header.data(), bytes);
  const auto op = static_cast<Op>(all[0] >> kOpShift);
  all[0] &= kTokenMask;
  const std::span words = std::span<const std::uint64_t>(all).first(bytes / sizeof all[0]);
  if (op == Op::announced) return words.size() == 5 && announced(message, words);
  if (!message.payload.empty()) return false;
  if (op == Op::cancelled) return words.size() == 3 && cancelled(message.from, words);
  return op == Op::finished && words.size() == 2 && wire::is_end(words[1]) &&
         finished(message.from, words[0], wire::to_status(words[1]));
}

// False: malformed, or more than a peer may have under way.
bool Rendezvous::announced(const Message& message, std::span<const std::uint64_t> words) {
  ph_buffer buffer{};
  buffer.rank = message.from;
  buffer.kind = static_cast<ph_buffer_kind>(words[1] >> wire::kBufferKindShift);
  buffer.size_bytes = words[1] & wire::kMaxBufferBytes;
  buffer.tag = words[2];
  buffer.target = {words[3], words[4]};
  const auto payload = message.payload;
  if (words[0] == 0 || !is_sound(buffer, payload.size())) return false;
  if (unfinished_[message.from] >= kMostUnfinished) return false;
  std::uint32_t block = Announcements::kNone;
  announcements_.make_room();  // add() does not fail now
  if (!payload.empty()) {
    block = announcements_.blocks().take();
    std::memcpy(announcements_.blocks().at(block), payload.data(), payload.size());
  }
  const std::uint32_t entry = announcements_.add(buffer, words[0], block);
  ++unfinished_[message.from];
  if (is_leaving_) give_back(entry, PH_ERR_DEPARTED, false);
  port_.wake();
  return true;
}

bool Rendezvous::finished(Rank from, std::uint64_t token, ph_status status) {
  Offer* const offer = find(token);
  if (offer == nullptr || offer->rank != from) return false;
  const bool is_taken_back = status == PH_ERR_NOT_FOUND && offer->is_cancelled;
  if (status != PH_OK && status != PH_ERR_DEPARTED && !is_taken_back) return false;
  if (offer->ticket == 0) port_.note_read(from, offer->mark);
  over(*offer, offer->is_over_for_user ? PH_OK : status,
       status == PH_ERR_DEPARTED ? "announce: its peer leaves, and will not use the buffer any more"
                                 : nullptr);
  return true;
}

// Taken, or finished, meanwhile: then it ends by its finish.
bool Rendezvous::cancelled(Rank from, std::span<const std::uint64_t> words) {
  const auto kind = static_cast<ph_buffer_kind>(words[1] >> wire::kBufferKindShift);
  if (!is_kind(kind)) return false;
  const ph_match match{kind, from, words[2], PH_ANY_SIZE};
  const std::uint32_t entry = announcements_.find_named(match, words[0]);
  if (entry != Announcements::kNone) give_back(entry, PH_ERR_NOT_FOUND, false);
  return true;
}

// What was over at once is told only where the peer is not known to have read it and may live: of a
// process that has ended nobody misses an announcement.
void Rendezvous::on_lost(Rank rank, ph_status why) noexcept {
  for (Offer& offer : offers_) {
    if (!offer.is_used || offer.rank != rank) continue;
    const bool is_untold =
        offer.is_over_for_user &&
        (!port_.may_live(rank) || (offer.ticket == 0 && port_.was_read(rank, offer.mark)));
    try {
      over(offer, is_untold ? PH_OK : why);
    } catch (const std::bad_alloc&) {
    }
  }
  announcements_.forget(rank);
}

// Nobody here takes anything any more, nor goes on with what was taken. What was posted into it
// lands first.
void Rendezvous::close() {
  is_leaving_ = true;
  for (std::uint32_t i = 0; i < announcements_.size(); ++i) {
    const auto state = announcements_.at(i).state;
    if (state != Announcements::Entry::State::free)
      give_back(i, PH_ERR_DEPARTED, state == Announcements::Entry::State::taken);
  }
}

}  // namespace photon::service::rendezvous
