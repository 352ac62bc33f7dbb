// What is done with buffers that peers have announced, and when their owners hear of it.
#include "lending_unit.hpp"
#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Buffers, a_finish_goes_behind_packed_puts_whose_ids_have_no_credit) {
  Lending two;
  constexpr std::uint64_t kPuts = 20;  // the ledger has 4
  const auto source = filled(64, 3);
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes().first(64 * kPuts)), PH_OK);
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  for (std::uint64_t i = 0; i < kPuts; ++i)
    ASSERT_EQ(api::put_buffer(two.ranks[1], two.buffer, 64 * i, two.put(source, PH_NO_LCE)), PH_OK);
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  ASSERT_TRUE(two.is_over()) << "it waits for what its owner's application probes";
  EXPECT_EQ(two.ended, PH_OK);
  for (std::uint64_t i = 0; i < kPuts; ++i)
    EXPECT_EQ(first_difference(two.memory.bytes().subspan(64 * i, 64), 3), 64u) << i;
  for (std::uint64_t i = 0; i < kPuts; ++i)
    EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, two.remote_id);
}

TEST(Buffers, a_finish_goes_behind_chunks_and_gets_that_the_owner_serves) {
  Lending two;
  const auto bytes = two.memory.bytes();
  const auto source = filled(8192, 4);
  fill(bytes.first(8192), 5);
  std::vector<std::byte> landed(8192);
  ASSERT_EQ(two.announce(PH_SEND_BUFFER, bytes.first(8192)), PH_OK);
  const ph_request first = two.request;
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, bytes.subspan(8192)), PH_OK);
  const ph_request second = two.request;
  ASSERT_TRUE(two.find(Lending::any(PH_SEND_BUFFER)));
  ph_get_args get = get_args(landed, {}, two.local_id, two.remote_id);
  get.flags = PH_NO_RCE;
  ASSERT_EQ(api::get_buffer(two.ranks[1], two.buffer, 0, get), PH_OK);
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  two.request = first;
  while (two.test() == PH_AGAIN) {
    ASSERT_EQ(two.request, first);
    two.ranks.turn();
  }
  fill(bytes.first(8192), 99);
  EXPECT_EQ(two.ranks.take(1, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(first_difference(landed, 5), 8192u) << "its owner had it back before it was read";
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  ASSERT_EQ(api::put_buffer(two.ranks[1], two.buffer, 0, two.put(source, PH_NO_LCE | PH_NO_RCE)),
            PH_OK);
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  two.request = second;
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(first_difference(bytes.subspan(8192), 4), 8192u);
}

// The test plays rank 0's NIC: rank 1 announces, rank 0 puts and gets.
class FinishBehindNics : public testing::TestWithParam<Posting> {};

TEST_P(FinishBehindNics, it_goes_when_the_last_piece_has_landed) {
  Nics two(GetParam());
  for (const bool is_put : {true, false}) {
    ph_request request = PH_REQUEST_NONE;
    ph_announce_args args{};
    args.size = sizeof args;
    args.kind = is_put ? PH_RECV_BUFFER : PH_SEND_BUFFER;
    args.buffer = two.memory.data();
    args.size_bytes = 3 * kFragment;
    args.request = &request;
    ASSERT_EQ(api::announce(two.ranks[1], 0, args), PH_OK);
    const ph_match match{args.kind, 1, 0, PH_ANY_SIZE};
    ph_buffer buffer{};
    ASSERT_TRUE(two.ranks.eventually(
        [&] { return api::test_buffer(two.ranks[0], match, buffer) == PH_OK; }));
    std::vector<std::byte> own(3 * kFragment);
    if (is_put) {
      ASSERT_EQ(api::put_buffer(two.ranks[0], buffer, 0, two.put(own)), PH_OK);
    } else {
      ASSERT_EQ(api::get_buffer(two.ranks[0], buffer, 0, two.get(own, PH_NO_RCE)), PH_OK);
    }
    ASSERT_EQ(api::finish(two.ranks[0], buffer), PH_OK);
    ph_result result{};
    for (int left = 3; left > 0; --left) {
      two.serve();
      two.serve(1);
      ASSERT_EQ(two.posted().size(), static_cast<std::size_t>(left));
      EXPECT_EQ(two.ranks[1].test(request, result), PH_AGAIN) << left << " are under way";
      two.land();
    }
    EXPECT_TRUE(two.ranks.eventually([&] { return two.ranks[1].test(request, result) == PH_OK; }));
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  }
}

INSTANTIATE_TEST_SUITE_P(Nics, FinishBehindNics, all_postings(), posting_name);

TEST(Buffers, a_transfer_that_does_not_fit_its_buffer_is_refused_and_nothing_goes) {
  Lending two;
  std::vector<std::byte> own(2000);
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes().first(1000)), PH_OK);
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  auto& sink = two.ranks[1];
  const std::span all(own);
  const auto put = [&](std::uint64_t offset, std::size_t size) {
    return api::put_buffer(sink, two.buffer, offset,
                           two.put(all.first(size), PH_NO_RCE | PH_NO_LCE));
  };
  EXPECT_EQ(put(0, 1001), PH_ERR_RANGE);
  EXPECT_EQ(put(1000, 1), PH_ERR_RANGE);
  EXPECT_EQ(put(1001, 0), PH_ERR_RANGE);
  EXPECT_EQ(put(~std::uint64_t{0}, 1), PH_ERR_RANGE) << "the sum wraps around";
  ph_get_args get = get_args(all.first(8), {}, two.local_id, two.remote_id);
  EXPECT_EQ(api::get_buffer(sink, two.buffer, 0, get), PH_ERR_ACCESS);
  EXPECT_EQ(put(1000, 0), PH_OK);
  EXPECT_EQ(put(0, 1000), PH_OK);
  ph_put_args null = two.put({}, 0);
  null.size_bytes = 8;
  EXPECT_EQ(api::put_buffer(sink, two.buffer, 0, null), PH_ERR_ARGUMENT);
  ASSERT_EQ(api::finish(sink, two.buffer), PH_OK);
  EXPECT_EQ(put(0, 8), PH_ERR_NOT_FOUND);
  EXPECT_EQ(api::finish(sink, two.buffer), PH_ERR_NOT_FOUND);
}

