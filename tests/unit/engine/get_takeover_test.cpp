// Gets that their owner is asked for and the kernel takes over: with patience, once, and without
// leaving anything that anybody waits for.
#include <cstring>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::int64_t kPatienceNs = 10'000;
constexpr std::size_t kPieceBytes = 4096;  // small_config()

FakeOptions many_requests() {
  FakeOptions chosen = options(Reach::Kind::call);
  chosen.config.requests = 512;
  return chosen;
}

// Rank 0 gets from rank 1; the test moves rank 0's clock. The first gets of a size are asked for.
class GetTakeovers : public testing::Test {
 protected:
  GetTakeovers() { seat().own_time_ns = 1'000'000; }

  FakeNet::Seat& seat() { return two_.ranks.net().seats[0]; }
  unsigned calls() { return seat().calls_count; }
  void pass(std::int64_t ns) { seat().own_time_ns += ns; }
  ph_status get(std::span<std::byte> landing, std::uint64_t id, std::uint32_t flags = 0) {
    two_.local_id = id;
    two_.remote_id = id + 1000;
    return two_.ranks[0].get(1, two_.get(landing, flags));
  }
  // Rank 1 stands still.
  void serve_alone(int turns = 40) {
    for (int i = 0; i < turns; ++i) two_.ranks[0].serve();
  }
  void expect_one(std::uint64_t id, ph_status status = PH_OK) {
    const auto found = two_.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, id);
    EXPECT_EQ(found[0].status, status);
  }
  // The pair goes on as if nothing had been.
  void expect_well() {
    std::vector<std::byte> landing(700);
    ASSERT_EQ(get(landing, 77), PH_OK);
    EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 77u);
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1077u);
    EXPECT_EQ(first_difference(landing, 3), landing.size());
    for (int i = 0; i < 50; ++i) two_.ranks.turn();
    EXPECT_EQ(two_.count(0, PH_EITHER), 0u);
    EXPECT_EQ(two_.count(1, PH_EITHER), 0u);
    EXPECT_EQ(two_.ranks[0].resource_use().requests, 0u);
    EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
  }
  void overwrite(std::span<std::byte> landing) {
    std::memset(landing.data(), 0xee, landing.size());
  }
  static bool is_overwritten(std::span<const std::byte> landing) {
    return std::all_of(landing.begin(), landing.end(),
                       [](std::byte one) { return one == std::byte{0xee}; });
  }

  Two two_{many_requests()};
  const bool filled_ = (fill(two_.memory.bytes(), 3), true);
};

TEST_F(GetTakeovers, an_owner_that_polls_answers_and_the_kernel_is_not_asked) {
  std::vector<std::byte> landing(20000);
  ASSERT_EQ(get(landing, 1), PH_OK);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 1u);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1001u);
  EXPECT_EQ(calls(), 0u);
  expect_well();
}

TEST_F(GetTakeovers, less_than_2_KiB_are_copied_by_the_kernel_at_the_call) {
  std::vector<std::byte> landing(2048);
  ASSERT_EQ(get({landing.data(), 2047}, 1), PH_OK);
  EXPECT_EQ(calls(), 1u);
  expect_one(1);
  ASSERT_EQ(get(landing, 2), PH_OK);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u) << "its owner is asked";
  EXPECT_EQ(calls(), 1u);
}

TEST_F(GetTakeovers, the_kernel_takes_over_when_its_time_has_passed_and_not_before) {
  std::vector<std::byte> landing(20000);
  ASSERT_EQ(get(landing, 1), PH_OK);
  serve_alone();
  pass(kPatienceNs - 1);
  serve_alone();
  EXPECT_EQ(calls(), 0u);
  pass(1);
  serve_alone(1);
  EXPECT_EQ(calls(), 1u) << "a piece a turn";
  serve_alone();
  EXPECT_EQ(calls(), 5u);
  expect_one(1);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two_.ranks[0].resource_use().requests, 0u)
      << "nothing is held for an answer that is late";
}

TEST_F(GetTakeovers, nothing_overwrites_the_destination_once_it_is_its_callers_again) {
  Guarded landing(20000);
  ASSERT_EQ(get(landing.bytes(), 1), PH_OK);
  pass(kPatienceNs);
  serve_alone(1);
  pass(kPatienceNs);
  serve_alone();
  expect_one(1);
  overwrite(landing.bytes());
  for (int i = 0; i < 100; ++i) two_.ranks.turn();
  EXPECT_TRUE(is_overwritten(landing.bytes()));
  EXPECT_TRUE(landing.guards_whole());
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1001u);
  expect_well();
}

