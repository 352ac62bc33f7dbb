#include "simtest/coll_values.hpp"

#include <fmt/format.h>

namespace photon::simtest::coll {
namespace {

std::uint64_t mixed(std::uint64_t word) noexcept {  // splitmix64
  word += 0x9e37'79b9'7f4a'7c15;
  word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11eb;
  return word ^ word >> 31;
}

}  // namespace

std::uint64_t Values::number_of(std::uint32_t member) noexcept { return mixed(member); }

void Values::clear() {
  nodes_.clear();
  table_.assign(kLeast, 0);
}

std::size_t Values::slot_of(Value left, Value right) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = mixed(std::uint64_t{left} << 32 | right) & mask;
  while (table_[slot] != 0) {
    const Node& node = nodes_[table_[slot] - 1];
    if (node.left == left && node.right == right) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void Values::grow() {
  table_.assign(table_.size() * 2, 0);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    table_[slot_of(nodes_[i].left, nodes_[i].right)] = i + 1;
}

Value Values::fold(Value left, Value right) {
  const std::size_t slot = slot_of(left, right);
  if (table_[slot] != 0) return kFold | (table_[slot] - 1);
  const Shape a = shape_of(left);
  const Shape b = shape_of(right);
  if (a.element != b.element) return kUnwritten;
  Shape both{a.element, a.first, a.members + b.members, a.sum + b.sum, false, false};
  both.in_order = a.in_order && b.in_order && a.first + a.members == b.first;
  both.is_loop = both.in_order && a.is_loop && b.members == 1;
  nodes_.push_back({left, right, both});
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  table_[slot] = number;
  if (nodes_.size() * 2 > table_.size()) grow();
  return kFold | (number - 1);
}

Values::Shape Values::shape_of(Value value) const {
  if (value == kUnwritten) return {};
  if (!is_input(value)) return nodes_[value & ~kFold].shape;
  const std::uint32_t member = member_of(value);
  return {element_of(value), member, 1, number_of(member), true, true};
}

void Values::write(std::string& text, Value value) const {
  constexpr std::size_t kMost = 240;
  if (text.size() > kMost) return;
  if (value == kUnwritten) {
    text += "nothing";
  } else if (is_input(value)) {
    text += fmt::format("in({})[{}]", member_of(value), element_of(value));
  } else {
    const Node& node = nodes_[value & ~kFold];
    text += '(';
    write(text, node.left);
    text += " op ";
    write(text, node.right);
    text += ')';
    if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  }
}

std::string Values::text_of(Value value) const {
  std::string text;
  write(text, value);
  return text;
}

}  // namespace photon::simtest::coll
