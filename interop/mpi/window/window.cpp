#include "interop/mpi/window/window.hpp"

#include <bit>
#include <new>

#include "interop/mpi/window/asking.hpp"
#include "interop/mpi/window/locking.hpp"

namespace photon::mpi {

namespace {

constexpr Outcome wrong(const char* words) noexcept { return {MPI_ERR_RMA_SYNC, words}; }
constexpr Outcome lost() noexcept {
  return {MPI_ERR_OTHER,
          "a member of the window has ended, or lost what was sent to it, and this call waits for "
          "it"};
}

}  // namespace

Window::Window(Job& job, std::uint32_t own, std::uint32_t count) : job_(job), own_(own) {
  targets_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) targets_.push_back(std::make_unique<Target>());
}

[[gnu::always_inline]] inline Outcome Window::take(Target& target, Access access) noexcept {
  if (!target.board.has_value()) {
    Request request;
    request.ask = Ask::lock;
    request.value = access == Access::exclusive ? 1 : 0;
    if (access != Access::unchecked && !ask(*this, target, request, {}, {})) return lost();
  } else {
    if (access == Access::exclusive) own_lock(*this, target.board->window_lock(), target);
    if (access == Access::shared) share_lock(*this, target.board->window_lock(), target);
  }
  target.access = access;
  return {};
}

// Operations of a fence's epoch are the most frequent that come here.
Outcome Window::admit_slowly(Target& target) noexcept {
  if (fence_.get() != Fence::none) {
    if (fence_.get() == Fence::maybe) fence_.set(Fence::used);
    return {};
  }
  if (!is_all_.get()) return wrong("an operation outside an epoch towards its target");
  return take(target, is_all_unchecked_ ? Access::unchecked : Access::shared);
}

// No epoch of this rank is open that would have to end first.
bool Window::may_begin() const noexcept {
  return fence_.get() != Fence::used && !is_all_.get() && !is_started_;
}

Outcome Window::fence(int asserts) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (is_all_.get() || is_started_ || locked_.get() != 0)
    return wrong("a fence in an epoch of locks, or of MPI_Win_start");
  if (is_posted_) return wrong("a fence between MPI_Win_post and MPI_Win_wait");
  constexpr int kNothing = MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  fence_.set((asserts & MPI_MODE_NOSUCCEED) != 0 ? Fence::none : Fence::maybe);
  if ((asserts & kNothing) == kNothing) return {};
  const bool is_there = settle_all();
  const Outcome met = barrier();
  return is_there ? met : lost();
}

// Dissemination: in round k each member tells the one that is 2^k behind it. Whoever has heard in
// all rounds has heard of all members, and sees what they did before. One that is dead stops
// nobody: whoever misses it goes on, and says so in its other rounds, by an odd word. That one says
// so for ever, so that a word of the next barrier may stand there already.
Outcome Window::barrier() noexcept {
  ++barriers_;
  for (std::uint32_t k = 0; (std::uint64_t{1} << k) < size(); ++k)
    if (!meet(k, 2 * barriers_)) has_lost_ = true;
  return has_lost_ ? lost() : Outcome{};
}

// False: a member has ended.
bool Window::meet(std::uint32_t round, std::uint64_t number) noexcept {
  const std::uint32_t step = 1U << round;
  const std::uint32_t to = (own_ + step) % size();
  const std::uint32_t from = (own_ + size() - step) % size();
  SharedCount& heard = board().round(round);
  const bool is_told = tell(*targets_[to], Ask::round, round, number + (has_lost_ ? 1 : 0));
  return await(heard, number, from) && heard.get() % 2 == 0 && is_told;
}

// False: that member has ended before.
bool Window::await(SharedCount& count, std::uint64_t value, std::uint32_t member) noexcept {
  if (count.get() >= value) return true;
  Patience patience(job_, board().doorbell());
  while (count.get() < value)
    if (!patience.pause(targets_[member]->rank)) return count.get() >= value;
  return true;
}

Outcome Window::lock(int type, int member, int asserts) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Target& target = *targets_[static_cast<std::uint32_t>(member)];
  const TargetGuard guard(job_, target);
  if (!may_begin()) return wrong("a lock in another epoch");
  if (target.access != Access::closed) return wrong("a second lock of one target");
  fence_.set(Fence::none);
  const Access access = type == MPI_LOCK_EXCLUSIVE ? Access::exclusive : Access::shared;
  if (const Outcome outcome =
          take(target, (asserts & MPI_MODE_NOCHECK) != 0 ? Access::unchecked : access);
      !outcome.is_good())
    return outcome;
  job_.is_multiple() ? locked_.add() : locked_.add_alone();
  return {};
}

Outcome Window::unlock(int member) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Target& target = *targets_[static_cast<std::uint32_t>(member)];
  const TargetGuard guard(job_, target);
  if (is_all_.get() || target.access == Access::closed || target.access == Access::granted)
    return wrong("an unlock of a target that is not locked");
  const bool is_there = give_back(target);
  job_.is_multiple() ? locked_.drop() : locked_.drop_alone();
  return is_there ? Outcome{} : lost();
}

