#include "service/am/am_runner.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "service/am/landing.hpp"
#include "wire/status.hpp"

namespace photon::service::am {

// A number that is no status of this version would end us at its sender.
ph_status as_told(ph_status returned) noexcept {
  if (returned == PH_OK) return PH_OK;
  const ph_status verdict = as_verdict(returned);
  const auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(verdict));
  return wire::is_end(word) ? verdict : PH_ERR_ARGUMENT;
}

namespace {

// Field by field: to clear it as a whole takes as long as the rest of a run.
void clear(ph_am_landing& named) noexcept {
  named.size = sizeof named;
  named.flags = 0;
  named.blocks_count = 0;
  named.buffer = nullptr;
  named.buffer_bytes = 0;
  named.blocks = nullptr;
  named.done = nullptr;
  named.argument = nullptr;
  named.chunk_bytes = 0;
}

// Whether the handler of a carried message wants its payload elsewhere than it is. Of a payload of
// no bytes a buffer may be null and have none: who waits for its end hears of it.
bool names_any(const ph_am_landing& named, std::uint64_t payload_bytes) noexcept {
  return named.buffer != nullptr || named.buffer_bytes != 0 || named.blocks != nullptr ||
         named.blocks_count != 0 || named.flags != 0 ||
         (named.done != nullptr && payload_bytes == 0);
}

}  // namespace

void Runner::run() noexcept {
  try {
    run_due();
  } catch (...) {
    die();
  }
}

void Runner::run_alone() noexcept {
  try {
    ++calls_;
    is_shown_ = true;
    ph_am_landing named;
    clear(named);
    ph_status status = as_told(alone_.node->handler(alone_.node->user, &message_, &named));
    if (status == PH_OK && names_any(named, message_.payload_bytes)) [[unlikely]]
      status = land_here({static_cast<const std::byte*>(message_.payload),
                          static_cast<std::size_t>(message_.payload_bytes)},
                         named);
    alone_.status = status;
    is_shown_ = false;
  } catch (...) {
    die();
  }
}

void Runner::die() const noexcept {
  std::fprintf(stderr,
               "photon: the handler of active message %u (rank %u) let an exception out; handlers "
               "must not\n",
               static_cast<unsigned>(message_.id), static_cast<unsigned>(its_.self));
  std::abort();
}

void Runner::run_due() {
  const std::span<Arrived> all = its_.inbox.running();
  std::uint64_t lent_bytes = 0;
  const std::size_t end = std::min(all.size(), done_ + its_.most_at_once);
  while (done_ < end) {
    Arrived& entry = all[done_];
    handle(entry);
    ++done_;
    if (entry.where != Arrived::Bytes::lent) continue;
    its_.loans.returned();
    lent_bytes += entry.payload_bytes + entry.word.header_bytes;
    if (lent_bytes >= its_.lent_limit) break;
  }
  if (call_.pull != nullptr) run_call();
}

// One in a run, so that the next parts are asked for while the handlers of others wait.
void Runner::run_call() {
  Pull& pull = *call_.pull;
  ++calls_;
  show(pull.from, pull.word, pull.words.immediate);
  show_no_bytes();
  message_.payload_bytes = pull.words.payload_bytes;
  asked_.was_replied = pull.was_replied;
  call_.returned = call_done(pull.landing, call_.part);
  pull.was_replied = asked_.was_replied;
  is_shown_ = false;
}

void Runner::handle(Arrived& entry) {
  if (entry.word.op == Op::aggregate) return handle_items(entry);
  HandlerNode* const node = its_.table.find(entry.word.id);
  if (node == nullptr) {
    entry.status = PH_ERR_NOT_FOUND;
    return;
  }
  ++calls_;
  if (entry.is_plain())
    show_plain(entry);
  else
    show(entry);
  ph_am_landing named;
  clear(named);
  entry.status = as_told(node->handler(node->user, &message_, &named));
  if (entry.status == PH_OK && entry.pull != nullptr)
    entry.status = land_later(*entry.pull, *node, named);
  else if (entry.status == PH_OK && names_any(named, entry.payload_bytes))
    entry.status = land_here({entry.payload(), entry.payload_bytes}, named);
  entry.was_replied = asked_.was_replied;
  is_shown_ = false;
}

