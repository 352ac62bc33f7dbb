// The ring that carries every record: one producer, one consumer, lines of 64 bytes.
//
// Word 0 of every line holds the lap tag of the lap it was written in; payload never stands there.
// A record is 1..n lines, consecutive by position (LineOrder says where they stand). The producer
// fills all of them and publishes the first line's word last, so a small record costs one line
// transfer.
//
//   line: free -> filled (producer, private) -> published -[record]-> read -> free -[credit]->
//
// Invariants: 0 <= tail - head <= capacity; every line is written once each lap; hence at position
// p a line's tag is that of p's lap (published) or of the lap before (free), and 0 in lap 0. Any
// other tag is garbage: the consumer says so instead of waiting for ever.
// Owner: the memory belongs to the transport; each half belongs to one rank's engine (lane lock).
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

inline constexpr unsigned kWordsPerLine = 7;  // beside the tag word

template <class Policy>
struct alignas(64) RingLine {
  typename Policy::template Atomic<std::uint64_t> head;
  typename Policy::template Cell<std::uint64_t> words[kWordsPerLine];

  // For transports that carry lines: the tag word as it stands, and publishing a carried one.
  std::uint64_t tag_word() const noexcept { return head.load(std::memory_order_relaxed); }
  void arrive(std::uint64_t word) noexcept {
    head.store(word, std::memory_order_release);  // [record]
  }
};

// Written by the consumer, read by the producer: what came free. On lines of its own, published
// in batches, off the latency path.
template <class Policy>
struct CreditWords {
  alignas(64) typename Policy::template Atomic<std::uint64_t> lines;  // lines consumed
  typename Policy::template Atomic<std::uint64_t> ledger;             // ids probed
  typename Policy::template Atomic<std::uint64_t> bulk;               // bulk bytes consumed
  alignas(64) typename Policy::template Atomic<std::uint64_t> cold;   // 1: ring my doorbell
  typename Policy::template Atomic<std::uint64_t> met;  // 1: I see your intents; 2: no more

  // Ids carry nothing that the producer reads, so relaxed is enough for the ledger.
  std::uint64_t ledger_given() const noexcept { return ledger.load(std::memory_order_relaxed); }
  void give_ledger(std::uint64_t ids) noexcept { ledger.store(ids, std::memory_order_relaxed); }
  std::uint64_t bulk_given() const noexcept {
    return bulk.load(std::memory_order_acquire);  // [bulk-credit]
  }
  void give_bulk(std::uint64_t bytes) noexcept {
    bulk.store(bytes, std::memory_order_release);  // [bulk-credit]
  }
  std::uint64_t lines_given() const noexcept {
    return lines.load(std::memory_order_acquire);  // [credit]
  }
  void give_lines(std::uint64_t count) noexcept {
    lines.store(count, std::memory_order_release);  // [credit]
  }
  // The consumer has the producer's half, so it will wait for copies in its memory; until then the
  // producer makes none, and none once it is hidden: looked at again under the intent word
  // (sync/intent.hpp). Acquire: a key that the consumer cleared before is seen cleared.
  bool has_met() const noexcept { return met.load(std::memory_order_acquire) == 1; }  // [met]
  void set_met() noexcept { met.store(1, std::memory_order_release); }                // [met]
  // The consumer leaves, and published its bye before; a heavy barrier follows.
  void hide() noexcept { met.store(2, std::memory_order_release); }                     // [met]
  bool is_hidden() const noexcept { return met.load(std::memory_order_acquire) == 2; }  // [met]
  // A hint; sync/sleep_gate.hpp says what makes it safe before sleeping.
  bool is_cold() const noexcept { return cold.load(std::memory_order_relaxed) != 0; }
  void expect_cold() const noexcept { __builtin_prefetch(&cold); }
  void set_cold(bool is) noexcept { cold.store(is ? 1 : 0, std::memory_order_relaxed); }
};

// Tag of the lap that position belongs to. Never 0 in the first 65535 laps, so zeroed memory is
// never a record; 16 bits suffice because a line can only hold this lap's tag or the last one's.
constexpr std::uint64_t lap_tag(std::uint64_t position, unsigned capacity_log2) noexcept {
  return ((position >> capacity_log2) + 1) & 0xffff;
}

