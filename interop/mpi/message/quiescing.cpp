// Whether all messages of a circle are over: F. Mattern, 1987, four counters, of which each wave
// adds two up over the members. A wave begins at all members behind the end of the one before. So
// equal sums in two waves say that no count has changed between them; and if as many messages are
// over as were sent, none was under way then, and no handler ran that could send.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "interop/mpi/message/am_server.hpp"
#include "interop/mpi/window/in_function.hpp"

namespace photon::mpi {

namespace {

constexpr Outcome kLost{MPI_ERR_OTHER, "a member has ended, so its messages are never over"};
constexpr Outcome kRefused{MPI_ERR_OTHER, "a message was lost at its target"};

}  // namespace

class AmServer::Watch {
 public:
  Watch(AmServer& server, Circle& circle) noexcept : server_(server), circle_(circle) {}

  // A turn of a wait. False: a member has ended.
  bool turn() noexcept {
    server_.serve();
    if (server_.job_.is_crowded()) ::sched_yield();
    const auto now = Clock::now();
    if (now < next_look_) return true;
    next_look_ = now + std::chrono::milliseconds(1);
    next_ = (next_ + 1) % circle_.ranks.size();
    const ph_rank rank = circle_.ranks[next_];
    return rank == server_.job_.rank() || !is_gone(rank);
  }

 private:
  // One that has left may have done its part before, and then what is waited for comes.
  bool is_gone(ph_rank rank) noexcept {
    constexpr unsigned kMostLooks = 1000;
    const ph_status met = ph_contact(server_.lane_, rank);
    ph_contact_state state = PH_PEER_UNKNOWN;
    if (met == PH_ERR_PEER || met == PH_ERR_PROTOCOL) return true;
    if (ph_peer_state(server_.lane_, rank, &state) != PH_OK) return false;
    if (state == PH_PEER_DEPARTED || met == PH_ERR_DEPARTED) return ++departed_looks_ > kMostLooks;
    return state == PH_PEER_DEAD;
  }

  using Clock = std::chrono::steady_clock;

  AmServer& server_;
  Circle& circle_;
  Clock::time_point next_look_ = Clock::now() + std::chrono::milliseconds(1);
  std::size_t next_ = 0;
  unsigned departed_looks_ = 0;
};

// A message that is not over here would make a wave idle.
bool AmServer::await_own(Circle& circle) noexcept {
  Watch watch(*this, circle);
  for (;;) {
    {
      const std::lock_guard guard(circles_.mutex());
      if (circle.counts.begun == circle.counts.over) return true;
    }
    if (!watch.turn()) return false;
  }
}

bool AmServer::sum_up(Circle& circle) noexcept {
  {
    const std::lock_guard guard(circles_.mutex());
    circle.wave[0] = static_cast<std::int64_t>(circle.counts.sent);
    circle.wave[1] = static_cast<std::int64_t>(circle.counts.over);
    circle.wave[2] = has_refused_.get() ? 1 : 0;
  }
  return reduce(circle, MPI_SUM);
}

bool AmServer::reduce(Circle& circle, MPI_Op op) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (real().Iallreduce(circle.wave, circle.sums, Circle::kSums, MPI_INT64_T, op, circle.comm,
                        &request) != MPI_SUCCESS)
    return false;
  Watch watch(*this, circle);
  for (int is_over = 0;;) {
    if (real().Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_over != 0) return true;
    if (!watch.turn()) return false;
  }
}

bool AmServer::agree(Circle& circle, int id, Outcome& outcome) noexcept {
  circle.wave[0] = id;
  circle.wave[1] = -std::int64_t{id};
  circle.wave[2] = 0;
  if (!reduce(circle, MPI_MIN)) return false;
  if (circle.sums[0] != -circle.sums[1])
    outcome = {MPI_ERR_ARG, "the members free different handlers"};
  return true;
}

// Whether members are there does not matter: what a dead one has begun to send ends here.
void AmServer::await_handlers(Circle& circle) noexcept {
  for (;;) {
    {
      const std::lock_guard guard(circles_.mutex());
      if (circle.counts.begun == circle.counts.over) return;
    }
    serve();
    ::sched_yield();
  }
}

Outcome AmServer::quiesce(Circle& circle) noexcept {
  if (InFunction::is_here()) return kInFunction;
  std::int64_t before[Circle::kSums] = {-1, -1, 0};
  for (bool is_over = false; !is_over;) {
    if (circle.is_broken || !await_own(circle) || !sum_up(circle)) {
      circle.is_broken = true;
      return kLost;
    }
    if (circle.sums[2] != 0) return kRefused;
    is_over = circle.sums[0] == circle.sums[1] && std::equal(before, before + 2, circle.sums);
    std::copy_n(circle.sums, Circle::kSums, before);
  }
  const std::lock_guard guard(circles_.mutex());
  return outcome_of(std::exchange(circle.fault, Fault::none));
}

}  // namespace photon::mpi
