// Payloads of active messages that their targets read from this rank's memory: the sender's half
// (docs/active-messages.md, "Pulling").
//
//   made -- accept() --> waits -- went() --> told -- read --> read -- done --> over
//                                            told -- done --> over    (PH_DELIVERED: no read)
//   made -- withdraw() --> as if never made
//   waits, told, read -- its target is lost --> over
//
// The payload is its user's again with `read`, with PH_DELIVERED or an error with `done`. An error
// behind `read` is a late completion.
// Invariants: what is lent is exposed, and nothing else is; a promise is told once, and once more
// only with an error; told and read ones of a target are at most kMostPulls. Nobody is told of one
// that is only made: the call that makes it says what became of it.
// Owner: Am, under the lane's lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "service/am/am_entry.hpp"
#include "service/am/pull_table.hpp"
#include "service/service.hpp"

namespace photon::service::am {

// So many messages may be at a target, whose payload it has not read and handled.
inline constexpr std::uint32_t kMostPulls = 1024;

class Offers {
 public:
  struct Offer {
    std::span<const ph_const_block> payload;  // checked; has bytes
    UserEnd end;                              // end.rank is the target, which was met
    bool tells_handled = false;               // PH_DELIVERED
    bool is_counted = false;                  // in the budget: it is made in a handler
  };

  Offers(Port& port, Budget& budget) : port_(port), budget_(budget), told_(port.size()) {}

  // PH_OK: the payload is lent, and `token` names it. Else nothing was done: PH_AGAIN (no promise),
  // or why a block cannot be exposed. Throws bad_alloc, and nothing was done.
  ph_status make(const Offer& offer, std::uint64_t& token);
  std::uint64_t promise_of(std::uint64_t token) const noexcept { return at(token).promise; }
  // What travels: the number of blocks, and the table of them, which has room for that many.
  std::size_t blocks_of(std::uint64_t token) const noexcept { return at(token).blocks.size(); }
  void write_table(std::uint64_t token, std::byte* table) const noexcept;

  // The call that makes it succeeds.
  void accept(std::uint64_t token) noexcept { at(token).state = State::waits; }
  // Its call fails: nobody else hears of it.
  void withdraw(std::uint64_t token) noexcept;

  // Whether the message of one more may go to that rank; its `done` makes room.
  bool may_go(Rank to) const noexcept { return told_[to] < kMostPulls; }
  void went(std::uint64_t token) noexcept;
  // It never will, and was accepted; nothing happens if it is over already.
  void fail(std::uint64_t token, ph_status why) noexcept;

  // What the target says; false: malformed.
  bool read(Rank from, std::uint64_t token) noexcept;
  bool done(Rank from, std::uint64_t token, std::uint64_t status) noexcept;
  // The keys go at once.
  void on_lost(Rank rank, ph_status why) noexcept;

  std::uint64_t held() const noexcept { return open_; }
  bool is_idle() const noexcept { return open_ == 0; }

 private:
  enum class State : std::uint8_t { free, made, waits, told, read };
  struct Block {
    Exposed exposed;
    std::uint64_t size_bytes = 0;
  };
  struct Lent {
    State state = State::free;
    bool tells_handled = false;
    bool is_counted = false;
    Rank to = 0;
    std::uint32_t generation = 1;
    std::uint64_t promise = 0;
    std::vector<Block> blocks;
  };

  static constexpr std::uint64_t kSlotBits = 32;
  static std::size_t slot_of(std::uint64_t token) noexcept {
    return token & ((std::uint64_t{1} << kSlotBits) - 1);
  }
  Lent& at(std::uint64_t token) noexcept { return all_[slot_of(token)]; }
  const Lent& at(std::uint64_t token) const noexcept { return all_[slot_of(token)]; }
  Lent* find(Rank from, std::uint64_t token) noexcept;  // null: it names no offer that it knows
  ph_status expose(Lent& lent, std::span<const ph_const_block> payload);
  void conceal(Lent& lent) noexcept;
  void finish(Lent& lent, ph_status status, const char* why) noexcept;
  void free(Lent& lent) noexcept;

  Port& port_;
  Budget& budget_;
  std::vector<Lent> all_;
  std::vector<std::uint32_t> free_;  // has room for all
  std::vector<std::uint32_t> told_;  // by rank: those that may be at it
  std::uint64_t open_ = 0;
};

}  // namespace photon::service::am
