// What a target does for origins that cannot reach its memory: in its own thread, in their names.
#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/operations.hpp"
#include "interop/mpi/window/server.hpp"
#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

namespace {

constexpr std::uint32_t kAnswer = 2;
constexpr std::int64_t kLongNs = 1'000'000;

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// What a message says of the target's memory.
struct Parts {
  std::vector<Run> runs;
  const std::byte* elements = nullptr;  // null: none came
};

// False: no member that keeps to the rules says so.
bool read(const Request& request, const std::vector<std::byte>& payload, const Target& own,
          Parts& parts) {
  const std::size_t size = bytes_of(request.basic);
  const std::uint64_t runs_bytes = std::uint64_t{request.runs} * sizeof(Run);
  if (size == 0 || request.runs == 0 || runs_bytes > payload.size() ||
      request.count > own.size_bytes / 2 + 1)
    return false;
  parts.runs.resize(request.runs);
  std::memcpy(parts.runs.data(), payload.data(), runs_bytes);
  std::uint64_t bytes = 0;
  for (const Run& run : parts.runs) {
    const auto offset = static_cast<std::uint64_t>(run.offset);
    constexpr std::uint64_t kHole = 12;  // behind the last member of a pair
    if (run.offset < 0 || run.bytes % size != 0 || offset > own.size_bytes ||
        run.bytes > own.size_bytes - offset + kHole)
      return false;
    bytes += run.bytes;
  }
  const bool has_elements = payload.size() > runs_bytes;
  if (has_elements) parts.elements = payload.data() + runs_bytes;
  return bytes == request.count * size;
}

bool is_aligned(const Parts& parts, const std::byte* base, std::size_t size) noexcept {
  return std::all_of(parts.runs.begin(), parts.runs.end(), [&](const Run& run) {
    return (reinterpret_cast<std::uintptr_t>(base + run.offset) & (size - 1)) == 0;
  });
}

}  // namespace

// In the order of each origin. A lock that cannot be had stands aside.
bool Server::do_all() noexcept {
  bool waits = false;
  waiting_.remove_if([&](const std::unique_ptr<Asked>& asked) { return do_one(*asked); });
  std::unique_lock guard(mutex_);
  for (auto& [from, queue] : queues_) {
    while (!queue.empty() && queue.front()->is_whole) {
      Asked& asked = *queue.front();
      guard.unlock();
      const bool is_done = do_one(asked);
      guard.lock();
      if (!is_done && asked.request.ask != Ask::lock) {
        waits = true;
        break;
      }
      std::unique_ptr<Asked> taken = std::move(queue.front());
      queue.pop_front();
      if (!is_done) waiting_.push_back(std::move(taken));
    }
  }
  return waits || !waiting_.empty();
}

// False: it has to wait.
bool Server::do_one(Asked& asked) noexcept {
  const Request& request = asked.request;
  if (asked.since_ns == 0) asked.since_ns = now_ns();
  Window* const window = find(request.window);
  if (window == nullptr || request.member >= window->size() ||
      window->target(request.member).rank != asked.from) {
    answer(asked, PH_ERR_NOT_FOUND, {});
    return true;
  }
  switch (request.ask) {
    case Ask::accumulate: return do_fold(*window, asked);
    case Ask::swap: return do_swap(*window, asked);
    case Ask::lock: return do_lock(*window, asked);
    case Ask::unlock: {
      const Lock lock = window->board().seen_by(request.member).window_lock();
      if (request.value != 0)
        window->leave_lock(lock, window->target(window->own()));
      else
        window->unshare_lock(lock, window->target(window->own()));
      return true;
    }
    case Ask::flush: answer(asked, PH_OK, {}); return true;
    default: answer(asked, PH_ERR_ARGUMENT, {}); return true;
  }
}

void Server::do_count(Window& window, const Request& request) noexcept {
  Board& board = window.board();
  if (request.ask == Ask::poke) return look();
  if (request.member >= window.size()) return;
  if (request.ask == Ask::round && request.which < Board::kRounds)
    board.round(request.which).count_to(request.value);
  if (request.ask == Ask::post) board.pair(request.member).posts.count_to(request.value);
  if (request.ask == Ask::complete) board.pair(request.member).completes.count_to(request.value);
  board.doorbell().ring();
}