// So many as were counted when it came: what is lent may have changed.
void Runner::handle_items(Arrived& entry) {
  Items items({entry.payload(), entry.payload_bytes});
  for (std::uint32_t i = 0; i < entry.items; ++i) {
    const auto item = items.next();
    const ph_status status = item ? handle_item(entry.from, *item) : PH_ERR_PROTOCOL;
    if (status != PH_OK && entry.items_wrong++ == 0) entry.status = status;
  }
}

ph_status Runner::handle_item(Rank from, const Item& item) {
  const HandlerNode* const node = its_.table.find(item.id);
  if (node == nullptr) return PH_ERR_NOT_FOUND;
  ++calls_;
  Word word;
  word.id = item.id;
  show(from, word, item.parts.immediate);
  message_.header_bytes = static_cast<std::uint32_t>(item.parts.header.size());
  message_.header = item.parts.header.empty() ? nullptr : item.parts.header.data();
  message_.payload = item.parts.payload.data();
  message_.payload_bytes = item.parts.payload.size();
  ph_am_landing named;
  clear(named);
  ph_status status = as_told(node->handler(node->user, &message_, &named));
  if (status == PH_OK && names_any(named, item.parts.payload.size()))
    status = land_here(item.parts.payload, named);
  is_shown_ = false;
  return status;
}

void Runner::show(Rank from, const Word& word, std::uint64_t immediate) noexcept {
  asked_ = {from, word, false};
  is_shown_ = true;
  message_.source = from;
  message_.id = word.id;
  message_.flags =
      (word.has(kWantsReply) ? PH_AM_REPLY : 0U) | (word.has(kIsReply) ? PH_AM_IS_REPLY : 0U);
  message_.immediate = immediate;
}

void Runner::show_plain(const Arrived& entry) noexcept {
  asked_.from = entry.from;
  asked_.word = entry.word;
  asked_.was_replied = false;
  is_shown_ = true;
  message_.source = entry.from;
  message_.id = entry.word.id;
  message_.flags = 0;
  message_.immediate = 0;
  message_.header_bytes = 0;
  message_.header = nullptr;
  message_.payload = entry.line.data();
  message_.payload_bytes = entry.payload_bytes;
}

void Runner::show(const Arrived& entry) noexcept {
  show(entry.from, entry.word, entry.immediate);
  const bool is_here = entry.pull == nullptr;
  message_.header_bytes = entry.word.header_bytes;
  message_.header = entry.word.header_bytes == 0 ? nullptr : entry.header();
  message_.payload = is_here ? entry.payload() : nullptr;
  message_.payload_bytes = is_here ? entry.payload_bytes : entry.pull->words.payload_bytes;
}

// As completion handlers see it.
void Runner::show_no_bytes() noexcept {
  message_.header_bytes = 0;
  message_.header = nullptr;
  message_.payload = nullptr;
}

ph_status Runner::call_done(const Landing& landing, const ph_am_part& part) {
  return as_told(landing.done()(landing.argument(), &message_, &part));
}

// A carried payload goes where its handler wants it, and its completion handler is called at once.
ph_status Runner::land_here(std::span<const std::byte> payload, const ph_am_landing& named) {
  Landing landing;
  const ph_status status = landing.take(named, payload.size(), true);
  show_no_bytes();
  const auto tell = [&](const ph_am_part& part) { return call_done(landing, part); };
  if (status == PH_OK) return land(landing, payload, tell);
  if (landing.done() != nullptr) tell(Landing::ending(0, status));
  return status;
}

// The pull begins when this run is over, unless nothing is to be read.
ph_status Runner::land_later(Pull& pull, HandlerNode& node, const ph_am_landing& named) {
  const ph_status status = pull.landing.take(named, pull.words.payload_bytes, false);
  show_no_bytes();
  const auto tell = [&](const ph_am_part& part) { return call_done(pull.landing, part); };
  if (status != PH_OK && pull.landing.done() != nullptr) tell(Landing::ending(0, status));
  if (status != PH_OK) return status;
  if (pull.landing.kind() == Landing::Kind::drop) return land(pull.landing, {}, tell);
  pull.node_pulls = &node.pulls;
  return PH_OK;
}

}  // namespace photon::service::am
