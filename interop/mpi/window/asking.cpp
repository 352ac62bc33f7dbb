// What goes to members that this process cannot reach by itself: by the server's lane.
#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/window/asking.hpp"
#include "interop/mpi/window/operations.hpp"
#include "interop/mpi/window/reach.hpp"
#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

namespace {

constexpr Outcome kLost{MPI_ERR_OTHER, "a target has ended, and this call waits for it"};

}  // namespace

bool Window::tell(Target& target, Ask ask, std::uint32_t which, std::uint64_t value) noexcept {
  if (target.board.has_value()) {
    Board& theirs = *target.board;
    if (ask == Ask::round) theirs.round(which).count_to(value);
    if (ask == Ask::post) theirs.pair(own_).posts.count_to(value);
    if (ask == Ask::complete) theirs.pair(own_).completes.count_to(value);
    theirs.doorbell().ring();
    return true;
  }
  Request request;
  request.window = number_;
  request.member = own_;
  request.ask = ask;
  request.which = which;
  request.value = value;
  return server_->asker().tell(target.rank, request, {});
}

bool ask(Window& window, Target& target, Request& request, std::span<const ph_const_block> payload,
         std::span<std::byte> into) noexcept {
  request.window = window.number();
  request.member = window.own();
  return window.server()->asker().ask(target.rank, request, payload, into);
}

bool tell(Window& window, Target& target, Request& request,
          std::span<const ph_const_block> payload) noexcept {
  request.window = window.number();
  request.member = window.own();
  return window.server()->asker().tell(target.rank, request, payload);
}

// Where threads may meet on a target, a word that is taken back could hide what another of them
// waits for; so it stays.
bool Window::settle_slowly(Target& target) noexcept {
  Asker& asker = server_->asker();
  const bool has_any = target.has_puts.get() || target.has_sums.get();
  if (target.has_puts.get() && !asker.flush(target.rank)) return false;
  Request request{.ask = Ask::flush};
  if (target.has_sums.get() && !ask(*this, target, request, {}, {})) return false;
  if (has_any && asker.has_lost(target.rank)) return false;
  if (job_.is_multiple()) return true;
  target.has_puts.set(false);
  target.has_sums.set(false);
  return true;
}

Outcome release(Window& window, int member) noexcept {
  Target& target = window.target(static_cast<std::uint32_t>(member));
  Server* const server = window.server();
  if (server == nullptr || target.base != nullptr || !target.has_puts.get()) return {};
  return server->asker().flush(target.rank) ? Outcome{} : kLost;
}

// All targets at once.
bool Window::settle_all() noexcept {
  if (server_ == nullptr) return true;
  constexpr std::size_t kAtOnce = Asker::kAtOnce;
  ph_rank asked[kAtOnce];
  bool is_there = true;
  Request request{.ask = Ask::flush};
  request.window = number_;
  request.member = own_;
  for (std::size_t next = 0; next < targets_.size();) {
    const std::size_t first = next;
    std::size_t count = 0;
    for (; next < targets_.size() && count < kAtOnce; ++next)
      if (targets_[next]->has_sums.get()) asked[count++] = targets_[next]->rank;
    bool is_settled = server_->asker().ask_all({asked, count}, request);
    for (std::size_t i = first; i < next; ++i)
      if (Target& target = *targets_[i]; target.has_puts.get() || target.has_sums.get()) {
        Asker& asker = server_->asker();
        is_settled = (!target.has_puts.get() || asker.flush(target.rank)) && is_settled;
        is_settled = !asker.has_lost(target.rank) && is_settled;
      }
    for (std::size_t i = first; i < next && is_settled && !job_.is_multiple(); ++i) {
      targets_[i]->has_puts.set(false);
      targets_[i]->has_sums.set(false);
    }
    is_there = is_there && is_settled;
  }
  return is_there;
}

bool write_served(Window& window, Target& target, std::int64_t offset,
                  ph_const_block from) noexcept {
  Server& server = *window.server();
  ph_put_args put{};
  put.size = sizeof put;
  put.source = from.data;
  put.size_bytes = from.size_bytes;
  put.target = {target.region.address + static_cast<std::uint64_t>(offset), target.region.key};
  put.flags = PH_NO_LCE | PH_NO_RCE;
  ph_status status = ph_put(server.lane(), target.rank, &put);
  while (status == PH_AGAIN) {
    window.job().serve();
    status = ph_put(server.lane(), target.rank, &put);
  }
  target.has_puts.set(true);
  return status == PH_OK;
}

bool Reads::add(const Target& target, std::int64_t offset, ph_block to) noexcept {
  Asker& asker = window_.server()->asker();
  ph_request& place = open_[next_++ % kMost];
  is_good_ = asker.wait(place) && is_good_;
  ph_get_args get{};
  get.size = sizeof get;
  get.destination = to.data;
  get.size_bytes = to.size_bytes;
  get.source = {target.region.address + static_cast<std::uint64_t>(offset), target.region.key};
  get.flags = PH_NO_RCE;
  get.request = &place;
  ph_status status = ph_get(asker.lane(), target.rank, &get);
  while (status == PH_AGAIN) {
    for (ph_request& one : open_)  // those that are there make room
      if (&one != &place && one != PH_REQUEST_NONE)
        is_good_ = ph_test(asker.lane(), &one, nullptr) >= 0 && is_good_;
    window_.job().serve();
    status = ph_get(asker.lane(), target.rank, &get);
  }
  is_good_ = status == PH_OK && is_good_;
  return is_good_;
}

