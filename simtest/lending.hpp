// Checks rendezvous against the promises of docs/rendezvous.md: the buffers that ranks lend to
// each other in a run, and what is put into and got from them.
//
//   loan:     announced -- taken --> finished -- its owner hears --> over
//                 \-- called back, a rank is gone --> over
//   transfer: posted --> [its bytes are there when its loan is over] --> its local completion
//
// Each transfer has a part of its buffer for itself. What is over is filled with junk at once: who
// still reads it, or writes there, is found out.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "simtest/oracle.hpp"
#include "simtest/program.hpp"

namespace photon::simtest {

struct Loan {
  std::uint32_t number = 0;  // from 1
  ph_rank owner = 0;
  ph_rank peer = 0;
  std::uint32_t lane = 0;  // of both
  const Step* step = nullptr;
  ph_request request = PH_REQUEST_NONE;
  bool accepted = false;
  bool came_along = false;  // over for its owner when the call returned
  bool recalled = false;    // its owner wants it back, and was told that it is too late
  bool taken = false;
  bool finished = false;
  bool over = false;            // its owner has heard of it, or does not want to
  std::uint64_t used = 0;       // by transfers, from the beginning on
  ph_buffer buffer{};           // once taken
  std::span<std::byte> memory;  // guard, buffer, guard

  ph_buffer_kind kind() const noexcept { return static_cast<ph_buffer_kind>(step->kinds); }
  std::uint64_t size_bytes() const noexcept { return step->size_bytes; }
  bool is_pending() const noexcept { return accepted && !finished; }
  std::span<std::byte> bytes() noexcept;
};

struct Transfer {
  std::uint32_t number = 0;  // from 1
  Loan* loan = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t flags = 0;
  ph_request request = PH_REQUEST_NONE;
  bool requested = false;
  bool accepted = false;
  bool local_seen = false;
  bool remote_seen = false;
  bool failed = false;
  std::vector<std::byte> memory;  // source; or guard, destination, guard

  bool is_put() const noexcept { return loan->kind() == PH_RECV_BUFFER; }
  std::span<std::byte> bytes() noexcept;
};

class Lending {
 public:
  Lending(Oracle& oracle, const Program& program);

  Loan& begin(const Endpoint& from, const Step& step);
  void announced(Loan& loan, ph_status status);
  // What a look for this has given there.
  void took(const Endpoint& at, const ph_match& match, const ph_buffer& buffer);
  void finished(Loan& loan, ph_status status);
  void recalled(Loan& loan, ph_outcome outcome);
  void over(Loan& loan, ph_status status);

  // Null: no room is left in that buffer.
  Transfer* begin(Loan& loan, const Step& step);
  void posted(Transfer& transfer, ph_status status);
  void done(Transfer& transfer, ph_status status);

  static std::uint64_t local_id(const Loan& loan) noexcept;
  static std::uint64_t local_id(const Transfer& transfer) noexcept;
  static std::uint64_t remote_id(const Transfer& transfer) noexcept;
  // Whether a completion is of these; then it was checked.
  bool completed(const Endpoint& at, const ph_completion& one);

  // It probes no more, or never will: nothing is expected of it.
  void gone(const Endpoint& end) { gone_[end.rank * lanes_ + end.lane] = true; }
  // Whether what ends there may say this because of one of these.
  bool explains(const Endpoint& end, ph_status status);
  bool is_settled() const;
  void report_pending();
  void check_memory();  // at the end

  // Of a rank by one of its lanes: those that it lends, whose completion it waits for; and those
  // that it has taken.
  std::vector<Loan*> lent_by(const Endpoint& at);
  std::vector<Loan*> taken_by(const Endpoint& at);
  std::vector<Transfer*> asked_by(const Endpoint& at);  // with a request that was not taken
  std::uint32_t pending_of(ph_rank rank) const;         // loans
  bool awaits_loans(const Endpoint& end) const;         // of living peers

 private:
  bool is_excused(const Loan& loan, ph_status status);
  Loan* meant(const Endpoint& at, const ph_buffer& buffer);
  // Whether the owner has gone, or the peer: from everything, or from the lane of the loan.
  bool owner_gone(const Loan& loan) const { return is_gone({loan.owner, loan.lane}); }
  bool peer_gone(const Loan& loan) const { return is_gone({loan.peer, loan.lane}); }
  bool is_gone(const Endpoint& end) const {
    return gone_[end.rank * lanes_] || gone_[end.rank * lanes_ + end.lane];
  }
  static bool fits(const Loan& loan, const ph_match& match) noexcept;
  void check_bytes(Loan& loan);
  void seal(Loan& loan);
  void note_owner(const Loan& loan, const std::string& what) {
    oracle_.note({loan.owner, loan.lane}, what);
  }
  void note_peer(const Loan& loan, const std::string& what) {
    oracle_.note({loan.peer, loan.lane}, what);
  }
  void wrong(const Loan& loan, const std::string& what);
  std::string text_of(const Loan& loan) const;

  Oracle& oracle_;
  // Of all loans, from before the run: where memory was given back to the system by ph_free() none
  // may come to lie, for that place is still asked for.
  std::unique_ptr<std::byte[]> slab_;
  std::size_t used_ = 0;
  std::deque<Loan> loans_;
  std::deque<Transfer> transfers_;
  const std::uint32_t lanes_;
  std::vector<bool> gone_;  // by rank and lane
};

}  // namespace photon::simtest
