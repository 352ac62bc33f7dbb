#include "service/am/aggregates.hpp"

#include <cstring>
#include <utility>

#include "service/am/aggregate_items.hpp"

namespace photon::service::am {

namespace {

ItemWord item_word_of(const Draft& draft) noexcept {
  const Word& word = draft.head.word;
  return {static_cast<std::uint8_t>(word.flags & kHasImmediate), word.id, word.header_bytes,
          static_cast<std::uint16_t>(draft.payload_bytes)};
}

// Zeros up to the next multiple of 8 of so many bytes.
std::byte* pad_item(std::byte* at, std::uint64_t bytes) noexcept {
  const std::uint64_t gap = round_up(bytes) - bytes;
  std::memset(at, 0, gap);
  return at + gap;
}

void write_item(const Draft& draft, std::byte* at) noexcept {
  const ItemWord word = item_word_of(draft);
  const std::uint64_t bits = encode_item(word);
  std::memcpy(at, &bits, sizeof bits);
  at += sizeof bits;
  if (word.has_immediate()) {
    std::memcpy(at, &draft.immediate, sizeof draft.immediate);
    at += sizeof draft.immediate;
  }
  for (const ph_const_block& block : draft.payload) {
    if (block.size_bytes != 0) std::memcpy(at, block.data, block.size_bytes);
    at += block.size_bytes;
  }
  at = pad_item(at, draft.payload_bytes);
  if (draft.header.empty()) return;
  std::memcpy(at, draft.header.data(), draft.header.size());
  pad_item(at + draft.header.size(), draft.header.size());
}

}  // namespace

std::uint64_t Aggregates::bytes_of(const Draft& draft) noexcept {
  return item_word_of(draft).bytes();
}

// One that is too large for it would send others away half empty.
bool Aggregates::may_collect(const Checked& what) const noexcept {
  const Word& word = what.draft.head.word;
  const std::uint64_t most = capacity_ / 4;
  return what.may_wait && (word.flags & ~kHasImmediate) == 0 && what.draft.payload_bytes <= most &&
         bytes_of(what.draft) <= most;
}

ph_status Aggregates::prepare(To& to, const Draft& draft, Asker asker) {
  if (to.aggregate != nullptr) {
    if (to.aggregate->size_bytes + bytes_of(draft) <= capacity_) return PH_OK;
    send(to);
    if (to.lost != PH_OK) return to.lost;
  }
  if (const ph_status status = outbox_.may_queue(to, asker); status != PH_OK) return status;
  auto entry = std::make_unique<Entry>();
  entry->memory = std::make_unique_for_overwrite<std::byte[]>(capacity_);
  to.notes.expect();
  entry->note.kind = Note::Kind::aggregate;
  entry->head.word.op = Op::aggregate;
  to.aggregate = std::move(entry);
  link(to);
  return PH_OK;
}

void Aggregates::collect(To& to, const Draft& draft, bool has_id) noexcept {
  Entry& entry = *to.aggregate;
  write_item(draft, entry.memory.get() + entry.size_bytes);
  entry.size_bytes += bytes_of(draft);
  ++entry.note.value;
  entry.note.has_ids = entry.note.has_ids || has_id;
  ++gates_.beside_sent;
  ++to.counts.collected;
}

bool Aggregates::collect_now(To& to, const ph_am_args& args) noexcept {
  Entry* const entry = to.aggregate.get();
  const std::uint64_t bytes = sizeof(std::uint64_t) + round_up(args.payload_bytes);
  if (entry == nullptr || to.lost != PH_OK || args.payload_bytes > capacity_ / 4 ||
      bytes > capacity_ / 4 || entry->size_bytes + bytes > capacity_)
    return false;
  const std::uint64_t word = encode_item(
      {0, static_cast<std::uint16_t>(args.id), 0, static_cast<std::uint16_t>(args.payload_bytes)});
  std::byte* const at = entry->memory.get() + entry->size_bytes;
  std::memcpy(at, &word, sizeof word);
  if (args.payload_bytes == sizeof word) {
    std::memcpy(at + sizeof word, args.payload, sizeof word);
  } else if (args.payload_bytes != 0) {
    std::memcpy(at + sizeof word, args.payload, args.payload_bytes);
    pad_item(at + sizeof word + args.payload_bytes, args.payload_bytes);
  }
  entry->size_bytes += bytes;
  ++entry->note.value;
  ++gates_.beside_sent;
  ++to.counts.collected;
  return true;
}

void Aggregates::send(To& to) noexcept {
  if (to.aggregate == nullptr) return;
  std::unique_ptr<Entry> entry = unlink(to);
  if (entry->note.value == 0) {  // it was opened for one that was refused after all
    to.notes.unexpect();
    return outbox_.set_gate(to);
  }
  entry->head.way = entry->size_bytes <= record_max(port_, to.rank) ? Way::record : Way::body;
  entry->head.add(entry->size_bytes);
  --gates_.beside_sent;  // the items are counted; that one of them goes is counted by the gate
  outbox_.queue(to, std::move(entry), Asker::handler);
  outbox_.move(to);
  to.counts.queued += !to.queue.empty();
}

void Aggregates::send_due() noexcept {
  if (first_ == nullptr) return;
  const std::int64_t now_ns = port_.now_ns();
  while (due_ns() <= now_ns) send(*first_);
}

// Its items have no ids any more: of those that had one it is said once that they are lost.
void Aggregates::lose(To& to, ph_status why) noexcept {
  if (to.aggregate == nullptr) return;
  const std::unique_ptr<Entry> entry = unlink(to);
  to.notes.unexpect();
  if (entry->note.has_ids)
    outbox_.teller().end(to.rank, entry->note, why,
                         "am_send: the target was lost before messages that waited had gone");
}

void Aggregates::link(To& to) noexcept {
  to.opened_ns = port_.now_ns();
  to.older = std::exchange(last_, &to);
  (to.older == nullptr ? first_ : to.older->younger) = &to;
  ++open_;
  outbox_.set_gate(to);
  port_.wants_company();  // the caller may compute for longer than it may wait
}

std::unique_ptr<Entry> Aggregates::unlink(To& to) noexcept {
  (to.older == nullptr ? first_ : to.older->younger) = to.younger;
  (to.younger == nullptr ? last_ : to.younger->older) = to.older;
  to.older = to.younger = nullptr;
  --open_;
  return std::move(to.aggregate);
}

}  // namespace photon::service::am
