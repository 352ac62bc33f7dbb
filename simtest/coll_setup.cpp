// Arguments and inputs of all members, and what has to come out.
#include <algorithm>
#include <numeric>

#include "simtest/coll_cases.hpp"

namespace photon::simtest::coll {

using schedule::Kind;

namespace {

std::uint64_t drawn_of(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::uint64_t word = (seed * 0x9e37'79b9'7f4a'7c15 + a) * 0xbf58'476d'1ce4'e5b9 + b;
  word = (word ^ word >> 31) * 0x94d0'49bb'1331'11eb;
  word = (word ^ word >> 29) * 0xbf58'476d'1ce4'e5b9;
  return word ^ word >> 32;
}

}  // namespace

// An element of `out`: `input`, or the fold of `element` over the members 0 .. members - 1.
struct Setup::Wanted {
  Value input = kUnwritten;
  std::uint32_t members = 0;
  std::uint32_t element = 0;
  bool is_free = false;  // it may hold anything
};

Setup::Setup(const CollCase& one) : one_(one), is_v_(one.blocks != Counts::uniform) {
  // Hosts of a few members or of many, in any order.
  std::vector<std::uint32_t> names(one.size);
  const std::uint64_t hosts = 1 + drawn_of(one.seed, 0, one.size) % one.size;
  for (std::uint32_t i = 0; i < one.size; ++i)
    names[i] = static_cast<std::uint32_t>(drawn_of(one.seed, 3 + one.size, i) % hosts);
  hosts_ = schedule::Hosts(names);
  members_.resize(one.size);
  in_.resize(one.size);
  out_.resize(one.size);
  for (std::uint32_t i = 0; i < one.size; ++i) {
    if (is_v_) make_layouts(i);
    make_call(i);
    fill(i);
  }
}

bool Setup::is_in_place(std::uint32_t member) const {
  if (one_.places == Places::separate || !may_be_in_place(one_.kind)) return false;
  if (is_rooted(one_.kind) && member != one_.root) return false;
  return one_.places == Places::all || drawn_of(one_.seed, 1, member) % 2 == 0;
}

// What one member sends to another, of alltoall; else a member's block.
std::uint64_t Setup::count_between(std::uint32_t from, std::uint32_t to) const {
  if (!is_v_) return one_.count;
  std::uint32_t a = from;
  std::uint32_t b = to;
  // In place, what is sent and what comes have one place.
  if (one_.kind == Kind::alltoall && one_.places != Places::separate)
    std::tie(a, b) = std::minmax({from, to});
  const std::uint64_t drawn = drawn_of(one_.seed, 2 + a, b);
  if (one_.blocks == Counts::zeros) return drawn % 8 == 0 ? 1 + drawn / 8 % 5 : 0;
  return drawn % 4;
}

bool Setup::has_in_blocks(std::uint32_t member) const {
  if (one_.kind == Kind::scatter) return member == one_.root;
  return one_.kind == Kind::alltoall || one_.kind == Kind::reduce_scatter;
}

bool Setup::has_out_blocks(std::uint32_t member) const {
  if (one_.kind == Kind::gather) return member == one_.root;
  return one_.kind == Kind::alltoall || one_.kind == Kind::allgather;
}

void Setup::place(Layout& layout, std::uint64_t drawn) const {
  std::vector<std::uint32_t> order(one_.size);
  std::iota(order.begin(), order.end(), 0);
  const std::uint64_t gap = drawn % 3 == 0 ? 0 : 1;
  if (drawn % 3 == 2) std::shuffle(order.begin(), order.end(), std::mt19937_64(drawn));
  layout.offsets.resize(one_.size);
  for (const std::uint32_t block : order) {
    layout.offsets[block] = layout.elements;
    layout.elements += layout.counts[block] + gap;
  }
}

void Setup::make_layouts(std::uint32_t member) {
  const bool is_alltoall = one_.kind == Kind::alltoall;
  for (std::uint32_t i = 0; i < one_.size && has_in_blocks(member); ++i)
    in_[member].counts.push_back(is_alltoall ? count_between(member, i) : count_of(i));
  for (std::uint32_t i = 0; i < one_.size && has_out_blocks(member); ++i) {
    const std::uint64_t comes = is_alltoall ? count_between(i, member) : count_of(i);
    const bool has_more = one_.blocks == Counts::room && i != member;
    out_[member].counts.push_back(comes + (has_more ? drawn_of(one_.seed, 3 * member, i) % 3 : 0));
  }
  // The blocks of reduce_scatter have no offsets of their own.
  if (has_in_blocks(member))
    place(in_[member], one_.kind == Kind::reduce_scatter ? 0 : drawn_of(one_.seed, 4, member));
  if (has_out_blocks(member)) place(out_[member], drawn_of(one_.seed, 5, member));
}

void Setup::make_call(std::uint32_t member) {
  schedule::Call& call = members_[member].call;
  call.kind = one_.kind;
  call.algorithm = one_.algorithm;
  call.size = one_.size;
  call.rank = member;
  call.root = one_.root;
  call.count = count_of(member);
  call.segment = one_.segment;
  call.in_order = one_.order == Order::loop;
  call.keeps_order = one_.order == Order::kept;
  call.in_place = is_in_place(member);
  call.hosts = &hosts_;
  if (!is_v_) return;
  if (has_in_blocks(member) && !(call.in_place && one_.kind == Kind::alltoall))
    call.in_blocks = {in_[member].counts.data(), in_[member].offsets.data()};
  if (has_out_blocks(member))
    call.out_blocks = {out_[member].counts.data(), out_[member].offsets.data()};
  // Where arrays say it, `count` means nothing.
  if (has_in_blocks(member) || has_out_blocks(member)) call.count = member % 2 == 0 ? 0 : 3;
}

std::uint64_t Setup::in_offset(std::uint32_t member, std::uint32_t block) const {
  return is_v_ ? in_[member].offsets[block] : block * one_.count;
}

std::uint64_t Setup::out_offset(std::uint32_t member, std::uint32_t block) const {
  return is_v_ ? out_[member].offsets[block] : block * one_.count;
}

std::uint64_t Setup::in_elements(std::uint32_t member) const {
  if (one_.kind == Kind::barrier || one_.kind == Kind::bcast) return 0;
  if (one_.kind == Kind::scatter && member != one_.root) return 0;
  if (has_in_blocks(member)) return is_v_ ? in_[member].elements : one_.count * one_.size;
  return count_of(member);
}

std::uint64_t Setup::out_elements(std::uint32_t member) const {
  const bool is_root = member == one_.root;
  if (one_.kind == Kind::barrier) return 0;
  if ((one_.kind == Kind::reduce || one_.kind == Kind::gather) && !is_root) return 0;
  if (one_.kind == Kind::scatter && is_in_place(member)) return 0;
  if (one_.kind == Kind::reduce_scatter && is_in_place(member)) return in_elements(member);
  if (has_out_blocks(member)) return is_v_ ? out_[member].elements : one_.count * one_.size;
  return count_of(member);
}

// Inputs; of `out` nothing is written yet but what stands in place.
void Setup::fill(std::uint32_t member) {
  Member& one = members_[member];
  const std::uint64_t inputs = in_elements(member);
  one.out.assign(out_elements(member), kUnwritten);
  const bool is_root = member == one_.root;
  const auto put = [member](std::vector<Value>& to, std::uint64_t at, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) to[at + i] = Values::input(member, i);
  };
  if (one_.kind == Kind::bcast && is_root) return put(one.out, 0, one.out.size());
  if (!one.call.in_place || one_.kind == Kind::scatter) {
    one.in.assign(inputs, kUnwritten);
    return put(one.in, 0, inputs);
  }
  if (one_.kind == Kind::gather || one_.kind == Kind::allgather)
    return put(one.out, out_offset(member, member), count_of(member));
  put(one.out, 0, one.out.size());
}

void Setup::want_blocks(std::uint32_t member, std::vector<Wanted>& wanted) const {
  const auto put = [&wanted](std::uint64_t at, std::uint32_t from, std::uint64_t first,
                             std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) wanted[at + i].input = Values::input(from, first + i);
  };
  if (one_.kind == Kind::bcast) put(0, one_.root, 0, wanted.size());
  if (one_.kind == Kind::scatter && !is_in_place(member))
    put(0, one_.root, in_offset(one_.root, member), wanted.size());
  const bool gathers = one_.kind == Kind::gather || one_.kind == Kind::allgather;
  for (std::uint32_t i = 0; gathers && !wanted.empty() && i < one_.size; ++i)
    put(out_offset(member, i), i, 0, count_of(i));
  if (one_.kind != Kind::alltoall) return;
  for (std::uint32_t i = 0; i < one_.size; ++i) {
    const bool in_out = is_in_place(i);  // the sender's blocks are those that it receives into
    // What stood between the blocks of a member that is in place stays there.
    put(out_offset(member, i), i, in_out ? out_offset(i, member) : in_offset(i, member),
        count_between(i, member));
  }
}

