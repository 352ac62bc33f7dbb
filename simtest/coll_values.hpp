// What elements hold while schedules are run: no numbers, but which inputs they were made of, and
// with which brackets. Equal values have equal names: a fold of the same two is found again.
//
//   kUnwritten, an input (member, element), or a fold of two values of the same element
//
// Invariant: operands of a fold are of the same element of the members' inputs.
// Owner: a Machine. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace photon::simtest::coll {

using Value = std::uint32_t;
inline constexpr Value kUnwritten = 0;

class Values {
 public:
  static constexpr std::uint32_t kMostMembers = 4096;
  static constexpr std::uint32_t kMostElements = (1U << 19) - 1;  // of a member

  struct Shape {
    std::uint32_t element = 0;
    std::uint32_t first = 0;    // member; only if in order
    std::uint32_t members = 0;  // contributions
    std::uint64_t sum = 0;      // of the members' numbers(); says which they are
    bool in_order = false;      // of first, first + 1, ...
    bool is_loop = false;       // ((0 op 1) op 2) op ..., also from another member on
  };

  static Value input(std::uint32_t member, std::uint64_t element) noexcept {
    return (static_cast<Value>(element) << 12 | member) + 1;
  }
  static bool is_input(Value value) noexcept { return value != kUnwritten && (value & kFold) == 0; }
  static std::uint32_t member_of(Value input) noexcept { return (input - 1) & 0xfff; }
  static std::uint32_t element_of(Value input) noexcept { return (input - 1) >> 12; }
  // A number of the member alone, so large that sums of others do not come to it by chance.
  static std::uint64_t number_of(std::uint32_t member) noexcept;

  void clear();
  // kUnwritten: they are not of the same element.
  Value fold(Value left, Value right);
  Shape shape_of(Value value) const;
  std::string text_of(Value value) const;  // "(in(0)[3] op in(1)[3])", cut where it is long

 private:
  static constexpr Value kFold = 1U << 31;

  struct Node {
    Value left = kUnwritten;
    Value right = kUnwritten;
    Shape shape;
  };
  std::size_t slot_of(Value left, Value right) const noexcept;
  void grow();
  void write(std::string& text, Value value) const;

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(kLeast);  // node + 1
  static constexpr std::size_t kLeast = 64;
};

}  // namespace photon::simtest::coll