bool Reads::end() noexcept {
  for (ph_request& one : open_) is_good_ = window_.server()->asker().wait(one) && is_good_;
  return is_good_;
}

namespace {

// The elements of an accumulate go as arrays, whatever they lie in, in messages that the library
// copies, so of some 28 KiB. A target needs little memory for them, and computes while the next
// ones come.
class Pieces {
 public:
  Pieces(Window& window, const Fold& fold)
      : window_(window),
        fold_(fold),
        size_(bytes_of(fold.kind.basic)),
        most_runs_(window.server()->asker().carried_bytes() / 8 / sizeof(Run)),
        most_(window.server()->asker().carried_bytes() / 8 * 7 / size_),
        is_packed_(fold.own->layout->element_bytes != size_),
        result_(fold.result) {
    runs_.reserve(std::min(most_runs_, fold.area->elements.layout->runs.size()));
  }

  // False: the target has ended.
  bool add(const std::byte* from, std::int64_t offset, std::size_t count) {
    while (count != 0) {
      const std::size_t now = std::min(count, most_ - count_);
      append(from, offset, now);
      if ((count_ == most_ || runs_.size() == most_runs_) && !send()) return false;
      from += now * size_;
      offset += static_cast<std::int64_t>(now * size_);
      count -= now;
    }
    return true;
  }
  // What is left.
  bool send() {
    if (count_ == 0) return true;
    Target& target = *fold_.area->target;
    Request request;
    request.ask = Ask::accumulate;
    request.op = fold_.kind.op;
    if (fold_.user != nullptr) request.which = fold_.user->id;
    request.basic = fold_.kind.basic;
    request.runs = static_cast<std::uint32_t>(runs_.size());
    request.count = count_;
    request.value = target.access == Access::exclusive ? 1 : 0;
    request.fetches = result_.empty() ? 0 : 1;
    const std::size_t bytes = count_ * size_;
    const ph_const_block payload[] = {
        {runs_.data(), runs_.size() * sizeof(Run)},
        {alone_ != nullptr ? alone_ : elements_.data(), is_sent() ? bytes : 0}};
    const std::span<const ph_const_block> blocks(payload, is_sent() ? 2 : 1);
    if (!make_room(bytes)) return false;
    const bool is_done = result_.empty()
                             ? tell(window_, target, request, blocks)
                             : ask(window_, target, request, blocks, result_.first(bytes));
    if (result_.empty())
      target.has_sums.set(true);
    else
      result_ = result_.subspan(bytes);
    runs_.clear();
    elements_.clear();
    alone_ = nullptr;
    count_ = 0;
    return is_done;
  }

 private:
  bool is_sent() const noexcept { return fold_.kind.op != Op::no_op; }

  // The first run stays where it is, if it is an array without holes.
  void append(const std::byte* from, std::int64_t offset, std::size_t count) {
    runs_.push_back({fold_.area->offset + offset, count * size_});
    if (is_sent() && count_ == 0 && !is_packed_) {
      alone_ = from;
    } else if (is_sent()) {
      if (alone_ != nullptr) copy(std::exchange(alone_, nullptr), count_);
      copy(from, count);
    }
    count_ += count;
  }
  void copy(const std::byte* from, std::size_t count) {
    const std::size_t before = elements_.size();
    elements_.resize(before + count * size_);
    fold_plain({Op::replace, fold_.kind.basic}, elements_.data() + before, from, nullptr, count);
  }
  // A target that is slower than this rank has little of it to keep.
  bool make_room(std::size_t bytes) {
    constexpr std::size_t kMostUnsettled = 96 << 10;
    Target& target = *fold_.area->target;
    const std::size_t taken = bytes + runs_.size() * sizeof(Run);
    if (target.unsettled_bytes + taken > kMostUnsettled) {
      if (!window_.settle(target)) return false;
      target.unsettled_bytes = 0;
    }
    target.unsettled_bytes += taken;
    return true;
  }

  Window& window_;
  const Fold& fold_;
  std::size_t size_;
  std::size_t most_runs_;
  std::size_t most_;  // elements
  bool is_packed_;    // the elements have holes, which do not travel
  std::vector<Run> runs_;
  std::vector<std::byte> elements_;
  const std::byte* alone_ = nullptr;  // the elements of the only run so far
  std::size_t count_ = 0;
  std::span<std::byte> result_;
};

}  // namespace

Outcome fold_served(Window& window, const Fold& fold) noexcept {
  try {
    Pieces pieces(window, fold);
    const Walked walked =
        walk_elements(fold.origin, *fold.own, fold.area->elements,
                      [&](const std::byte* from, std::int64_t offset, std::size_t count) {
                        return pieces.add(from, offset, count);
                      });
    if (walked == Walked::cut) return kUneven;
    return walked == Walked::whole && pieces.send() ? Outcome{} : kNoWay;
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, "no memory for an accumulate"};
  }
}

Outcome swap_served(Window& window, const Area& area, const Swap& swap) noexcept {
  const Basic basic = area.elements.layout->basic;
  const std::size_t size = bytes_of(basic);
  const Run run{area.offset, size};
  Request request;
  request.ask = Ask::swap;
  request.basic = basic;
  request.runs = 1;
  request.count = 1;
  request.value = area.target->access == Access::exclusive ? 1 : 0;
  const ph_const_block payload[] = {{&run, sizeof run}, {swap.origin, size}, {swap.compare, size}};
  const std::span<std::byte> into(static_cast<std::byte*>(swap.result), size);
  return ask(window, *area.target, request, payload, into) ? Outcome{} : kNoWay;
}

}  // namespace photon::mpi
