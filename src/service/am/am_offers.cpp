#include "service/am/am_offers.hpp"

#include <utility>

#include "base/finally.hpp"
#include "wire/status.hpp"

namespace photon::service::am {
namespace {

constexpr const char* kLost = "am_send: the target was lost before its handlers were through";

const char* words_of_end(ph_status status) noexcept {
  switch (status) {
    case PH_ERR_NOT_FOUND:
      return "am_send: the target has no handler for this active message; register it before a "
             "barrier";
    case PH_ERR_RANGE:
      return "am_send: the landing that the target's handler has named for a payload is too small";
    case PH_ERR_ARGUMENT:
      return "am_send: the target's handler has named no good landing, or returned this error";
    case PH_ERR_ACCESS:
    case PH_ERR_KEY:
      return "am_send: the target could not read the payload of an active message here";
    default: return "am_send: the active message has ended with an error of its target";
  }
}

}  // namespace

Offers::Lent* Offers::find(Rank from, std::uint64_t token) noexcept {
  const std::size_t slot = slot_of(token);
  if (slot >= all_.size()) return nullptr;
  Lent& lent = all_[slot];
  const bool is_it = lent.generation == token >> kSlotBits && lent.to == from &&
                     (lent.state == State::told || lent.state == State::read);
  return is_it ? &lent : nullptr;
}

ph_status Offers::expose(Lent& lent, std::span<const ph_const_block> payload) {
  lent.blocks.reserve(payload.size());
  for (const ph_const_block& one : payload) {
    if (one.size_bytes == 0) continue;
    const std::span bytes(static_cast<const std::byte*>(one.data), one.size_bytes);
    Exposed exposed;
    const ph_status status = port_.expose(bytes, PH_ACCESS_READ, exposed);
    if (status != PH_OK) return status;
    lent.blocks.push_back({exposed, one.size_bytes});
  }
  return PH_OK;
}

void Offers::conceal(Lent& lent) noexcept {
  for (Block& one : lent.blocks) port_.conceal(one.exposed);
  lent.blocks.clear();
}

ph_status Offers::make(const Offer& offer, std::uint64_t& token) {
  if (free_.empty()) {
    free_.reserve(all_.size() + 1);
    all_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
  }
  const std::uint32_t slot = free_.back();
  Lent& lent = all_[slot];
  bool is_made = false;
  const base::Finally undo([&]() noexcept {
    if (is_made) return;
    conceal(lent);
    if (lent.promise != 0) port_.renounce(std::exchange(lent.promise, 0));
  });
  lent.promise = port_.promise(offer.end);
  if (lent.promise == 0) return PH_AGAIN;
  if (const ph_status status = expose(lent, offer.payload); status != PH_OK) return status;
  free_.pop_back();
  lent.state = State::made;
  lent.to = offer.end.rank;
  lent.tells_handled = offer.tells_handled;
  lent.is_counted = offer.is_counted;
  if (lent.is_counted) budget_.take(Note::kPromiseBytes);
  ++open_;
  token = std::uint64_t{lent.generation} << kSlotBits | slot;
  is_made = true;
  return PH_OK;
}

void Offers::write_table(std::uint64_t token, std::byte* table) const noexcept {
  for (const Block& one : at(token).blocks) {
    const ph_target& target = one.exposed.target;
    const SourceBlock block{target.address, one.size_bytes, target.key};
    std::memcpy(table, &block, sizeof block);
    table += sizeof block;
  }
}

void Offers::went(std::uint64_t token) noexcept {
  Lent& lent = at(token);
  lent.state = State::told;
  ++told_[lent.to];
}

void Offers::withdraw(std::uint64_t token) noexcept {
  Lent& lent = at(token);
  conceal(lent);
  port_.renounce(lent.promise);
  free(lent);
}

void Offers::free(Lent& lent) noexcept {
  if (lent.state == State::told || lent.state == State::read) --told_[lent.to];
  if (lent.is_counted) budget_.give(Note::kPromiseBytes);
  lent.state = State::free;
  lent.promise = 0;
  std::vector<Block>().swap(lent.blocks);
  ++lent.generation;
  free_.push_back(static_cast<std::uint32_t>(&lent - all_.data()));
  --open_;
}

// It is told unless `read` was, and there is no error.
void Offers::finish(Lent& lent, ph_status status, const char* why) noexcept {
  conceal(lent);
  if (lent.state != State::read || status != PH_OK) port_.complete(lent.promise, status, why);
  port_.release(lent.promise);
  free(lent);
}

bool Offers::read(Rank from, std::uint64_t token) noexcept {
  Lent* const lent = find(from, token);
  if (lent == nullptr || lent->state == State::read || lent->tells_handled) return false;
  lent->state = State::read;
  conceal(*lent);
  port_.complete(lent->promise, PH_OK);
  return true;
}

bool Offers::done(Rank from, std::uint64_t token, std::uint64_t status) noexcept {
  Lent* const lent = find(from, token);
  if (lent == nullptr || !wire::is_end(status)) return false;
  const ph_status end = wire::to_status(status);
  finish(*lent, end, end == PH_OK ? nullptr : words_of_end(end));
  return true;
}

void Offers::on_lost(Rank rank, ph_status why) noexcept {
  for (Lent& one : all_)
    if (one.state != State::free && one.state != State::made && one.to == rank)
      finish(one, why, kLost);
}

void Offers::fail(std::uint64_t token, ph_status why) noexcept {
  Lent& lent = at(token);
  if (lent.state == State::waits && lent.generation == token >> kSlotBits) finish(lent, why, kLost);
}

}  // namespace photon::service::am
