// Bodies of messages that come in from one peer: how far each service's has come, and the chunks
// that services keep in the bulk ring.
//
//   chunk: in the ring -- taken --> free        -- kept --> lent -- give_back() --> free
//
// Invariants: the bodies of one owner come one after the other; the bulk ring is not given back
// beyond the first chunk that is lent. Owner: a Peer, under the lane's lock.
#pragma once

#include <array>
#include <cstdint>

#include "base/ring_queue.hpp"
#include "wire/owner.hpp"

namespace photon::engine {

class Bodies {
 public:
  static constexpr std::uint64_t kNoLoan = ~std::uint64_t{0};

  struct Part {
    std::uint64_t size_bytes = 0;  // of the body
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  // Whether this chunk goes on with its owner's body, or begins one. One of no bytes ends a body
  // whose rest will not come.
  bool follows(wire::Owner owner, const Part& part) const noexcept {
    const Body& body = bodies_[static_cast<std::size_t>(owner)];
    const bool is_new = body.done == body.size_bytes;
    if (part.size_bytes == 0 || part.offset != (is_new ? 0 : body.done)) return false;
    if (!is_new && part.size_bytes != body.size_bytes) return false;
    return part.bytes <= part.size_bytes && part.offset <= part.size_bytes - part.bytes;
  }
  void has_come(wire::Owner owner, const Part& part) noexcept {
    const std::uint64_t done = part.bytes == 0 ? part.size_bytes : part.offset + part.bytes;
    bodies_[static_cast<std::size_t>(owner)] = {part.size_bytes, done};
  }

  // Before a chunk is shown: lend() does not allocate now. Throws bad_alloc.
  void make_room() { loans_.make_room(); }
  // What the next lend() will be called.
  std::uint64_t next_loan() const noexcept { return loans_.end(); }
  // A chunk that begins there in the ring is kept.
  void lend(std::uint64_t begin) noexcept {
    loans_.push_unchecked({begin, true});
    ++lent_;
  }
  // False: there is no such loan.
  bool give_back(std::uint64_t loan) noexcept {
    if (loan < loans_.begin() || loan >= loans_.end() || !loans_.at(loan).is_lent) return false;
    loans_.at(loan).is_lent = false;
    --lent_;
    while (!loans_.empty() && !loans_.front().is_lent) loans_.pop();
    loans_.trim();
    return true;
  }
  std::uint64_t lent() const noexcept { return lent_; }
  // Where the first chunk begins that is lent; kNoLoan: none is.
  std::uint64_t lent_from() const noexcept {
    return loans_.empty() ? kNoLoan : loans_.front().begin;
  }

 private:
  struct Body {
    std::uint64_t size_bytes = 0;
    std::uint64_t done = 0;
  };
  struct Loan {
    std::uint64_t begin = 0;
    bool is_lent = false;
  };

  std::array<Body, wire::kOwners> bodies_{};
  base::RingQueue<Loan> loans_;
  std::uint64_t lent_ = 0;
};

}  // namespace photon::engine
