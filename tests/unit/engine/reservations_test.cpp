// Room in the bulk ring that a service fills itself: nothing else passes it, nothing is lost by it,
// and it outlives its peer.
#include "engine/reservations.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

using Heard = std::vector<std::string>;
constexpr std::uint64_t kReservedRing = 8 << 10;  // as small_config() has it

struct Reserved : Probed {
  service::Port& port(Rank rank = 0) { return at(rank).port; }
  ph_status reserve(std::uint64_t bytes) { return port().reserve(1, bytes, room); }
  ph_status commit(std::uint64_t bytes, const std::string& header = "h") {
    return port().commit({1, ProbeService::bytes(header), {}}, bytes);
  }
  // A whole one, of bytes that tell their place.
  void send(std::uint64_t bytes, unsigned seed) {
    ASSERT_TRUE(ranks.eventually([&] { return reserve(bytes) == PH_OK; }));
    const auto source = filled(bytes, seed);
    port().fill(1, room.data(), source);
    ASSERT_EQ(commit(bytes), PH_OK);
    at(1).body.clear();
    const std::size_t heard_before = at(1).heard.size();
    heard(heard_before + 2);
    EXPECT_EQ(at(1).body, source);
  }
  std::uint64_t let_go() { return ranks.net().seats[0].let_go.count(1); }

  std::span<std::byte> room;
};

TEST(Reservation, makes_a_ring_look_full_and_leaves_it_as_it_was) {
  std::vector<std::byte> bytes(kReservedRing);
  for (const std::uint64_t tail : {std::uint64_t{0}, std::uint64_t{192}, 3 * kReservedRing + 64}) {
    BulkProducer ring{bytes.data(), kReservedRing, tail, tail - std::min<std::uint64_t>(tail, 64)};
    const std::uint64_t freed = ring.freed;
    Reservation one;
    EXPECT_FALSE(one.is_open());
    EXPECT_EQ(one.open(ring, wire::Owner::echo, 100), ring.place(100));
    EXPECT_TRUE(one.is_of(wire::Owner::echo));
    EXPECT_FALSE(one.is_of(wire::Owner::coll));
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{64}, kReservedRing})
      EXPECT_FALSE(ring.fits(size)) << size;
    EXPECT_EQ(ring.tail, tail);
    one.close(ring);
    EXPECT_EQ(ring.freed, freed);
    EXPECT_FALSE(one.is_open());
  }
}

TEST(Reservation, comes_as_a_body_from_where_it_was_filled) {
  Reserved two;
  ASSERT_EQ(two.reserve(1000), PH_OK);
  ASSERT_EQ(two.room.size(), 1000u);
  const auto source = filled(1000, 3);
  std::memcpy(two.room.data(), source.data(), 400);
  two.port().fill(1, two.room.data() + 400, std::span(source).subspan(400));
  ASSERT_EQ(two.commit(1000, "mine"), PH_OK);
  EXPECT_EQ(two.heard(2), (Heard{"mine(", ")"}));
  EXPECT_EQ(two.at(1).body, source);
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
}

TEST(Reservation, goes_round_the_ring_with_every_size) {
  Reserved two;
  for (unsigned i = 0; i < 200; ++i) two.send(1 + i * 197 % (kReservedRing / 4), i);
}

TEST(Reservation, of_which_less_is_used_is_moved_to_where_that_belongs) {
  Reserved two;
  for (unsigned i = 0; i < 7; ++i) two.send(1024, i);
  ASSERT_TRUE(two.ranks.eventually([&] { return two.reserve(2048) == PH_OK; }));
  const auto* const ring = two.ranks.net().way(0, 1).bulk.data();
  EXPECT_EQ(two.room.data(), ring) << "it does not fit in front of the end";
  const auto source = filled(500, 9);
  two.port().fill(1, two.room.data(), source);
  two.at(1).body.clear();
  ASSERT_EQ(two.commit(500), PH_OK);
  EXPECT_EQ(std::memcmp(ring + 7 * 1024, source.data(), source.size()), 0);
  two.heard(16);
  EXPECT_EQ(two.at(1).body, source);
  two.send(1000, 4);  // and both sides agree where the next one is
  two.send(2048, 5);
}

