// Payloads of active messages that this rank reads from their senders' memory: the target's half
// (docs/active-messages.md, "Pulling").
//
//   arrived -- end(): refused, wrong landing, dropped ------------------------------------> over
//           -- begin(): a header handler has named a landing --> reading
//   reading -- a part is there, those before it were told --> its completion handler is due
//           -- all bytes are there --> `read` is told          (not to who waits for the handlers)
//           -- the last part was told, or all are there and nobody wants to know ---------> over
//           -- a get fails, the handler returns an error, the source is lost, close() --> ending
//   ending  -- gets are given up; nothing writes to the landing any more -->
//              -- its completion handler was told the error, once; not after close() -----> over
//   over    -- `done` is told; the last get that was given up has ended --> free
//
// Parts: at most kMostParts of them, or the places of a ring, are read before the first of them was
// handled; a landing without chunks is one part. Gets: at most kMostGets of a pull, and a quarter
// of the quota of one source. Who is stopped waits in the line of its source, and the sources take
// turns, a get each.
// Invariants: a get writes only to a part that is not told yet; at most one part of a pull is due
// or runs; a pull is not freed while a line, a runner or a get knows of it. Owner: Am, under the
// lane's lock; between collect() and settle() the runner reads what a handler is told.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "service/am/am_offers.hpp"
#include "service/am/gate.hpp"
#include "service/am/landing.hpp"
#include "service/am/pull_table.hpp"
#include "service/service.hpp"

namespace photon::service::am {

struct Pull {
  enum class State : std::uint8_t { free, arrived, reading, ending, over };
  static constexpr std::size_t kMostGets = 16;
  static constexpr std::size_t kMostParts = 4;

