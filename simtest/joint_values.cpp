#include "simtest/joint_values.hpp"

#include <algorithm>
#include <cstring>

#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

namespace {

// One of x -> ax + b.
struct Line {
  std::uint32_t a, b;
};

// A draw for each name, without an order of draws.
std::uint64_t hash(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept {
  return transport::sim::Random(seed).stream(a).stream(b).next();
}

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void store(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

// The value of element `index` of a member's input.
void write_value(Arithmetic arithmetic, std::uint64_t drawn, std::byte* at) noexcept {
  switch (arithmetic) {
    case Arithmetic::int32_add: return store(at, static_cast<std::uint32_t>(drawn));
    case Arithmetic::uint64_xor:
    case Arithmetic::own_sum: return store(at, drawn);
    case Arithmetic::int8_min: return store(at, static_cast<std::uint8_t>(drawn));
    case Arithmetic::float_max: return store(at, static_cast<float>(drawn >> 44));
    case Arithmetic::double_add: return store(at, static_cast<double>(drawn >> 44));
    case Arithmetic::double_order:
    case Arithmetic::double_any: return store(at, static_cast<double>(drawn >> 11) / 3.0);
    case Arithmetic::own_chain:
      return store(
          at, Line{static_cast<std::uint32_t>(drawn) | 1, static_cast<std::uint32_t>(drawn >> 32)});
  }
}

Line chain(Line first, Line then) noexcept { return {first.a * then.a, first.b * then.a + then.b}; }

// `to` op= `right`, one element.
void fold_one(Arithmetic arithmetic, std::byte* to, const std::byte* right) noexcept {
  const auto each = [&]<class T>(T, auto op) { store<T>(to, op(load<T>(to), load<T>(right))); };
  const auto add = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
  switch (arithmetic) {
    case Arithmetic::int32_add: return each(std::uint32_t{}, add);
    case Arithmetic::uint64_xor:
      return each(std::uint64_t{}, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
    case Arithmetic::own_sum: return each(std::uint64_t{}, add);
    case Arithmetic::int8_min:
      return each(std::int8_t{}, [](std::int8_t a, std::int8_t b) { return std::min(a, b); });
    case Arithmetic::float_max:
      return each(float{}, [](float a, float b) { return std::max(a, b); });
    case Arithmetic::double_add:
    case Arithmetic::double_order:
    case Arithmetic::double_any: return each(double{}, add);
    case Arithmetic::own_chain: return each(Line{}, chain);
  }
}

void own_sum(void*, const void* left, const void* right, void* out, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    store(static_cast<std::byte*>(out) + 8 * i,
          load<std::uint64_t>(static_cast<const std::byte*>(left) + 8 * i) +
              load<std::uint64_t>(static_cast<const std::byte*>(right) + 8 * i));
}

void own_chain(void*, const void* left, const void* right, void* out, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    store(static_cast<std::byte*>(out) + 8 * i,
          chain(load<Line>(static_cast<const std::byte*>(left) + 8 * i),
                load<Line>(static_cast<const std::byte*>(right) + 8 * i)));
}

bool is_v(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_GATHERV || kind == PH_COLL_SCATTERV || kind == PH_COLL_ALLGATHERV ||
         kind == PH_COLL_ALLTOALLV || kind == PH_COLL_REDUCE_SCATTER;
}

bool is_gather(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_GATHER || kind == PH_COLL_GATHERV || kind == PH_COLL_ALLGATHER ||
         kind == PH_COLL_ALLGATHERV;
}
bool is_scatter(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_SCATTER || kind == PH_COLL_SCATTERV;
}
bool is_alltoall(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_ALLTOALL || kind == PH_COLL_ALLTOALLV;
}
bool is_reduce_scatter(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_REDUCE_SCATTER || kind == PH_COLL_REDUCE_SCATTER_BLOCK;
}
bool has_root(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_BCAST || kind == PH_COLL_REDUCE || kind == PH_COLL_GATHER ||
         kind == PH_COLL_GATHERV || is_scatter(kind);
}

// The elements of the block that `from` has for `to`. Alltoallv in place exchanges equal ones.
std::uint64_t block(const JointCall& call, std::uint32_t from, std::uint32_t to) noexcept {
  const Joint& joint = *call.joint;
  if (!is_v(joint.kind)) return joint.count;
  std::uint64_t name = is_alltoall(joint.kind) ? std::uint64_t{from} << 32 | to : from;
  if (is_scatter(joint.kind) || joint.kind == PH_COLL_REDUCE_SCATTER) name = to;
  if (is_alltoall(joint.kind) && joint.is_in_place)
    name = std::uint64_t{std::min(from, to)} << 32 | std::max(from, to);
  const std::uint64_t drawn = hash(joint.seed, 1, name);
  return drawn % 4 == 0 ? 0 : (drawn >> 8) % (joint.count + 1);
}

// The elements that a member gives: to whom it has one block each, those one behind the other.
std::uint64_t given(const JointCall& call, std::uint32_t member) {
  const ph_coll_kind kind = call.joint->kind;
  if (kind == PH_COLL_BARRIER) return 0;
  const bool is_cut = is_scatter(kind) || is_alltoall(kind) || is_reduce_scatter(kind);
  if (is_scatter(kind) || kind == PH_COLL_BCAST)
    if (member != root_of(call)) return 0;
  if (!is_cut) return block(call, member, 0);
  std::uint64_t sum = 0;
  for (std::uint32_t to = 0; to < call.size; ++to) sum += block(call, member, to);
  return sum;
}

// What a member gives, in bytes.
std::vector<std::byte> input(const JointCall& call, std::uint32_t member) {
  const Joint& joint = *call.joint;
  const std::uint64_t element = element_bytes_of(joint.arithmetic);
  std::vector<std::byte> bytes(given(call, member) * element);
  transport::sim::Random random(hash(joint.seed, 2 + call.number, member));
  for (std::uint64_t at = 0; at < bytes.size(); at += element)
    write_value(joint.arithmetic, random.next(), bytes.data() + at);
  return bytes;
}

struct Layout {
  std::vector<std::uint64_t> counts, offsets;
  std::uint64_t end = 0;
};

// `gap` elements in front of each block.
template <class Count>
Layout layout(std::uint32_t size, std::uint64_t gap, Count count) {
  Layout all;
  for (std::uint32_t i = 0; i < size; ++i) {
    all.counts.push_back(count(i));
    all.offsets.push_back(all.end + gap);
    all.end += gap + all.counts.back();
  }
  return all;
}

std::uint64_t gap_of(const JointCall& call) noexcept {
  const bool may = is_v(call.joint->kind) && call.joint->kind != PH_COLL_REDUCE_SCATTER;
  return may && call.joint->has_gaps ? 1 : 0;
}

// Where `in` has a block for each member.
Layout in_layout(const JointCall& call) {
  return layout(call.size, gap_of(call), [&](std::uint32_t i) { return block(call, call.own, i); });
}
// Where `out` has room for a block of each member.
Layout out_layout(const JointCall& call) {
  return layout(call.size, gap_of(call), [&](std::uint32_t i) {
    const std::uint64_t more = call.joint->counts_come ? hash(call.joint->seed, 3, i) % 3 : 0;
    return block(call, i, call.own) + more;
  });
}

bool cuts_in(const JointCall& call) noexcept {
  const ph_coll_kind kind = call.joint->kind;
  return is_alltoall(kind) || is_reduce_scatter(kind) ||
         (is_scatter(kind) && call.own == root_of(call));
}
bool cuts_out(const JointCall& call) noexcept {
  const ph_coll_kind kind = call.joint->kind;
  return is_alltoall(kind) || kind == PH_COLL_ALLGATHER || kind == PH_COLL_ALLGATHERV ||
         (is_gather(kind) && call.own == root_of(call));
}

// Copies the packed blocks of `from` to their places.
void spread(const std::vector<std::byte>& from, const Layout& places, std::uint64_t element,
            std::vector<std::byte>& to) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < places.counts.size(); ++i) {
    const std::uint64_t bytes = places.counts[i] * element;
    if (bytes != 0) std::memcpy(to.data() + places.offsets[i] * element, from.data() + at, bytes);
    at += bytes;
  }
}

void put(const std::vector<std::byte>& from, std::uint64_t at, std::vector<std::byte>& to) {
  if (!from.empty()) std::memcpy(to.data() + at, from.data(), from.size());
}

// Bytes of `out`.
std::uint64_t out_bytes(const JointCall& call) {
  const Joint& joint = *call.joint;
  const std::uint64_t element = element_bytes_of(joint.arithmetic);
  const bool is_root = call.own == root_of(call);
  if (joint.kind == PH_COLL_BARRIER) return 0;
  if (cuts_out(call)) return out_layout(call).end * element;
  if (is_gather(joint.kind) || (joint.kind == PH_COLL_REDUCE && !is_root)) return 0;
  if (is_scatter(joint.kind) && is_root && is_in_place(call)) return 0;
  if (is_scatter(joint.kind)) return block(call, root_of(call), call.own) * element;
  if (is_reduce_scatter(joint.kind))
    return (is_in_place(call) ? given(call, call.own) : block(call, 0, call.own)) * element;
  return joint.count * element;
}

// The folded inputs of members `first` to `last`, in their order.
std::vector<std::byte> folded(const JointCall& call, std::uint32_t last) {
  const std::uint64_t element = element_bytes_of(call.joint->arithmetic);
  std::vector<std::byte> all = input(call, 0);
  for (std::uint32_t member = 1; member <= last; ++member) {
    const std::vector<std::byte> next = input(call, member);
    for (std::uint64_t at = 0; at < all.size(); at += element)
      fold_one(call.joint->arithmetic, all.data() + at, next.data() + at);
  }
  return all;
}

// The block of `of` for this member, out of packed ones.
std::vector<std::byte> own_block(const JointCall& call, const std::vector<std::byte>& packed,
                                 std::uint32_t of) {
  const std::uint64_t element = element_bytes_of(call.joint->arithmetic);
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < call.own; ++i) at += block(call, of, i) * element;
  const auto begin = packed.begin() + static_cast<std::ptrdiff_t>(at);
  return {begin, begin + static_cast<std::ptrdiff_t>(block(call, of, call.own) * element)};
}

void apply_blocks(const JointCall& call, JointBuffers& buffers) {
  const std::uint64_t element = element_bytes_of(call.joint->arithmetic);
  const Layout places = out_layout(call);
  for (std::uint32_t from = 0; from < call.size; ++from) {
    std::vector<std::byte> bytes = input(call, from);
    if (is_alltoall(call.joint->kind)) bytes = own_block(call, bytes, from);
    put(bytes, places.offsets[from] * element, buffers.out);
    if (call.joint->counts_come) buffers.out_counts[from] = bytes.size() / element;
  }
}

}  // namespace

