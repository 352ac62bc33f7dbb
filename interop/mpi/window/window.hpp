// A window that is ours (docs/mpi.md): what each member of it keeps, and the epochs.
//
//   epoch of a rank:  none -- fence() --> fenced -- fence(NOSUCCEED) --> none
//                     none -- start() --> started -- complete() --> none
//                     none -- lock_all() --> all -- unlock_all() --> none
//   of one target:    closed -- lock() --> shared, exclusive, unchecked -- unlock() --> closed
//                     closed, in `all` -- its first operation --> shared -- unlock_all() --> closed
//                     closed, in its start() --> granted -- complete() --> closed
//   exposure:         none -- post() --> posted -- wait(), test() --> none        (beside an epoch)
//
// A fence opens an epoch only if an operation follows: until then another epoch may begin.
// Invariants: a target's access says which words of its window lock this rank has written. No call
// changes anything if it gives an error, unless its words say that a member has ended. Errors are
// MPI's classes, with words (Outcome).
// Owner: the table of windows (windows.hpp). Threads: any, as MPI allows them on one window; a
// target's state is under its lock where the level of threads is MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "interop/mpi/window/board.hpp"
#include "interop/mpi/window/in_function.hpp"
#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/outcome.hpp"
#include "interop/mpi/window/patience.hpp"
#include "interop/mpi/window/server.hpp"
#include "interop/mpi/window/user_ops.hpp"
#include "sync/hint.hpp"
#include "sync/shared_count.hpp"

namespace photon::mpi {

enum class Way : std::uint8_t { mapped, copied, served };
enum class Access : std::uint8_t { closed, shared, exclusive, unchecked, granted };

struct Target {
  std::byte* base = nullptr;  // where this process reaches the memory itself; null: it cannot
  std::uint64_t size_bytes = 0;
  std::uint64_t unit = 1;  // of displacements
  Access access = Access::closed;
  Way way = Way::mapped;
  ph_rank rank = 0;
  std::optional<Board> board;  // none: its host is another
  ph_region region{};          // of its memory, where this process cannot reach it by itself
  // What was sent to it, where the way is served, and may not be done yet.
  sync::Hint<Policy, bool> has_puts;
  sync::Hint<Policy, bool> has_sums;
  std::size_t unsettled_bytes = 0;  // of the sums
  // Posts and completes that this rank has sent to it, and taken from it.
  std::uint64_t posts_sent = 0;
  std::uint64_t completes_sent = 0;
  std::uint64_t posts_taken = 0;
  std::uint64_t completes_taken = 0;
  std::mutex mutex;
};

// Locks a target where threads may meet on it.
class TargetGuard {
 public:
  TargetGuard(const Job& job, Target& target) noexcept
      : mutex_(job.is_multiple() ? &target.mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~TargetGuard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  TargetGuard(const TargetGuard&) = delete;
  TargetGuard& operator=(const TargetGuard&) = delete;

 private:
  std::mutex* mutex_;
};

class Window {
 public:
  Window(Job& job, std::uint32_t own, std::uint32_t count);

  Job& job() const noexcept { return job_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(targets_.size()); }
  std::uint32_t own() const noexcept { return own_; }
  Target& target(std::uint32_t member) noexcept { return *targets_[member]; }
  bool is_own(const Target& target) const noexcept { return &target == targets_[own_].get(); }
  Board& board() noexcept { return *targets_[own_]->board; }

  // All members know it by the same number, which no other window of theirs has.
  void name(std::uint64_t number) noexcept { number_ = number; }
  // For members that cannot reach each other by themselves.
  void be_served(Server& server) noexcept { server_ = &server; }
  Server* server() const noexcept { return server_; }
  std::uint64_t number() const noexcept { return number_; }
  // All that went to a target is done there. False: it has ended, or something of it is lost.
  bool settle(Target& target) noexcept { return server_ == nullptr || settle_slowly(target); }
  bool settle_all() noexcept;

  // Operations of the program that all members know. Some windows have them done in the target's
  // process always.
  UserOps& ops() noexcept { return ops_; }
  bool is_op_at_target() const noexcept { return is_op_at_target_; }
  void have_ops_at_target() noexcept { is_op_at_target_ = true; }

  // For an operation on a target: may it be done now? In an epoch of all it takes the lock first.
  // The caller has the target's guard.
  Outcome admit(Target& target) noexcept {
    return target.access != Access::closed ? Outcome{} : admit_slowly(target);
  }

  Outcome fence(int asserts) noexcept;
  Outcome lock(int type, int member, int asserts) noexcept;
  Outcome unlock(int member) noexcept;
  Outcome lock_all(int asserts) noexcept;
  Outcome unlock_all() noexcept;
  Outcome flush(int member) noexcept;
  Outcome flush_all() noexcept;
  // Operations with requests belong to epochs of locks alone.
  Outcome check_passive(int member) noexcept;
  // Members of the window.
  Outcome post(const std::vector<std::uint32_t>& origins) noexcept;
  Outcome start(const std::vector<std::uint32_t>& targets) noexcept;
  Outcome complete() noexcept;
  Outcome wait() noexcept;
  Outcome test(bool& is_over) noexcept;
  // All is over here, so that the window can be freed.
  Outcome end() noexcept;

 private:
  enum class Fence : std::uint8_t { none, maybe, used };

  Outcome admit_slowly(Target& target) noexcept;
  bool settle_slowly(Target& target) noexcept;
  Outcome take(Target& target, Access access) noexcept;
  bool give_back(Target& target) noexcept;
  // A word of another member's block, by itself or by a message.
  bool tell(Target& target, Ask ask, std::uint32_t which, std::uint64_t value) noexcept;
  Outcome barrier() noexcept;
  bool meet(std::uint32_t round, std::uint64_t number) noexcept;
  bool may_begin() const noexcept;
  bool await(SharedCount& count, std::uint64_t value, std::uint32_t member) noexcept;

  Job& job_;
  std::uint32_t own_;
  UserOps ops_;
  bool is_op_at_target_ = false;
  Server* server_ = nullptr;  // null: all members reach each other by themselves
  std::uint64_t number_ = 0;
  std::vector<std::unique_ptr<Target>> targets_;
  sync::Hint<Policy, Fence> fence_;
  sync::Hint<Policy, bool> is_all_;
  sync::Tally<Policy> locked_;  // targets that are locked one by one
  bool is_all_unchecked_ = false;
  std::uint64_t barriers_ = 0;
  bool has_lost_ = false;  // in a barrier: a member, or another has said so
  bool is_started_ = false;
  bool is_posted_ = false;
  std::vector<std::uint32_t> started_;
  std::vector<std::uint32_t> posted_;
};

}  // namespace photon::mpi
