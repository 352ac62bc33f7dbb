// Calls of every kind, with the inputs of all members and what has to come out.
// Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "rounds.hpp"
#include "schedule/hosts.hpp"
#include "schedule_play.hpp"

namespace photon::schedule {

enum class Order : std::uint8_t { any, kept, loop };

struct CaseOf {
  Kind kind = Kind::barrier;
  Algorithm algorithm = Algorithm::linear;
  std::uint32_t size = 1;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  std::uint64_t segment = 0;
  Order order = Order::any;
  unsigned in_place = 0;  // 0: nobody; 1: all that may; 2: every other one of them
  bool is_v = false;
  std::uint64_t more_room = 0;            // PH_COUNTS_FROM_SENDERS: more than what comes
  std::vector<std::uint32_t> hosts = {};  // of each member; empty: not known
};

inline std::string text_of(const CaseOf& its) {
  return std::string(name_of(its.kind)) + " by " + name_of(its.algorithm) + ", size " +
         std::to_string(its.size) + ", root " + std::to_string(its.root) + ", count " +
         std::to_string(its.count) + ", segment " + std::to_string(its.segment) + ", order " +
         std::to_string(static_cast<int>(its.order)) + ", in place " +
         std::to_string(its.in_place) + (its.is_v ? ", counts of their own" : "");
}

// Blocks one behind the other, with a gap behind each where they may have one.
struct BlockArrays {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> offsets;
  std::uint64_t total = 0;

  void lay_out(std::uint64_t gap) {
    for (const std::uint64_t count : counts) {
      offsets.push_back(total);
      total += count + gap;
    }
  }
  Blocks blocks() const { return {counts.data(), offsets.data()}; }
};

// What the elements of one member's output have to be: for each the members' inputs in order.
using Wanted = std::vector<std::vector<std::uint32_t>>;

class ScheduleCase {
 public:
  explicit ScheduleCase(const CaseOf& its) : its_(its), hosts_(its.hosts) {
    for (std::uint32_t m = 0; m < its.size; ++m) members_.push_back(member_of(m));
    const bool has_arrays =
        its.is_v &&
        (its.kind == Kind::gather || its.kind == Kind::scatter || its.kind == Kind::allgather ||
         its.kind == Kind::alltoall || its.kind == Kind::reduce_scatter);
    in_.resize(its.size);
    out_.resize(its.size);
    for (std::uint32_t m = 0; has_arrays && m < its.size; ++m) give_arrays(m);
    for (std::uint32_t m = 0; m < its.size; ++m) give_spaces(m);
  }

  bool is_known() const {
    for (const PlayedMember& member : members_)
      if (!knows(member.call)) return false;
    return true;
  }
  // What is wrong; empty if nothing is.
  std::string play(unsigned seed, bool is_strict = false) {
    std::vector<PlayedMember> members = members_;
    std::string wrong = SchedulePlay(members, seed, is_strict).run();
    for (std::uint32_t m = 0; m < its_.size && wrong.empty(); ++m)
      wrong = compare(m, members[m].spaces[Space::out]);
    if (its_.kind == Kind::allreduce)
      for (std::uint32_t m = 1; m < its_.size && wrong.empty(); ++m)
        for (std::uint64_t i = 0; i < its_.count; ++i)
          if (members[m].spaces[Space::out][i].bits != members[0].spaces[Space::out][i].bits)
            wrong = "member " + std::to_string(m) + " has other bits than member 0";
    return wrong.empty() ? wrong : text_of(its_) + ": " + wrong;
  }

 private:
  bool is_rooted() const {
    return its_.kind == Kind::bcast || its_.kind == Kind::reduce || its_.kind == Kind::gather ||
           its_.kind == Kind::scatter;
  }
  bool may_be_in_place(std::uint32_t m) const {
    if (its_.kind == Kind::barrier || its_.kind == Kind::bcast) return false;
    return !is_rooted() || m == its_.root;
  }
  PlayedMember member_of(std::uint32_t m) const {
    PlayedMember member;
    Call& call = member.call;
    call.kind = its_.kind;
    call.algorithm = its_.algorithm;
    call.size = its_.size;
    call.rank = m;
    call.root = its_.root;
    call.count = its_.count;
    call.segment = its_.segment;
    if (!its_.hosts.empty()) call.hosts = &hosts_;
    call.in_order = its_.order == Order::loop;
    call.keeps_order = its_.order == Order::kept;
    call.in_place = may_be_in_place(m) && (its_.in_place == 1 || (its_.in_place == 2 && m % 2));
    return member;
  }

  // From one member to another.
  std::uint64_t count_between(std::uint32_t from, std::uint32_t to) const {
    if (!its_.is_v) return its_.count;
    std::uint32_t a = from;
    std::uint32_t b = to;
    if (its_.in_place != 0) std::tie(a, b) = std::minmax({from, to});
    return (a * 3 + b * 5 + its_.count) % 4;
  }
  std::uint64_t count_of(std::uint32_t m) const { return count_between(m, 0); }

