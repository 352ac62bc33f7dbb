// One rank's use of a Link, as the engine would use it: records and chunks out, records and chunks
// in, credits back a quarter at a time, a kick where the contract asks for one.
// Invariant: never more in the rings than the peer gave back.
// Owner: Peer. Throws where the contract is broken in a way that leaves nothing to compare.
#pragma once

#include <cstring>
#include <optional>
#include <stdexcept>

#include "record.hpp"
#include "transport/transport.hpp"

namespace photon::test {

struct RingSizes {
  unsigned lines_log2 = 0;
  std::uint64_t bulk_bytes = 0;
};

// Positions in a bulk ring (docs/wire-format.md), written down once more on purpose.
class BulkPositions {
 public:
  explicit BulkPositions(std::uint64_t bulk_bytes) : bulk_bytes_(bulk_bytes) {}

  std::uint64_t used_after(std::uint64_t size_bytes) const {
    return start(size_bytes) + (size_bytes + 63) / 64 * 64;
  }
  // Takes the chunk's room and says at which offset it begins.
  std::uint64_t take(std::uint64_t size_bytes) {
    const std::uint64_t offset = start(size_bytes) % bulk_bytes_;
    used_ = used_after(size_bytes);
    return offset;
  }
  std::uint64_t used() const { return used_; }

 private:
  std::uint64_t start(std::uint64_t size_bytes) const {
    const std::uint64_t to_end = bulk_bytes_ - used_ % bulk_bytes_;
    return size_bytes <= to_end ? used_ : used_ + to_end;
  }

  std::uint64_t bulk_bytes_;
  std::uint64_t used_ = 0;
};

class Channel {
 public:
  Channel(transport::Transport& transport, transport::Rank peer, transport::Link& link,
          const RingSizes& sizes)
      : transport_(transport),
        peer_(peer),
        link_(link),
        sizes_(sizes),
        producer_(link.tx_lines, link.tx_credits, sizes.lines_log2, 0, link.tx_order),
        sent_bulk_(sizes.bulk_bytes),
        received_bulk_(sizes.bulk_bytes) {}

  transport::Link& link() { return link_; }
  auto& producer() { return producer_; }
  auto& consumer() { return consumer_; }
  bool can_receive() {
    if (!receiving_ && link_.rx_lines != nullptr) {
      consumer_ = {link_.rx_lines, link_.rx_credits, sizes_.lines_log2, link_.rx_order};
      receiving_ = true;
    }
    return receiving_;
  }

  bool fits(const Record& record) {
    return producer_.has_room(record.lines()) && bulk_fits(record);
  }
  // False: no room, nothing was written.
  bool send(const Record& record) {
    if (!write(record)) return false;
    kick();
    return true;
  }
  // The same without telling anybody.
  bool write(const Record& record) {
    if (!fits(record)) return false;
    if (!record.bulk.empty())
      std::memcpy(link_.tx_bulk + sent_bulk_.take(record.bulk.size()), record.bulk.data(),
                  record.bulk.size());
    for (std::size_t i = 0; i < record.words.size(); ++i)
      producer_.line(i / wire::kWordsPerLine).words[i % wire::kWordsPerLine].set(record.words[i]);
    producer_.publish(record.header(), record.lines());
    return true;
  }
  void kick() {
    sync::SleepGate<transport::Policy>::barrier(link_.fenced);
    if (link_.kick_always || link_.tx_credits->cold.load(std::memory_order_relaxed) != 0)
      transport_.kick(peer_);
  }

  // The next record, copied out; credits go back when a quarter of a ring is owed.
  std::optional<Record> receive() {
    auto record = peek_and_copy();
    if (record && (consumer_.owed() >= consumer_.capacity() / 4 ||
                   received_bulk_.used() - given_bulk_ >= sizes_.bulk_bytes / 8))
      give_back();
    return record;
  }
  bool has_record() {
    using State = sync::LineConsumer<transport::Policy>::State;
    return can_receive() && consumer_.peek() != State::empty;
  }
  // As receive(), but keeps everything it owes.
  std::optional<Record> peek_and_copy() {
    using State = sync::LineConsumer<transport::Policy>::State;
    if (!can_receive()) return std::nullopt;
    const State state = consumer_.peek();
    if (state == State::empty) return std::nullopt;
    if (state == State::garbage) throw std::runtime_error("garbage in the receiving ring");
    return copy();
  }
  void give_back() {
    given_bulk_ = received_bulk_.used();
    link_.rx_credits->bulk.store(given_bulk_, std::memory_order_release);
    consumer_.publish_lines();
    kick();
  }
  void give_back_ids(std::uint64_t probed_count) {
    link_.rx_credits->ledger.store(probed_count, std::memory_order_release);
    kick();
  }
  void set_cold(bool cold) {
    if (can_receive()) link_.rx_credits->cold.store(cold ? 1 : 0, std::memory_order_relaxed);
  }

 private:
  bool bulk_fits(const Record& record) {
    if (record.bulk.empty()) return true;
    const auto freed = link_.tx_credits->bulk.load(std::memory_order_acquire);
    return sent_bulk_.used_after(record.bulk.size()) - freed <= sizes_.bulk_bytes;
  }

  Record copy() {
    const auto header = wire::decode(consumer_.header());
    if (!header) throw std::runtime_error("a header arrived changed");
    Record record{header->kind, header->id_bytes, header->payload_bytes, {}, {}};
    for (std::uint32_t i = 1; i < header->lines; ++i)
      if (!consumer_.tagged(i)) throw std::runtime_error("a record arrived in part");
    record.words.resize(words_of(record.kind, record.id_bytes, record.payload_bytes));
    for (std::size_t i = 0; i < record.words.size(); ++i)
      record.words[i] =
          consumer_.line(i / wire::kWordsPerLine).words[i % wire::kWordsPerLine].get();
    copy_bulk(record);
    consumer_.pop(header->lines);
    return record;
  }
  void copy_bulk(Record& record) {
    if (!record.has_bulk()) return;
    const std::uint64_t size_bytes = wire::bulk_size(record.words[kBulkSizeWord]);
    if (size_bytes == 0) return;
    if (size_bytes > sizes_.bulk_bytes) throw std::runtime_error("a chunk's size arrived changed");
    record.bulk.resize(size_bytes);
    std::memcpy(record.bulk.data(), link_.rx_bulk + received_bulk_.take(size_bytes), size_bytes);
  }

  transport::Transport& transport_;
  const transport::Rank peer_;
  transport::Link& link_;
  const RingSizes sizes_;
  sync::LineProducer<transport::Policy> producer_;
  sync::LineConsumer<transport::Policy> consumer_;
  BulkPositions sent_bulk_;
  BulkPositions received_bulk_;
  std::uint64_t given_bulk_ = 0;
  bool receiving_ = false;
};

}  // namespace photon::test
