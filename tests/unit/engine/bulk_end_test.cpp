// The end of a bulk put whose first chunks lie in the ring and whose rest the kernel has copied: it
// is over when the target has taken the chunks, and it has failed if the target refused them.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::size_t kSize = 60000;  // seven bulk rings
constexpr std::uint64_t kSeed = 7;

struct Variant {
  std::uint32_t flags = 0;
  bool has_credit = true;

  bool gives_local() const { return (flags & PH_NO_LCE) == 0; }
  bool gives_remote() const { return (flags & PH_NO_RCE) == 0; }
  bool is_delivered() const { return (flags & PH_DELIVERED) != 0; }
  // Its id goes alone, when the target has said that the chunks landed.
  bool waits_for_ack() const { return is_delivered() || (gives_remote() && !has_credit); }
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::uint32_t delivered : {0u, std::uint32_t{PH_DELIVERED}})
    for (const std::uint32_t quiet :
         {0u, std::uint32_t{PH_NO_RCE}, std::uint32_t{PH_NO_LCE}, std::uint32_t{PH_ORDER_NONE}})
      for (const bool has_credit : {true, false}) all.push_back({delivered | quiet, has_credit});
  return all;
}

// The put is posted, and rank 0 alone has made the kernel copy what does not fit into the ring.
class HalfCopied {
 public:
  HalfCopied(Ground ground, const Variant& variant)
      : two_(options(Reach::Kind::call), ground), source_(filled(kSize, kSeed)) {
    ph_path path{};
    path.size = sizeof path;
    EXPECT_EQ(two_.ranks[0].describe(1, path), PH_OK);
    reachable_ = ground == Ground::fake || path.cma != 0;
    if (!reachable_) return;
    for (int i = 0; i < (variant.has_credit ? 0 : 4); ++i)  // the ledger has 4
      EXPECT_EQ(two_.ranks[0].put(1, filler()), PH_OK);
    EXPECT_EQ(two_.ranks[0].put(1, two_.put(source_, variant.flags)), PH_OK);
    for (int i = 0; i < 1'000'000 && !tail_is_there(); ++i) two_.ranks[0].serve();
    EXPECT_TRUE(tail_is_there()) << "the kernel did not help";
    EXPECT_EQ(first_difference(two_.memory.bytes(), kSeed), 0u) << "the first chunk has landed";
    for (int i = 0; i < 20; ++i) two_.ranks[0].serve();
  }

  bool reachable() const { return reachable_; }
  Two& two() { return two_; }
  // Everybody moves until nothing more comes.
  void collect() {
    for (int quiet = 0; quiet < 500; ++quiet) {
      two_.ranks.turn();
      for (const ph_completion& one : two_.ranks.probe(0, PH_LOCAL)) locals.push_back(one);
      for (const ph_completion& one : two_.ranks.probe(1, PH_REMOTE))
        if (one.id != kFiller) remotes.push_back(one);
    }
  }

  std::vector<ph_completion> locals;
  std::vector<ph_completion> remotes;

 private:
  static constexpr std::uint64_t kFiller = 99;

  static ph_put_args filler() {
    ph_put_args args = put_args({}, {}, kFiller, kFiller);
    args.flags = PH_NO_LCE;
    return args;
  }
  bool tail_is_there() {
    const auto last = two_.memory.bytes()[kSize - 1];
    return last != std::byte{0} && last == source_[kSize - 1];
  }

  Two two_;
  std::vector<std::byte> source_;
  bool reachable_ = false;
};

class BulkEnd : public testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Grounds, BulkEnd, testing::Values(Ground::fake, Ground::shm_two),
                         photon::test::ground_name);

