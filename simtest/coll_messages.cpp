#include "simtest/coll_messages.hpp"

namespace photon::simtest::coll {

void Messages::clear() {
  all_.clear();
  table_.assign(kLeast, 0);
}

std::size_t Messages::slot_of(const Message& name) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::uint64_t word = std::uint64_t{name.sender} << 44 ^ std::uint64_t{name.receiver} << 32;
  word = (word ^ name.tag) * 0x9e37'79b9'7f4a'7c15;
  std::size_t slot = (word ^ word >> 29) * 0xbf58'476d'1ce4'e5b9 >> 32 & mask;
  while (table_[slot] != 0) {
    const Message& one = all_[table_[slot] - 1];
    if (one.sender == name.sender && one.receiver == name.receiver && one.tag == name.tag) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void Messages::grow() {
  table_.assign(table_.size() * 2, 0);
  for (std::uint32_t i = 0; i < size(); ++i) table_[slot_of(all_[i])] = i + 1;
}

std::uint32_t Messages::find(std::uint32_t sender, std::uint32_t receiver, std::uint32_t tag) {
  Message name;
  name.sender = sender;
  name.receiver = receiver;
  name.tag = tag;
  const std::size_t slot = slot_of(name);
  if (table_[slot] != 0) return table_[slot] - 1;
  all_.push_back(name);
  table_[slot] = size();
  if (all_.size() * 2 > table_.size()) grow();
  return size() - 1;
}

}  // namespace photon::simtest::coll