std::uint32_t root_of(const JointCall& call) noexcept {
  return has_root(call.joint->kind) ? call.joint->root % call.size : 0;
}

// Where it means something.
bool is_in_place(const JointCall& call) noexcept {
  const ph_coll_kind kind = call.joint->kind;
  if (!call.joint->is_in_place || kind == PH_COLL_BARRIER || kind == PH_COLL_BCAST) return false;
  return !has_root(kind) || call.own == root_of(call);
}

std::uint64_t element_bytes_of(Arithmetic arithmetic) noexcept {
  switch (arithmetic) {
    case Arithmetic::int8_min: return 1;
    case Arithmetic::int32_add:
    case Arithmetic::float_max: return 4;
    default: return 8;
  }
}

JointBuffers buffers_of(const JointCall& call, std::byte background) {
  const Joint& joint = *call.joint;
  const std::uint64_t element = element_bytes_of(joint.arithmetic);
  const std::vector<std::byte> own = input(call, call.own);
  const bool in_place = is_in_place(call);
  JointBuffers all;
  all.out.assign(out_bytes(call), background);
  if (is_v(joint.kind) && cuts_in(call)) {
    const Layout places = in_layout(call);
    all.in_counts = places.counts;
    if (joint.has_gaps) all.in_offsets = places.offsets;
  }
  if (is_v(joint.kind) && is_gather(joint.kind)) all.in_counts = {block(call, call.own, 0)};
  if (is_v(joint.kind) && cuts_out(call)) {
    const Layout places = out_layout(call);
    all.out_counts = places.counts;
    if (joint.has_gaps) all.out_offsets = places.offsets;
  }
  if (joint.kind == PH_COLL_SCATTERV) all.out_counts = {block(call, root_of(call), call.own)};
  if (joint.kind == PH_COLL_BCAST) {
    put(own, 0, all.out);
    return all;
  }
  if (in_place && !is_scatter(joint.kind)) {
    if (is_alltoall(joint.kind))
      spread(own, out_layout(call), element, all.out);
    else if (is_gather(joint.kind))
      put(own, out_layout(call).offsets[call.own] * element, all.out);
    else
      put(own, 0, all.out);
    return all;
  }
  if (!cuts_in(call)) {
    all.in = own;
    return all;
  }
  const Layout places = in_layout(call);
  all.in.assign(places.end * element, background);
  spread(own, places, element, all.in);
  return all;
}