TEST_P(BulkEnd, each_id_is_given_once_after_the_chunks_in_the_ring_have_landed) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE("flags " + std::to_string(variant.flags) + ", credit " +
                 std::to_string(variant.has_credit));
    HalfCopied put(GetParam(), variant);
    if (!put.reachable()) GTEST_SKIP() << "the kernel copies nothing here";
    put.locals = put.two().ranks.probe(0, PH_LOCAL);
    EXPECT_EQ(put.locals.size(), variant.gives_local() && !variant.waits_for_ack() ? 1u : 0u);
    put.collect();
    ASSERT_EQ(put.locals.size(), variant.gives_local() ? 1u : 0u);
    if (variant.gives_local()) {
      EXPECT_EQ(put.locals[0].id, put.two().local_id);
      EXPECT_EQ(put.locals[0].status, PH_OK);
      EXPECT_EQ(put.locals[0].outstanding, 0u);
    }
    ASSERT_EQ(put.remotes.size(), variant.gives_remote() ? 1u : 0u);
    if (variant.gives_remote()) {
      EXPECT_EQ(put.remotes[0].id, put.two().remote_id);
    }
    EXPECT_EQ(first_difference(put.two().memory.bytes().first(kSize), kSeed), kSize);
    EXPECT_TRUE(put.two().memory.guards_whole());
  }
}

TEST_P(BulkEnd, chunks_that_are_refused_late_withhold_the_id_and_are_reported) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE("flags " + std::to_string(variant.flags) + ", credit " +
                 std::to_string(variant.has_credit));
    HalfCopied put(GetParam(), variant);
    if (!put.reachable()) GTEST_SKIP() << "the kernel copies nothing here";
    ASSERT_EQ(remove_region(put.two().ranks[1], put.two().region.key), PH_OK);
    put.collect();
    EXPECT_TRUE(put.remotes.empty()) << "the id of bytes that did not land";
    const bool was_reported = variant.gives_local() && !variant.waits_for_ack();
    ASSERT_EQ(put.locals.size(), was_reported ? 2u : 1u);
    if (was_reported) {
      EXPECT_EQ(put.locals[0].status, PH_OK);
    }
    EXPECT_EQ(put.locals.back().status, PH_ERR_KEY);
    EXPECT_EQ(put.locals.back().id, put.two().local_id);
    EXPECT_EQ(first_difference(put.two().memory.bytes(), kSeed), 0u);
  }
}

// The slot of the ledger that a refused id took, and the request, are free again.
TEST_P(BulkEnd, the_way_goes_on_after_a_late_refusal) {
  for (const bool has_credit : {true, false}) {
    HalfCopied put(GetParam(), {0, has_credit});
    if (!put.reachable()) GTEST_SKIP() << "the kernel copies nothing here";
    Two& two = put.two();
    ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
    put.collect();
    for (std::uint64_t i = 100; i < 300; ++i) {
      ASSERT_EQ(two.ranks[0].put(1, put_args({}, {}, i, i)), PH_OK);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i);
      EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, i);
    }
  }
}

// The kernel has copied all of it, but the ring is full of what the target has not read: it is not
// over, for it holds a request.
TEST(BulkEndAlone, the_local_id_comes_when_there_is_a_line_for_the_end) {
  Two two(options(Reach::Kind::call));
  const auto source = filled(kSize, kSeed);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  ph_put_args word = two.put({source.data(), 8}, PH_NO_LCE | PH_NO_RCE);
  word.target.address += kSize;
  for (int i = 0; i < 63; ++i) ASSERT_EQ(two.ranks[0].put(1, word), PH_OK);
  for (int i = 0; i < 1'000'000 && two.memory.bytes()[kSize - 1] != source.back(); ++i)
    two.ranks[0].serve();
  EXPECT_EQ(two.memory.bytes()[kSize - 1], source.back());
  for (int i = 0; i < 20; ++i) two.ranks[0].serve();
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(first_difference(two.memory.bytes().first(kSize), kSeed), kSize);
  for (int i = 0; i < 500; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
}

TEST_P(BulkEnd, an_id_behind_it_does_not_overtake_it) {
  for (const Variant& variant : variants()) {
    if (!variant.gives_remote() || (variant.flags & PH_ORDER_NONE) != 0) continue;
    HalfCopied put(GetParam(), variant);
    if (!put.reachable()) GTEST_SKIP() << "the kernel copies nothing here";
    const std::uint64_t later = 33;
    ASSERT_EQ(put.two().ranks[0].put(1, put_args({}, {}, later, later)), PH_OK);
    put.collect();
    ASSERT_EQ(put.remotes.size(), 2u);
    EXPECT_EQ(put.remotes[0].id, put.two().remote_id);
    EXPECT_EQ(put.remotes[1].id, later);
  }
}

}  // namespace
}  // namespace photon::engine::test
