// Vectored calls: the list or the strides that a step stands for.
#include <cstring>
#include <vector>

#include "simtest/poster.hpp"
#include "simtest/rows.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

namespace {

struct Segment {
  std::byte* own;
  std::uint64_t size_bytes;
  ph_target at;
};

// Rows in any order, some cut in two, with empty ones between.
std::vector<Segment> segments_of(Operation& op, const Places& places) {
  const Rows rows(*op.step);
  transport::sim::Random random(op.step->order);
  std::vector<Segment> list;
  const auto add = [&](std::uint64_t index, std::uint64_t bytes) {
    ph_target at{places.at.address + (rows.far_at(index) - op.step->offset), places.at.key};
    const std::uint64_t place = rows.far_at(index);
    const bool is_inner = places.inner_key != 0 && place >= kInnerOffset &&
                          place + bytes <= kInnerOffset + kInnerBytes;
    if (is_inner && random.up_to(1) == 0) at.key = places.inner_key;
    list.push_back({places.own + rows.own_at(index), bytes, at});
  };
  for (std::uint64_t row = 0; row < rows.count(); ++row) {
    const std::uint64_t first = rows.first(row);
    const std::uint64_t bytes = rows.bytes(row);
    const std::uint64_t cut = random.up_to(3) == 0 ? random.up_to(bytes) : bytes;
    add(first, cut);
    if (cut != bytes) add(first + cut, bytes - cut);
    if (random.up_to(15) == 0) list.push_back({nullptr, 0, {1, 2}});
  }
  if (random.up_to(3) != 0)
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.up_to(i - 1)]);
  return list;
}

// One of those with bytes.
Segment& wrong_one(std::vector<Segment>& list, std::uint64_t draw) {
  std::size_t i = draw % list.size();
  while (list[i].size_bytes == 0) i = (i + 1) % list.size();
  return list[i];
}

void fill(ph_put_segment& to, const Segment& from) { to = {from.own, from.size_bytes, from.at}; }
void fill(ph_get_segment& to, const Segment& from) { to = {from.own, from.size_bytes, from.at}; }

// The library has copied the list when its call returns.
template <class Args, class Entry>
ph_status call_with_list(Args& args, const std::vector<Segment>& list, std::vector<Entry> entries,
                         const auto& call) {
  entries.resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) fill(entries[i], list[i]);
  args.segments = entries.data();
  args.segments_count = entries.size();
  const ph_status status = call(args);
  // An empty list has no address that memset may be given.
  if (!entries.empty())
    std::memset(static_cast<void*>(entries.data()), 0xee, entries.size() * sizeof(Entry));
  return status;
}

template <class Args>
void set_blocks(Args& args, const Step& step) {
  const Rows rows(step);
  const std::uint64_t count = rows.count();
  const bool backwards = (step.order & 1) != 0;
  const auto own = static_cast<std::ptrdiff_t>(step.row_bytes + step.own_gap_bytes);
  const auto far = static_cast<std::ptrdiff_t>(step.row_bytes + step.far_gap_bytes);
  const auto turn = static_cast<std::ptrdiff_t>(backwards ? -1 : 1);
  std::uint64_t inner = 1 + (step.order >> 8) % 8;
  if (count % inner != 0) inner = count;
  const auto many = static_cast<std::ptrdiff_t>(inner);
  const ph_dimension one{inner, turn * own, turn * far};
  const ph_dimension other{count / inner, turn * many * own, turn * many * far};
  const bool is_swapped = (step.order & 2) != 0;
  args.block_bytes = step.row_bytes;
  args.dimensions_count = 2;
  args.dimensions[0] = is_swapped ? other : one;
  args.dimensions[1] = is_swapped ? one : other;
}

}  // namespace

template <class Args>
Args Poster::arguments(Operation& op) {
  const Step& step = *op.step;
  Args args{};
  args.size = sizeof args;
  args.local = {local_id_.data(), step.local_id_bytes};
  args.remote = {remote_id_.data(), step.remote_id_bytes};
  args.flags = step.flags;
  if (step.fault == Fault::unknown_flag) args.flags |= 1u << 20;
  if (step.requested) args.request = &op.request;
  return args;
}

ph_status Poster::list(ph_context* context, Operation& op, Oracle& oracle) {
  const Step& step = *op.step;
  const ph_rank target = op.target() < shown_.size() ? op.target() : op.initiator;
  const bool is_whole = step.is_partial() || is_get(step);
  Step right = step;
  if (is_whole) right.fault = Fault::none;
  Operation rightly = op;
  rightly.step = &right;
  Places places{op.own_bytes().data(), place(rightly, oracle), 0};
  if (step.area == Area::contended && is_put(step) && step.fault == Fault::none)
    places.inner_key = shown_[target].inner.key;
  auto list = segments_of(op, places);
  if (step.fault == Fault::null_memory) wrong_one(list, step.order >> 16).own = nullptr;
  if (is_whole && step.fault >= Fault::wrong_key) {
    Segment& wrong = wrong_one(list, step.order >> 16);
    const ph_target at = place(op, oracle);
    // Out of range from its first byte on; the others are wrong by their key wherever they lie.
    if (step.fault == Fault::out_of_range) wrong.at.address = at.address + kTailBytes;
    if (step.fault == Fault::no_access || step.fault == Fault::stale_key) {
      const Shown& shown = shown_[target];
      wrong.at = step.fault == Fault::stale_key ? at
                 : is_get(step)                 ? ph_at(&shown.inner, 0)
                                                : ph_at(&shown.library, 0);
    } else {
      wrong.at.key = at.key;
    }
  }
  if (is_get(step)) {
    auto args = arguments<ph_get_vector_args>(op);
    return call_with_list(args, list, std::vector<ph_get_segment>(), [&](const auto& one) {
      return ph_get_vector(context, op.target(), &one);
    });
  }
  auto args = arguments<ph_put_vector_args>(op);
  return call_with_list(args, list, std::vector<ph_put_segment>(),
                        [&](const auto& one) { return ph_put_vector(context, op.target(), &one); });
}

ph_status Poster::strided(ph_context* context, Operation& op, const ph_target& target) {
  const Step& step = *op.step;
  const Rows rows(step);
  const bool backwards = (step.order & 1) != 0 && rows.count() != 0;
  const std::uint64_t from = backwards ? rows.first(rows.count() - 1) : 0;
  std::byte* const own =
      step.fault == Fault::null_memory ? nullptr : op.own_bytes().data() + rows.own_at(from);
  const ph_target at{target.address + (rows.far_at(from) - step.offset), target.key};
  if (is_get(step)) {
    auto args = arguments<ph_get_strided_args>(op);
    set_blocks(args, step);
    args.destination = own;
    args.source = at;
    return ph_get_strided(context, op.target(), &args);
  }
  auto args = arguments<ph_put_strided_args>(op);
  set_blocks(args, step);
  args.source = own;
  args.target = at;
  return ph_put_strided(context, op.target(), &args);
}

}  // namespace photon::simtest