void apply(const JointCall& call, JointBuffers& buffers) {
  const Joint& joint = *call.joint;
  if (buffers.out.empty() && !(joint.counts_come && cuts_out(call))) return;
  if (joint.kind == PH_COLL_BCAST) return put(input(call, root_of(call)), 0, buffers.out);
  if (is_scatter(joint.kind))
    return put(own_block(call, input(call, root_of(call)), root_of(call)), 0, buffers.out);
  if (cuts_out(call)) return apply_blocks(call, buffers);
  if (joint.kind == PH_COLL_EXSCAN && call.own == 0) return;
  std::uint32_t last = call.size - 1;
  if (joint.kind == PH_COLL_SCAN) last = call.own;
  if (joint.kind == PH_COLL_EXSCAN) last = call.own - 1;
  const std::vector<std::byte> sum = folded(call, last);
  put(is_reduce_scatter(joint.kind) ? own_block(call, sum, 0) : sum, 0, buffers.out);
}

// A reduce_scatter in place leaves anything behind its result.
std::uint64_t told_bytes(const JointCall& call, const JointBuffers& buffers) {
  const bool leaves_rest = is_reduce_scatter(call.joint->kind) && is_in_place(call);
  if (!leaves_rest) return buffers.out.size();
  return block(call, 0, call.own) * element_bytes_of(call.joint->arithmetic);
}