void Setup::want_folds(std::uint32_t member, std::vector<Wanted>& wanted) const {
  std::uint32_t members = one_.size;
  if (one_.kind == Kind::scan) members = member + 1;
  if (one_.kind == Kind::exscan) members = member;
  const bool scatters = one_.kind == Kind::reduce_scatter;
  const std::uint64_t first = scatters ? in_offset(member, member) : 0;
  const std::uint64_t count = scatters ? count_of(member) : wanted.size();
  for (std::uint64_t i = 0; i < wanted.size(); ++i) {
    wanted[i].members = members;
    wanted[i].element = static_cast<std::uint32_t>(first + i);
    wanted[i].is_free = i >= count;  // the rest of an input that stood there
    if (members == 0 && is_in_place(member)) wanted[i].input = Values::input(member, i);
  }
}

std::vector<Setup::Wanted> Setup::wanted_of(std::uint32_t member) const {
  std::vector<Wanted> wanted(members_[member].out.size());
  if (one_.kind == Kind::alltoall && is_in_place(member))
    for (std::uint64_t i = 0; i < wanted.size(); ++i) wanted[i].input = Values::input(member, i);
  folds(one_.kind) ? want_folds(member, wanted) : want_blocks(member, wanted);
  return wanted;
}

bool Setup::is_right(const Values& values, Value value, const Wanted& wanted,
                     std::uint64_t all) const {
  if (wanted.is_free) return true;
  if (wanted.members == 0) return value == wanted.input;
  const Values::Shape shape = values.shape_of(value);
  if (value == kUnwritten || shape.element != wanted.element) return false;
  if (shape.members != wanted.members) return false;
  if (one_.order == Order::any) return shape.sum == all;
  return shape.in_order && shape.first == 0 && (one_.order == Order::kept || shape.is_loop);
}