// False: not yet. Then the doorbell calls the thread, and after a while nobody else is to get in
// before.
bool Server::take(Window& window, Lock lock, bool is_exclusive, Asked& asked) noexcept {
  bool is_in = try_take(window, lock, is_exclusive, asked);
  if (!is_in && !asked.is_watched) {
    window.board().doorbell().watch();
    asked.is_watched = true;
    is_in = try_take(window, lock, is_exclusive, asked);
  }
  if (is_in)
    forget(window, lock, asked);
  else if (!asked.has_claimed && now_ns() - asked.since_ns >= kLongNs)
    asked.has_claimed = lock.claim();
  return is_in;
}

// It does not wait any more.
void Server::forget(Window& window, Lock lock, Asked& asked) noexcept {
  if (asked.is_watched) window.board().doorbell().unwatch();
  if (asked.has_claimed) lock.yield();
  asked.is_watched = asked.has_claimed = false;
}

// After a while those who keep it out are looked at.
bool Server::try_take(Window& window, Lock lock, bool is_exclusive, Asked& asked) noexcept {
  const bool is_long = now_ns() - asked.since_ns >= kLongNs;
  const auto is_gone = [&](std::uint32_t member) {
    return is_long && member < window.size() && job_.has_ended(window.target(member).rank);
  };
  if (!is_exclusive && lock.share()) return true;
  if (!asked.has_named) {
    if (!is_exclusive || !lock.own()) {
      const std::uint32_t owner = lock.owner();
      if (owner == kNobody) {
        if (is_gone(lock.claimer())) lock.unclaim(lock.claimer());
        return false;
      }
      if (!is_gone(owner) || !lock.take_over(owner)) return false;
      window.warn_of(owner);
      if (!is_exclusive) {
        lock.leave();
        return lock.share();
      }
    }
    asked.has_named = true;
  }
  for (std::uint32_t sharer = lock.blocking_slot(); sharer != kNobody;
       sharer = lock.blocking_slot()) {
    if (!is_gone(sharer)) return false;
    window.warn_of(sharer);
    lock.clear(sharer);
  }
  asked.has_named = false;
  return true;
}

bool Server::do_lock(Window& window, Asked& asked) noexcept {
  const Lock lock = window.board().seen_by(asked.request.member).window_lock();
  if (take(window, lock, asked.request.value != 0, asked)) {
    answer(asked, PH_OK, {});
    return true;
  }
  if (now_ns() - asked.since_ns < kLongNs || !job_.has_ended(asked.from)) return false;
  forget(window, lock, asked);  // its name, if it stands there, is taken as that of any dead holder
  return true;
}

void Server::give_back(Window& window, Lock lock, bool is_shared) noexcept {
  Target& own = window.target(window.own());
  if (is_shared)
    window.unshare_lock(lock, own);
  else
    window.leave_lock(lock, own);
}

// An epoch that nobody else is in. One who has died in it may have lost it to another since.
bool Server::is_alone(Window& window, const Request& request) noexcept {
  return request.value != 0 && window.board().window_lock().owner() == request.member;
}

// False: somebody else is in.
bool Server::enter_sums(Window& window, Asked& asked, bool is_shared) noexcept {
  constexpr unsigned kTries = 100;
  for (unsigned tries = 0; tries < kTries; ++tries)
    if (take(window, window.board().sum_lock_of_server(), !is_shared, asked)) return true;
  return false;
}