ph_fold fold_of(Arithmetic arithmetic) noexcept {
  ph_fold fold{};
  fold.size = sizeof fold;
  fold.commutes = arithmetic == Arithmetic::own_sum ? 1 : 0;
  fold.function = arithmetic == Arithmetic::own_sum ? own_sum : own_chain;
  fold.element_bytes = arithmetic == Arithmetic::own_chain ? sizeof(Line) : 0;
  return fold;
}

void describe(const Joint& joint, const ph_fold& fold, ph_coll_args& args) {
  const bool folds = joint.kind == PH_COLL_REDUCE || joint.kind == PH_COLL_ALLREDUCE ||
                     joint.kind == PH_COLL_SCAN || joint.kind == PH_COLL_EXSCAN ||
                     is_reduce_scatter(joint.kind);
  args.kind = joint.kind;
  args.count = joint.count;
  if (joint.counts_come) args.flags |= PH_COUNTS_FROM_SENDERS;
  if (folds && joint.arithmetic == Arithmetic::double_order) args.flags |= PH_REPRODUCIBLE;
  switch (joint.arithmetic) {
    case Arithmetic::int32_add: args.type = PH_INT32; break;
    case Arithmetic::uint64_xor: args.type = PH_UINT64; break;
    case Arithmetic::int8_min: args.type = PH_INT8; break;
    case Arithmetic::float_max: args.type = PH_FLOAT; break;
    case Arithmetic::own_sum: args.type = PH_INT64; break;
    case Arithmetic::own_chain: args.type = folds ? PH_BYTES : PH_UINT64; break;
    default: args.type = PH_DOUBLE;
  }
  if (!folds) return;
  switch (joint.arithmetic) {
    case Arithmetic::uint64_xor: args.op = PH_OP_XOR; break;
    case Arithmetic::int8_min: args.op = PH_OP_MIN; break;
    case Arithmetic::float_max: args.op = PH_OP_MAX; break;
    case Arithmetic::own_sum:
    case Arithmetic::own_chain: args.fold = &fold; break;
    default: args.op = PH_OP_ADD;
  }
}

}  // namespace photon::simtest
