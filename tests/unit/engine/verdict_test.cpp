// Records that tell of a chunked put's end and of puts that did not land, as a peer may write them:
// which are taken, and which end the peer.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

using wire::Kind;

constexpr std::uint64_t kKeyError = static_cast<std::uint64_t>(PH_ERR_KEY);

// Rank 0 has sent rank 1 some records of one line; rank 1's engine never sends, the test does.
class Forger {
 public:
  explicit Forger(Ground ground, bool keys_visible = true)
      : two_(2, ground, options(Reach::Kind::none, keys_visible)), memory_(4096) {
    region_ = two_.add(0, memory_.bytes());
    for (std::uint64_t i = 0; i < kSent; ++i) {
      EXPECT_EQ(two_[0].put(1, notice()), PH_OK);
      two_.take(1, PH_REMOTE);
    }
    for (int i = 0; i < 200; ++i) two_.turn();
    const auto& link = two_.link(1, 0);
    producer_ = LineProducer(link.tx_lines, &all_free_, 6, 0, link.tx_order);
  }
  static constexpr std::uint64_t kSent = 3;

  void post(Kind kind, const std::vector<std::uint64_t>& words, bool has_id = false) {
    for (std::size_t i = 0; i < words.size(); ++i) producer_.line(0).words[i].set(words[i]);
    producer_.publish(wire::encode(kind, has_id ? 8 : wire::kNoId, 0), 1);
    for (int i = 0; i < 200; ++i) two_[0].serve();
  }
  void refuse(std::uint64_t line) { post(Kind::refused, {kKeyError, line, 0}); }
  // So many records that want an answer.
  void ask(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      for (int word = 0; word < 2; ++word) producer_.line(0).words[word].set(0);
      producer_.publish(wire::encode(Kind::put_acked, wire::kNoId, 0), 1);
    }
    two_[0].serve();
  }
  bool is_cut_off() {
    const ph_status status = two_[0].put(1, notice());
    EXPECT_TRUE(status == PH_OK || status == PH_ERR_PROTOCOL) << status;
    return status == PH_ERR_PROTOCOL;
  }
  // What rank 0 sent at this line.
  wire::Header sent(std::size_t line) {
    const auto header = wire::decode(at(line).tag_word() & ~0xffffull);
    return header ? *header : wire::Header{};
  }
  std::uint64_t word_sent(std::size_t line, int word) { return at(line).words[word].get(); }

  EngineGroup& ranks() { return two_; }
  Guarded& memory() { return memory_; }
  const ph_region& region() const { return region_; }

 private:
  const transport::Line& at(std::uint64_t line) {
    const auto& link = two_.link(0, 1);
    return link.tx_lines[sync::LinePlaces(link.tx_order, 6).of(line)];
  }

  EngineGroup two_;
  Guarded memory_;
  ph_region region_{};
  transport::Credits all_free_{};
  LineProducer producer_;
};

// By its first chunk: the rest of it does not travel.
TEST(VerdictEarly, on_a_put_of_several_chunks_ends_the_put_and_names_all_of_it) {
  for (const bool requested : {true, false}) {
    Forger forger(Ground::fake, false);
    const auto source = filled(60'000, 3);  // more than the bulk ring holds
    const std::uint64_t id = 7;
    ph_request request = 0;
    ph_put_args args = put_args(source, {64, 64}, id, id);
    if (requested) args.request = &request;
    ASSERT_EQ(forger.ranks()[0].put(1, args), PH_OK);
    EXPECT_EQ(forger.sent(Forger::kSent).kind, Kind::bulk);
    forger.refuse(Forger::kSent);
    EXPECT_FALSE(forger.is_cut_off());
    ph_result result{};
    if (requested) {
      EXPECT_EQ(forger.ranks()[0].test(request, result), PH_ERR_KEY);
    } else {
      EXPECT_EQ(forger.ranks().take(0, PH_LOCAL).status, PH_ERR_KEY);
    }
    EXPECT_NE(forger.ranks()[0].last_error().what.find("60000 bytes at 0x40"), std::string::npos)
        << forger.ranks()[0].last_error().what;
    EXPECT_EQ(forger.ranks()[0].resource_use().requests, 0u);
  }
}

class Verdict : public testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Grounds, Verdict,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two),
                         photon::test::ground_name);

TEST_P(Verdict, refusals_of_records_that_were_sent_are_reported_each) {
  Forger peer(GetParam());
  for (std::uint64_t line = 0; line < Forger::kSent; ++line) peer.refuse(line);
  const auto found = peer.ranks().probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), Forger::kSent);
  for (const ph_completion& one : found) EXPECT_EQ(one.status, PH_ERR_KEY);
  EXPECT_FALSE(peer.is_cut_off());
}

