// The accumulate family. Basic type, alignment and the kind of the target's memory decide how an
// element is changed (docs/mpi.md, "Atomicity of accumulates").
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/window/locking.hpp"
#include "interop/mpi/window/operations.hpp"
#include "interop/mpi/window/reach.hpp"

namespace photon::mpi {

namespace {

constexpr std::size_t kPieceBytes = 64 << 10;  // of copied memory that is computed at a time

constexpr Outcome kNoMemory{MPI_ERR_NO_MEM, "no memory for the result of an accumulate"};

bool is_aligned(const Area& area, std::size_t size) noexcept {
  const Layout& layout = *area.elements.layout;
  const auto is = [&](std::int64_t offset) {
    return (static_cast<std::uint64_t>(offset) & (size - 1)) == 0;
  };
  const auto base = reinterpret_cast<std::int64_t>(area.target->base);
  if (!is(base + area.offset)) return false;
  if (layout.is_contiguous) return is(layout.first);
  return is(layout.extent) && std::all_of(layout.runs.begin(), layout.runs.end(),
                                          [&](const Run& run) { return is(run.offset); });
}

// How an operation meets others on the same memory, and its part of the accumulate lock.
class Turn {
 public:
  [[gnu::always_inline]] Turn(Window& window, const Area& area, Basic basic,
                              bool is_users = false) noexcept
      : window_(window), target_(*area.target) {
    if (target_.access == Access::exclusive) return;  // nobody else is at the window
    is_fine_ = !is_users && target_.way == Way::mapped && is_atomic(basic) &&
               area.elements.bytes() < kBulkBytes && is_aligned(area, bytes_of(basic));
    has_lock_ = true;
    if (is_fine_)
      share_lock(window_, target_.board->sum_lock(), target_);
    else
      own_lock(window_, target_.board->sum_lock(), target_);
  }
  ~Turn() {
    if (!has_lock_) return;
    if (is_fine_)
      unshare_lock(window_, target_.board->sum_lock(), target_);
    else
      leave_lock(window_, target_.board->sum_lock(), target_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Each element by the processor's atomics; else nobody else is in.
  bool is_fine() const noexcept { return is_fine_; }

 private:
  Window& window_;
  Target& target_;
  bool is_fine_ = false;
  bool has_lock_ = false;
};

// Elements that lie one behind the other, at the target and in `source` and `result`.
class Folder {
 public:
  Folder(Job& job, const Area& area, FoldKind kind, const UserOp* user, bool is_fine) noexcept
      : job_(job), area_(area), kind_(kind), user_(user), is_fine_(is_fine) {}

  // False: the memory cannot be reached any more.
  bool operator()(const void* source, std::int64_t offset, void* result,
                  std::size_t count) const noexcept {
    Target& target = *area_.target;
    if (target.base == nullptr) return fold_copied(source, area_.offset + offset, result, count);
    std::byte* const memory = target.base + area_.offset + offset;
    if (is_fine_)
      fold_atomic(kind_, memory, source, result, count);
    else
      fold_alone(memory, source, result, count);
    return true;
  }

 private:
  void fold_alone(void* memory, const void* source, void* result,
                  std::size_t count) const noexcept {
    if (user_ == nullptr) [[likely]]
      fold_plain(kind_, memory, source, result, count);
    else
      fold_by_user(*user_, kind_.basic, {memory, source, result, count});
  }
  bool fold_copied(const void* source, std::int64_t offset, void* result,
                   std::size_t count) const noexcept {
    alignas(64) std::byte memory[kPieceBytes];
    const std::size_t size = bytes_of(kind_.basic);
    for (std::size_t done = 0; done < count;) {
      const std::size_t now = std::min(count - done, kPieceBytes / size);
      const std::int64_t at = offset + static_cast<std::int64_t>(done * size);
      const auto* const from = static_cast<const std::byte*>(source);
      auto* const to = static_cast<std::byte*>(result);
      if (!read_copied(job_, *area_.target, at, memory, now * size)) return false;
      fold_alone(memory, from == nullptr ? nullptr : from + done * size,
                 to == nullptr ? nullptr : to + done * size, now);
      if (kind_.op != Op::no_op && !write_copied(job_, *area_.target, at, memory, now * size))
        return false;
      done += now;
    }
    return true;
  }

  Job& job_;
  const Area& area_;
  FoldKind kind_;
  const UserOp* user_;
  bool is_fine_;
};

// This tells whether its elements lie one behind the other in memory as C has them.
bool is_array(const Elements& elements) noexcept {
  const Layout& layout = *elements.layout;
  return layout.first == 0 &&
         (layout.is_contiguous ||
          (layout.size_bytes == layout.element_bytes &&
           (elements.count == 1 ||
            layout.extent == static_cast<std::int64_t>(layout.element_extent))));
}

// Results go to the caller's buffer if it is an array, else into memory that is dealt out to
// the buffer at the end.
class Results {
 public:
  Outcome begin(Job& job, const Buffer* result, const Area& area, bool is_sent) noexcept {
    if (result == nullptr) return {};
    buffer_ = result;
    if (const Outcome outcome = describe(job, result->count, result->type, elements_);
        !outcome.is_good())
      return outcome;
    if (elements_.bytes() != area.elements.bytes() ||
        elements_.layout->basic != area.elements.layout->basic)
      return kUneven;
    // What is received as a whole has something in the holes of pairs, which are not ours to write.
    const bool has_holes = elements_.layout->element_bytes != elements_.layout->element_extent;
    if (is_array(elements_) && !(has_holes && is_sent)) {
      next_ = static_cast<std::byte*>(result->memory);
      return {};
    }
    const std::size_t count = elements_.bytes() / elements_.layout->element_bytes;
    own_.reset(new (std::nothrow) std::byte[count * elements_.layout->element_extent]());
    next_ = own_.get();
    return next_ == nullptr ? kNoMemory : Outcome{};
  }
  // The next elements go there. Null says that nobody wants them.
  void* take(std::size_t count) noexcept {
    if (next_ == nullptr) return nullptr;
    std::byte* const here = next_;
    next_ += count * elements_.layout->element_extent;
    return here;
  }
  // All of them, an array.
  std::span<std::byte> whole() noexcept {
    if (next_ == nullptr) return {};
    const Layout& layout = *elements_.layout;
    return {next_, elements_.bytes() / layout.element_bytes * layout.element_extent};
  }
  void end() noexcept {
    if (own_ == nullptr) return;
    const std::byte* from = own_.get();
    const FoldKind replace{Op::replace, elements_.layout->basic};
    walk_elements(buffer_->memory, elements_, elements_,
                  [&](std::byte* to, std::int64_t, std::size_t count) {
                    fold_plain(replace, to, from, nullptr, count);
                    from += count * elements_.layout->element_extent;
                  });
  }

 private:
  const Buffer* buffer_ = nullptr;
  Elements elements_{};
  std::unique_ptr<std::byte[]> own_;
  std::byte* next_ = nullptr;
};

// All of the family go one way, or their order would be lost.
bool goes_to_target(const Window& window, const Target& target) noexcept {
  return (target.base == nullptr && target.way == Way::served) ||
         (window.is_op_at_target() && !window.is_own(target));
}

Outcome check(Op op, Basic basic, const UserOp* user) noexcept {
  if (op == Op::none && user == nullptr)
    return {MPI_ERR_OP,
            "an operation that is no predefined one, and that MPIX_Op_register() has not made "
            "known to the window"};
  if (basic == Basic::none)
    return {MPI_ERR_TYPE, "an accumulate of a type that has not one basic type alone"};
  if (user != nullptr) return {};
  if (!takes(op, basic)) return {MPI_ERR_OP, "an operation that MPI does not define for the type"};
  return {};
}

}  // namespace

Outcome accumulate(Window& window, const Buffer& origin, const Buffer* result, const Spot& spot,
                   MPI_Op op) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Area area;
  if (const Outcome outcome = find(window, spot, area); !outcome.is_good()) return outcome;
  const FoldKind kind{op_of(op), area.elements.layout->basic};
  if (kind.op == Op::no_op && result == nullptr)
    return {MPI_ERR_OP, "MPI_NO_OP, which is for operations that fetch"};
  const UserOp* const user = kind.op == Op::none ? window.ops().find(op) : nullptr;
  const bool is_empty = area.elements.bytes() == 0;  // of such types there are more
  if (const Outcome outcome = check(kind.op, kind.basic, user);
      !outcome.is_good() && !(is_empty && kind.basic == Basic::none))
    return outcome;
  Elements other{};
  const Elements* own = &area.elements;
  Results results;
  if (kind.op != Op::no_op && (origin.count != spot.count || origin.type != spot.type)) {
    if (const Outcome outcome = describe(window.job(), origin.count, origin.type, other);
        !outcome.is_good())
      return outcome;
    if (other.bytes() != area.elements.bytes() || (!is_empty && other.layout->basic != kind.basic))
      return kUneven;
    own = &other;
  }
  Target& target = *area.target;
  const bool is_sent = goes_to_target(window, target);
  if (!is_empty)
    if (const Outcome outcome = results.begin(window.job(), result, area, is_sent);
        !outcome.is_good())
      return outcome;
  const TargetGuard guard(window.job(), target);
  if (const Outcome outcome = window.admit(target); !outcome.is_good()) return outcome;
  if (is_empty) return {};
  if (is_sent) {
    const Outcome outcome =
        fold_served(window, {origin.memory, own, &area, kind, user, results.whole()});
    if (outcome.is_good()) results.end();
    return outcome;
  }
  Walked walked = Walked::whole;
  {
    const Turn turn(window, area, kind.basic, user != nullptr);
    const Folder fold(window.job(), area, kind, user, turn.is_fine());
    walked = walk_elements(origin.memory, *own, area.elements,
                           [&](const std::byte* from, std::int64_t offset, std::size_t count) {
                             return fold(from, offset, results.take(count), count);
                           });
  }
  if (walked != Walked::whole) return walked == Walked::cut ? kUneven : kNoWay;
  results.end();
  return {};
}

Outcome compare_and_swap(Window& window, const void* origin, const void* compare, void* result,
                         const Spot& spot) noexcept {
  if (InFunction::is_here()) [[unlikely]]
    return kInFunction;
  Area area;
  if (const Outcome outcome = find(window, spot, area); !outcome.is_good()) return outcome;
  const Basic basic = area.elements.layout->basic;
  if (!takes_swap(basic) || !area.elements.layout->is_contiguous ||
      area.elements.bytes() != bytes_of(basic))
    return {MPI_ERR_TYPE, "a compare-and-swap of a type that MPI does not define it for"};
  Target& target = *area.target;
  const TargetGuard guard(window.job(), target);
  if (const Outcome outcome = window.admit(target); !outcome.is_good()) return outcome;
  if (goes_to_target(window, target)) return swap_served(window, area, {origin, compare, result});
  const Turn turn(window, area, basic);
  if (target.base != nullptr) {
    std::byte* const memory = target.base + area.offset;
    if (turn.is_fine())
      swap_atomic(basic, memory, origin, compare, result);
    else
      swap_plain(basic, memory, origin, compare, result);
    return {};
  }
  alignas(16) std::byte there[32];
  const std::size_t bytes = bytes_of(basic);
  if (!read_copied(window.job(), target, area.offset, there, bytes)) return kNoWay;
  swap_plain(basic, there, origin, compare, result);
  return write_copied(window.job(), target, area.offset, there, bytes) ? Outcome{} : kNoWay;
}

}  // namespace photon::mpi
