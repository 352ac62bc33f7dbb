#include "service/mailbox/address_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

namespace photon::service::mailbox {
namespace {

TEST(AddressTable, finds_nothing_before_anything_was_added) {
  const AddressTable<int> table;
  EXPECT_EQ(table.find(0), nullptr);
}

// Against a table that is known to be right: adding, removing and asking at random, among addresses
// that lie close together, far apart, and at both ends.
TEST(AddressTable, is_what_a_map_would_be) {
  AddressTable<int> table;
  std::unordered_map<std::uint64_t, int*> right;
  std::vector<int> values(4096);
  std::mt19937_64 random(7);
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t draw = random() % 4096;
    const std::uint64_t address = draw % 3 == 0 ? draw : draw % 3 == 1 ? draw << 50 : ~draw;
    const auto found = right.find(address);
    ASSERT_EQ(table.find(address), found == right.end() ? nullptr : found->second);
    if (found != right.end()) {
      table.remove(address);
      right.erase(found);
    } else if (right.size() < 1500) {
      table.add(address, &values[draw]);
      right[address] = &values[draw];
    }
    ASSERT_EQ(table.size(), right.size());
  }
}

}  // namespace
}  // namespace photon::service::mailbox