Outcome Window::lock_all(int asserts) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (!may_begin() || locked_.get() != 0) return wrong("MPI_Win_lock_all in another epoch");
  fence_.set(Fence::none);
  is_all_unchecked_ = (asserts & MPI_MODE_NOCHECK) != 0;
  is_all_.set(true);
  return {};
}

Outcome Window::unlock_all() noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (!is_all_.get()) return wrong("MPI_Win_unlock_all without MPI_Win_lock_all");
  bool is_there = true;
  for (const auto& target : targets_) {
    const TargetGuard guard(job_, *target);
    if (target->access != Access::closed) is_there = give_back(*target) && is_there;
  }
  is_all_.set(false);
  return is_there ? Outcome{} : lost();
}

// What was done in the epoch is there before the lock is given back.
bool Window::give_back(Target& target) noexcept {
  const bool is_there = settle(target);
  const bool is_exclusive = target.access == Access::exclusive;
  if (target.board.has_value()) {
    if (is_exclusive) leave_lock(*this, target.board->window_lock(), target);
    if (target.access == Access::shared) unshare_lock(*this, target.board->window_lock(), target);
  } else if (target.access != Access::unchecked) {
    tell(target, Ask::unlock, 0, is_exclusive ? 1 : 0);
  }
  target.access = Access::closed;
  return is_there;
}

// Operations are over when their calls return. What they have stored is seen by all before anything
// that this rank reads from now on.
Outcome Window::flush(int member) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  const Outcome outcome = check_passive(member);
  Policy::full_fence();
  if (!outcome.is_good() || server_ == nullptr) return outcome;
  return settle(*targets_[static_cast<std::uint32_t>(member)]) ? Outcome{} : lost();
}

Outcome Window::check_passive(int member) noexcept {
  if (is_all_.get()) return {};  // another thread may wait for a lock, with the guard
  Target& target = *targets_[static_cast<std::uint32_t>(member)];
  const TargetGuard guard(job_, target);
  if (target.access != Access::closed && target.access != Access::granted) return {};
  return wrong("a flush, or an operation with a request, outside an epoch of locks");
}

Outcome Window::flush_all() noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Policy::full_fence();
  if (is_all_.get() || locked_.get() != 0) return settle_all() ? Outcome{} : lost();
  return wrong("a flush outside an epoch of locks");
}

// ---- post, start, complete, wait

Outcome Window::post(const std::vector<std::uint32_t>& origins) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (is_posted_) return wrong("MPI_Win_post before the epoch of the last one is over");
  if (fence_.get() == Fence::used) return wrong("MPI_Win_post in the epoch of a fence");
  try {
    posted_ = origins;
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, "no memory for the group of MPI_Win_post"};
  }
  fence_.set(Fence::none);
  for (const std::uint32_t origin : origins) {
    Target& target = *targets_[origin];
    if (!tell(target, Ask::post, 0, ++target.posts_sent)) return lost();
  }
  is_posted_ = true;
  return {};
}

// Nothing may touch a target before it has posted.
Outcome Window::start(const std::vector<std::uint32_t>& targets) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (!may_begin() || locked_.get() != 0) return wrong("MPI_Win_start in another epoch");
  try {
    started_ = targets;
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, "no memory for the group of MPI_Win_start"};
  }
  fence_.set(Fence::none);
  for (const std::uint32_t member : targets) {
    Target& target = *targets_[member];
    if (!await(board().pair(member).posts, target.posts_taken + 1, member)) return lost();
  }
  for (const std::uint32_t member : targets) {
    ++targets_[member]->posts_taken;
    targets_[member]->access = Access::granted;
  }
  is_started_ = true;
  return {};
}

Outcome Window::complete() noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (!is_started_) return wrong("MPI_Win_complete without MPI_Win_start");
  Outcome outcome;
  for (const std::uint32_t member : started_) {
    Target& target = *targets_[member];
    target.access = Access::closed;
    if (!settle(target) || !tell(target, Ask::complete, 0, ++target.completes_sent))
      outcome = lost();
  }
  is_started_ = false;
  return outcome;
}

Outcome Window::wait() noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (!is_posted_) return wrong("MPI_Win_wait without MPI_Win_post");
  for (const std::uint32_t origin : posted_)
    if (!await(board().pair(origin).completes, targets_[origin]->completes_taken + 1, origin))
      return lost();
  for (const std::uint32_t origin : posted_) ++targets_[origin]->completes_taken;
  is_posted_ = false;
  return {};
}

Outcome Window::test(bool& is_over) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  is_over = false;
  if (!is_posted_) return wrong("MPI_Win_test without MPI_Win_post");
  for (const std::uint32_t origin : posted_)
    if (board().pair(origin).completes.get() <= targets_[origin]->completes_taken) {
      job_.serve();
      return {};
    }
  is_over = true;
  return wait();
}

Outcome Window::end() noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  if (is_all_.get() || is_started_ || is_posted_ || locked_.get() != 0)
    return wrong("MPI_Win_free in an epoch");
  return barrier();
}

}  // namespace photon::mpi
