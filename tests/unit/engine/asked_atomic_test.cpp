// Atomics that only the owner can carry out, without a queue: asked on a credit grant, served by a
// probe, awaited by looking; and that the books are right whatever stands beside them on the credit
// grant.
#include <cstring>
#include <vector>

#include "engine/fast_path.hpp"
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

using Fast = Engine::Fast;

struct Asking : Two {
  static FakeOptions chosen(Reach::Kind reach) {
    FakeOptions options = test::options(reach);
    options.poll_interval = 64;  // looking at rings alone is enough, most of the time
    return options;
  }
  explicit Asking(Reach::Kind reach = Reach::Kind::call) : Two(chosen(reach)) {
    // The first goes the general way, and leaves a credit grant.
    EXPECT_EQ(ranks[0].atomic(1, of(start)), PH_OK);
    EXPECT_EQ(serve(1), 0u);
    ranks.turn();
    EXPECT_EQ(await(0, start), PH_OK);
  }

  struct One {
    ph_request request = PH_REQUEST_NONE;
    std::uint64_t before = 1000;
  };

  // Rank 0 adds one to the first word of the other's memory.
  ph_atomic_args of(One& one) {
    ph_atomic_args args{};
    args.size = sizeof args;
    args.target = ph_at(&region, 0);
    args.op = PH_OP_ADD;
    args.type = PH_UINT64;
    args.operand.uint64 = 1;
    args.fetched = &one.before;
    args.flags = PH_NO_RCE;
    args.request = &one.request;
    return args;
  }
  // True: on a credit grant.
  bool ask(One& one) {
    const bool is_fast = ranks[0].try_atomic(1, of(one)) != Fast::no;
    EXPECT_TRUE(is_fast || ranks[0].atomic(1, of(one)) == PH_OK);
    return is_fast;
  }
  // A probe that has no room for anything but an answer; what it took.
  std::size_t serve(Rank rank) {
    ph_completion found[4];
    CompletionSink sink{{PH_ANY_RANK, PH_EITHER, nullptr}, found, 4};
    if (ranks[rank].serve_asked(sink) != Engine::Served::no)
      ++served_at_once;
    else
      static_cast<void>(ranks[rank].probe(sink));
    return sink.count;
  }
  ph_status await(Rank rank, One& one) {
    ph_status status = PH_ERR_STATE;
    ph_result result{};
    if (one.request == PH_REQUEST_NONE) return PH_OK;
    if (ranks[rank].try_wait_one(one.request, result, status))
      ++awaited_at_once;
    else
      status = ranks[rank].test(one.request, result);
    return status;
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    std::memcpy(&value, memory.data(), sizeof value);
    return value;
  }
  void expect_nothing_left() {
    for (const Rank rank : {0u, 1u}) {
      static_cast<void>(ranks.probe(rank, PH_EITHER));
      const ResourceUse left = ranks[rank].resource_use();
      EXPECT_EQ(left.requests, 0u) << rank;
      EXPECT_EQ(left.events, 0) << rank;
      EXPECT_EQ(left.queued, 0u) << rank;
    }
  }

  One start;
  unsigned served_at_once = 0;
  unsigned awaited_at_once = 0;
  Guarded own{4096};
  ph_region own_region = ranks.add(0, own.bytes());
};

TEST(AskedAtomic, goes_and_comes_without_the_general_ways) {
  for (const Reach::Kind reach : {Reach::Kind::call, Reach::Kind::none}) {
    Asking two(reach);
    unsigned asked_at_once = 0;
    for (std::uint64_t i = 1; i < 40; ++i) {
      Asking::One one;
      asked_at_once += two.ask(one) ? 1 : 0;
      EXPECT_EQ(two.serve(1), 0u);
      ASSERT_EQ(two.await(0, one), PH_OK) << i;
      EXPECT_EQ(one.before, i);
      EXPECT_EQ(one.request, PH_REQUEST_NONE);
    }
    EXPECT_EQ(two.word(), 40u);
    EXPECT_GT(asked_at_once, 20u);
    EXPECT_GT(two.served_at_once, 20u);
    EXPECT_GT(two.awaited_at_once, 20u);
    two.expect_nothing_left();
  }
}

TEST(AskedAtomic, is_asked_on_a_credit_grant_and_refuses_what_the_general_way_must_say) {
  Asking two;
  Asking::One one;
  ASSERT_TRUE(two.ask(one));
  ph_atomic_args args = two.of(one);
  args.target.address += 4;
  EXPECT_EQ(two.ranks[0].try_atomic(1, args), Fast::no) << "not aligned";
  args = two.of(one);
  args.target.key ^= std::uint64_t{1} << 40;
  EXPECT_EQ(two.ranks[0].try_atomic(1, args), Fast::no) << "no such key";
  args = two.of(one);
  args.op = static_cast<ph_op>(77);
  EXPECT_EQ(two.ranks[0].try_atomic(1, args), Fast::no) << "no such operation";
  args = two.of(one);
  args.flags = 1u << 20;
  EXPECT_EQ(two.ranks[0].try_atomic(1, args), Fast::no) << "no such flag";
  EXPECT_EQ(two.ranks[0].try_atomic(2, two.of(one)), Fast::no) << "no such rank";
  EXPECT_EQ(two.serve(1), 0u);
  EXPECT_EQ(two.await(0, one), PH_OK);
  EXPECT_EQ(two.word(), 2u);
  two.expect_nothing_left();
}