  void give_arrays(std::uint32_t m) {
    Call& call = members_[m].call;
    const bool is_alltoall = its_.kind == Kind::alltoall;
    const bool has_in = its_.kind == Kind::reduce_scatter || is_alltoall ||
                        (its_.kind == Kind::scatter && m == its_.root);
    const bool has_out = its_.kind == Kind::allgather || is_alltoall ||
                         (its_.kind == Kind::gather && m == its_.root);
    for (std::uint32_t i = 0; i < its_.size; ++i) {
      in_[m].counts.push_back(is_alltoall ? count_between(m, i) : count_of(i));
      const std::uint64_t comes = is_alltoall ? count_between(i, m) : count_of(i);
      out_[m].counts.push_back(comes + (i == m ? 0 : its_.more_room));
    }
    in_[m].lay_out(its_.kind == Kind::reduce_scatter ? 0 : 1);
    out_[m].lay_out(2);
    if (has_in) call.in_blocks = in_[m].blocks();
    if (has_out) call.out_blocks = out_[m].blocks();
    call.count = count_of(m);
    if (has_in || has_out) call.count = 0;  // arrays say it
  }

  static Elements inputs(std::uint32_t m, std::uint64_t count) {
    Elements elements;
    for (std::uint64_t i = 0; i < count; ++i) elements.push_back(Made::input(m, i));
    return elements;
  }
  std::uint64_t in_size(std::uint32_t m) const {
    if (in_[m].total > 0 && members_[m].call.in_blocks.counts != nullptr) return in_[m].total;
    if (its_.kind == Kind::barrier || its_.kind == Kind::bcast) return 0;
    if (its_.kind == Kind::scatter && m != its_.root) return 0;
    const bool has_all = its_.kind == Kind::scatter || its_.kind == Kind::alltoall ||
                         its_.kind == Kind::reduce_scatter;
    if (has_all && its_.is_v) return in_[m].total;
    return has_all ? its_.count * its_.size : count_of(m);
  }
  std::uint64_t out_size(std::uint32_t m) const {
    if (its_.kind == Kind::barrier) return 0;
    if ((its_.kind == Kind::reduce || its_.kind == Kind::gather) && m != its_.root) return 0;
    const bool has_all =
        its_.kind == Kind::gather || its_.kind == Kind::allgather || its_.kind == Kind::alltoall;
    if (has_all && its_.is_v) return out_[m].total;
    if (has_all) return its_.count * its_.size;
    if (its_.kind == Kind::scatter || its_.kind == Kind::reduce_scatter) return count_of(m);
    return its_.count;
  }
  void give_spaces(std::uint32_t m) {
    PlayedMember& member = members_[m];
    auto& spaces = member.spaces;
    const bool replaces = member.call.in_place && its_.kind != Kind::scatter;
    spaces[Space::out] = Elements(out_size(m));
    if (its_.kind == Kind::bcast && m == its_.root) spaces[Space::out] = inputs(m, its_.count);
    if (!replaces) {
      spaces[Space::in] = inputs(m, in_size(m));
    } else if (its_.kind == Kind::gather || its_.kind == Kind::allgather) {
      const Elements own = inputs(m, count_of(m));
      const std::uint64_t at = its_.is_v ? out_[m].offsets[m] : m * its_.count;
      std::copy(own.begin(), own.end(), spaces[Space::out].begin() + static_cast<long>(at));
    } else {
      const bool is_alltoall = its_.kind == Kind::alltoall;
      spaces[Space::out] = inputs(m, is_alltoall ? out_size(m) : in_size(m));
    }
    if (is_known()) spaces[Space::temp] = Elements(temp_of(member.call));
  }

