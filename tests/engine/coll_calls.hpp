// The tests of collectives share this: calls of a member, and the result that each kind must leave.
//
// Elements are 64-bit integers: element i of what member m sends to member t is value_of(m, t, i),
// and folds are sums. Blocks of v-kinds have v_count(m, t) elements, some of them none.
// Owner: none; plain functions.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {

using Elements = std::vector<std::int64_t>;
using Counts = std::vector<std::uint64_t>;
inline constexpr std::int64_t kUntouched = -77;

inline std::int64_t value_of(std::uint64_t from, std::uint64_t to, std::uint64_t i) {
  return static_cast<std::int64_t>(1'000'000'007 * from + 10'007 * to + i);
}
inline std::uint64_t v_count(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
  return (3 * from + to) % 4 == 0 ? 0 : count / 2 + (from * 5 + to) % 7;
}

inline ph_team* world_of(ph_context* context) {
  ph_team* team = nullptr;
  EXPECT_EQ(ph_team_world(context, &team), PH_OK);
  return team;
}

// One operation of one member: its buffers, its arguments, and what has to stand in `out` then.
class Collective {
 public:
  struct Shape {
    ph_coll_kind kind;
    std::uint64_t count;
    std::uint32_t root = 0;
    bool in_place = false;
    std::uint32_t flags = 0;
  };

  Collective(ph_team* team, const Shape& shape)
      : shape_(shape), size_(ph_team_size(team)), own_(ph_team_rank(team)) {
    args_.size = sizeof args_;
    args_.kind = shape.kind;
    args_.count = shape.count;
    args_.root = shape.root;
    args_.type = PH_INT64;
    args_.op = PH_OP_ADD;
    args_.flags = shape.flags;
    lay_out();
  }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  ph_coll_args& args() { return args_; }
  // Again what it was before; of a second start, with other values.
  void refill(std::uint64_t round) {
    round_ = round;
    std::fill(out_.begin(), out_.end(), kUntouched);
    fill();
  }
  void expect_right(const std::string& what) const {
    Elements right = expected();
    for (std::size_t i = 0; i < right.size(); ++i)
      ASSERT_EQ(out_[i], right[i])
          << what << ", member " << own_ << " of " << size_ << ", at " << i;
    for (std::size_t i = right.size(); i < out_.size(); ++i)
      ASSERT_EQ(out_[i], kUntouched) << what << ", behind the result, at " << i;
  }

 private:
  bool is_root() const { return own_ == shape_.root; }
  std::int64_t value(std::uint64_t from, std::uint64_t to, std::uint64_t i) const {
    return value_of(from, to, i) + static_cast<std::int64_t>(round_);
  }
  // Of a block that `from` sends to `to`.
  std::uint64_t count_of(std::uint64_t from, std::uint64_t to) const {
    switch (shape_.kind) {
      case PH_COLL_GATHERV:
      case PH_COLL_ALLGATHERV: return v_count(from, 0, shape_.count);
      case PH_COLL_SCATTERV:
      case PH_COLL_REDUCE_SCATTER: return v_count(to, 0, shape_.count);
      case PH_COLL_ALLTOALLV: return v_count(from, to, shape_.count);
      default: return shape_.count;
    }
  }
  std::uint64_t sum_to() const {
    std::uint64_t sum = 0;
    for (std::uint32_t to = 0; to < size_; ++to) sum += count_of(own_, to);
    return sum;
  }
  std::uint64_t sum_from() const {
    std::uint64_t sum = 0;
    for (std::uint32_t from = 0; from < size_; ++from) sum += count_of(from, own_);
    return sum;
  }

  void lay_out() {
    std::uint64_t in = shape_.count;
    std::uint64_t out = shape_.count;
    switch (shape_.kind) {
      case PH_COLL_BARRIER: in = out = 0; break;
      case PH_COLL_BCAST: in = 0; break;
      case PH_COLL_REDUCE: out = is_root() ? out : 0; break;
      case PH_COLL_GATHER:
      case PH_COLL_GATHERV:
        in = count_of(own_, shape_.root);
        out = is_root() ? sum_from() : 0;
        break;
      case PH_COLL_SCATTER:
      case PH_COLL_SCATTERV:
        in = is_root() ? sum_to() : 0;
        out = count_of(shape_.root, own_);
        break;
      case PH_COLL_ALLGATHER:
      case PH_COLL_ALLGATHERV:
        in = count_of(own_, 0);
        out = sum_from();
        break;
      case PH_COLL_ALLTOALL:
      case PH_COLL_ALLTOALLV:
        in = sum_to();
        out = sum_from();
        break;
      case PH_COLL_REDUCE_SCATTER:
      case PH_COLL_REDUCE_SCATTER_BLOCK:
        in = sum_to();
        out = shape_.in_place ? in : count_of(0, own_);
        break;
      default: break;
    }
    in_.resize(in);
    out_.resize(out + kBehind, kUntouched);
    in_counts_.resize(size_);
    out_counts_.resize(size_);
    for (std::uint32_t i = 0; i < size_; ++i) {
      in_counts_[i] = count_of(own_, i);
      out_counts_[i] = count_of(i, own_);
    }
    const bool sends_one = shape_.kind == PH_COLL_GATHERV || shape_.kind == PH_COLL_ALLGATHERV;
    own_count_ = count_of(sends_one ? own_ : shape_.root, own_);
    args_.in_counts = sends_one ? &own_count_ : in_counts_.data();
    args_.out_counts = shape_.kind == PH_COLL_SCATTERV ? &own_count_ : out_counts_.data();
    args_.in = in_.data();
    args_.out = out_.data();
    fill();
  }