TEST(AskedAtomic, on_mapped_memory_it_is_over_at_once_and_a_revoked_key_is_refused_in_words) {
  Asking two(Reach::Kind::mapped);
  for (std::uint64_t i = 1; i < 5; ++i) {
    Asking::One one;
    EXPECT_TRUE(two.ask(one));
    EXPECT_EQ(one.request, PH_REQUEST_NONE);
    EXPECT_EQ(one.before, i);
    EXPECT_EQ(two.word(), i + 1);
  }
  ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  Asking::One late;
  EXPECT_EQ(two.ranks[0].try_atomic(1, two.of(late)), Fast::no);
  EXPECT_EQ(two.ranks[0].atomic(1, two.of(late)), PH_ERR_KEY);
  EXPECT_EQ(two.word(), 5u);
  two.expect_nothing_left();
}

// Ids take ledger slots, asks do not: the ledger of four must neither leak nor overflow.
TEST(AskedAtomic, shares_a_credit_grant_with_puts_and_the_books_stay_right) {
  Asking two;
  std::uint64_t value = 7;
  for (std::uint64_t round = 0; round < 60; ++round) {
    std::vector<Asking::One> ones(3);
    std::size_t puts = 0;
    for (std::size_t i = 0; i < ones.size(); ++i) {
      static_cast<void>(two.ask(ones[i]));
      if ((round >> i & 1) == 0) continue;
      ASSERT_EQ(two.ranks[0].put_u64(1, {&value, 8}, ph_at(&two.region, 64), {i, i}), PH_OK);
      ++puts;
    }
    std::size_t taken = 0;
    for (int i = 0; i < 8; ++i) taken += two.serve(1);
    EXPECT_EQ(taken, puts);
    for (Asking::One& one : ones) ASSERT_EQ(two.await(0, one), PH_OK);
    EXPECT_EQ(ones.back().before, 3 * round + 3);
    EXPECT_EQ(two.count(0, PH_LOCAL), puts);
  }
  two.expect_nothing_left();
}

// The answer of the owner takes a line of his own grant, between his own puts.
TEST(AskedAtomic, is_answered_on_a_credit_grant_without_a_slot_of_its_ledger) {
  for (const bool counting : {false, true}) {
    Asking two;
    if (counting) two.ranks[1].start_counting(true);
    std::uint64_t value = 7;
    for (std::uint64_t round = 0; round < 30; ++round) {
      Asking::One one;
      static_cast<void>(two.ask(one));
      ASSERT_EQ(two.ranks[1].put_u64(0, {&value, 8}, ph_at(&two.own_region, 64), {1, 1}), PH_OK);
      EXPECT_EQ(two.count(1, PH_LOCAL), 1u);  // the put's; serves the atomic
      EXPECT_EQ(two.count(0, PH_REMOTE), 1u);
      ASSERT_EQ(two.await(0, one), PH_OK);
    }
    if (counting) {
      std::vector<NamedCount> found;
      ASSERT_EQ(two.ranks[1].counters(0, found), PH_OK);
      for (const NamedCount& count : found) {
        const std::string name = count.text.name;
        EXPECT_TRUE(name != "puts" || count.value == 30u) << count.value;
        EXPECT_TRUE(name != "notifications" || count.value == 0u) << count.value;
      }
    }
    two.expect_nothing_left();
  }
}

// Small puts fill the queue of completions that the answer to an earlier atomic would need.
TEST(AskedAtomic, an_answer_that_finds_no_room_for_its_completion_goes_the_general_way) {
  Asking two;
  Asking::One one;
  ph_atomic_args args = two.of(one);
  args.request = nullptr;
  args.local = id_of(two.local_id);
  ASSERT_EQ(two.ranks[0].atomic(1, args), PH_OK);
  Asking::One other;
  static_cast<void>(two.ask(other));
  std::size_t puts = 0;
  for (; puts < 200; ++puts) {
    const ph_status status = two.ranks[0].put_u64(1, {nullptr, 0}, {}, {5, 5});
    if (status == PH_AGAIN) break;
    ASSERT_EQ(status, PH_OK);
    static_cast<void>(two.serve(1));
  }
  for (int i = 0; i < 10; ++i) static_cast<void>(two.serve(1));
  ASSERT_EQ(two.await(0, other), PH_OK);
  EXPECT_EQ(two.count(0, PH_LOCAL), puts + 1);
  EXPECT_EQ(one.before, 1u);
  EXPECT_EQ(other.before, 2u);
}

}  // namespace
}  // namespace photon::engine::test