  static std::uint32_t name(std::uint32_t member, std::uint64_t place) {
    return static_cast<std::uint32_t>(member * Made::kPerMember + place);
  }
  static std::vector<std::uint32_t> sum(std::uint32_t members, std::uint64_t place) {
    std::vector<std::uint32_t> of;
    for (std::uint32_t i = 0; i < members; ++i) of.push_back(name(i, place));
    return of;
  }
  // Elements that are not spoken of may hold anything.
  Wanted wanted_of(std::uint32_t m) const {
    Wanted wanted(members_[m].spaces.at(Space::out).size());
    const auto put = [&wanted](std::uint64_t at, const Range& from, std::uint32_t member) {
      for (std::uint64_t i = 0; i < from.count; ++i)
        wanted[at + i] = {name(member, from.first + i)};
    };
    const auto own_in = [this, m](std::uint32_t at, std::uint32_t of) {  // block `of` at a member
      const auto& arrays = members_[at].call.in_place && its_.kind == Kind::alltoall ? out_ : in_;
      const std::uint64_t first = its_.is_v ? arrays[at].offsets[of] : of * its_.count;
      return Range{Space::in, first,
                   its_.kind == Kind::alltoall ? count_between(at, of) : count_of(m)};
    };
    const auto out_at = [this, m](std::uint32_t of) {
      return its_.is_v ? out_[m].offsets[of] : of * its_.count;
    };
    switch (its_.kind) {
      case Kind::barrier: break;
      case Kind::bcast: put(0, {Space::in, 0, its_.count}, its_.root); break;
      case Kind::reduce:
      case Kind::allreduce:
      case Kind::scan:
      case Kind::exscan: want_sums(m, wanted); break;
      case Kind::scatter:
        if (!members_[m].call.in_place) put(0, own_in(its_.root, m), its_.root);
        break;
      case Kind::gather:
      case Kind::allgather:
        for (std::uint32_t i = 0; i < its_.size && !wanted.empty(); ++i)
          put(out_at(i), {Space::in, 0, count_of(i)}, i);
        break;
      case Kind::alltoall:
        for (std::uint32_t i = 0; i < its_.size; ++i) put(out_at(i), own_in(i, m), i);
        break;
      case Kind::reduce_scatter:
        for (std::uint64_t i = 0; i < count_of(m); ++i)
          wanted[i] = sum(its_.size, own_in(m, m).first + i);
        break;
    }
    return wanted;
  }
  void want_sums(std::uint32_t m, Wanted& wanted) const {
    std::uint32_t members = its_.size;
    if (its_.kind == Kind::scan) members = m + 1;
    if (its_.kind == Kind::exscan) members = m;
    if (its_.kind == Kind::exscan && m == 0 && members_[m].call.in_place)
      for (std::uint64_t i = 0; i < wanted.size(); ++i) wanted[i] = {name(0, i)};
    else
      for (std::uint64_t i = 0; i < wanted.size(); ++i) wanted[i] = sum(members, i);
  }

  std::string compare(std::uint32_t m, const Elements& out) const {
    const Wanted wanted = wanted_of(m);
    for (std::uint64_t i = 0; i < wanted.size(); ++i) {
      std::vector<std::uint32_t> of = out[i].of;
      if (its_.order == Order::any) std::sort(of.begin(), of.end());
      const std::string at = "element " + std::to_string(i) + " of member " + std::to_string(m);
      if (wanted[i].empty() && its_.kind == Kind::exscan && !of.empty()) return at + " is written";
      if (wanted[i].empty()) continue;
      if (of != wanted[i]) return at + " is made of something else";
      if (its_.order == Order::loop && !out[i].is_loop) return at + " is not that of a loop";
    }
    return "";
  }

  CaseOf its_;
  Hosts hosts_;
  std::vector<PlayedMember> members_;
  std::vector<BlockArrays> in_;
  std::vector<BlockArrays> out_;
};

// Every call of an algorithm for teams of 1 to `most` members; under a sanitizer every fifth, of
// all sizes and roots. How many were played.
struct EveryCase {
  Kind kind;
  Algorithm algorithm;
  std::uint32_t most = 20;
  bool has_v = false;
  bool is_strict = false;

  unsigned play() const {
    unsigned played = 0;
    std::uint64_t number = 0;
    for (std::uint32_t size = 1; size <= most; ++size)
      for (std::uint32_t root = 0; root < size; root += is_rooted() ? 1 + size / 5 : size)
        for (const std::uint64_t count : {0, 1, 3, 45})
          for (const Order order : {Order::any, Order::kept, Order::loop})
            for (unsigned in_place = 0; in_place < 3; ++in_place)
              if (number++ % photon::test::rounds(1, 5) == 0)
                played += both({.kind = kind,
                                .algorithm = algorithm,
                                .size = size,
                                .root = root,
                                .count = count,
                                .order = order,
                                .in_place = in_place});
    return played;
  }

 private:
  bool is_rooted() const {
    return kind == Kind::bcast || kind == Kind::reduce || kind == Kind::gather ||
           kind == Kind::scatter;
  }
  unsigned both(CaseOf its) const {
    unsigned played = 0;
    its.segment = algorithm == Algorithm::chain || algorithm == Algorithm::circulant ? 2 : 0;
    played += one(its);
    its.segment = 0;
    its.is_v = has_v;
    if (has_v || algorithm == Algorithm::chain) played += one(its);
    return played;
  }
  unsigned one(const CaseOf& its) const {
    ScheduleCase played(its);
    if (!played.is_known()) return 0;
    const std::string wrong = played.play(its.size * 31 + its.root, is_strict);
    EXPECT_EQ(wrong, "");
    return 1;
  }
};

}  // namespace photon::schedule
