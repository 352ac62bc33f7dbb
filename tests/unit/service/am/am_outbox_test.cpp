// What waits goes in the order of the calls, as slots and room come back, and is told of once.
#include "service/am/am_outbox.hpp"

#include "am_sending.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Tolds = std::vector<Told>;

Numbers up_to(std::uint64_t count) {
  Numbers all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

constexpr std::size_t kSizes[] = {8, 3000, 0, 40, 200, 1024, 5, 1025, 41, 8000};

// Sends until all are accepted, and what has gone is met and handled meanwhile.
Numbers send_all(AmSending& one, std::uint64_t count, Asker asker) {
  Numbers numbers;
  std::uint64_t tries = 0;
  for (std::uint64_t i = 0; i < count;) {
    const ph_status status = one.send(i, kSizes[i % std::size(kSizes)], PH_NO_LCE, asker);
    i += status == PH_OK;
    if (status == PH_OK) continue;
    EXPECT_EQ(status, PH_AGAIN);
    if (++tries > 10'000) return numbers;
    const Numbers more = one.run();
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  one.port.refuse_nothing();
  const Numbers more = one.run();
  numbers.insert(numbers.end(), more.begin(), more.end());
  return numbers;
}

TEST(AmOutbox, messages_keep_the_order_of_the_calls_under_every_refusal) {
  for (const bool reserves : {false, true})
    for (const Asker asker : {Asker::user, Asker::handler, Asker::reply})
      for (std::uint64_t at = 0; at < 60; ++at)
        for (const std::uint64_t count : {1, 3, 40}) {
          AmSending one(4);
          one.port.reserves = reserves;
          one.port.refuse(at, count);
          ASSERT_EQ(send_all(one, 30, asker), up_to(30)) << at << ", " << count;
          EXPECT_TRUE(one.sender().is_idle());
          EXPECT_EQ(one.sender().held(), 0u);
          EXPECT_EQ(one.sender().budget().used(), 0u);
          EXPECT_FALSE(one.port.is_reserved());
        }
}

TEST(AmOutbox, one_without_a_slot_waits_for_the_count) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 7; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  EXPECT_EQ(one.meet().size(), 4u);
  EXPECT_EQ(one.sender().held(), 3u);
  ASSERT_TRUE(one.sender().handled(1, 1));
  EXPECT_EQ(one.meet().size(), 1u);
  ASSERT_TRUE(one.sender().handled_low(1, 4));
  EXPECT_EQ(one.meet().size(), 2u);
  EXPECT_EQ(one.sender().held(), 0u);
  EXPECT_EQ(one.gate().sent, 7u);
  EXPECT_EQ(one.sender().counts(1).queued, 3u);
  EXPECT_EQ(one.sender().counts(1).slot_stalls, 3u);
}

TEST(AmOutbox, the_gate_is_shut_while_something_waits) {
  AmSending one(4);
  ASSERT_EQ(one.send_small(0), PH_OK);
  EXPECT_LT(one.gate().sent, one.gate().until);
  one.port.refuse(0, FakePort::kNever);
  ASSERT_EQ(one.send_small(1), PH_OK);
  EXPECT_GE(one.gate().sent, one.gate().until) << "else the next one would pass it";
  one.port.refuse_nothing();
  one.port.give_room(1);
  EXPECT_LT(one.gate().sent, one.gate().until);
}

TEST(AmOutbox, small_ones_that_wait_need_no_memory_once_as_many_have_waited) {
  AmSending one(4);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
    const int asked = photon::test::allocations_of([&] {
      for (std::uint64_t i = 4; i < 24; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
    });
    if (round == 1) {
      EXPECT_EQ(asked, 0);
    }
    EXPECT_EQ(one.sender().held(), 20u);
    std::uint64_t next = 0;
    for (int i = 0; i < 6; ++i) {
      for (const Met& met : one.meet()) EXPECT_EQ(word_at(met.payload, 0), next++);
      one.handle_all();
    }
    EXPECT_EQ(next, 24u) << "in the order of the calls, each once";
    EXPECT_EQ(one.sender().budget().used(), 0u);
  }
}

TEST(AmOutbox, others_have_gates_of_their_own) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 7; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  EXPECT_EQ(one.sender().send_small(2, 7, {}, Asker::user), PH_OK);
  EXPECT_EQ(one.gate(2).sent, 1u);
}

TEST(AmOutbox, a_long_queue_goes_in_turns) {
  AmSending one(4096);
  one.port.refuse(0, FakePort::kNever);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  EXPECT_EQ(one.port.waiting(), 0u);
  one.port.refuse_nothing();
  one.port.give_room(1);
  EXPECT_LE(one.port.waiting(), 64u) << "a call does a bounded piece of work";
  EXPECT_TRUE(one.port.run_turns());
  EXPECT_EQ(one.port.waiting(), 1000u);
}

TEST(AmOutbox, bodies_that_are_lent_stay_until_they_have_left) {
  AmSending one(8);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send(i, 5000), PH_OK);
  EXPECT_EQ(one.port.waiting(), 3u);
  EXPECT_EQ(one.sender().held(), 3u);
  EXPECT_FALSE(one.sender().is_idle());
  EXPECT_EQ(one.sender().budget().used(), 3 * (Entry::kBytes + 5000));
  EXPECT_EQ(one.meet().size(), 3u);
  EXPECT_EQ(one.sender().held(), 0u);
  EXPECT_EQ(one.sender().budget().used(), 0u);
}

