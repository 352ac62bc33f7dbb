// What a simulated card knows of its rank's memory, and how it stops who relies on more.
#include "transport/sim/sim_locals.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::transport::sim {
namespace {

struct Card {
  explicit Card(std::uint64_t most = 100, std::uint64_t refused_percent = 0)
      : network(1, {.profile = base::SimProfile::srd,
                    .locals_max = most,
                    .locals_refused_percent = refused_percent}),
        locals(network, 0),
        memory(1000) {}

  std::span<const std::byte> part(std::size_t begin, std::size_t bytes) const {
    return std::span(memory).subspan(begin, bytes);
  }
  PostedPiece piece(std::uint64_t handle, std::size_t begin, std::size_t bytes, bool is_write) {
    PostedPiece one;
    one.size_bytes = bytes;
    one.local = handle;
    if (is_write)
      one.source = memory.data() + begin;
    else
      one.destination = memory.data() + begin;
    return one;
  }

  SimNetwork network;
  SimLocals locals;
  std::vector<std::byte> memory;
};

TEST(SimLocals, a_piece_may_lie_anywhere_in_the_registration_it_names) {
  Card card;
  const auto read = *card.locals.add(card.part(100, 200), false);
  const auto written = *card.locals.add(card.part(100, 200), true);
  EXPECT_NE(read, 0u);
  EXPECT_NE(read, written) << "each has a handle of its own";
  for (const auto& piece : {card.piece(read, 100, 200, true), card.piece(written, 100, 1, true),
                            card.piece(written, 299, 1, false)}) {
    card.locals.begin(piece);
    card.locals.end(piece);
  }
  card.locals.remove(read);
  card.locals.remove(written);
  EXPECT_EQ(card.locals.count(), 0u);
}

TEST(SimLocals, what_leaves_its_registration_is_stopped_with_words) {
  Card card;
  const auto read = *card.locals.add(card.part(100, 200), false);
  EXPECT_DEATH(card.locals.begin(card.piece(0, 100, 1, true)), "names no registration");
  EXPECT_DEATH(card.locals.begin(card.piece(read + 1, 100, 1, true)), "names no registration");
  EXPECT_DEATH(card.locals.begin(card.piece(read, 99, 2, true)), "leaves the registration");
  EXPECT_DEATH(card.locals.begin(card.piece(read, 299, 2, true)), "leaves the registration");
  EXPECT_DEATH(card.locals.begin(card.piece(read, 100, 1, false)), "registered for reading");
}

TEST(SimLocals, what_is_in_use_or_unknown_cannot_be_given_back) {
  Card card;
  const auto read = *card.locals.add(card.part(0, 1000), false);
  EXPECT_DEATH(card.locals.remove(read + 1), "not registered");
  const auto piece = card.piece(read, 0, 10, true);
  card.locals.begin(piece);
  EXPECT_DEATH(card.locals.remove(read), "under way");
  card.locals.end(piece);
  card.locals.remove(read);
  EXPECT_DEATH(card.locals.remove(read), "not registered");
}

TEST(SimLocals, a_full_card_has_room_again_when_one_was_given_back) {
  Card card(2);
  const auto first = *card.locals.add(card.part(0, 10), false);
  ASSERT_TRUE(card.locals.add(card.part(0, 10), false));
  const auto third = card.locals.add(card.part(0, 10), false);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().status, PH_ERR_MEMORY);
  card.locals.remove(first);
  EXPECT_TRUE(card.locals.add(card.part(0, 10), false));
}

TEST(SimLocals, the_system_refuses_as_many_as_the_settings_say) {
  Card card(10'000, 30);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) refused += card.locals.add(card.part(0, 10), false) ? 0 : 1;
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 400);
}

}  // namespace
}  // namespace photon::transport::sim
