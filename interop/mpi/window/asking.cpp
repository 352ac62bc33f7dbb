// What goes to members that this process cannot reach by itself: by the server's lane.
#include <new>
#include <utility>
#include <vector>

#include "interop/mpi/fold/fold.hpp"
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
  return server_->tell(target.rank, request, {});
}

bool Window::ask(Target& target, Request& request, std::span<const ph_const_block> payload,
                 std::span<std::byte> into) noexcept {
  request.window = number_;
  request.member = own_;
  return server_->ask(target.rank, request, payload, into);
}

bool Window::settle(Target& target) noexcept {
  if (target.has_puts && !server_->flush(target.rank)) return false;
  target.has_puts = false;
  if (!target.has_sums) return true;
  Request request;
  request.ask = Ask::flush;
  if (!ask(target, request, {}, {})) return false;
  target.has_sums = false;
  return true;
}

Outcome Window::release(int member) noexcept {
  Target& target = *targets_[static_cast<std::uint32_t>(member)];
  if (server_ == nullptr || target.base != nullptr) return {};
  const TargetGuard guard(job_, target);
  if (target.has_puts && !server_->flush(target.rank)) return kLost;
  target.has_puts = false;
  return {};
}

// Where other threads may wait for the same targets, one after the other; else all at once.
bool Window::settle_all() noexcept {
  if (server_ == nullptr) return true;
  bool is_there = true;
  if (job_.is_multiple()) {
    for (const auto& target : targets_) {
      const TargetGuard guard(job_, *target);
      is_there = settle(*target) && is_there;
    }
    return is_there;
  }
  constexpr std::size_t kAtOnce = 64;
  ph_rank asked[kAtOnce];
  std::size_t count = 0;
  Request request{.ask = Ask::flush};
  request.window = number_;
  request.member = own_;
  for (const auto& target : targets_) {
    if (target->has_sums) asked[count++] = target->rank;
    target->has_sums = false;
    if (count == kAtOnce) is_there = server_->ask_all({asked, std::exchange(count, 0)}, request) && is_there;
  }
  is_there = server_->ask_all({asked, count}, request) && is_there;
  for (const auto& target : targets_)
    if (target->has_puts) {
      is_there = server_->flush(target->rank) && is_there;
      target->has_puts = false;
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
    server.serve();
    status = ph_put(server.lane(), target.rank, &put);
  }
  target.has_puts = true;
  return status == PH_OK;
}

bool Reads::add(const Target& target, std::int64_t offset, ph_block to) noexcept {
  Server& server = *window_.server();
  ph_request& place = open_[next_++ % kMost];
  is_good_ = server.wait(place) && is_good_;
  ph_get_args get{};
  get.size = sizeof get;
  get.destination = to.data;
  get.size_bytes = to.size_bytes;
  get.source = {target.region.address + static_cast<std::uint64_t>(offset), target.region.key};
  get.flags = PH_NO_RCE;
  get.request = &place;
  ph_status status = ph_get(server.lane(), target.rank, &get);
  while (status == PH_AGAIN) {
    server.serve();
    status = ph_get(server.lane(), target.rank, &get);
  }
  is_good_ = status == PH_OK && is_good_;
  return is_good_;
}

bool Reads::end() noexcept {
  for (ph_request& one : open_) is_good_ = window_.server()->wait(one) && is_good_;
  return is_good_;
}

// The elements go as an array, whatever they lie in.
Outcome fold_served(Window& window, const Fold& fold) noexcept {
  const std::size_t size = bytes_of(fold.kind.basic);
  const bool sends = fold.kind.op != Op::no_op;
  Target& target = *fold.area->target;
  try {
    std::vector<Run> runs;
    std::vector<std::byte> elements;
    const Walked walked =
        walk_elements(fold.origin, *fold.own, fold.area->elements,
                      [&](const std::byte* from, std::int64_t offset, std::size_t count) {
                        runs.push_back({fold.area->offset + offset, count * size});
                        if (!sends) return;
                        const std::size_t before = elements.size();
                        elements.resize(before + count * size);
                        fold_plain({Op::replace, fold.kind.basic}, elements.data() + before, from,
                                   nullptr, count);
                      });
    if (walked != Walked::whole) return kUneven;
    Request request;
    request.ask = Ask::accumulate;
    request.op = fold.kind.op;
    request.basic = fold.kind.basic;
    request.runs = static_cast<std::uint32_t>(runs.size());
    for (const Run& run : runs) request.count += run.bytes / size;
    request.value = target.access == Access::exclusive ? 1 : 0;
    request.fetches = fold.result.empty() ? 0 : 1;
    const ph_const_block payload[] = {{runs.data(), runs.size() * sizeof(Run)},
                                      {elements.data(), elements.size()}};
    const std::span<const ph_const_block> blocks(payload, elements.empty() ? 1 : 2);
    if (request.fetches != 0)
      return window.ask(target, request, blocks, fold.result) ? Outcome{} : kNoWay;
    target.has_sums = true;
    return window.tell(target, request, blocks) ? Outcome{} : kNoWay;
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
  return window.ask(*area.target, request, payload, into) ? Outcome{} : kNoWay;
}

}  // namespace photon::mpi