bool Server::do_fold(Window& window, Asked& asked) noexcept {
  const Request& request = asked.request;
  const Target& own = window.target(window.own());
  const FoldKind kind{request.op, request.basic};
  const UserOp* const user = kind.op == Op::none ? window.ops().find(request.which) : nullptr;
  const std::size_t size = bytes_of(request.basic);
  try {
    Parts parts;
    const bool is_sent = kind.op != Op::no_op;
    if ((user == nullptr && !takes(kind.op, kind.basic)) ||
        !read(request, asked.payload, own, parts) ||
        (is_sent &&
         asked.payload.size() != parts.runs.size() * sizeof(Run) + request.count * size)) {
      answer(asked, PH_ERR_ARGUMENT, {});
      return true;
    }
    std::vector<std::byte> result(request.fetches != 0 ? request.count * size : 0);
    const bool is_alone = this->is_alone(window, request);
    const bool is_fine = !is_alone && user == nullptr && own.way == Way::mapped &&
                         is_atomic(kind.basic) && request.count * size < kBulkBytes &&
                         is_aligned(parts, own.base, size);
    if (!is_alone && !enter_sums(window, asked, is_fine)) return false;
    std::byte* to = result.empty() ? nullptr : result.data();
    for (const Run& run : parts.runs) {
      std::byte* const memory = own.base + run.offset;
      const std::size_t count = run.bytes / size;
      if (user != nullptr)
        fold_by_user(*user, kind.basic, type_of(kind.basic), memory, parts.elements, to, count);
      else
        (is_fine ? fold_atomic : fold_plain)(kind, memory, parts.elements, to, count);
      if (is_sent) parts.elements += run.bytes;
      if (to != nullptr) to += run.bytes;
    }
    if (!is_alone) give_back(window, window.board().sum_lock_of_server(), is_fine);
    answer(asked, PH_OK, std::move(result));
  } catch (const std::bad_alloc&) {
    answer(asked, PH_ERR_MEMORY, {});
  }
  return true;
}

bool Server::do_swap(Window& window, Asked& asked) noexcept {
  const Request& request = asked.request;
  const Target& own = window.target(window.own());
  const std::size_t size = bytes_of(request.basic);
  try {
    Parts parts;
    if (!takes_swap(request.basic) || request.count != 1 ||
        !read(request, asked.payload, own, parts) || parts.runs.size() != 1 ||
        asked.payload.size() != sizeof(Run) + 2 * size) {
      answer(asked, PH_ERR_ARGUMENT, {});
      return true;
    }
    std::vector<std::byte> result(size);
    const bool is_alone = this->is_alone(window, request);
    const bool is_fine = !is_alone && own.way == Way::mapped && is_atomic(request.basic) &&
                         is_aligned(parts, own.base, size);
    if (!is_alone && !enter_sums(window, asked, is_fine)) return false;
    const auto swap = is_fine ? swap_atomic : swap_plain;
    swap(request.basic, own.base + parts.runs[0].offset, parts.elements, parts.elements + size,
         result.data());
    if (!is_alone) give_back(window, window.board().sum_lock_of_server(), is_fine);
    answer(asked, PH_OK, std::move(result));
  } catch (const std::bad_alloc&) {
    answer(asked, PH_ERR_MEMORY, {});
  }
  return true;
}

// An asker that has ended needs none. Bytes are lent to the library until they are there.
void Server::answer(const Asked& asked, ph_status status, std::vector<std::byte>&& bytes) noexcept {
  if (asked.request.ticket == 0) return;
  Answer header{asked.request.ticket, status};
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kAnswer;
  args.header = &header;
  args.header_bytes = sizeof header;
  args.flags = PH_NO_LCE;
  const bool is_lent = bytes.size() > carried_bytes_;
  try {
    if (is_lent) lent_.emplace_back().bytes = std::move(bytes);
    const std::vector<std::byte>& payload = is_lent ? lent_.back().bytes : bytes;
    args.payload = payload.data();
    args.payload_bytes = payload.size();
    if (is_lent) args.request = &lent_.back().request;
    if (is_lent) args.flags = 0;
  } catch (const std::bad_alloc&) {
    header.status = PH_ERR_MEMORY;
  }
  ph_status sent = ph_am_send(lane_, asked.from, &args);
  while (sent == PH_AGAIN) {
    static_cast<void>(ph_am_poll(lane_, 0));
    sent = ph_am_send(lane_, asked.from, &args);
  }
  if (is_lent && args.request != nullptr && sent != PH_OK) lent_.pop_back();
}

void Server::take_back_lent() noexcept {
  lent_.remove_if([&](Lent& lent) { return ph_test(lane_, &lent.request, nullptr) != PH_AGAIN; });
}

}  // namespace photon::mpi
