// A peer that announces, or finishes, what it should not (garbage_test.cpp has the malformed
// records).
#include "attack.hpp"

#include <functional>

namespace photon::test {
namespace {

constexpr std::uint64_t kAnnounced = 1, kFinished = 2, kRetracted = 3;
constexpr std::uint64_t kItsToken = std::uint64_t{1} << 32;  // of a rank's first announcement

class GarbageLending : public testing::TestWithParam<Ground> {};

const std::vector<Malformed>& malformed_announcements() {
  const auto fixed = [](std::uint64_t op, std::vector<std::uint64_t> words,
                        std::uint32_t payload_bytes = 0) {
    return [=](Attack& a) { a.post_rendezvous(op, words, payload_bytes); };
  };
  static const std::vector<Malformed> all = {
      {"an announcement of no kind", fixed(kAnnounced, {1, 8, 7, 64, 5})},
      {"an announcement that its owner gave no name", fixed(kAnnounced, {0, kRecv | 8, 7, 64, 5})},
      {"an announcement under any tag", fixed(kAnnounced, {1, kRecv | 8, ~0ull, 64, 5})},
      {"a buffer without a key", fixed(kAnnounced, {1, kRecv | 8, 7, 64, 0})},
      {"a send buffer that did not come along", fixed(kAnnounced, {1, kSend | 8, 7, 0, 0})},
      {"a buffer of no bytes with a key", fixed(kAnnounced, {1, kRecv, 7, 64, 5})},
      {"a buffer that wraps around", fixed(kAnnounced, {1, kRecv | 4096, 7, ~0ull - 100, 5})},
      {"a wish to send with a key", fixed(kAnnounced, {1, kWish | 8, 7, 0, 5})},
      {"a receive buffer that comes along", fixed(kAnnounced, {1, kRecv | 8, 7, 0, 0}, 8)},
      {"more that comes along than announced", fixed(kAnnounced, {1, kSend | 8, 7, 0, 0}, 16)},
      {"an announcement that is too short", fixed(kAnnounced, {1, kWish | 8, 7})},
      {"an announcement that is too long", fixed(kAnnounced, {1, kWish | 8, 7, 0, 0, 0})},
      {"a finish with a payload", fixed(kFinished, {1, 0}, 8)},
      {"a retraction that is too long", fixed(kRetracted, {1, kRecv | 8, 7, 0})},
      {"a message of a kind that there is not", fixed(9, {1, 0})},
      {"a message of half a word",
       [](Attack& a) {
         a.post(wire::encode(Kind::message, 12, 0, wire::Owner::rendezvous), 1, {1, 0});
       }},
      {"a message of nothing",
       [](Attack& a) {
         a.post(wire::encode(Kind::message, 0, 0, wire::Owner::rendezvous), 1, {});
       }},
      {"a body for a service that takes none",
       [](Attack& a) {
         a.post(wire::encode(Kind::body, 8, 0, wire::Owner::rendezvous), 1,
                {64, 0, 64 | wire::kBulkFirst | wire::kBulkLast, 1});
       }},
      {"a finish of what was never announced", fixed(kFinished, {12345, 0})},
      {"a finish of nothing", fixed(kFinished, {0, 0})},
      {"what is called back is of no kind", fixed(kRetracted, {1, 8, 7})},
  };
  return all;
}

TEST_P(GarbageLending, every_malformed_record_ends_its_sender_and_nothing_else) {
  for (const Malformed& bad : malformed_announcements()) {
    SCOPED_TRACE(bad.name);
    Attack attack(GetParam());
    bad.write(attack);
    attack.serve_victim();
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
    attack.expect_nothing_else_harmed();
    EXPECT_TRUE(attack.memory().untouched());
    EXPECT_EQ(attack.ranks()[kVictim].resource_use().blocks, 0u);
  }
}

// More than any peer may have under way: it is cut off before it fills our memory.
TEST_P(GarbageLending, a_peer_that_announces_without_end_is_cut_off) {
  constexpr std::uint64_t kMost = 65536;
  Attack attack(GetParam());
  for (std::uint64_t i = 1; i <= kMost + 1; ++i) {
    if (i == kMost + 1) {
      EXPECT_EQ(attack.status_of_attacker(), PH_OK) << "so many may be";
    }
    attack.post_rendezvous(kAnnounced, {i, kWish | 8, i, 0, 0});
    attack.serve_victim(1);
  }
  attack.serve_victim(2);
  EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
  attack.expect_nothing_else_harmed();
}

// The owner's own request, with an answer that its peer may not give.
TEST_P(GarbageLending, a_finish_that_says_what_nobody_asked_ends_its_sender) {
  for (const std::int64_t wrong : {1l, -1l, -16l, 5000l}) {
    Attack attack(GetParam());
    std::vector<std::byte> lent(500);
    ph_request request = PH_REQUEST_NONE;
    ph_announce_args args{};
    args.size = sizeof args;
    args.kind = PH_RECV_BUFFER;
    args.buffer = lent.data();
    args.size_bytes = lent.size();
    args.request = &request;
    ASSERT_EQ(api::announce(attack.ranks()[kVictim], kAttacker, args), PH_OK);
    attack.post_rendezvous(kFinished, {kItsToken, static_cast<std::uint64_t>(wrong)});
    attack.serve_victim();
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL) << wrong;
    ph_result result{};
    EXPECT_EQ(attack.ranks()[kVictim].test(request, result), PH_ERR_PROTOCOL);
    attack.expect_nothing_else_harmed();
  }
}

INSTANTIATE_TEST_SUITE_P(Grounds, GarbageLending,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
