// What was prepared is committed: its place in the order, where it stands, and each wrong use.
#include "am_sending.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

struct Committing : AmSending {
  explicit Committing(bool reserves = true, std::uint64_t slots = 8) : AmSending(slots) {
    port.reserves = reserves;
    port.tick_ns = 0;
  }
  ph_status prepare(std::uint64_t most = 3000, std::uint64_t least = 1) {
    return sender().prepare(1, least, most, slot);
  }
  // Fills and commits so many bytes, which are those of that number.
  ph_status commit(std::uint64_t number, std::size_t size, const Bytes& header = {},
                   Asker asker = Asker::user) {
    const Bytes bytes = some(size, number);
    std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(slot.data));
    return sender().commit(slot, {7, {header.data(), header.size()}, size}, asker);
  }
  ph_status commit_again(std::uint64_t size) {
    return sender().commit(slot, {7, {}, size}, Asker::user);
  }

  ph_am_slot slot{};
};

TEST(AmCommitting, what_was_filled_goes_with_its_header) {
  for (const bool reserves : {false, true})
    for (const std::size_t size : {0, 1, 40, 48, 49, 193, 1024, 1500, 3000})
      for (const std::size_t header_size : {0, 5, 48, 4096}) {
        Committing one(reserves);
        ASSERT_EQ(one.prepare(3000, 3000), PH_OK);
        EXPECT_EQ(one.port.is_reserved(), reserves);
        const Bytes header = some(header_size, 50);
        ASSERT_EQ(one.commit(9, size, header), PH_OK);
        const std::vector<Met> all = one.meet();
        ASSERT_EQ(all.size(), 1u);
        EXPECT_EQ(all[0].payload, some(size, 9));
        EXPECT_EQ(all[0].header, header);
        EXPECT_EQ(all[0].word.id, 7u);
        EXPECT_FALSE(one.port.is_reserved());
        EXPECT_EQ(one.sender().held(), 0u);
        EXPECT_EQ(one.gate().sent, 1u);
      }
}

TEST(AmCommitting, with_room_in_the_ring_nothing_is_copied) {
  Committing one;
  ASSERT_EQ(one.prepare(), PH_OK);
  ASSERT_EQ(one.commit(1, 3000), PH_OK);
  EXPECT_EQ(one.sender().counts(1).queued, 0u);
  EXPECT_EQ(one.sender().counts(1).chunks, 1u);
  EXPECT_EQ(one.sender().budget().peak(), 0u);
}

TEST(AmCommitting, it_takes_its_place_in_the_order_at_commit) {
  for (const bool reserves : {false, true})
    for (const std::uint64_t refusals : {0, 1, 2, 5}) {
      Committing one(reserves, 2);
      ASSERT_EQ(one.prepare(3000, 2000), PH_OK);
      ASSERT_EQ(one.send(0, 8), PH_OK);
      ASSERT_EQ(one.send(1, 3000), PH_OK) << "the ring is shut, and it waits";
      ASSERT_EQ(one.send(2, 8, PH_NO_LCE | PH_AM_MAY_WAIT), PH_OK);
      if (refusals != 0) one.port.refuse(0, refusals);
      ASSERT_EQ(one.commit(3, 2000), PH_OK);
      one.port.refuse_nothing();
      ASSERT_EQ(one.send(4, 8), PH_OK);
      EXPECT_FALSE(one.port.is_reserved());
      std::vector<std::size_t> sizes;
      for (int i = 0; i < 4; ++i) {
        one.port.give_room(1);
        one.port.run_turns();
        for (Said said; one.port.take(said);)
          sizes.push_back(said.is_body ? said.body.size() : said.payload.size());
        one.handle_all();
      }
      EXPECT_EQ(sizes, (std::vector<std::size_t>{0, 3000, 24, 2000, 0}));
      EXPECT_EQ(one.sender().held(), 0u);
    }
}