  // ---- what has come; it stays as it is until the pull is over
  Rank from = 0;
  Word word;
  PullWords words;
  std::vector<SourceBlock> source;
  // ---- what the runner leaves: before begin() or end(), and between collect() and settle()
  Landing landing;
  std::uint64_t* node_pulls = nullptr;  // of its handler: counts the pulls that are not over
  bool was_replied = false;
  // ---- of Pulls
  State state = State::free;
  bool is_waiting = false;  // in the line of its source
  bool is_due = false;      // in the line of what is due
  bool is_running = false;
  bool has_told_read = false;
  ph_status status = PH_OK;    // how it ends
  std::uint16_t busy = 0;      // a bit for each handle whose get may write
  std::uint16_t given_up = 0;  // and whose get may not, but has not ended
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  std::uint64_t begun = 0;       // bytes that gets have brought or will bring: the first ones
  std::size_t block = 0;         // of the source, in which the next one lies
  std::uint64_t into_block = 0;  // and where
  std::uint64_t told = 0;        // bytes whose part was handled
  std::array<std::uint16_t, kMostParts> open{};  // gets of each part that are not over
  std::array<std::uint8_t, kMostGets> part_of{};
  std::array<std::uint64_t, kMostGets> handles{};
  Pull* next_waiting = nullptr;
  Pull* next_due = nullptr;
};

// A line of things that name the next one themselves, so that joining it needs no memory.
template <class T, T* T::*Next>
class Line {
 public:
  T* first() const noexcept { return first_; }
  void push(T& one) noexcept {
    one.*Next = nullptr;
    (first_ == nullptr ? first_ : last_->*Next) = &one;
    last_ = &one;
  }
  void push_front(T& one) noexcept {
    one.*Next = first_;
    if (first_ == nullptr) last_ = &one;
    first_ = &one;
  }
  T& pop() noexcept {
    T& one = *first_;
    first_ = one.*Next;
    return one;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

// What the rest of the service does with pulls.
class PullEnds {
 public:
  virtual ~PullEnds() = default;
  PullEnds() = default;
  PullEnds(const PullEnds&) = delete;
  PullEnds& operator=(const PullEnds&) = delete;
  // All bytes are here, and handlers still to end.
  virtual void pull_read(const Pull& pull) noexcept = 0;
  // It is over, with its status; once for each pull.
  virtual void pull_over(const Pull& pull) noexcept = 0;
};

class Pulls {
 public:
  // What a completion handler is to be told.
  struct Call {
    Pull* pull = nullptr;  // null: nothing is due
    ph_am_part part{};
    ph_status returned = PH_OK;  // left by the runner
  };

  Pulls(Port& port, Gates& gates, PullEnds& ends)
      : port_(port), gates_(gates), ends_(ends), sources_(port.size()) {}

  // A message of that kind has come: its table is a copy, and was checked. Null: its sender has
  // more of them under way than it may. Throws bad_alloc, and nothing was done.
  Pull* add(Rank from, const Word& word, const PullWords& words, std::vector<SourceBlock>&& table);
  // Its header handler has named a landing that take() has found good, and that does not drop.
  void begin(Pull& pull) noexcept;
  // Nothing of it is read.
  void end(Pull& pull, ph_status status) noexcept;

  bool has_due() const noexcept { return due_.first() != nullptr; }
  Call collect() noexcept;
  void settle(const Call& call) noexcept;

  // An operation of the service is over, so that there is room in its quota; maybe one of ours.
  void on_local(Rank from, std::uint64_t token, ph_status status) noexcept;
  void on_lost(Rank rank, ph_status why) noexcept;
  // No completion handler runs any more.
  void close() noexcept;

  // Nothing is written to any landing, and no source waits for an end; what has only arrived does
  // not count.
  bool is_idle() const noexcept { return reading_ == 0 && gets_ == 0; }
  std::uint64_t held() const noexcept { return reading_ + gets_; }
  std::uint64_t bytes_of(Rank rank) const noexcept { return of(rank) ? of(rank)->bytes : 0; }
  std::uint64_t parts_of(Rank rank) const noexcept { return of(rank) ? of(rank)->parts : 0; }

 private:
  struct Source {
    std::uint32_t pulls = 0;  // that are not over
    std::uint32_t gets = 0;
    bool is_listed = false;
    std::uint64_t bytes = 0;  // that were read, ever
    std::uint64_t parts = 0;  // that were told, ever
    Line<Pull, &Pull::next_waiting> waiting;
    Source* next = nullptr;
  };

  const Source* of(Rank rank) const noexcept { return sources_[rank].get(); }
  std::uint64_t most_gets() const noexcept;
  Pull* find(Rank from, std::uint64_t token) noexcept;
  std::uint64_t token_of(const Pull& pull, std::size_t handle) const noexcept;

  // ---- gets
  bool wants_more(const Pull& pull) const noexcept;
  void wait(Pull& pull) noexcept;
  void list(Source& source) noexcept;
  void go_on() noexcept;
  void feed(Source& source, Pull& pull) noexcept;
  ph_status begin_get(Pull& pull) noexcept;
  // ---- parts and ends
  bool has_part(const Pull& pull) const noexcept;
  void advance(Pull& pull) noexcept;
  void make_due(Pull& pull) noexcept;
  void fail(Pull& pull, ph_status status) noexcept;
  void try_end(Pull& pull) noexcept;
  void finish(Pull& pull, ph_status status) noexcept;
  void try_free(Pull& pull) noexcept;

  Port& port_;
  Gates& gates_;
  PullEnds& ends_;
  std::vector<std::unique_ptr<Source>> sources_;  // by rank
  std::vector<std::unique_ptr<Pull>> all_;        // by slot
  std::vector<std::uint32_t> free_;               // has room for all
  Line<Source, &Source::next> listed_;            // those with pulls that wait for gets
  Line<Pull, &Pull::next_due> due_;
  std::uint64_t reading_ = 0;  // pulls that are reading or ending
  std::uint64_t gets_ = 0;
  bool is_going_on_ = false;
  bool is_closing_ = false;
};

}  // namespace photon::service::am