// Where the lines of a ring stand. One behind the other they can be carried across in runs.
// Between two processors that is the slower way: each guesses which line the other will use next,
// or fetches the neighbour with it, and takes it away from the one who works on it. Apart, each
// line stands alone in a pair and next to none that is used soon before or after it, in no rhythm:
// a ring is then as quick as a single line that goes to and fro (docs/wire-format.md, Lines apart).
enum class LineOrder : bool { in_a_row, apart };

// The place of the line at a position, in lines from the first; each has one of its own in a lap.
class LinePlaces {
 public:
  constexpr LinePlaces() = default;
  constexpr LinePlaces(LineOrder order, unsigned capacity_log2) noexcept
      : mask_(size(order, capacity_log2) - 1),
        step_(order == LineOrder::apart ? kSlot * kSteps[capacity_log2] : 1) {}

  // Lines of memory that a ring takes.
  static constexpr std::uint64_t size(LineOrder order, unsigned capacity_log2) noexcept {
    return (order == LineOrder::apart ? kSlot : 1) << capacity_log2;
  }
  constexpr std::uint64_t of(std::uint64_t position) const noexcept {
    return position * step_ & mask_;
  }

 private:
  static constexpr std::uint64_t kSlot = 2;  // processors fetch lines in pairs

  // From a slot to the next, by the ring's size: odd, so that it meets every slot, and near the
  // golden section. Of those around it the one whose multiples come back least near to where they
  // began: q steps end at least a quarter of the ring / q away, so that slots near each other are
  // used long after one another.
  static constexpr std::uint64_t kSteps[] = {1,   1,   3,    5,    9,    23,    37,    79,   157,
                                             323, 577, 1257, 2539, 4737, 10155, 20735, 40521};

  std::uint64_t mask_ = 0;
  std::uint64_t step_ = 0;
};

template <class Policy>
class LineProducer {
 public:
  using Line = RingLine<Policy>;
  using Credits = CreditWords<Policy>;

  LineProducer() = default;
  // `reserved`: lines that only has_last_room() finds, for what must go when nothing else may.
  LineProducer(Line* lines, const Credits* credits, unsigned capacity_log2, unsigned reserved = 0,
               LineOrder order = LineOrder::in_a_row) noexcept
      : lines_(lines),
        credits_(credits),
        places_(order, capacity_log2),
        mask_((std::uint64_t{1} << capacity_log2) - 1),
        log2_(capacity_log2),
        reserved_(reserved) {}

  // Lines that may be written now; looks at the consumer's word only if the known ones run out.
  bool has_room(std::uint64_t lines_count) noexcept {
    return has_last_room(lines_count + reserved_);
  }
  // has_room(1) without a call, for who has to be quick.
  [[gnu::always_inline]] bool has_line() noexcept {
    if (tail_ + 1 + reserved_ - freed_ <= capacity()) [[likely]]
      return true;
    refresh();
    return tail_ + 1 + reserved_ - freed_ <= capacity();
  }
  bool has_last_room(std::uint64_t lines_count) noexcept {
    if (tail_ + lines_count - freed_ <= capacity()) return true;
    refresh();
    return tail_ + lines_count - freed_ <= capacity();
  }
  void refresh() noexcept {
    const auto lines = credits_->lines_given();
    if (lines <= tail_ && lines >= freed_) freed_ = lines;  // else garbage: keep what we know
  }
  std::uint64_t room() const noexcept {
    const std::uint64_t used = tail_ - freed_ + reserved_;
    return used < capacity() ? capacity() - used : 0;
  }

  // The i-th line of the record being built; its words may be set freely until publish().
  Line& line(std::uint64_t i) noexcept { return lines_[places_.of(tail_ + i)]; }

  // The consumer's cache gives up the next lines, which must be free, all in one go. What they hold
  // means nothing until publish(), so the last word of each may be anything.
  [[gnu::always_inline]] void claim(std::uint64_t lines_count) noexcept {
    for (std::uint64_t i = 0; i < lines_count; ++i) line(i).words[kWordsPerLine - 1].set(0);
  }

  // Lets the next line come while we do something else, and leaves it to the consumer, too; and the
  // one behind it, which apart stands on another page: to find that again takes longer than a line.
  void expect() const noexcept {
    __builtin_prefetch(&lines_[places_.of(tail_)]);
    __builtin_prefetch(&lines_[places_.of(tail_ + 1)]);
  }