TEST_P(Verdict, a_refusal_of_what_was_never_sent_ends_the_peer) {
  for (const std::uint64_t line :
       {Forger::kSent, Forger::kSent + 1, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    SCOPED_TRACE(line);
    Forger peer(GetParam());
    peer.refuse(line);
    EXPECT_TRUE(peer.is_cut_off());
    for (const ph_completion& one : peer.ranks().probe(0, PH_LOCAL))
      EXPECT_EQ(one.status, PH_ERR_PROTOCOL) << "lost with it, and not refused";
  }
}

TEST_P(Verdict, a_refusal_out_of_order_or_told_twice_ends_the_peer) {
  struct Pair {
    std::uint64_t first, second;
  };
  for (const Pair& lines : {Pair{0, 0}, Pair{1, 1}, Pair{2, 1}, Pair{2, 0}}) {
    SCOPED_TRACE(lines.second);
    Forger peer(GetParam());
    peer.refuse(lines.first);
    EXPECT_EQ(peer.ranks().probe(0, PH_LOCAL).size(), 1u);
    peer.refuse(lines.second);
    for (const ph_completion& one : peer.ranks().probe(0, PH_LOCAL))
      EXPECT_EQ(one.status, PH_ERR_PROTOCOL) << "lost with it, and not refused";
    EXPECT_TRUE(peer.is_cut_off());
  }
}

// Its answers wait in our memory: there is an end to that.
TEST(VerdictFlood, who_asks_without_end_and_reads_no_answer_is_cut_off) {
  constexpr std::uint64_t kBatch = 32;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  Forger peer(Ground::fake);
  for (std::uint64_t asked = 0; asked < kMost; asked += kBatch) peer.ask(kBatch);
  EXPECT_FALSE(peer.is_cut_off());
  for (std::uint64_t asked = 0; asked < 128; asked += kBatch) peer.ask(kBatch);
  EXPECT_TRUE(peer.is_cut_off());
}

TEST_P(Verdict, an_empty_chunk_that_ends_nothing_ends_the_peer) {
  for (const Kind kind : {Kind::bulk, Kind::bulk_acked})
    for (const std::uint64_t place : {std::uint64_t{0}, wire::kBulkFirst}) {
      Forger peer(GetParam());
      peer.post(kind, {peer.region().address, peer.region().key, place, 1});
      EXPECT_TRUE(peer.is_cut_off());
      EXPECT_TRUE(peer.memory().untouched());
    }
}

TEST_P(Verdict, an_empty_last_chunk_delivers_the_id) {
  for (const std::uint64_t place : {wire::kBulkLast, wire::kBulkLast | wire::kBulkFirst}) {
    Forger peer(GetParam());
    peer.post(Kind::bulk, {peer.region().address, peer.region().key, place, 0, 77}, true);
    EXPECT_EQ(peer.ranks().take(0, PH_REMOTE).id, 77u);
    EXPECT_FALSE(peer.is_cut_off());
    EXPECT_TRUE(peer.memory().untouched());
  }
}

TEST_P(Verdict, an_empty_last_chunk_tells_how_the_ones_before_it_went) {
  for (const bool is_refused : {false, true}) {
    SCOPED_TRACE(is_refused);
    const std::uint64_t other_key = is_refused ? std::uint64_t{1} << 50 : 0;
    Forger peer(GetParam());
    const std::uint64_t key = peer.region().key ^ other_key;
    const auto wanted = is_refused ? kKeyError : std::uint64_t{PH_OK};
    peer.post(Kind::bulk, {peer.region().address, key, wire::kBulkFirst | 64, 128});
    peer.post(Kind::bulk_acked, {peer.region().address + 64, key, wire::kBulkLast, 0});
    // A refusal is told with the first chunk, whoever answers for the last.
    const std::uint64_t answer = Forger::kSent + (is_refused ? 1 : 0);
    EXPECT_EQ(peer.sent(answer).kind, Kind::ack);
    EXPECT_EQ(peer.word_sent(answer, 0), wanted);
    EXPECT_EQ(peer.sent(answer + 1).kind, Kind::bye) << "nothing more was sent";
    // The same without an acknowledgement: a refusal names the line of the chunk.
    peer.post(Kind::bulk, {peer.region().address, key, wire::kBulkFirst | 64, 128});
    peer.post(Kind::bulk, {peer.region().address + 64, key, wire::kBulkLast, 0, 77}, true);
    EXPECT_EQ(peer.ranks().probe(0, PH_REMOTE).size(), is_refused ? 0u : 1u);
    if (is_refused) {
      EXPECT_EQ(peer.sent(Forger::kSent).kind, Kind::refused);
      EXPECT_EQ(peer.word_sent(Forger::kSent, 1), 0u);
      EXPECT_EQ(peer.sent(answer + 1).kind, Kind::refused);
      EXPECT_EQ(peer.word_sent(answer + 1, 0), kKeyError);
      EXPECT_EQ(peer.word_sent(answer + 1, 1), 2u);
      EXPECT_EQ(peer.word_sent(answer + 1, 2), 1u) << "a chunk";
    }
    EXPECT_FALSE(peer.is_cut_off());
  }
}

}  // namespace
}  // namespace photon::engine::test