TEST_F(GetTakeovers, the_kernel_goes_on_where_the_owner_stops) {
  std::vector<std::byte> landing(60000);
  ASSERT_EQ(get(landing, 1), PH_OK);
  serve_alone(1);
  two_.ranks[1].serve();
  serve_alone(1);
  const auto came = first_difference(landing, 3);
  ASSERT_GT(came, 0u);
  ASSERT_LT(came, landing.size());
  pass(kPatienceNs - 1);
  serve_alone();
  EXPECT_EQ(calls(), 0u) << "the time begins with the data that came last";
  pass(1);
  serve_alone();
  EXPECT_EQ(calls(), (landing.size() - came + kPieceBytes - 1) / kPieceBytes);
  expect_one(1);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  overwrite(landing);
  for (int i = 0; i < 100; ++i) two_.ranks.turn();
  EXPECT_TRUE(is_overwritten(landing));
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1001u);
  expect_well();
}

TEST_F(GetTakeovers, an_owner_that_comes_in_the_middle_does_the_rest) {
  std::vector<std::byte> landing(60000);
  ASSERT_EQ(get(landing, 1), PH_OK);
  serve_alone(1);
  pass(kPatienceNs);
  serve_alone(2);
  EXPECT_EQ(calls(), 2u);
  two_.ranks[1].serve();
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 1u);
  EXPECT_LE(calls(), 3u) << "its turn may have been before the data came";
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1001u);
  expect_well();
}

TEST_F(GetTakeovers, a_kernel_that_refuses_in_the_middle_leaves_the_rest_to_the_owner) {
  seat().calls_left = 2;
  std::vector<std::byte> landing(60000);
  ASSERT_EQ(get(landing, 1), PH_OK);
  serve_alone(1);
  pass(kPatienceNs);
  serve_alone();
  EXPECT_EQ(calls(), 2u);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 1u);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1001u);
  expect_well();
}

TEST_F(GetTakeovers, a_key_that_is_taken_back_ends_it_once_whoever_finds_that_out) {
  for (const bool is_told_by_the_owner : {true, false}) {
    const ph_region region = two_.ranks.add(1, two_.memory.bytes().last(30000));
    std::vector<std::byte> landing(20000);
    two_.local_id = 1;
    ASSERT_EQ(
        two_.ranks[0].get(1, get_args(landing, ph_at(&region, 0), two_.local_id, two_.remote_id)),
        PH_OK);
    serve_alone(1);
    ASSERT_EQ(remove_region(two_.ranks[1], region.key), PH_OK);
    if (!is_told_by_the_owner) {
      pass(kPatienceNs);
      serve_alone(1);
      expect_one(1, PH_ERR_KEY);
      for (int i = 0; i < 50; ++i) two_.ranks.turn();
    } else {
      two_.ranks[1].serve();
      serve_alone(1);
      expect_one(1, PH_ERR_KEY);
    }
    EXPECT_EQ(calls(), 0u);
    EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
    EXPECT_EQ(two_.count(1, PH_REMOTE), 0u);
  }
  expect_well();
}

TEST_F(GetTakeovers, what_stands_behind_one_that_was_taken_over_is_not_kept_waiting) {
  constexpr std::uint64_t kCount = 100;  // more than an owner lets itself be asked
  std::vector<std::vector<std::byte>> landings(kCount, std::vector<std::byte>(kPieceBytes));
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(get(landings[i], i, PH_NO_RCE), PH_OK);
  const unsigned before = calls();
  EXPECT_GE(before, kCount - 64) << "64 may be asked for, if there is room for their questions";
  EXPECT_LT(before, kCount);
  serve_alone(1);
  EXPECT_EQ(calls(), before);
  pass(kPatienceNs);
  serve_alone(100);
  EXPECT_EQ(calls(), kCount);
  std::vector<std::byte> landing(3000);
  ASSERT_EQ(get(landing, kCount, PH_NO_RCE), PH_OK);
  EXPECT_EQ(calls(), kCount + 1) << "it was over at the call";
  std::size_t found = 0;
  while (const auto some = two_.count(0, PH_LOCAL)) found += some;
  EXPECT_EQ(found, kCount + 1);
  for (auto& one : landings) {
    EXPECT_EQ(first_difference(one, 3), one.size());
    overwrite(one);
  }
  for (int i = 0; i < 200; ++i) two_.ranks.turn();
  for (const auto& one : landings) EXPECT_TRUE(is_overwritten(one));
  expect_well();
}

TEST_F(GetTakeovers, where_there_is_no_room_for_the_question_the_kernel_copies_at_once) {
  const auto source = filled(8, 7);
  const auto put = [&source](Two& two) {
    EXPECT_EQ(two.ranks[0].put(1, two.put(source, PH_NO_LCE | PH_NO_RCE)), PH_OK);
    return two.ranks[0].resource_use().requests == 0;  // else it had to queue
  };
  Two other(many_requests());
  unsigned fit = 0;
  while (put(other)) ++fit;
  for (; fit > 0; --fit) ASSERT_TRUE(put(two_));
  std::vector<std::byte> landing(3000);
  ASSERT_EQ(get(landing, 1, PH_NO_RCE), PH_OK);
  expect_one(1);
  EXPECT_EQ(calls(), 1u);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
}