  // Make the record visible. `header` has zeros in the tag's 16 bits.
  // Inline whatever the compiler thinks: a call in the shortest put costs 4% of its rate.
  [[gnu::always_inline]] void publish(std::uint64_t header, std::uint64_t lines_count) noexcept {
    for (std::uint64_t i = 1; i < lines_count; ++i)
      line(i).head.store(lap_tag(tail_ + i, log2_), std::memory_order_relaxed);
    line(0).head.store(header | lap_tag(tail_, log2_), std::memory_order_release);  // [record]
    tail_ += lines_count;
  }

  // The same for a record of one line, which is line(0).
  [[gnu::always_inline]] void publish_line(Line& line, std::uint64_t header) noexcept {
    const std::uint64_t tail = tail_;
    tail_ = tail + 1;
    line.head.store(header | lap_tag(tail, log2_), std::memory_order_release);  // [record]
  }

  std::uint64_t tail() const noexcept { return tail_; }
  std::uint64_t capacity() const noexcept { return mask_ + 1; }

  // What was written at a position of the last lap.
  std::uint64_t header(std::uint64_t at) const noexcept {
    return lines_[places_.of(at)].head.load(std::memory_order_relaxed);
  }
  std::uint64_t word(std::uint64_t at, unsigned index) const noexcept {
    return lines_[places_.of(at)].words[index].get();
  }

 private:
  Line* lines_ = nullptr;
  const Credits* credits_ = nullptr;
  LinePlaces places_;
  std::uint64_t tail_ = 0;   // lines written
  std::uint64_t freed_ = 0;  // lines known to be consumed
  std::uint64_t mask_ = 0;   // capacity - 1
  unsigned log2_ = 0;
  unsigned reserved_ = 0;
};

template <class Policy>
class LineConsumer {
 public:
  using Line = RingLine<Policy>;
  using Credits = CreditWords<Policy>;
  enum class State { empty, record, garbage };

  LineConsumer() = default;
  LineConsumer(const Line* lines, Credits* credits, unsigned capacity_log2,
               LineOrder order = LineOrder::in_a_row) noexcept
      : lines_(lines),
        credits_(credits),
        places_(order, capacity_log2),
        mask_((std::uint64_t{1} << capacity_log2) - 1),
        log2_(capacity_log2),
        tag_(lap_tag(0, capacity_log2)) {}

  // The next line's first word as it stands, and what it says.
  [[gnu::always_inline]] std::uint64_t look() const noexcept {
    return line(0).head.load(std::memory_order_acquire);  // [record]
  }
  [[gnu::always_inline]] State state_of(std::uint64_t word) const noexcept {
    const std::uint64_t tag = word & 0xffff;
    if (tag == tag_) return State::record;
    // Of the lap before; zeroed memory looks like lap -1.
    return tag == ((tag_ - 1) & 0xffff) ? State::empty : State::garbage;
  }
  // Both; header() is valid after State::record.
  State peek() noexcept {
    header_ = look();
    return state_of(header_);
  }
  std::uint64_t header() const noexcept { return header_; }

  const Line& line(std::uint64_t i) const noexcept { return lines_[places_.of(head_ + i)]; }
  // Whether line i of the current record carries the tag it must.
  bool tagged(std::uint64_t i) const noexcept {
    return line(i).head.load(std::memory_order_relaxed) == lap_tag(head_ + i, log2_);
  }
  // Done with the record; the lines stay ours until the credit is published.
  void pop(std::uint64_t lines_count) noexcept {
    const std::uint64_t lap = head_ & ~mask_;
    head_ += lines_count;
    if ((head_ & ~mask_) != lap) tag_ = lap_tag(head_, log2_);  // seldom: a store less
  }

  // Lets the i-th line from the next one come while we do something else.
  void expect(std::uint64_t i = 0) const noexcept { __builtin_prefetch(&line(i)); }

  // Lines popped and not yet given back.
  std::uint64_t owed() const noexcept { return head_ - published_; }
  void publish_lines() noexcept {
    credits_->give_lines(head_);
    published_ = head_;
  }
  std::uint64_t head() const noexcept { return head_; }
  std::uint64_t capacity() const noexcept { return mask_ + 1; }
  Credits* credits() const noexcept { return credits_; }

 private:
  const Line* lines_ = nullptr;
  Credits* credits_ = nullptr;
  LinePlaces places_;
  std::uint64_t head_ = 0;       // lines consumed
  std::uint64_t published_ = 0;  // lines given back
  std::uint64_t header_ = 0;
  std::uint64_t mask_ = 0;
  unsigned log2_ = 0;
  std::uint64_t tag_ = 0;  // of head_'s lap
};

}  // namespace photon::sync
