#include "service/am/am_runner.hpp"

#include <cstdio>
#include <cstdlib>

#include "service/am/landing.hpp"
#include "wire/status.hpp"

namespace photon::service::am {

// A number that is no status of this version would end us at its sender.
ph_status as_told(ph_status returned) noexcept {
  const ph_status verdict = as_verdict(returned);
  const auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(verdict));
  return wire::is_end(word) ? verdict : PH_ERR_ARGUMENT;
}

void Runner::run() noexcept {
  try {
    run_due();
  } catch (...) {
    die();
  }
}

void Runner::die() const noexcept {
  std::fprintf(stderr,
               "photon: the handler of active message %u (rank %u) let an exception out; handlers "
               "must not\n",
               static_cast<unsigned>(message_.id), static_cast<unsigned>(self_));
  std::abort();
}

void Runner::run_due() {
  const std::span<Arrived> all = inbox_.running();
  std::uint64_t lent_bytes = 0;
  while (done_ < all.size()) {
    Arrived& entry = all[done_];
    current_ = &entry;
    handle(entry);
    current_ = nullptr;
    ++done_;
    if (entry.where != Arrived::Bytes::lent) continue;
    lent_bytes += entry.payload_bytes + entry.word.header_bytes;
    if (lent_bytes >= lent_limit_) return;
  }
}

void Runner::handle(Arrived& entry) {
  const HandlerNode* const node = table_.find(entry.word.id);
  if (node == nullptr) {
    entry.status = PH_ERR_NOT_FOUND;
    return;
  }
  ++calls_;
  show(entry);
  ph_am_landing named{};
  named.size = sizeof named;
  entry.status = as_told(node->handler(node->user, &message_, &named));
  if (entry.status == PH_OK) entry.status = land_here(entry, named);
}

void Runner::show(const Arrived& entry) noexcept {
  const Word& word = entry.word;
  message_.source = entry.from;
  message_.id = word.id;
  message_.flags =
      (word.has(kWantsReply) ? PH_AM_REPLY : 0U) | (word.has(kIsReply) ? PH_AM_IS_REPLY : 0U);
  message_.header_bytes = word.header_bytes;
  message_.header = word.header_bytes == 0 ? nullptr : entry.header();
  message_.immediate = entry.immediate;
  message_.payload = entry.payload();
  message_.payload_bytes = entry.payload_bytes;
}

// A carried payload goes where its handler wants it, and its completion handler is called at once.
ph_status Runner::land_here(const Arrived& entry, const ph_am_landing& named) {
  if (named.buffer == nullptr && named.buffer_bytes == 0 && named.blocks == nullptr &&
      named.blocks_count == 0 && named.flags == 0)
    return PH_OK;
  Landing landing;
  const ph_status status = landing.take(named, entry.payload_bytes, true);
  message_.header_bytes = 0;
  message_.header = nullptr;
  message_.payload = nullptr;
  const auto tell = [&](const ph_am_part& part) {
    return as_told(landing.done()(landing.argument(), &message_, &part));
  };
  if (status == PH_OK) return land(landing, {entry.payload(), entry.payload_bytes}, tell);
  if (landing.done() != nullptr) tell(Landing::ending(0, status));
  return status;
}

}  // namespace photon::service::am