TEST_F(GetTakeovers, the_owner_is_asked_again_once_it_has_answered_what_was_late) {
  std::vector<std::byte> landing(3000);
  ASSERT_EQ(get(landing, 1, PH_NO_RCE), PH_OK);
  serve_alone(1);
  pass(kPatienceNs);
  serve_alone();
  expect_one(1);
  for (int i = 0; i < 50; ++i) two_.ranks.turn();
  ASSERT_EQ(get(landing, 2, PH_NO_RCE), PH_OK);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 2u);
  EXPECT_EQ(calls(), 1u);
  expect_well();
}

TEST_F(GetTakeovers, an_owner_that_never_comes_is_asked_less_and_less) {
  std::vector<std::byte> landing(3000);
  unsigned waited = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(get(landing, i, PH_NO_RCE), PH_OK);
    if (two_.count(0, PH_LOCAL) != 0) continue;
    ++waited;
    pass(50 * kPatienceNs);
    serve_alone(2);
    ASSERT_EQ(two_.count(0, PH_LOCAL), 1u);
    two_.ranks.turn();
    two_.ranks.turn();  // its late answer has come: else it would not be asked at all
  }
  EXPECT_LE(waited, 60u);
  EXPECT_GE(waited, 5u) << "it is tried again for ever";
}

TEST_F(GetTakeovers, a_lost_owner_fails_what_it_was_asked_for_and_nothing_that_is_over) {
  std::vector<std::byte> first(3000), second(20000);
  ASSERT_EQ(get(first, 1, PH_NO_RCE), PH_OK);
  ASSERT_EQ(get(second, 2, PH_NO_RCE), PH_OK);
  serve_alone(1);
  pass(kPatienceNs);
  serve_alone(1);  // the first, and a part of the second
  expect_one(1);
  seat().gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
  serve_alone();
  expect_one(2, PH_ERR_PEER);
  EXPECT_EQ(two_.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
}

TEST_F(GetTakeovers, a_cancel_of_what_was_asked_for_is_too_late) {
  std::vector<std::byte> landing(3000);
  ph_request request = PH_REQUEST_NONE;
  ph_get_args args = two_.get(landing, PH_NO_RCE);
  args.local = {};
  args.request = &request;
  ASSERT_EQ(two_.ranks[0].get(1, args), PH_OK);
  ASSERT_NE(request, PH_REQUEST_NONE);
  ph_outcome outcome = PH_CANCELLED;
  EXPECT_EQ(two_.ranks[0].cancel(request, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_TOO_LATE);
  pass(kPatienceNs);
  serve_alone();
  EXPECT_EQ(two_.ranks[0].cancel(request, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_ALREADY_DONE);
  ph_result result{};
  EXPECT_EQ(two_.ranks[0].test(request, result), PH_OK);
  EXPECT_EQ(result.size_bytes, landing.size());
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  for (int i = 0; i < 50; ++i) two_.ranks.turn();
  expect_well();
}

TEST_F(GetTakeovers, notices_of_what_was_taken_over_come_in_its_order_and_once) {
  std::vector<std::vector<std::byte>> landings(3, std::vector<std::byte>(9000));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(get(landings[i], i), PH_OK);
  serve_alone(1);
  pass(kPatienceNs);
  serve_alone();
  EXPECT_EQ(two_.count(0, PH_LOCAL), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, 1000 + i);
  expect_well();
}

// The post comes after the patience is over, and before the ring is read.
TEST_F(GetTakeovers, an_answer_that_lies_here_is_not_copied_again) {
  std::vector<std::byte> landing(3000);
  ASSERT_EQ(get(landing, 1, PH_NO_RCE), PH_OK);
  for (int i = 0; i < 10; ++i) two_.ranks[1].serve();
  pass(kPatienceNs);
  const auto source = filled(2000, 9);
  ASSERT_EQ(two_.ranks[0].put(1, two_.put(source, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  EXPECT_EQ(calls(), 0u);
  expect_one(1);
}

TEST_F(GetTakeovers, an_answered_get_of_an_owner_that_left_is_no_error) {
  std::vector<std::byte> landing(3000);
  ASSERT_EQ(get(landing, 1, PH_NO_RCE), PH_OK);
  for (int i = 0; i < 10; ++i) two_.ranks[1].serve();
  two_.ranks.net().way(0, 1).credits.hide();
  pass(kPatienceNs);
  const auto source = filled(2000, 9);
  two_.ranks[0].put(1, two_.put(source, PH_NO_LCE | PH_NO_RCE));
  expect_one(1);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
}

TEST_F(GetTakeovers, a_kernel_short_of_memory_once_is_asked_again) {
  std::vector<std::byte> landing(3000);
  ASSERT_EQ(get(landing, 1, PH_NO_RCE), PH_OK);
  serve_alone(1);
  seat().short_reads = 1;
  pass(kPatienceNs);
  serve_alone(5);
  for (int i = 0; i < 100; ++i) pass(kPatienceNs), serve_alone(1);
  EXPECT_GE(calls(), 1u);
  expect_one(1);
}

}  // namespace
}  // namespace photon::engine::test
