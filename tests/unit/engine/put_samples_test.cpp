// Puts that the bulk ring or the kernel brings to their target, and the marks by which their sender
// learns how long the ring takes: nothing of a put depends on its mark.
#include "engine/put_samples.hpp"

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::size_t kSampled = PutSamples::kLeastBytes;

FakeOptions roomy() {
  FakeOptions chosen = options(Reach::Kind::call);
  chosen.config.ring_lines = 256;
  chosen.config.ledger_slots = 128;
  chosen.config.bulk_bytes = 512 << 10;
  chosen.config.bulk_chunk = 32 << 10;
  chosen.config.piece_bytes = 256 << 10;
  chosen.config.finalize_timeout_ms = 200;
  return chosen;
}

// Rank 0 puts to rank 1; the test moves rank 0's clock.
class PutSampled : public testing::Test {
 protected:
  PutSampled() { seat().own_time_ns = 1'000'000; }

  FakeNet::Seat& seat() { return two_.ranks.net().seats[0]; }
  unsigned calls() { return seat().calls_count; }
  // Requests of rank 0: its own operations are over, so they are marks.
  std::uint64_t held() { return two_.ranks[0].resource_use().requests; }
  void post(std::span<const std::byte> source, std::uint32_t flags = 0) {
    ASSERT_EQ(two_.ranks[0].put(1, two_.put(source, flags)), PH_OK);
  }
  // Both move until nothing is under way.
  void settle() {
    for (int i = 0; i < 50; ++i) two_.ranks.turn();
  }
  // One put from its post to its answer. By the ring it takes `ring_ns` until that is seen, which
  // rank 0 looks for `looks` times.
  void put_once(std::int64_t ring_ns, int looks = 8) {
    const unsigned before = calls();
    post(source_);
    EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).status, PH_OK);
    for (int i = 0; i < looks; ++i) two_.ranks[0].serve();
    if (calls() == before) seat().own_time_ns += ring_ns;
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
    for (int i = 0; i < 4 && held() != 0; ++i) {
      two_.ranks[1].serve();
      two_.ranks[0].serve();
    }
    ASSERT_EQ(held(), 0u);
  }
  unsigned by_kernel(int puts, std::int64_t ring_ns, int looks = 8) {
    const unsigned before = calls();
    for (int i = 0; i < puts; ++i) put_once(ring_ns, looks);
    return calls() - before;
  }

  Two two_{roomy()};
  const std::vector<std::byte> source_ = filled(kSampled, 7);
};

TEST_F(PutSampled, its_local_id_comes_before_the_mark_is_answered_and_nothing_comes_twice) {
  post(source_);
  const auto locals = two_.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(locals.size(), 1u);
  EXPECT_EQ(locals[0].status, PH_OK);
  EXPECT_EQ(locals[0].outstanding, 0u);
  EXPECT_EQ(held(), 1u) << "no mark was sent";
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0) << "the mark has a completion";
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
  EXPECT_EQ(first_difference(two_.memory.bytes(), 7), kSampled);
  settle();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(two_.count(0, PH_EITHER), 0u);
  EXPECT_EQ(two_.count(1, PH_EITHER), 0u);
}

TEST_F(PutSampled, the_probe_that_ends_with_its_id_has_answered_the_mark) {
  post(source_);
  EXPECT_EQ(two_.ranks.probe(1, PH_REMOTE, 1).size(), 1u);
  two_.ranks[0].serve();
  EXPECT_EQ(held(), 0u);
}

TEST_F(PutSampled, less_than_64_KiB_are_neither_sampled_nor_the_kernels) {
  for (int i = 0; i < 40; ++i) {
    post({source_.data(), kSampled - 1});
    EXPECT_EQ(held(), 0u);
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
    EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, two_.local_id);
  }
  EXPECT_EQ(calls(), 0u);
}

