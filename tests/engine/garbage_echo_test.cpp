// A peer that sends the echo service more bodies than any peer may have under way, or more of them
// than the bulk ring holds (garbage_test.cpp has the malformed records).
#include "attack.hpp"

namespace photon::test {
namespace {

constexpr std::uint64_t kBody = 4;  // the first word of such a message

class GarbageEcho : public testing::TestWithParam<Ground> {
 protected:
  // A chunk of a body; its header comes with the first one.
  static void post_chunk(Attack& attack, std::uint64_t size_bytes, std::uint64_t offset,
                         std::uint64_t bytes, std::uint64_t flags) {
    std::vector<std::uint64_t> words{size_bytes, offset, bytes | flags};
    if (offset == 0) words.push_back(kBody);
    attack.post(wire::encode(Kind::body, offset == 0 ? 8 : 0, 0, wire::Owner::echo), 1, words);
  }
};

// Bodies of no bytes cost their sender a line each, and take no room in the bulk ring.
TEST_P(GarbageEcho, a_peer_that_begins_bodies_without_end_is_cut_off) {
  Attack attack(GetParam());
  for (std::uint64_t i = 0; i < PH_ECHO_MOST_BODIES; ++i) {
    post_chunk(attack, 64, 0, 0, wire::kBulkFirst | wire::kBulkLast);
    if (i % 32 == 31) attack.serve_victim(1);
  }
  EXPECT_EQ(attack.status_of_attacker(), PH_OK) << "so many may be";
  for (int rounds = 0; rounds < 4; ++rounds) {
    for (int i = 0; i < 32; ++i) post_chunk(attack, 64, 0, 0, wire::kBulkFirst | wire::kBulkLast);
    attack.serve_victim(1);
  }
  EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
  attack.expect_nothing_else_harmed();
}

// What is kept has not been given back, so an honest sender has no room for more.
TEST_P(GarbageEcho, chunks_over_others_that_are_kept_end_their_sender) {
  Attack attack(GetParam());
  const std::uint64_t most = garbage_options().config.bulk_bytes / 2;
  post_chunk(attack, 16 * most, 0, most, wire::kBulkFirst);
  post_chunk(attack, 16 * most, most, most, 0);
  attack.serve_victim(1);
  EXPECT_EQ(attack.status_of_attacker(), PH_OK) << "the ring has room for both";
  attack.serve_victim();
  EXPECT_EQ(attack.status_of_attacker(), PH_OK);
  for (std::uint64_t i = 2; i < 6; ++i) post_chunk(attack, 16 * most, i * most, most, 0);
  attack.serve_victim(1);
  EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
  attack.serve_victim();
  attack.expect_nothing_else_harmed();
}

INSTANTIATE_TEST_SUITE_P(Grounds, GarbageEcho,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