TEST(Buffers, what_another_rank_has_taken_is_not_found_here) {
  Lending two(options(), 3);
  Lending other;
  for (Lending* job : {&two, &other}) {
    ASSERT_EQ(job->announce(PH_RECV_BUFFER, job->memory.bytes()), PH_OK);
    ASSERT_TRUE(job->find(Lending::any(PH_RECV_BUFFER)));
  }
  std::vector<std::byte> own(8);
  const ph_put_args put = two.put(own, PH_NO_RCE);
  EXPECT_EQ(api::put_buffer(two.ranks[1], other.buffer, 0, put), PH_ERR_NOT_FOUND);
  EXPECT_EQ(api::finish(two.ranks[1], other.buffer), PH_ERR_NOT_FOUND);
  EXPECT_EQ(api::finish(two.ranks[2], two.buffer), PH_ERR_NOT_FOUND);
  EXPECT_EQ(api::finish(two.ranks[0], two.buffer), PH_ERR_NOT_FOUND) << "its owner";
  EXPECT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
}

TEST(Buffers, of_a_rank_that_is_gone_only_what_came_along_is_left) {
  Lending two;
  fill(two.memory.bytes(), 8);
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes(), 1), PH_OK);
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes(), 2), PH_OK);
  ASSERT_EQ(two.announce(PH_SEND_BUFFER, two.memory.bytes().first(30), 3), PH_OK);
  ASSERT_EQ(two.announce(PH_SEND_REQUEST, {}, 4), PH_OK);
  ASSERT_TRUE(two.find({PH_RECV_BUFFER, 0, 2, PH_ANY_SIZE}));
  const ph_buffer taken = two.buffer;
  two.turns();
  two.ranks.net().seats[1].gone[0] = {PH_ERR_PEER, 0, "it has ended", 0};
  two.turns();
  EXPECT_EQ(two.look({PH_RECV_BUFFER, 0, 1, PH_ANY_SIZE}), PH_ERR_PEER);
  EXPECT_EQ(two.look({PH_SEND_REQUEST, 0, 4, PH_ANY_SIZE}), PH_ERR_PEER);
  EXPECT_EQ(two.look(Lending::any(PH_RECV_BUFFER)), PH_AGAIN) << "others may come";
  std::vector<std::byte> own(8);
  EXPECT_EQ(api::put_buffer(two.ranks[1], taken, 0, two.put(own, PH_NO_RCE)), PH_ERR_PEER);
  EXPECT_EQ(api::finish(two.ranks[1], taken), PH_ERR_PEER);
  EXPECT_EQ(api::finish(two.ranks[1], taken), PH_ERR_NOT_FOUND) << "over all the same";
  ASSERT_EQ(two.look({PH_SEND_BUFFER, 0, 3, 30}), PH_OK);
  const std::span came(static_cast<const std::byte*>(two.buffer.data), 30);
  EXPECT_EQ(first_difference(came, 8), 30u);
  EXPECT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  EXPECT_EQ(two.ranks[1].resource_use().queued, 0u);
  EXPECT_EQ(two.ranks[1].resource_use().blocks, 0u);
}

TEST(Buffers, looking_for_what_cannot_be_is_refused) {
  Lending two;
  EXPECT_EQ(two.look({static_cast<ph_buffer_kind>(0), 0, 7, 8}), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.look({static_cast<ph_buffer_kind>(4), 0, 7, 8}), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.look({static_cast<ph_buffer_kind>(-1), 0, 7, 8}), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.look({PH_RECV_BUFFER, 2, 7, 8}), PH_ERR_RANK);
  EXPECT_EQ(two.look({PH_RECV_BUFFER, 0, 7, 8}), PH_AGAIN);
}

// No room for its record, and then none for its request either.
TEST(Buffers, a_finish_without_a_line_waits_and_the_caller_does_not) {
  Lending two;
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_OK);
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  two.fill_ring(1);
  EXPECT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  EXPECT_EQ(two.test(), PH_AGAIN);
  EXPECT_TRUE(two.is_over());
  EXPECT_EQ(two.ended, PH_OK);
  two.turns();
  EXPECT_EQ(two.ranks[1].resource_use().requests, 0u);
}

}  // namespace
}  // namespace photon::engine::test