TEST(AmOutbox, with_room_in_the_ring_nothing_is_copied_or_lent) {
  AmSending one(8);
  one.port.reserves = true;
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send(i, 5000), PH_OK);
  EXPECT_EQ(one.sender().held(), 0u);
  EXPECT_EQ(one.sender().counts(1).queued, 0u);
  EXPECT_EQ(one.sender().counts(1).chunks, 3u);
  EXPECT_EQ(one.run(), up_to(3));
}

TEST(AmOutbox, what_is_accepted_is_counted_whatever_becomes_of_it) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 9; ++i) {
    ASSERT_EQ(one.send(i, i % 2 == 0 ? 8 : 3000), PH_OK);
    EXPECT_EQ(one.gates->sent(), i + 1);
  }
  EXPECT_EQ(one.run().size(), 9u);
  EXPECT_EQ(one.gates->sent(), 9u);
  EXPECT_EQ(one.gates->beside_sent, 0u);
  for (std::uint64_t i = 9; i < 19; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  one.lose();
  EXPECT_EQ(one.gates->sent(), 19u) << "sums only grow";
}

// ---- bounds

TEST(AmOutbox, so_many_messages_wait_as_there_are_requests) {
  AmSending one(4);
  one.port.settings.requests = 10;
  one.restart();
  std::uint64_t accepted = 0;
  while (one.send_small(accepted) == PH_OK) ++accepted;
  EXPECT_EQ(accepted, 14u);
  EXPECT_EQ(one.send_small(99), PH_AGAIN);
  EXPECT_EQ(one.send(99, 8), PH_AGAIN);
  EXPECT_EQ(one.send_small(99, Asker::handler), PH_OK);
  ASSERT_TRUE(one.sender().handled(1, 2));
  EXPECT_EQ(one.send_small(99), PH_OK);
}

