// One rank that writes what it should not into the ring of another, and a third as a witness.
// Owner: the test. Threads: one.
#pragma once

#include <functional>
#include <vector>

#include "engine_group.hpp"
#include "settings.hpp"

namespace photon::test {

using transport::Line;
using wire::Kind;

inline constexpr Rank kVictim = 0;
inline constexpr Rank kAttacker = 1;
inline constexpr Rank kFriend = 2;
inline constexpr std::size_t kMemoryBytes = 4096;
inline constexpr std::uint64_t kRecv = std::uint64_t{PH_RECV_BUFFER} << wire::kBufferKindShift;
inline constexpr std::uint64_t kSend = std::uint64_t{PH_SEND_BUFFER} << wire::kBufferKindShift;
inline constexpr std::uint64_t kWish = std::uint64_t{PH_SEND_REQUEST} << wire::kBufferKindShift;
inline constexpr std::uint64_t kHuge = ~std::uint64_t{0} / 3;

inline FakeOptions garbage_options() {
  FakeOptions options;
  options.config.max_cid_size = 16;
  return options;
}

// Three ranks that know each other; the attacker's engine stands still from then on, and the test
// writes into its half of the link to the victim.
class Attack {
 public:
  explicit Attack(Ground ground)
      : ranks_(3, ground, garbage_options()), memory_(kMemoryBytes), beside_(kMemoryBytes) {
    region_ = ranks_.add(kVictim, memory_.bytes());
    ranks_.meet(kVictim, kFriend);
    EXPECT_EQ(ranks_[kVictim].put(kAttacker, notice()), PH_OK);
    ranks_.take(kAttacker, PH_REMOTE);
    for (int i = 0; i < 200; ++i) ranks_.turn();  // both halves stand
    transport::Link& mine = ranks_.link(kAttacker, kVictim);
    transport::Link& its = ranks_.link(kVictim, kAttacker);
    const bool shared = ground != Ground::sim;  // else each rank has a copy of its own
    lines_ = shared ? mine.tx_lines : const_cast<Line*>(its.rx_lines);
    credits_ = shared ? mine.rx_credits : const_cast<transport::Credits*>(its.tx_credits);
    const auto order = shared ? mine.tx_order : its.rx_order;
    places_ = sync::LinePlaces(order, 6);
    producer_ = engine::LineProducer(lines_, &all_free_, 6, 0, order);
  }

  EngineGroup& ranks() { return ranks_; }
  Line& line(std::size_t i) { return lines_[places_.of(i)]; }
  transport::Credits& credits() { return *credits_; }
  const ph_region& region() const { return region_; }

  // A record with the right tags and these words, whatever they mean.
  void post(std::uint64_t header, std::uint32_t lines_count,
            const std::vector<std::uint64_t>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) producer_.line(i / 7).words[i % 7].set(words[i]);
    producer_.publish(header, lines_count);
  }
  void post(Kind kind, const std::vector<std::uint64_t>& words) {
    post(wire::encode(kind, wire::kNoId, 0), 1, words);
  }

  // A message to rendezvous: what it is (1 an announcement, 2 a finish, 3 a retraction) stands in
  // the first word, above the token.
  void post_rendezvous(std::uint64_t op, std::vector<std::uint64_t> words,
                       std::uint32_t payload_bytes = 0) {
    words[0] |= op << 60;
    const auto header_bytes = static_cast<std::uint32_t>(words.size() * sizeof words[0]);
    post(wire::encode(Kind::message, header_bytes, payload_bytes, wire::Owner::rendezvous),
         wire::lines_for(Kind::message, header_bytes, payload_bytes), words);
  }

  void serve_victim(int turns = 200) {
    for (int i = 0; i < turns; ++i) {
      ranks_[kVictim].serve();
      ranks_[kFriend].serve();
    }
  }
  ph_status status_of_attacker() { return ranks_[kVictim].put(kAttacker, notice()); }

  void expect_nothing_else_harmed() {
    EXPECT_TRUE(memory_.guards_whole());
    EXPECT_TRUE(beside_.untouched());
    // The friend's way in both directions, small and through the bulk ring.
    std::vector<std::byte> bytes = filled(3000, 9), landed(3000);
    const ph_region target = ranks_.add(kFriend, landed);
    const std::uint64_t id = 1;
    const auto put = put_args(bytes, ph_at(&target, 0), id, id);
    ASSERT_EQ(ranks_[kVictim].put(kFriend, put), PH_OK);
    ranks_.end(kAttacker);  // it must not move when everybody does
    EXPECT_EQ(ranks_.take(kFriend, PH_REMOTE, kVictim).id_size_bytes, 8u);
    EXPECT_EQ(first_difference(landed, 9), landed.size());
    ASSERT_EQ(ranks_[kFriend].put(kVictim, notice()), PH_OK);
    ranks_.take(kVictim, PH_REMOTE, kFriend);
  }
  const Guarded& memory() const { return memory_; }

 private:
  EngineGroup ranks_;
  Guarded memory_;
  Guarded beside_;
  ph_region region_{};
  Line* lines_ = nullptr;
  sync::LinePlaces places_;
  transport::Credits* credits_ = nullptr;
  transport::Credits all_free_{};
  engine::LineProducer producer_;
};

// What an attacker may write, by name.
struct Malformed {
  const char* name;
  std::function<void(Attack&)> write;
};

}  // namespace photon::test