TEST(Reservation, is_one_a_peer_of_at_most_a_quarter_and_the_second_hears_of_room) {
  Reserved two;
  EXPECT_EQ(two.reserve(0), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.reserve(kReservedRing / 4 + 1), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.port().reserve(9, 10, two.room), PH_ERR_RANK);
  EXPECT_NE(two.port().last_error().what.find("no rank 9"), std::string::npos);
  ASSERT_EQ(two.reserve(kReservedRing / 4), PH_OK);
  EXPECT_EQ(two.reserve(64), PH_AGAIN);
  EXPECT_TRUE(two.room.empty());
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(two.at(0).heard, Heard{}) << "there is no room yet";
  two.port().cancel_room(1);
  EXPECT_EQ(two.heard(1, 0), Heard{"room 1"});
  EXPECT_EQ(two.reserve(64), PH_OK);
  two.port().cancel_room(1);
  two.port().cancel_room(1);  // there is none: nothing happens
  EXPECT_EQ(two.commit(1), PH_ERR_STATE);
}

TEST(Reservation, in_one_step_comes_as_a_body_too_and_not_where_anything_stands_in_its_way) {
  Reserved two;
  const std::uint64_t word = 0x6867'6665'6463'6261;
  const auto say = [&](std::span<const std::byte> bytes, Rank to = 1) {
    return two.port().say_chunk_now(to, {word, word}, bytes);
  };
  const auto source = filled(1000, 3);
  two.send(100, 1);
  ASSERT_NE(say(source), service::Written::no);
  two.at(1).body.clear();
  const std::size_t heard_before = two.at(1).heard.size();
  const Heard heard = two.heard(heard_before + 2);
  EXPECT_EQ(heard[heard_before], "abcdefghabcdefgh(");
  EXPECT_EQ(two.at(1).body, source);
  EXPECT_EQ(say({}), service::Written::no);
  EXPECT_EQ(say(source, 9), service::Written::no);
  EXPECT_EQ(say(filled(kReservedRing / 4 + 1, 1)), service::Written::no);
  ASSERT_EQ(two.reserve(64), PH_OK);
  EXPECT_EQ(say(source), service::Written::no) << "a reservation is open";
  two.port().cancel_room(1);
  two.fill_ring();
  EXPECT_EQ(say(source), service::Written::no) << "others queue";
}

TEST(Reservation, is_over_with_a_commit_that_is_wrong) {
  Reserved two;
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{101}}) {
    ASSERT_EQ(two.reserve(100), PH_OK);
    EXPECT_EQ(two.commit(bytes), PH_ERR_ARGUMENT);
    EXPECT_EQ(two.commit(1), PH_ERR_STATE);
  }
  ASSERT_EQ(two.reserve(100), PH_OK);
  EXPECT_EQ(two.commit(100, ""), PH_ERR_ARGUMENT);
  two.send(100, 1);
}

TEST(Reservation, stays_while_its_record_has_no_line_or_others_queue_before_it) {
  Reserved two;
  ASSERT_EQ(two.reserve(100), PH_OK);
  const auto source = filled(100, 1);
  two.port().fill(1, two.room.data(), source);
  const auto said = static_cast<std::size_t>(two.fill_ring());
  EXPECT_EQ(two.commit(100), PH_AGAIN);
  ASSERT_EQ(two.at(0).say(1, "queued", "", true), PH_OK);
  EXPECT_EQ(two.commit(100), PH_AGAIN) << "it would overtake";
  EXPECT_EQ(two.heard(said + 1).back(), "queued|");
  two.at(1).heard.clear();
  two.heard(1, 0);
  EXPECT_EQ(two.at(0).heard, Heard{"room 1"});
  EXPECT_EQ(two.commit(100), PH_OK);
  EXPECT_EQ(two.heard(2), (Heard{"h(", ")"}));
  EXPECT_EQ(two.at(1).body, source);
}

// A put that waits behind one while its caller sleeps; whoever ends that need not call again.
void ends_while_another_sleeps(bool commits) {
  Reserved two;
  ASSERT_EQ(two.reserve(1000), PH_OK);
  const auto source = filled(3000, 1);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  std::thread waiter([&] {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, 10'000'000), PH_OK);
  });
  two.ranks.fake(0).await_sleeper();
  const auto before = std::chrono::steady_clock::now();
  {
    const LaneGuard inside(two.ranks.lane(0));
    if (commits)
      EXPECT_EQ(two.commit(10), PH_OK);
    else
      two.port().cancel_room(1);
  }
  waiter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5)) << "by its limit";
}