TEST(AmOutbox, bytes_that_wait_are_bounded_for_all_ranks_together) {
  AmSending one(4);
  one.port.settings.am_queue_bytes = 1 << 16;
  one.restart();
  std::uint64_t accepted = 0;
  while (one.send(accepted, 8000) == PH_OK) ++accepted;
  EXPECT_EQ(accepted, 4u) << "half of 64 KiB, and the last one that fits";
  const Bytes payload = some(8000);
  EXPECT_EQ(one.sender().send(2, AmSending::args(payload), Asker::user), PH_AGAIN);
  std::uint64_t inside = 0;
  while (one.send(accepted + inside, 8000, PH_NO_LCE, Asker::handler) == PH_OK) ++inside;
  EXPECT_EQ(inside, 4u);
  EXPECT_EQ(one.send(99, 8000, PH_NO_LCE, Asker::handler), PH_ERR_MEMORY);
  EXPECT_NE(one.port.last_error().what.find("PHOTON_AM_QUEUE_BYTES"), std::string::npos);
  EXPECT_EQ(one.send(8, 8000, PH_NO_LCE, Asker::reply), PH_OK) << "a reply is never refused";
  EXPECT_EQ(one.run(), up_to(9));
  EXPECT_EQ(one.sender().budget().used(), 0u);
  EXPECT_GE(one.sender().budget().peak(), 64000u);
}

TEST(AmOutbox, a_message_over_the_whole_queue_goes_all_the_same) {
  AmSending one(4);
  one.port.settings.am_queue_bytes = 1 << 16;
  one.port.settings.am_carried_max = 1 << 20;
  one.restart();
  ASSERT_EQ(one.send(0, 1 << 20), PH_OK);
  EXPECT_EQ(one.send(1, 8, PH_NO_LCE, Asker::user), PH_OK) << "a line that need not wait";
  EXPECT_EQ(one.run(), up_to(2));
}

// ---- memory

TEST(AmOutbox, without_memory_a_call_has_begun_nothing) {
  for (const bool reserves : {false, true})
    for (const std::size_t size : {8, 200, 3000})
      for (const bool queues : {false, true}) {
        int allowed = 0;
        for (bool is_accepted = false; !is_accepted; ++allowed) {
          ASSERT_LT(allowed, 40);
          AmSending one(4);
          one.port.reserves = reserves;
          std::uint64_t before = queues ? 6 : 0;
          for (std::uint64_t i = 0; i < before; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
          const Bytes payload = some(size, 9);
          const std::uint64_t id = 9;
          ph_request request = 77;
          ph_am_args args = AmSending::args(payload, PH_DELIVERED);
          args.immediate = 10;
          args.local = {&id, sizeof id};
          args.request = &request;
          try {
            const photon::test::Shortage shortage(allowed);
            is_accepted = one.sender().send(1, args, Asker::user) == PH_OK;
          } catch (const std::bad_alloc&) {
            EXPECT_EQ(request, 77u);
          }
          EXPECT_EQ(one.port.promises(), is_accepted ? 1u : 0u);
          EXPECT_FALSE(one.port.is_reserved());
          EXPECT_EQ(one.run_count(), before + is_accepted) << allowed;
          EXPECT_EQ(one.port.told, is_accepted ? (Tolds{{9, PH_OK}}) : Tolds{});
          EXPECT_EQ(one.sender().held(), 0u);
        }
      }
}

TEST(AmOutbox, what_waits_survives_a_lack_of_memory_as_it_goes) {
  for (const bool reserves : {false, true})
    for (int allowed = 0; allowed < 30; ++allowed) {
      AmSending one(16);
      one.port.reserves = reserves;
      one.port.refuse(0, FakePort::kNever);
      for (std::uint64_t i = 0; i < 10; ++i)
        ASSERT_EQ(one.send(i, kSizes[i], PH_DELIVERED, Asker::handler), PH_OK);
      one.port.refuse_nothing();
      try {
        const photon::test::Shortage shortage(allowed);
        one.port.give_room(1);
        one.port.run_turns();
      } catch (const std::bad_alloc&) {
      }
      EXPECT_EQ(one.run(), up_to(10)) << allowed;
      EXPECT_EQ(one.port.told.size(), 10u);
      EXPECT_TRUE(one.port.holds_nothing());
      EXPECT_EQ(one.sender().held(), 0u);
      EXPECT_EQ(one.sender().budget().used(), 0u);
    }
}

}  // namespace
}  // namespace photon::service::am::sending_test