std::string Setup::compare(std::uint32_t member, const Values& values, std::uint64_t all) const {
  const std::vector<Wanted> wanted = wanted_of(member);
  const std::vector<Value>& out = members_[member].out;
  for (std::uint64_t i = 0; i < wanted.size(); ++i) {
    const std::string place =
        is_right(values, out[i], wanted[i], all)
            ? ""
            : "out[" + std::to_string(i) + "] of member " + std::to_string(member);
    const Wanted& one = wanted[i];
    if (!place.empty() && one.members > 0)
      return place + " has to be element " + std::to_string(one.element) + " of members 0.." +
             std::to_string(one.members - 1) + ", order " +
             kOrderNames[static_cast<std::size_t>(one_.order)] + ", and is " +
             values.text_of(out[i]);
    if (!place.empty())
      return place + " has to be " + values.text_of(one.input) + " and is " +
             values.text_of(out[i]);
    if (one_.kind == Kind::allreduce && out[i] != members_[0].out[i])
      return "out[" + std::to_string(i) + "] has other brackets at member " +
             std::to_string(member) + ", " + values.text_of(out[i]) + ", than at member 0, " +
             values.text_of(members_[0].out[i]);
  }
  return "";
}

std::string Setup::compare(const Values& values) const {
  std::string fault;
  std::uint64_t all = 0;  // of members up to this one
  for (std::uint32_t i = 0; i < one_.size && one_.kind != Kind::scan && one_.kind != Kind::exscan;
       ++i)
    all += Values::number_of(i);
  for (std::uint32_t i = 0; i < one_.size && fault.empty(); ++i) {
    if (one_.kind == Kind::scan) all += Values::number_of(i);
    fault = compare(i, values, all);
    if (one_.kind == Kind::exscan) all += Values::number_of(i);
  }
  return fault;
}

}  // namespace photon::simtest::coll
