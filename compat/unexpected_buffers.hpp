// What peers have announced and nobody has met yet. The context gives each announcement away once;
// what was only looked at (photon_probe_ledger()), or could not be answered, is kept here for the
// next who waits for it.
//
//   announced -- see() ------------------------> kept -- meet() --> taken
//       |  \---- borrow() --> lent -- settle(): returned --^            ^
//       |                       \---- settle(): taken ------------------|
//       \------- meet() ------------------------------------------------/
//
// Invariant: what is kept is older than what the context still has from that rank; what was
// returned counts as such, whatever other tags wait there. What is lent keeps its place, and nobody
// else finds it.
// Owner: the session. Any thread; its lock is held over looks, and never over a wait. From the
// first see() on who waits looks in turns with it, since what a wait had taken meanwhile might be
// younger than what was seen; so that first one waits until nobody is in such a wait (20 ms at
// most).
#pragma once

#include <photon/photon.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace photon::classic {

class Session;

class UnexpectedBuffers {
 public:
  struct Loan {
    ph_buffer buffer{};
    std::uint64_t number = 0;  // says which
  };

  // Waits for one that matches and takes it. Else an error: who could announce it is gone, or the
  // context is.
  ph_status meet(Session& session, const ph_match& match, ph_buffer& buffer);

  // The same, but settle() has to follow: it was taken, or the next may have it.
  ph_status borrow(Session& session, const ph_match& match, Loan& loan);
  void settle(const Loan& loan, bool is_taken) noexcept;

  // One look, which takes nothing: PH_OK, PH_AGAIN, or an error as in meet().
  ph_status see(ph_context* context, const ph_match& match, ph_buffer& buffer);

 private:
  struct Kept {
    Loan loan;
    bool is_lent;
  };
  // The oldest that matches and is not lent; null: none.
  Kept* find(const ph_match& match) noexcept;
  // For one more, and for each that a thread may bring from its wait.
  void make_room();
  void keep(const ph_buffer& buffer, bool is_lent) noexcept;
  bool lend(const ph_match& match, Loan& loan) noexcept;
  // Lends one, waiting up to kRoundUs.
  ph_status try_borrow(ph_context* context, const ph_match& match, Loan& loan);
  ph_status try_borrow_in_turns(ph_context* context, const ph_match& match, Loan& loan);

  std::mutex mutex_;
  std::vector<Kept> kept_;       // under it, as is all that follows; oldest first
  std::uint64_t numbers_ = 0;    // given so far
  std::size_t waits_count_ = 0;  // each may bring one
  bool is_looked_at_ = false;
  std::condition_variable nobody_waits_;  // of those that take from the context unseen
};

}  // namespace photon::classic