  void fill() {
    std::uint64_t at = 0;
    const bool is_one = shape_.kind != PH_COLL_SCATTER && shape_.kind != PH_COLL_SCATTERV &&
                        shape_.kind != PH_COLL_ALLTOALL && shape_.kind != PH_COLL_ALLTOALLV &&
                        shape_.kind != PH_COLL_REDUCE_SCATTER &&
                        shape_.kind != PH_COLL_REDUCE_SCATTER_BLOCK;
    if (is_one)
      for (std::uint64_t i = 0; i < in_.size(); ++i) in_[i] = value(own_, 0, i);
    else if (!in_.empty())
      for (std::uint32_t to = 0; to < size_; ++to)
        for (std::uint64_t i = 0; i < count_of(own_, to); ++i) in_[at++] = value(own_, to, i);
    if (shape_.kind == PH_COLL_BCAST && is_root())
      for (std::uint64_t i = 0; i < shape_.count; ++i) out_[i] = value(own_, 0, i);
    if (shape_.in_place) place();
  }

  // The input stands where the result will be.
  void place() {
    switch (shape_.kind) {
      case PH_COLL_GATHER:
      case PH_COLL_ALLGATHER: {
        if (shape_.kind == PH_COLL_GATHER && !is_root()) return;
        std::copy(in_.begin(), in_.end(),
                  out_.begin() + static_cast<std::ptrdiff_t>(own_ * shape_.count));
        break;
      }
      case PH_COLL_REDUCE:
        if (!is_root()) return;
        std::copy(in_.begin(), in_.end(), out_.begin());
        break;
      case PH_COLL_SCATTER:
        if (is_root()) args_.out = PH_IN_PLACE;
        return;
      default: std::copy(in_.begin(), in_.end(), out_.begin());
    }
    args_.in = PH_IN_PLACE;
  }

  std::int64_t sum(std::uint32_t members, std::uint64_t to, std::uint64_t i) const {
    std::int64_t all = 0;
    for (std::uint32_t from = 0; from < members; ++from) all += value(from, to, i);
    return all;
  }
  void add_blocks(Elements& right, std::uint64_t to_named) const {
    for (std::uint32_t from = 0; from < size_; ++from)
      for (std::uint64_t i = 0; i < count_of(from, own_); ++i)
        right.push_back(value(from, to_named, i));
  }

  Elements expected() const {
    Elements right;
    const std::uint64_t count = shape_.count;
    switch (shape_.kind) {
      case PH_COLL_BARRIER: break;
      case PH_COLL_BCAST:
        for (std::uint64_t i = 0; i < count; ++i) right.push_back(value(shape_.root, 0, i));
        break;
      case PH_COLL_REDUCE:
      case PH_COLL_ALLREDUCE:
        if (shape_.kind == PH_COLL_REDUCE && !is_root()) break;
        for (std::uint64_t i = 0; i < count; ++i) right.push_back(sum(size_, 0, i));
        break;
      case PH_COLL_SCAN:
        for (std::uint64_t i = 0; i < count; ++i) right.push_back(sum(own_ + 1, 0, i));
        break;
      case PH_COLL_EXSCAN:
        for (std::uint64_t i = 0; i < count; ++i)
          right.push_back(own_ != 0         ? sum(own_, 0, i)
                          : shape_.in_place ? value(0, 0, i)
                                            : kUntouched);
        break;
      case PH_COLL_GATHER:
      case PH_COLL_GATHERV:
        if (is_root()) add_blocks(right, 0);
        break;
      case PH_COLL_ALLGATHER:
      case PH_COLL_ALLGATHERV: add_blocks(right, 0); break;
      case PH_COLL_ALLTOALL:
      case PH_COLL_ALLTOALLV: add_blocks(right, own_); break;
      case PH_COLL_SCATTER:
      case PH_COLL_SCATTERV:
        if (shape_.in_place && is_root()) break;
        for (std::uint64_t i = 0; i < own_count_; ++i) right.push_back(value(shape_.root, own_, i));
        break;
      default:
        for (std::uint64_t i = 0; i < count_of(0, own_); ++i) right.push_back(sum(size_, own_, i));
    }
    return right;
  }

  static constexpr std::uint64_t kBehind = 4;

  const Shape shape_;
  const std::uint32_t size_;
  const std::uint32_t own_;
  std::uint64_t round_ = 0;
  Elements in_;
  Elements out_;
  Counts in_counts_;
  Counts out_counts_;
  std::uint64_t own_count_ = 0;
  ph_coll_args args_{};
};

}  // namespace photon::test