TEST_F(PutSampled, the_time_of_the_ring_is_the_one_that_the_answer_ends) {
  seat().write_ns = 50'000;
  EXPECT_LE(by_kernel(320, 20'000), 320u / 16) << "the ring needs less";
  EXPECT_GE(by_kernel(640, 200'000), 320u) << "the ring needs more, until it is answered";
}

TEST_F(PutSampled, it_goes_on_learning_when_the_cores_move) {
  seat().write_ns = 50'000;
  for (int moves = 0; moves < 3; ++moves) {
    by_kernel(1500, 20'000);
    EXPECT_LE(by_kernel(500, 20'000), 500u / 8) << "near: by the ring";
    by_kernel(1500, 400'000);
    EXPECT_GE(by_kernel(500, 400'000), 500u * 7 / 8) << "far: by the kernel";
  }
}

// The answer may have lain there all the time.
TEST_F(PutSampled, an_answer_that_a_late_first_look_finds_says_nothing) {
  seat().write_ns = 50'000;
  EXPECT_LE(by_kernel(640, 10'000'000, 0), 640u / 16);
}

// The ring holds half a put, so that its sender waits for the peer, and is away when the answer
// comes.
TEST(PutSampledAway, of_twice_the_ring_the_senders_own_part_says_who_is_faster) {
  FakeOptions narrow = roomy();
  narrow.config.bulk_bytes = kSampled / 2;
  narrow.config.bulk_chunk = 8 << 10;
  Two two{narrow};
  FakeNet::Seat& seat = two.ranks.net().seats[0];
  seat.own_time_ns = 1'000'000;
  seat.write_ns = 5'000;
  const std::vector<std::byte> source = filled(kSampled, 7);
  for (int put = 0; put < 640; ++put) {
    ASSERT_EQ(two.ranks[0].put(1, two.put(source, 0)), PH_OK);
    std::size_t local = 0;
    for (int turn = 0; turn < 200 && local == 0; ++turn) {
      local += two.count(0, PH_LOCAL);
      if (local != 0) break;
      two.ranks[1].serve();
      seat.own_time_ns += 10'000;
      two.ranks[0].serve();
    }
    ASSERT_EQ(local, 1u) << put;
    seat.own_time_ns += 10'000'000;
    for (int turn = 0; turn < 4; ++turn) {
      two.ranks[1].serve();
      two.ranks[0].serve();
    }
    ASSERT_EQ(two.count(1, PH_REMOTE), 1u) << put;
  }
  EXPECT_GE(seat.calls_count, 320u);
}

TEST_F(PutSampled, behind_much_else_the_first_only_says_when_that_is_over) {
  const std::vector<std::byte> other = filled(kSampled / 2, 9);
  post(other);
  post(source_);
  EXPECT_EQ(held(), 1u);
  post(source_);
  EXPECT_EQ(held(), 2u) << "the next one is the sample";
  post(source_);
  EXPECT_EQ(held(), 2u);
  settle();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 4u);
  EXPECT_EQ(two_.count(1, PH_REMOTE), 4u);
}

// Groups of four are posted while the clock stands still, and then read one after the other.
TEST_F(PutSampled, what_lay_in_the_ring_before_it_is_not_its_time) {
  constexpr unsigned kTry = 64;  // by the kernel, which would hold up a group
  seat().write_ns = 45'000;
  by_kernel(kTry, 20'000);
  const unsigned before = calls();
  for (unsigned asked = kTry; asked < 12 * kTry;) {
    const int group = (asked + 4) / kTry != asked / kTry ? 1 : 4;
    if (group == 1) {
      put_once(20'000);
    } else {
      for (int i = 0; i < group; ++i) post(source_);
      for (int i = 0; i < group; ++i) {
        for (int looks = 0; looks < 4; ++looks) two_.ranks[0].serve();
        seat().own_time_ns += 20'000;
        EXPECT_EQ(two_.ranks.probe(1, PH_REMOTE, 1).size(), 1u);
        two_.ranks[0].serve();
      }
      settle();
      EXPECT_EQ(two_.count(0, PH_LOCAL), 4u);
    }
    asked += static_cast<unsigned>(group);
  }
  EXPECT_LE(calls() - before, 12u) << "four times 20 us are no time of one";
}

TEST_F(PutSampled, its_loss_is_told_once) {
  post(source_);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  ASSERT_EQ(held(), 1u);
  seat().gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
  for (int i = 0; i < 20; ++i) two_.ranks[0].serve();
  const auto told = two_.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].id, two_.local_id);
  EXPECT_EQ(told[0].status, PH_ERR_PEER);
  EXPECT_EQ(held(), 0u) << "the mark has not ended";
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
}

TEST_F(PutSampled, its_refusal_is_told_once_and_the_way_goes_on) {
  post(source_);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  ASSERT_EQ(held(), 1u);
  ASSERT_EQ(remove_region(two_.ranks[1], two_.region.key), PH_OK);
  settle();
  const auto told = two_.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].id, two_.local_id);
  EXPECT_EQ(told[0].status, PH_ERR_KEY);
  EXPECT_EQ(two_.count(1, PH_REMOTE), 0u);
  EXPECT_EQ(held(), 0u);
  two_.region = two_.ranks.add(1, two_.memory.bytes());
  by_kernel(20, 1000);
  EXPECT_EQ(first_difference(two_.memory.bytes(), 7), kSampled);
}

TEST_F(PutSampled, delivered_and_fences_wait_for_the_landing_and_not_for_marks) {
  post(source_, PH_DELIVERED);
  for (int i = 0; i < 20; ++i) two_.ranks[0].serve();
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
  ASSERT_EQ(two_.ranks[0].fence(1), PH_OK);
  post(source_, PH_NO_RCE);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
  settle();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(two_.count(1, PH_REMOTE), 0u);
}

TEST_F(PutSampled, a_mark_that_nobody_answers_does_not_hold_up_finalize) {
  post(source_);
  ASSERT_EQ(held(), 1u);
  LaneGuard guard(two_.ranks.lane(0));
  EXPECT_EQ(two_.ranks[0].finalize(guard), PH_OK) << two_.ranks[0].last_error().what;
}

TEST_F(PutSampled, without_a_free_request_it_goes_without_a_mark) {
  const std::uint64_t all = roomy().config.requests;
  const auto word = filled(8, 3);
  for (std::uint64_t i = 1; i < all; ++i) post(word, PH_DELIVERED | PH_NO_LCE | PH_NO_RCE);
  ASSERT_EQ(held(), all - 1);
  post(source_);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  EXPECT_EQ(held(), all - 1);
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
  settle();
  EXPECT_EQ(held(), 0u);
}

TEST_F(PutSampled, odd_sizes_and_every_kind_of_end_arrive_whole) {
  const std::uint32_t ends[] = {0, PH_NO_LCE, PH_NO_RCE, PH_DELIVERED, PH_ORDER_NONE};
  // The ring is small, so these are learnt about from twice its size on.
  FakeOptions chosen = options(Reach::Kind::call);
  for (const std::size_t size : {16384u, 16384u + 1, 16384u + 63, 17409u, 20000u, 24576u + 64}) {
    for (const std::uint32_t flags : ends) {
      Two small(chosen);
      const auto source = filled(size, size);
      ASSERT_EQ(small.ranks[0].put(1, small.put(source, flags)), PH_OK);
      if ((flags & PH_NO_RCE) == 0) {
        EXPECT_EQ(small.ranks.take(1, PH_REMOTE).id, small.remote_id);
      }
      if ((flags & PH_NO_LCE) == 0) {
        EXPECT_EQ(small.ranks.take(0, PH_LOCAL).status, PH_OK);
      }
      for (int i = 0; i < 50; ++i) small.ranks.turn();
      EXPECT_EQ(first_difference(small.memory.bytes().first(size), size), size);
      EXPECT_TRUE(small.memory.guards_whole());
      EXPECT_EQ(small.ranks[0].resource_use().requests, 0u);
      EXPECT_EQ(small.count(0, PH_EITHER), 0u);
      EXPECT_EQ(small.count(1, PH_EITHER), 0u);
    }
  }
}

}  // namespace
}  // namespace photon::engine::test
