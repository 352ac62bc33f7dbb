// What a target does for origins that cannot reach its memory: in its own thread, in their names.
#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/locking.hpp"
#include "interop/mpi/window/operations.hpp"
#include "interop/mpi/window/server.hpp"
#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

namespace {

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

// What they have to lie in, and how many bytes a request has at most.
struct Place {
  std::uint64_t size_bytes;
  std::size_t most_bytes;
};

// False: no member that keeps to the rules says so.
bool read(const Request& request, const std::vector<std::byte>& payload, const Place& place,
          Parts& parts) {
  const std::size_t size = bytes_of(request.basic);
  const std::uint64_t runs_bytes = std::uint64_t{request.runs} * sizeof(Run);
  if (size == 0 || request.runs == 0 || runs_bytes > payload.size() ||
      request.count > place.most_bytes / size)
    return false;
  parts.runs.resize(request.runs);
  std::memcpy(parts.runs.data(), payload.data(), runs_bytes);
  // Behind the last member of a pair there may be no memory, and nothing is touched.
  const std::uint64_t hole = family_of(request.basic) == Family::pair ? 12 : 0;
  std::uint64_t bytes = 0;
  for (const Run& run : parts.runs) {
    const auto offset = static_cast<std::uint64_t>(run.offset);
    if (run.offset < 0 || run.bytes % size != 0 || offset > place.size_bytes ||
        run.bytes > place.size_bytes - offset + hole)
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

// False: there is no memory.
template <class T>
bool make_one(std::list<T>& list) noexcept {
  try {
    list.emplace_back();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

// The origins take turns.
Server::Left Server::do_all() noexcept {
  waiting_.remove_if([&](const std::unique_ptr<Asked>& asked) { return do_one(*asked); });
  Left left = Left::nothing;
  std::unique_lock guard(mutex_);
  for (auto& [from, queue] : queues_) left = std::max(left, do_queue(queue, guard));
  return left == Left::nothing && !waiting_.empty() ? Left::waits : left;
}

// In the order of the origin. A lock that cannot be had stands aside.
Server::Left Server::do_queue(Queue& queue, std::unique_lock<std::mutex>& guard) {
  constexpr unsigned kMost = 64;
  for (unsigned done = 0; !queue.asked.empty() && queue.asked.front()->is_whole; ++done) {
    if (done == kMost) return Left::more;
    Asked& asked = *queue.asked.front();
    guard.unlock();
    const bool is_done = do_one(asked);
    guard.lock();
    const bool may_stand_aside = asked.request.ask == Ask::lock || asked.request.ask == Ask::drain;
    if (!is_done && !may_stand_aside) return Left::waits;
    std::unique_ptr<Asked> taken = std::move(queue.asked.front());
    queue.asked.pop_front();
    if (!is_done) waiting_.push_back(std::move(taken));
  }
  return Left::nothing;
}

// False: it has to wait.
bool Server::do_one(Asked& asked) noexcept {
  const Request& request = asked.request;
  if (asked.since_ns == 0) asked.since_ns = now_ns();
  const Use use(*this, request.window);
  Window* const window = use.window();
  if (window == nullptr || request.member >= window->size() ||
      window->target(request.member).rank != asked.from) {
    answer(asked, PH_ERR_NOT_FOUND, {});
    return true;
  }
  return do_at(*window, asked);
}

bool Server::do_at(Window& window, Asked& asked) noexcept {
  const Request& request = asked.request;
  switch (request.ask) {
    case Ask::accumulate: return do_fold(window, asked);
    case Ask::swap: return do_swap(window, asked);
    case Ask::lock: return do_lock(window, asked);
    case Ask::unlock: {
      const Lock lock = window.board().seen_by(request.member).window_lock();
      if (request.value == 0)
        unshare_lock(window, lock, window.target(window.own()));
      else if (Lock(lock).leave_for())
        call_waiters(window, window.target(window.own()));
      return true;
    }
    case Ask::flush: answer(asked, failure_of(asked), {}); return true;
    case Ask::drain: return do_drain(window, asked);
    default: answer(asked, PH_ERR_ARGUMENT, {}); return true;
  }
}

void Server::do_count(Window& window, const Request& request) noexcept {
  Board& board = window.board();
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
  else if (now_ns() - asked.since_ns >= kLongNs)
    asked.has_claimed = lock.claim() || asked.has_claimed;
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
    return is_long && member < window.size() &&
           (asked.request.ask == Ask::lock ? is_over(window.target(member).rank)
                                           : has_ended(window.target(member).rank));
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
      warn_of(window, window.target(window.own()), owner);
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
    warn_of(window, window.target(window.own()), sharer);
    lock.clear(sharer);
  }
  asked.has_named = false;
  return true;
}

bool Server::do_lock(Window& window, Asked& asked) noexcept {
  const Lock lock = window.board().seen_by(asked.request.member).window_lock();
  if (now_ns() - asked.since_ns >= kLongNs && has_ended(asked.from)) {
    forget(window, lock, asked);  // its name, if it stands there, is taken as any dead holder's
    return true;
  }
  if (!take(window, lock, asked.request.value != 0, asked)) return false;
  answer(asked, PH_OK, {});
  return true;
}

// It has ended, and all that it has sent was done.
bool Server::is_over(ph_rank rank) noexcept {
  if (!has_ended(rank)) return false;
  const std::lock_guard guard(mutex_);
  const auto at = queues_.find(rank);
  return at == queues_.end() || at->second.asked.empty();
}

// For who takes the place of a dead rank, and goes on when nothing of that one can come any more.
bool Server::do_drain(Window& window, Asked& asked) noexcept {
  const std::uint32_t member = asked.request.which;
  if (member < window.size() && !is_over(window.target(member).rank)) return false;
  answer(asked, PH_OK, {});
  return true;
}

void Server::give_back(Window& window, Lock lock, bool is_shared) noexcept {
  Target& own = window.target(window.own());
  if (is_shared)
    unshare_lock(window, lock, own);
  else
    leave_lock(window, lock, own);
}

// It will not be done: the accumulate lock may have its name already.
void Server::abandon(Window& window, Asked& asked) noexcept {
  Lock lock = window.board().sum_lock_of_server();
  forget(window, lock, asked);
  if (asked.has_named && lock.leave_for()) call_waiters(window, window.target(window.own()));
  asked.has_named = false;
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
        !read(request, asked.payload, {own.size_bytes, asker_.carried_bytes()}, parts) ||
        (is_sent &&
         asked.payload.size() != parts.runs.size() * sizeof(Run) + request.count * size)) {
      answer(asked, PH_ERR_ARGUMENT, {});
      return true;
    }
    std::vector<std::byte> result(request.fetches != 0 ? request.count * size : 0);
    const bool is_fine = request.value == 0 && user == nullptr && own.way == Way::mapped &&
                         is_atomic(kind.basic) && request.count * size < kBulkBytes &&
                         is_aligned(parts, own.base, size);
    if (!enter_sums(window, asked, is_fine)) return false;
    std::byte* to = result.empty() ? nullptr : result.data();
    for (const Run& run : parts.runs) {
      std::byte* const memory = own.base + run.offset;
      const std::size_t count = run.bytes / size;
      if (user != nullptr)
        fold_by_user(*user, kind.basic, {memory, parts.elements, to, count});
      else
        (is_fine ? fold_atomic : fold_plain)(kind, memory, parts.elements, to, count);
      if (is_sent) parts.elements += run.bytes;
      if (to != nullptr) to += run.bytes;
    }
    give_back(window, window.board().sum_lock_of_server(), is_fine);
    answer(asked, PH_OK, std::move(result));
  } catch (const std::bad_alloc&) {
    abandon(window, asked);
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
        !read(request, asked.payload, {own.size_bytes, asker_.carried_bytes()}, parts) ||
        parts.runs.size() != 1 || asked.payload.size() != sizeof(Run) + 2 * size) {
      answer(asked, PH_ERR_ARGUMENT, {});
      return true;
    }
    std::vector<std::byte> result(size);
    const bool is_fine = request.value == 0 && own.way == Way::mapped && is_atomic(request.basic) &&
                         is_aligned(parts, own.base, size);
    if (!enter_sums(window, asked, is_fine)) return false;
    const auto swap = is_fine ? swap_atomic : swap_plain;
    swap(request.basic, own.base + parts.runs[0].offset, parts.elements, parts.elements + size,
         result.data());
    give_back(window, window.board().sum_lock_of_server(), is_fine);
    answer(asked, PH_OK, std::move(result));
  } catch (const std::bad_alloc&) {
    abandon(window, asked);
    answer(asked, PH_ERR_MEMORY, {});
  }
  return true;
}

// An asker that has ended needs none. What it did not ask an answer for it hears of when it
// flushes. Large answers are lent to the library until they are there.
void Server::answer(const Asked& asked, ph_status status, std::vector<std::byte>&& bytes) noexcept {
  if (asked.request.ticket == 0) return note_failure(asked, status);
  Answer header{asked.request.ticket, status};
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kAnswer;
  args.header = &header;
  args.header_bytes = sizeof header;
  args.flags = PH_NO_LCE;
  args.payload = bytes.data();
  args.payload_bytes = bytes.size();
  ph_status sent = PH_ERR_MEMORY;
  if (bytes.size() <= asker_.carried_bytes()) {
    sent = send_answer(asked.from, args);
  } else if (std::list<Lent> one; make_one(one)) {
    one.front().bytes = std::move(bytes);
    args.flags = 0;
    args.request = &one.front().request;
    sent = send_answer(asked.from, args);
    if (sent == PH_OK) lent_.splice(lent_.end(), one);
  }
  if (sent != PH_ERR_MEMORY) return;
  header.status = PH_ERR_MEMORY;  // which every asker can be told
  args.flags = PH_NO_LCE;
  args.payload = nullptr;
  args.payload_bytes = 0;
  args.request = nullptr;
  while (sent == PH_ERR_MEMORY) sent = send_answer(asked.from, args);
}

ph_status Server::send_answer(ph_rank to, ph_am_args& args) noexcept {
  ph_status sent = ph_am_send(lane_, to, &args);
  while (sent == PH_AGAIN) {
    take_back_lent();
    static_cast<void>(ph_am_poll(lane_, 0));
    sent = ph_am_send(lane_, to, &args);
  }
  return sent;
}

void Server::note_failure(const Asked& asked, ph_status status) noexcept {
  if (status == PH_OK) return;
  const std::lock_guard guard(mutex_);
  try {
    queues_[asked.from].failed.emplace(asked.request.window, status);
  } catch (const std::bad_alloc&) {  // then its origin is not told
  }
}

// Told once.
ph_status Server::failure_of(const Asked& asked) noexcept {
  const std::lock_guard guard(mutex_);
  auto& failed = queues_[asked.from].failed;
  const auto at = failed.find(asked.request.window);
  if (at == failed.end()) return PH_OK;
  const ph_status status = at->second;
  failed.erase(at);
  return status;
}

void Server::take_back_lent() noexcept {
  lent_.remove_if([&](Lent& lent) { return ph_test(lane_, &lent.request, nullptr) != PH_AGAIN; });
}

}  // namespace photon::mpi
