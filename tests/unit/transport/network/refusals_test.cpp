#include "transport/network/refusals.hpp"

#include <gtest/gtest.h>

namespace photon::transport::network {
namespace {

const char* text(Refusal why) { return why == Refusal::garbage ? "spoke nonsense" : "came late"; }

TEST(CarriedRefusals, are_counted_each_by_its_own_reason) {
  Refusals refusals;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    const auto why = static_cast<Refusal>(i);
    for (std::size_t k = 1; k <= i + 1; ++k) EXPECT_EQ(refusals.add(why), k);
    EXPECT_EQ(refusals.count(why), i + 1);
  }
  const RejectedConnections counts = refusals.counts();
  const std::uint64_t all[] = {counts.silent,     counts.garbage,   counts.version,
                               counts.unexpected, counts.wrong_key, counts.wrong_secret,
                               counts.crowded,    counts.no_room};
  for (std::size_t i = 0; i < kRefusals; ++i) EXPECT_EQ(all[i], i + 1);
}

TEST(CarriedRefusals, are_told_by_kind_with_the_words_of_the_transport) {
  Refusals refusals;
  EXPECT_EQ(refusals.words("that", text), "");
  refusals.add(Refusal::no_room);
  refusals.add(Refusal::garbage);
  refusals.add(Refusal::garbage);
  EXPECT_EQ(refusals.words("that", text),
            "; refused 2 that spoke nonsense; refused 1 that came late");
}

}  // namespace
}  // namespace photon::transport::network
