// For the unit tests of counted completion at the target: the test writes what an initiator and the
// NICs would tell rank 1, in any order. Owner: the test. Threads: one.
#pragma once

#include <string>
#include <vector>

#include "engine_unit.hpp"

namespace photon::engine::test {

inline FakeOptions counting(bool has_imm = true) {
  FakeOptions chosen = options(Reach::Kind::posted, false);
  chosen.has_imm = has_imm;
  chosen.config.max_cid_size = 40;
  return chosen;
}

// Ranks 0 and 1 know each other; rank 0's engine stands still and the test writes into its ring.
// Rank 2 is a friend of rank 1, rank 3 was never met.
class Initiator {
 public:
  explicit Initiator(const FakeOptions& chosen = counting()) : ranks_(4, Ground::fake, chosen) {
    EXPECT_EQ(ranks_[1].put(0, notice()), PH_OK);
    ranks_.take(0, PH_REMOTE);
    ranks_.meet(1, 2);
    for (int i = 0; i < 10; ++i) ranks_.turn();
    producer_ = LineProducer(ranks_.link(0, 1).tx_lines, &all_free_, 6);
  }

  // Each says at which line its record began. An id of more than 8 bytes is its number and zeros.
  std::uint64_t counted(std::uint64_t fragments, std::uint64_t id, std::uint32_t id_bytes = 8) {
    return post(wire::Kind::counted, {fragments, id}, id_bytes);
  }
  std::uint64_t notify(std::uint64_t id, std::uint32_t id_bytes = 8) {
    return post(wire::Kind::put, {0, 0, id}, id_bytes);
  }
  std::uint64_t withdraw(std::uint64_t line) { return post(wire::Kind::withdrawn, {line}); }
  std::uint64_t post(wire::Kind kind, std::vector<std::uint64_t> words,
                     std::uint32_t id_bytes = wire::kNoId) {
    const std::uint64_t line = next_line_;
    const auto lines = wire::lines_for(kind, id_bytes, 0);
    words.resize(lines * std::uint64_t{wire::kWordsPerLine});
    for (std::size_t i = 0; i < words.size(); ++i)
      producer_.line(i / wire::kWordsPerLine).words[i % wire::kWordsPerLine].set(words[i]);
    producer_.publish(wire::encode(kind, id_bytes, 0), lines);
    next_line_ += lines;
    return line;
  }
  std::uint64_t next_line() const { return next_line_; }

  // Rank 1's NIC tells of fragments, now.
  void fragments(std::uint64_t line, std::uint64_t count = 1) {
    for (std::uint64_t i = 0; i < count; ++i) tell(wire::ImmCodec(4).of(0, line));
  }
  void tell(std::uint32_t name) {
    ranks_.net().seats[1].names.push_back(name);
    serve();
  }
  void serve() {
    for (int i = 0; i < 4; ++i) ranks_[1].serve();
  }
  void end() { ranks_.net().seats[1].gone[0] = {PH_ERR_PEER, 0, "it has ended", 0}; }

  // The ids that rank 1's application finds, one probe of up to so many.
  std::vector<std::uint64_t> ids(std::size_t most = 64) {
    std::vector<std::uint64_t> found;
    for (const ph_completion& one : ranks_.probe(1, PH_REMOTE, most, 0)) {
      EXPECT_EQ(one.status, PH_OK);
      found.push_back(one.id);
    }
    return found;
  }
  std::uint64_t ledger_given() { return ranks_.net().way(0, 1).credits.ledger_given(); }

  bool is_cut_off() {
    const ph_status status = ranks_[1].put(0, notice());
    EXPECT_TRUE(status == PH_OK || status == PH_ERR_PROTOCOL) << status;
    return status == PH_ERR_PROTOCOL;
  }
  // The friend's way in both directions.
  void expect_the_friend_unharmed() {
    ASSERT_EQ(ranks_[2].put(1, notice()), PH_OK);
    ASSERT_TRUE(ranks_.eventually([&] { return !ranks_.probe(1, PH_REMOTE, 1, 2).empty(); }));
    ASSERT_EQ(ranks_[1].put(2, notice()), PH_OK);
    ASSERT_TRUE(ranks_.eventually([&] { return !ranks_.probe(2, PH_REMOTE, 1, 1).empty(); }));
  }
  EngineGroup& ranks() { return ranks_; }

 private:
  EngineGroup ranks_;
  transport::Credits all_free_{};
  LineProducer producer_;
  std::uint64_t next_line_ = 0;
};

using Ids = std::vector<std::uint64_t>;

}  // namespace photon::engine::test
