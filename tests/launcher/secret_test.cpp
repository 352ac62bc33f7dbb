#include "secret.hpp"

#include <gtest/gtest.h>

#include <set>

namespace photonrun {
namespace {

TEST(Secret, is_another_each_time) {
  std::set<Secret> seen;
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(seen.insert(make_secret()).second);
}

// All hosts make them by themselves, of any generation and in any order.
TEST(Secret, of_a_generation_is_made_of_the_first_ones) {
  const Secret first = make_secret();
  EXPECT_EQ(term_of(0, first).secret, first);
  std::set<Secret> seen;
  for (const unsigned generation : {0U, 1U, 2U, 255U, 256U, 65536U, ~0U}) {
    const Term term = term_of(generation, first);
    EXPECT_EQ(term.generation, generation);
    EXPECT_EQ(term_of(generation, first).secret, term.secret);
    EXPECT_TRUE(seen.insert(term.secret).second) << generation;
  }
}

}  // namespace
}  // namespace photonrun
