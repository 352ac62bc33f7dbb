// What the sender still has to say of messages that have gone: by their numbers, until the target
// has told that they were handled (docs/active-messages.md, "Ends and errors").
//
//   expected -- its message goes: add() --> noted -- handled passes its number --> over: PH_OK
//            -- unexpect() --> none         noted -- refused --> over, with that error
//                                           noted -- this rank leaves --> a promise is over
//                                           noted -- the target is lost --> over, with that status
//
// Invariants: numbers only grow, and there are at most as many as slots; none is told of twice.
// Owner: of Notes one rank's part of the sender, of Teller the sender; under the lane's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ring_queue.hpp"
#include "service/am/am_entry.hpp"
#include "service/service.hpp"

namespace photon::service::am {

// Tells the user how messages end.
class Teller {
 public:
  Teller(Port& port, Budget& budget) noexcept : port_(port), budget_(budget) {}

  // A promise of a message that is accepted: it is to be told of later.
  Note promised(std::uint64_t promise, bool is_beyond) noexcept;
  // The end of what the note stands for. `why`: of an error.
  void end(Rank rank, const Note& note, ph_status status, const char* why = nullptr) noexcept;
  void close() noexcept { is_closing_ = true; }
  // Promises that are not over.
  std::uint64_t promises() const noexcept { return promises_; }

 private:
  Port& port_;
  Budget& budget_;
  std::uint64_t promises_ = 0;
  bool is_closing_ = false;
};

class Notes {
 public:
  explicit Notes(std::uint64_t most) noexcept : most_(most) {}

  // Room for one more, whose message waits or is about to go. Throws bad_alloc.
  void expect() {
    const std::uint64_t left = most_ - notes_.size();
    notes_.make_room(expected_ + 1 < left ? expected_ + 1 : left);
    ++expected_;
  }
  void unexpect() noexcept { --expected_; }
  // Of a message that was expected if its note says anything, and has gone with that number.
  void add(std::uint64_t number, const Note& note) noexcept {
    if (note.kind == Note::Kind::none) return;
    --expected_;
    notes_.push_unchecked({number, note});
  }
  // The target has handled all up to that number.
  void settle(Rank rank, std::uint64_t known, Teller& teller) noexcept;
  // The note of that number, which may be none.
  Note find(std::uint64_t number) const noexcept;
  // As find(), and it is over.
  Note take(std::uint64_t number) noexcept;
  // Nothing more comes of the target. `tells_ids`: also of those that hold no promise.
  void lose(Rank rank, ph_status why, bool tells_ids, Teller& teller) noexcept;
  // This rank leaves, and no end will be heard here: that of each promise is that.
  void close(Rank rank, Teller& teller) noexcept;
  bool empty() const noexcept { return notes_.empty(); }

 private:
  struct Numbered {
    std::uint64_t number = 0;
    Note note;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::uint64_t place_of(std::uint64_t number) const noexcept;

  base::RingQueue<Numbered> notes_;
  std::uint64_t expected_ = 0;
  std::uint64_t most_;
};

}  // namespace photon::service::am
