// Puts by NICs in all their kinds at random, over a NIC that is often full: each ends
// once, ids come in order, and nothing is left behind, whatever was refused and whether the peer
// lived.
#include <map>
#include <random>

#include "posted_unit.hpp"
#include "rounds.hpp"

namespace photon::engine::test {
namespace {

class RandomPosts {
 public:
  RandomPosts(std::uint64_t seed, Posting posting, bool may_lose)
      : dice_(seed), nics_(with_queue(posting, 1 + roll(3))), may_lose_(may_lose) {}

  void run() {
    for (int step = 0; step < 400; ++step) turn(step);
    for (int i = 0; i < 600; ++i) {
      nics_.serve();
      if (fragments() != 0) end_fragment(0);
      if (!is_lost_) nics_.serve(1);
      take(8);
    }
  }
  void expect_all_ended() {
    EXPECT_EQ(fragments(), 0u);
    for (const auto& [id, put] : puts_) expect_ended(id, put);
    std::uint64_t last = 0;
    for (const std::uint64_t id : came_) {
      if ((puts_[id].flags & PH_ORDER_NONE) != 0) continue;
      EXPECT_GT(id, last) << "out of order";
      last = id;
    }
    const auto left = nics_.ranks[0].resource_use();
    EXPECT_EQ(left.requests, 0u);
    EXPECT_EQ(left.events, 0);
    EXPECT_EQ(left.queued, 0u);
    EXPECT_EQ(left.blocks, 0u);
  }

 private:
  struct Put {
    std::uint32_t flags = 0;
    ph_request request = PH_REQUEST_NONE;
    bool is_kept = false;
    unsigned ends = 0;
    unsigned remotes = 0;
    ph_status status = PH_OK;
    std::vector<std::byte> source;
  };

  static FakeOptions with_queue(Posting posting, unsigned fragments) {
    FakeOptions chosen = nics(posting);
    chosen.nic_queue = fragments;
    return chosen;
  }
  unsigned roll(unsigned sides) { return static_cast<unsigned>(dice_() % sides); }
  unsigned fragments() { return static_cast<unsigned>(nics_.posted().size()); }

  void turn(int step) {
    switch (roll(is_lost_ ? 8 : 10)) {
      case 5:
        if (fragments() != 0) end_fragment(roll(fragments()));
        break;
      case 6: nics_.serve(roll(2)); break;
      case 7: take(1 + roll(3)); break;
      case 8:
        if (roll(4) == 0 && fragments() != 0) {
          nics_.refuse(PH_ERR_KEY, roll(fragments()));
        } else if (roll(3) == 0) {
          static_cast<void>(nics_.ranks[0].fence(1));  // PH_AGAIN, or nobody to fence from
        }
        break;
      case 9:
        if (may_lose_ && step > 200 && roll(20) == 0) {
          nics_.seat().gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
          is_lost_ = true;
        }
        break;
      default:
        if (puts_.size() < 150) post();
    }
  }
  void end_fragment(unsigned index) {
    if (is_lost_)
      nics_.refuse(PH_ERR_PEER, index);
    else
      nics_.land(index);
  }

  void post() {
    const std::uint64_t id = next_id_++;
    Put& put = puts_[id];
    for (const std::uint32_t flag : {PH_NO_RCE, PH_ORDER_NONE, PH_DELIVERED})
      if (roll(6) == 0) put.flags |= flag;
    put.is_kept = roll(4) == 0;
    if (!put.is_kept && roll(6) == 0) put.flags |= PH_NO_LCE;
    put.source = filled(roll(4) == 0 ? roll(40) : (1 + roll(2)) * kFragment, 7);
    std::byte bytes[40]{};
    std::memcpy(bytes, &id, sizeof id);
    const std::uint32_t id_bytes = 8 + (roll(3) == 0 ? roll(30) : 0);
    ph_put_args args = nics_.put(put.source, put.flags);
    args.local = args.remote = {bytes, id_bytes};
    if (put.is_kept) args.request = &put.request;
    const ph_status status = nics_.ranks[0].put(1, args);
    if (status != PH_OK) {
      EXPECT_TRUE(status == PH_AGAIN || is_lost_) << status;
      puts_.erase(id);
    } else if (put.is_kept && put.request == PH_REQUEST_NONE) {
      ++put.ends;
    }
  }

  void take(std::size_t most) {
    for (const auto& one : nics_.ranks.probe(0, PH_LOCAL)) {
      Put& put = puts_.at(one.id);
      ++put.ends;
      if (one.status != PH_OK) put.status = one.status;
    }
    for (auto& [id, put] : puts_) {
      if (put.request == PH_REQUEST_NONE) continue;
      ph_result result{};
      const ph_status status = nics_.ranks[0].test(put.request, result);
      if (status == PH_AGAIN) continue;
      ++put.ends;
      put.status = status;
    }
    for (const auto& one : nics_.ranks.probe(1, PH_REMOTE, most)) {
      came_.push_back(one.id);
      ++puts_.at(one.id).remotes;
    }
  }

  void expect_ended(std::uint64_t id, const Put& put) {
    SCOPED_TRACE(id);
    const bool is_good = put.status == PH_OK;
    const unsigned wanted = (put.flags & PH_NO_LCE) != 0 && is_good ? 0 : 1;
    // Who is told that a peer was lost may have been told before that its memory is free.
    const bool may_end_twice = !is_good && is_lost_;
    EXPECT_TRUE(put.ends == wanted || (may_end_twice && put.ends == 2)) << put.ends;
    const unsigned remotes = (put.flags & PH_NO_RCE) == 0 && is_good ? 1 : 0;
    const bool may_differ = is_lost_ && (put.flags & PH_NO_RCE) == 0 && put.remotes <= 1;
    EXPECT_TRUE(put.remotes == remotes || may_differ) << put.remotes;
  }

  std::mt19937_64 dice_;
  Nics nics_;
  const bool may_lose_;
  bool is_lost_ = false;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Put> puts_;
  std::vector<std::uint64_t> came_;
};

class PostedRandom : public testing::TestWithParam<Posting> {};

TEST_P(PostedRandom, every_put_ends_once_and_leaves_nothing_behind) {
  for (std::uint64_t seed = 1; seed <= photon::test::rounds(100) && !HasFailure(); ++seed) {
    for (const bool may_lose : {false, true}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", may lose " << may_lose);
      RandomPosts posts(seed, GetParam(), may_lose);
      posts.run();
      posts.expect_all_ended();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Postings, PostedRandom, all_postings(), posting_name);

}  // namespace
}  // namespace photon::engine::test