TEST(AmCommitting, an_open_aggregate_goes_before_the_ring_is_shut) {
  Committing one;
  ASSERT_EQ(one.send(0, 8, PH_NO_LCE | PH_AM_MAY_WAIT), PH_OK);
  EXPECT_EQ(one.port.waiting(), 0u);
  ASSERT_EQ(one.prepare(), PH_OK);
  EXPECT_EQ(one.port.waiting(), 1u);
  EXPECT_EQ(one.sender().cancel(one.slot), PH_OK);
}

TEST(AmCommitting, behind_what_waits_it_is_not_in_the_ring) {
  Committing one(true, 1);
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  ASSERT_EQ(one.prepare(), PH_OK);
  EXPECT_FALSE(one.port.is_reserved()) << "it would be copied in any case";
  ASSERT_EQ(one.commit(1, 1), PH_OK);
}

TEST(AmCommitting, a_full_outbox_leaves_the_slot_open) {
  for (const bool reserves : {false, true}) {
    Committing one(reserves, 1);
    one.port.settings.requests = 1;
    one.restart();
    ASSERT_EQ(one.prepare(), PH_OK);
    for (std::uint64_t i = 0; i < 2; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
    EXPECT_EQ(one.commit(5, 1), PH_AGAIN);
    EXPECT_EQ(one.sender().held(), 2u) << "the slot, and what waits";
    static_cast<void>(one.meet());
    one.handle_all();
    EXPECT_EQ(one.commit_again(1), PH_OK);
    EXPECT_EQ(one.commit_again(1), PH_ERR_STATE);
  }
}

TEST(AmCommitting, each_wrong_use_is_refused) {
  Committing one;
  ph_am_slot slot{};
  slot.data = &one;
  EXPECT_EQ(one.sender().prepare(1, 0, 5, slot), PH_ERR_ARGUMENT);
  EXPECT_EQ(slot.data, nullptr);
  EXPECT_EQ(one.sender().prepare(1, 6, 5, slot), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().prepare(1, (32 << 10) + 1, 1 << 20, slot), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().prepare(4, 1, 5, slot), PH_ERR_RANK);
  EXPECT_EQ(one.sender().commit(slot, {7, {}, 0}, Asker::user), PH_ERR_STATE) << "never given";
  EXPECT_EQ(one.sender().cancel(slot), PH_ERR_STATE);
  ASSERT_EQ(one.prepare(1000), PH_OK);
  EXPECT_EQ(one.prepare(), PH_AGAIN);
  EXPECT_EQ(one.sender().cancel(one.slot), PH_OK) << "a refused call changes nothing of it";
}

TEST(AmCommitting, wrong_arguments_leave_the_slot_open) {
  Committing one;
  ASSERT_EQ(one.prepare(1000), PH_OK);
  Sender& sender = one.sender();
  EXPECT_EQ(sender.commit(one.slot, {65536, {}, 5}, Asker::user), PH_ERR_ARGUMENT);
  EXPECT_EQ(sender.commit(one.slot, {7, {&one, 4097}, 5}, Asker::user), PH_ERR_ARGUMENT);
  EXPECT_EQ(sender.commit(one.slot, {7, {nullptr, 1}, 5}, Asker::user), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.commit_again(1001), PH_ERR_ARGUMENT);
  one.slot.size_bytes = 1 << 20;
  EXPECT_EQ(one.commit_again(1001), PH_ERR_ARGUMENT) << "what the user holds is only a copy";
  EXPECT_EQ(one.commit_again(1000), PH_OK);
  EXPECT_EQ(one.commit_again(1000), PH_ERR_STATE) << "twice";
  EXPECT_EQ(sender.cancel(one.slot), PH_ERR_STATE);
  ASSERT_EQ(one.prepare(1000), PH_OK);
  EXPECT_EQ(sender.cancel(one.slot), PH_OK);
  EXPECT_FALSE(one.port.is_reserved());
  EXPECT_EQ(one.commit_again(10), PH_ERR_STATE) << "after cancel";
}

TEST(AmCommitting, of_a_lost_rank_it_can_be_written_and_commit_says_why) {
  for (const bool reserves : {false, true}) {
    Committing one(reserves);
    ASSERT_EQ(one.prepare(), PH_OK);
    one.lose();
    EXPECT_EQ(one.commit(3, 1), PH_ERR_PEER);
    EXPECT_EQ(one.sender().held(), 0u);
    EXPECT_FALSE(one.port.is_reserved());
    EXPECT_EQ(one.commit_again(1), PH_ERR_STATE);
    EXPECT_EQ(one.prepare(), PH_ERR_PEER);
  }
}

TEST(AmCommitting, a_rank_that_is_lost_inside_a_call_leaves_nothing_open) {
  for (const bool reserves : {false, true})
    for (std::uint64_t at = 1; at < 12; ++at) {
      Committing one(reserves);
      one.port.lose_inside(at);
      for (int i = 0; i < 3; ++i) {
        const ph_status prepared = one.prepare();
        EXPECT_TRUE(prepared == PH_OK || prepared == PH_ERR_PEER);
        if (prepared != PH_OK) continue;
        const ph_status status = one.commit(3, 1);
        EXPECT_TRUE(status == PH_OK || status == PH_ERR_PEER);
      }
      EXPECT_FALSE(one.port.is_reserved()) << at;
      EXPECT_EQ(one.sender().held(), 0u);
    }
}

TEST(AmCommitting, without_memory_it_is_closed_and_nothing_was_sent) {
  for (const bool reserves : {false, true})
    for (int allowed = 0; allowed < 12; ++allowed) {
      Committing one(reserves);
      ASSERT_EQ(one.sender().prepare(1, 2000, 2000, one.slot), PH_OK);
      one.port.refuse(0, FakePort::kNever);
      ph_status status = PH_ERR_MEMORY;
      try {
        const photon::test::Shortage shortage(allowed);
        status = one.commit_again(2000);
      } catch (const std::bad_alloc&) {
      }
      one.port.refuse_nothing();
      EXPECT_EQ(one.run_count(), status == PH_OK ? 1u : 0u);
      EXPECT_FALSE(one.port.is_reserved());
      EXPECT_EQ(one.commit_again(1), PH_ERR_STATE);
    }
}

// The words of a refusal find no memory: what the call says then, PH_ERR_MEMORY, says it is closed.
TEST(AmCommitting, a_wrong_argument_without_memory_for_its_words_closes_it) {
  for (const Sender::Commit& wrong : {Sender::Commit{65536, {}, 5}, Sender::Commit{7, {}, 2001}}) {
    bool has_run_out = false, was_refused = false;
    for (int allowed = 0; allowed < 12; ++allowed) {
      Committing one;
      ASSERT_EQ(one.sender().prepare(1, 2000, 2000, one.slot), PH_OK);
      ph_status status = PH_ERR_MEMORY;
      try {
        const photon::test::Shortage shortage(allowed);
        status = one.sender().commit(one.slot, wrong, Asker::user);
      } catch (const std::bad_alloc&) {
      }
      (status == PH_ERR_MEMORY ? has_run_out : was_refused) = true;
      EXPECT_EQ(one.port.is_reserved(), status == PH_ERR_ARGUMENT) << status;
      EXPECT_EQ(one.commit_again(1), status == PH_ERR_ARGUMENT ? PH_OK : PH_ERR_STATE);
    }
    EXPECT_TRUE(has_run_out);
    EXPECT_TRUE(was_refused);
  }
}

TEST(AmCommitting, a_closing_lane_cancels_what_is_open_and_says_so) {
  Committing one;
  ASSERT_EQ(one.prepare(), PH_OK);
  one.sender().close();
  EXPECT_EQ(one.port.unheard, (std::vector<ph_status>{PH_ERR_STATE}));
  EXPECT_FALSE(one.port.is_reserved());
  EXPECT_EQ(one.sender().held(), 0u);
  EXPECT_EQ(one.commit(1, 1), PH_ERR_STATE);
  EXPECT_EQ(one.prepare(), PH_ERR_STATE);
}

}  // namespace
}  // namespace photon::service::am::sending_test
