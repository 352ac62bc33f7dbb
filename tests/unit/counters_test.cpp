// The counters of a peer: their texts, and what two of them are together.
#include "engine/parts/counters.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace photon::engine::test {
namespace {

TEST(Counters, have_a_name_of_their_own_and_a_sentence_each) {
  std::set<std::string> names;
  for (const CounterText& text : peer_counter_texts()) {
    EXPECT_TRUE(names.insert(text.name).second) << text.name;
    EXPECT_TRUE(std::string(text.help).ends_with('.')) << text.help;
  }
  EXPECT_EQ(names.size(), kPeerCounts);
}

TEST(Counters, together_are_sums_but_the_larger_of_two_marks) {
  PeerCounters one, other;
  for (std::size_t i = 0; i < kPeerCounts; ++i) {
    one.values[i] = i;
    other.values[i] = 100;
  }
  one.merge(other);
  for (std::size_t i = 0; i < kPeerCounts; ++i) {
    const bool is_mark = std::string(peer_counter_texts()[i].name).starts_with("most_");
    EXPECT_EQ(one.values[i], is_mark ? 100 : i + 100) << peer_counter_texts()[i].name;
  }
}

}  // namespace
}  // namespace photon::engine::test