TEST(Reservation, that_is_committed_wakes_who_sleeps_behind_it) { ends_while_another_sleeps(true); }

TEST(Reservation, that_is_given_back_wakes_who_sleeps_behind_it) {
  ends_while_another_sleeps(false);
}

// What waits behind one, of all who use the ring; lines go on meanwhile.
void meets_others(bool commits) {
  Reserved two;
  for (unsigned i = 0; i < 10; ++i) two.send(2000, i);  // a ring that went round
  two.at(1).heard.clear();
  two.at(1).body.clear();
  ph_region own = two.ranks.add(0, two.memory.bytes().subspan(32 << 10));
  const std::vector<std::byte> eager = filled(800, 1), bulk = filled(20'000, 2),
                               vector = filled(3000, 3), body = filled(5000, 4);
  fill(two.memory.bytes().subspan(32 << 10, 6000), 5);
  std::vector<std::byte> got(6000);
  const auto source = filled(700, 6);
  ASSERT_EQ(two.reserve(source.size()), PH_OK);
  two.port().fill(1, two.room.data(), source);

  std::uint64_t id = 1;
  ASSERT_EQ(two.ranks[0].put_u64(1, {eager.data(), eager.size()}, ph_at(&two.region, 0), {id, id}),
            PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, put_args(bulk, ph_at(&two.region, 1000), id, id)), PH_OK);
  const ph_put_segment parts[] = {{vector.data(), 1000, ph_at(&two.region, 22'000)},
                                  {vector.data() + 1000, 2000, ph_at(&two.region, 23'100)}};
  Vectored what;
  what.call = "put_vector";
  what.local = what.remote = id_of(id);
  what.shape = std::span<const ph_put_segment>(parts);
  ASSERT_EQ(two.ranks[0].vectored(1, what), PH_OK);
  const std::string header = "b";
  ASSERT_EQ(two.port().say_body({1, ProbeService::bytes(header), {}}, body, 7), PH_OK);
  ASSERT_EQ(two.ranks[1].get(0, get_args(got, ph_at(&own, 0), id, id)), PH_OK);
  ASSERT_EQ(two.ranks[0].notify(1, 77), PH_OK);
  for (int i = 0; i < 1000; ++i) two.ranks.turn();
  EXPECT_EQ(two.at(1).heard, Heard{});
  EXPECT_EQ(two.count(1, PH_LOCAL), 0u) << "the get's answer would take the room";
  EXPECT_EQ(first_difference(two.memory.bytes().first(800), 1), 0u);

  if (commits) {
    // The body was begun before: it goes first.
    EXPECT_EQ(two.commit(source.size(), "mine"), PH_AGAIN);
    two.port().cancel_room(1);
  } else {
    two.port().cancel_room(1);
  }
  EXPECT_EQ(two.ranks.take(1, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(first_difference(got, 5), got.size());
  two.heard(2);
  EXPECT_EQ(two.at(1).body, body);
  std::size_t remotes = 0;
  EXPECT_TRUE(two.ranks.eventually([&] { return (remotes += two.count(1, PH_REMOTE)) == 4; }));
  const auto memory = two.memory.bytes();
  EXPECT_EQ(first_difference(memory.first(800), 1), 800u);
  EXPECT_EQ(first_difference(memory.subspan(1000, 20'000), 2), 20'000u);
  EXPECT_EQ(std::memcmp(&memory[22'000], vector.data(), 1000), 0);
  EXPECT_EQ(std::memcmp(&memory[23'100], &vector[1000], 2000), 0);
  two.send(500, 8);
}

TEST(Reservation, holds_up_puts_lists_bodies_and_answers_to_gets_and_they_go_on_behind_it) {
  meets_others(false);
}

TEST(Reservation, is_committed_behind_a_body_of_its_service_and_not_before) { meets_others(true); }

TEST(Reservation, commits_between_the_chunks_of_a_long_put_and_both_come_whole) {
  Reserved two;
  const auto bulk = filled(30'000, 2), source = filled(900, 3);
  const std::uint64_t id = 1;
  ASSERT_EQ(two.ranks[0].put(1, put_args(bulk, ph_at(&two.region, 0), id, id)), PH_OK);
  int committed = 0;
  EXPECT_TRUE(two.ranks.eventually([&] {
    if (two.reserve(source.size()) == PH_OK) {
      two.port().fill(1, two.room.data(), source);
      EXPECT_EQ(two.commit(source.size()), PH_OK);
      ++committed;
    }
    return two.count(1, PH_REMOTE) == 1;
  }));
  EXPECT_GT(committed, 1);
  EXPECT_EQ(first_difference(two.memory.bytes().first(30'000), 2), 30'000u);
  two.heard(2 * static_cast<std::size_t>(committed));
  for (int i = 0; i < committed; ++i)
    EXPECT_EQ(std::memcmp(&two.at(1).body[static_cast<std::size_t>(i) * 900], source.data(), 900),
              0);
}

TEST(Reservation, leaves_half_of_the_ring_to_others_who_wait) {
  Reserved two;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(two.reserve(2048), PH_OK);
    ASSERT_EQ(two.commit(2048), PH_OK);
  }
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);  // stands in the work until it is answered
  EXPECT_EQ(two.reserve(64), PH_AGAIN);
  EXPECT_TRUE(two.ranks.eventually([&] { return two.reserve(64) == PH_OK; }));
  two.port().cancel_room(1);
}

// The target has read all, and has not said so of less than an eighth of the ring.
TEST(Reservation, that_goes_round_the_end_is_not_refused_for_what_never_uses_the_ring) {
  Reserved two;
  for (const std::uint64_t bytes : {1024, 1024, 1024, 1024, 1152, 960}) two.send(bytes, 1);
  ASSERT_EQ(two.ranks.link(0, 1).tx_credits->bulk_given(), 5248u) << "not of the last one";
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);  // stands in the work until it is answered
  ASSERT_EQ(two.reserve(kReservedRing / 4), PH_OK);
  EXPECT_EQ(two.room.data(), two.ranks.net().way(0, 1).bulk.data());
  two.port().cancel_room(1);
  EXPECT_TRUE(two.ranks.eventually([&] { return two.reserve(kReservedRing / 4) == PH_OK; }));
  two.port().cancel_room(1);
  two.send(kReservedRing / 4, 2);
}

TEST(Reservation, outlives_its_peer_and_says_so_when_it_is_committed) {
  for (const bool commits : {false, true}) {
    Reserved two;
    ASSERT_EQ(two.reserve(1000), PH_OK);
    two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "has ended", 1};
    two.ranks[0].serve();
    ASSERT_EQ(two.at(0).lost.size(), 1u);
    EXPECT_EQ(two.let_go(), 0u) << "its room can be written";
    two.port().fill(1, two.room.data(), filled(1000, 3));
    EXPECT_EQ(two.ranks[0].resource_use().queued, 1u);
    if (commits) {
      EXPECT_EQ(two.commit(1000), PH_ERR_PEER);
      EXPECT_NE(two.port().last_error().what.find("rank 1"), std::string::npos);
    } else {
      two.port().cancel_room(1);
    }
    EXPECT_EQ(two.let_go(), 1u);
    EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
    EXPECT_EQ(two.reserve(100), PH_ERR_PEER);
  }
}

TEST(Reservation, and_a_chunk_that_is_kept_let_go_of_a_dead_peer_together) {
  for (const bool room_first : {false, true}) {
    Reserved two;
    two.at(0).verdict = service::Verdict::kept;
    const std::string header = "b";
    const auto body = filled(500, 1);
    ASSERT_EQ(two.port(1).say_body({0, ProbeService::bytes(header), {}}, body, 1), PH_OK);
    two.heard(2, 0);
    ASSERT_EQ(two.reserve(1000), PH_OK);
    two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "has ended", 1};
    two.ranks[0].serve();
    if (room_first) two.port().cancel_room(1);
    two.port().give_back(1, two.at(0).kept.front().loan);
    EXPECT_EQ(two.let_go(), room_first ? 1u : 0u);
    two.port().cancel_room(1);
    EXPECT_EQ(two.let_go(), 1u);
  }
}

}  // namespace
}  // namespace photon::engine::test
