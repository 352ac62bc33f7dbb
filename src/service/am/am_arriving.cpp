#include "service/am/am_arriving.hpp"

#include <utility>

#include "base/finally.hpp"
#include "service/am/aggregate_items.hpp"

namespace photon::service::am {

bool Arriving::cut(Rank from, const char* why) {
  its_.port.cut_off(from, why);
  return false;
}

// What each message says beside itself, and whether it may be here at all.
bool Arriving::admits(Rank from, const Word& word) {
  const Gate& gate = its_.gates.of(from);
  if (gate.arrived - gate.handled >= its_.gates.slots())
    return cut(from,
               "it sent more active messages than `am_slots` allows; the setting must be the same "
               "on all ranks");
  if (word.has(kWantsReply) && gate.owed >= kMostOwed)
    return cut(from, "it waits for more than 65536 replies to active messages");
  if (word.has(kIsReply) && from_[from].replies_here >= gate.wanted)
    return cut(from, "it sent a reply to an active message that nobody waits for");
  return its_.sender.handled_low(from, word.handled);
}

// Room for it in the inbox, and its words; nothing counts yet.
Arrived& Arriving::add(Rank from, const Word& word, const am::Parts& parts) {
  Arrived& entry = its_.inbox.add(from, word);
  entry.immediate = parts.immediate;
  entry.payload_bytes = parts.payload.size();
  return entry;
}

// It is due from now on.
void Arriving::arrived(Arrived& entry) {
  Gate& gate = its_.gates.of(entry.from);
  entry.number = gate.arrived++;
  gate.owed += entry.word.has(kWantsReply) ? 1 : 0;
  from_[entry.from].replies_here += entry.word.has(kIsReply) ? 1 : 0;
  its_.port.wants_run();
}

// The lane closes: no handler runs any more, and whoever waits for one hears so.
bool Arriving::over(Rank from, const Word& word, const PullWords& words) {
  Gate& gate = its_.gates.of(from);
  const bool is_pull = word.op == Op::pull;
  const bool tells = word.has(kTellsHandled);
  if (is_pull) its_.answers.say_done(from, words.token, PH_ERR_DEPARTED);
  if (tells && !is_pull) its_.answers.say_refused(from, word.id, gate.arrived, PH_ERR_DEPARTED);
  ++gate.arrived;
  its_.answers.note_handled(from, tells);
  gate.owed += word.has(kWantsReply) ? 1 : 0;
  if (word.has(kWantsReply)) its_.answers.note_reply_over(from, false);
  if (word.has(kIsReply)) its_.sender.note_reply_handled(from);
  its_.answers.end_batch();
  return true;
}

bool Arriving::line(Rank from, const Word& word, std::span<const std::byte> rest) {
  const auto parts = parts_of_line(word, rest);
  if (!parts || parts->payload.size() + parts->header.size() > PH_AM_SMALL_BYTES) return false;
  if (!admits(from, word)) return false;
  if (is_closed_) return over(from, word, {});
  Arrived& entry = add(from, word, *parts);
  std::byte* const to = entry.line.data();
  if (!parts->payload.empty()) std::memcpy(to, parts->payload.data(), parts->payload.size());
  if (!parts->header.empty())
    std::memcpy(to + round_up(parts->payload.size()), parts->header.data(), parts->header.size());
  arrived(entry);
  return true;
}

// All that admits() asks of such a line. What is wrong with it line() says.
bool Arriving::plain_line(Rank from, std::uint64_t bits, std::span<const std::byte> rest) {
  Gate& gate = its_.gates.of(from);
  const Word word = plain_word(bits);
  if (rest.size() > PH_AM_SMALL_BYTES || is_closed_ ||
      gate.arrived - gate.handled >= its_.gates.slots()) [[unlikely]]
    return line(from, word, rest);
  if (!its_.sender.handled_low(from, word.handled)) [[unlikely]]
    return false;
  Arrived& entry = its_.inbox.add(from, word);
  entry.immediate = 0;
  entry.payload_bytes = rest.size();
  entry.number = gate.arrived++;
  copy_into_line(entry.line.data(), rest.data(), rest.size());
  its_.port.wants_run();
  return true;
}

bool Arriving::record(Rank from, const Word& word, std::span<const std::byte> rest,
                      std::span<const std::byte> bytes) {
  const auto words = words_of(from, word, rest);
  if (!words) return false;
  const auto parts = parts_of(word, words->sizes, bytes);
  if (!parts || !admits(from, word)) return false;
  if (is_closed_) return over(from, word, words->pull);
  Arrived& entry = add(from, word, *parts);
  if (!fill(entry, words->pull, bytes)) return false;
  arrived(entry);
  return true;
}

std::optional<Arriving::Words> Arriving::words_of(Rank from, const Word& word,
                                                  std::span<const std::byte> rest) {
  if (word.op == Op::pull) {
    const auto pull = pull_words_of(word, rest);
    if (!pull) return std::nullopt;
    return Words{{pull->table_bytes(), pull->immediate}, *pull};
  }
  const auto sizes = sizes_of(word, rest);
  if (!sizes || !is_carried(from, word, *sizes)) return std::nullopt;
  return Words{*sizes, {}};
}

// Of a message that is pulled: its table is taken out of its bytes, which are still its sender's if
// they are lent, and checked then. False: malformed. Throws bad_alloc.
bool Arriving::offers(Arrived& entry, const PullWords& words) {
  if (entry.word.op != Op::pull) return true;
  std::vector<SourceBlock> table;
  if (!take_table(words, 0, {entry.payload(), entry.payload_bytes}, table)) return false;
  entry.pull = its_.pulls.add(entry.from, entry.word, words, std::move(table));
  return entry.pull != nullptr ||
         cut(entry.from, "it has more than 1024 active messages here whose payload is read");
}

// Of an aggregate: how many messages it is. What is lent may change until they are handled, which
// is looked at once more then. False: malformed.
bool Arriving::has_items(Arrived& entry) noexcept {
  if (entry.word.op != Op::aggregate) return true;
  entry.items = items_in({entry.payload(), entry.payload_bytes});
  return entry.items != 0;
}

// The entry that was added last has these bytes now, in a copy unless they are lent. False: it is
// gone, as it is where memory runs out.
bool Arriving::fill(Arrived& entry, const PullWords& words, std::span<const std::byte> bytes) {
  bool is_good = false;
  const base::Finally undo([&]() noexcept {
    if (!is_good) its_.inbox.take_back();
  });
  if (entry.where == Arrived::Bytes::line) its_.inbox.copy(entry, bytes);
  is_good = offers(entry, words) && has_items(entry);
  return is_good;
}

bool Arriving::is_carried(Rank from, const Word& word, const Sizes& sizes) {
  const base::Config& config = its_.port.config();
  if (word.op == Op::aggregate && sizes.payload_bytes > config.am_aggregate_bytes)
    return cut(
        from,
        "it sent an aggregate with more bytes than `am_aggregate_bytes`; the setting must be "
        "the same on all ranks");
  if (sizes.payload_bytes <= config.am_carried_max) return true;
  return cut(from,
             "it sent an active message with more bytes than `am_carried_max`; the setting must be "
             "the same on all ranks");
}

Verdict Arriving::chunk(const Chunk& chunk) {
  if (chunk.offset != 0) return go_on(chunk);
  const Message& message = chunk.message;
  const std::span<const std::byte> header = message.header;
  if (header.size() < sizeof(std::uint64_t) || !message.payload.empty() || chunk.bytes.empty())
    return Verdict::malformed;
  const auto word = decode(word_at(header, 0));
  if (!word || (word->op != Op::body && word->op != Op::pull && word->op != Op::aggregate))
    return Verdict::malformed;
  const auto words = words_of(message.from, *word, header.subspan(sizeof(std::uint64_t)));
  if (!words) return Verdict::malformed;
  const auto size = carried_bytes(words->sizes.payload_bytes, word->header_bytes);
  if (!size || *size != chunk.size_bytes) return Verdict::malformed;
  return chunk.is_last() ? whole(chunk, *word, *words) : begin(chunk, *word, *words);
}

// It is lent if this call runs its handler; else its room in the ring would wait for others.
Verdict Arriving::whole(const Chunk& chunk, const Word& word, const Words& words) {
  const Rank from = chunk.message.from;
  const auto parts = parts_of(word, words.sizes, chunk.bytes);
  if (!parts || !admits(from, word)) return Verdict::malformed;
  if (is_closed_) return over(from, word, words.pull) ? Verdict::taken : Verdict::malformed;
  const bool is_lent = its_.port.runs_now();
  if (is_lent) its_.loans.make_room();
  Arrived& entry = add(from, word, *parts);
  if (is_lent) {
    entry.where = Arrived::Bytes::lent;
    entry.bytes = chunk.bytes.data();
  }
  if (!fill(entry, words.pull, chunk.bytes)) return Verdict::malformed;
  if (is_lent) its_.loans.add(from, chunk.loan);
  ++(is_lent ? from_[from].lent : from_[from].copied);
  arrived(entry);
  return is_lent ? Verdict::kept : Verdict::taken;
}

// It counts when all of it is here: what its rank sends behind it comes behind it.
Verdict Arriving::begin(const Chunk& chunk, const Word& word, const Words& words) {
  const Rank from = chunk.message.from;
  if (!admits(from, word)) return Verdict::malformed;
  auto body = std::make_unique<Body>(Body{word, words, chunk.size_bytes, nullptr});
  body->bytes = std::make_unique_for_overwrite<std::byte[]>(chunk.size_bytes);
  std::memcpy(body->bytes.get(), chunk.bytes.data(), chunk.bytes.size());
  from_[from].body = std::move(body);
  return Verdict::taken;
}

// The seam shows the chunks of one body after the other, without a gap; one of no bytes would say
// that its sender's memory is gone, which no sender lends for this.
Verdict Arriving::go_on(const Chunk& chunk) {
  const Rank from = chunk.message.from;
  Body* const body = from_[from].body.get();
  if (body == nullptr || chunk.size_bytes != body->size_bytes || chunk.bytes.empty())
    return Verdict::malformed;
  std::memcpy(body->bytes.get() + chunk.offset, chunk.bytes.data(), chunk.bytes.size());
  if (!chunk.is_last()) return Verdict::taken;
  const std::unique_ptr<Body> all = std::move(from_[from].body);
  const auto parts = parts_of(all->word, all->words.sizes, {all->bytes.get(), all->size_bytes});
  if (!parts || !admits(from, all->word)) return Verdict::malformed;
  if (is_closed_)
    return over(from, all->word, all->words.pull) ? Verdict::taken : Verdict::malformed;
  Arrived& entry = add(from, all->word, *parts);
  entry.own = std::move(all->bytes);
  entry.bytes = entry.own.get();
  entry.where = Arrived::Bytes::own;
  if (!fill(entry, all->words.pull, {})) return Verdict::malformed;
  arrived(entry);
  return Verdict::taken;
}

}  // namespace photon::service::am
