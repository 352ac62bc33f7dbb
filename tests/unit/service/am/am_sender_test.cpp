// The sending half: completions, refusals, replies, losses.
#include "service/am/am_sender.hpp"

#include "am_sending.hpp"

namespace photon::service::am::sending_test {
namespace {

using Tolds = std::vector<Told>;

// ---- the fast line

TEST(AmSender, a_small_one_is_one_line) {
  AmSending one;
  for (const std::size_t size : {0, 1, 8, 47, 48}) {
    const Bytes bytes = some(size);
    ASSERT_EQ(one.sender().send_small(1, 9, {bytes.data(), bytes.size()}, Asker::user), PH_OK);
    const std::vector<Met> all = one.meet();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].word.op, Op::line);
    EXPECT_EQ(all[0].word.id, 9u);
    EXPECT_EQ(all[0].word.flags, 0u);
    EXPECT_EQ(all[0].payload, bytes);
  }
  EXPECT_EQ(one.port.promises(), 0u);
  EXPECT_EQ(one.sender().held(), 0u);
}

TEST(AmSender, each_message_tells_what_was_handled_here) {
  AmSending one;
  for (const std::size_t size : {8, 200, 3000}) {
    one.gate().handled += 65000;
    if (size == 8)
      ASSERT_EQ(one.send_small(0), PH_OK);
    else
      ASSERT_EQ(one.send(0, size), PH_OK);
    const std::vector<Met> all = one.meet();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].word.handled, static_cast<std::uint16_t>(one.gate().handled));
    EXPECT_EQ(one.gate().told, one.gate().handled);
  }
}

TEST(AmSender, a_line_that_did_not_go_has_told_nothing) {
  AmSending one;
  ASSERT_EQ(one.send_small(0), PH_OK);
  one.gate().handled = 5;
  one.port.refuse(0, FakePort::kNever);
  ASSERT_EQ(one.send_small(1), PH_OK);
  EXPECT_EQ(one.gate().told, 0u);
  one.port.refuse_nothing();
  one.gate().handled = 6;
  one.port.give_room(1);
  EXPECT_EQ(one.gate().told, 6u);
  EXPECT_EQ(one.meet().back().word.handled, 6u) << "as it is when it goes";
}

TEST(AmSender, counts_what_was_sent_by_way_and_rank) {
  AmSending one(64);
  one.port.reserves = true;
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send(i, 200), PH_OK);
  ASSERT_EQ(one.send(0, 3000), PH_OK);
  ASSERT_EQ(one.sender().send_small(2, 7, {}, Asker::user), PH_OK);
  EXPECT_EQ(one.sender().counts(1).lines, 5u);
  EXPECT_EQ(one.sender().counts(1).records, 3u);
  EXPECT_EQ(one.sender().counts(1).chunks, 1u);
  EXPECT_EQ(one.sender().counts(2).lines, 1u);
  EXPECT_EQ(one.sender().counts(3).lines, 0u);
  EXPECT_EQ(one.sender().counts(PH_ANY_RANK).lines, 6u);
  EXPECT_EQ(one.sender().counts(PH_ANY_RANK).records, 3u);
}

// ---- what a target says that it cannot know

TEST(AmSender, counts_that_cannot_be_are_malformed) {
  AmSending one(4);
  EXPECT_FALSE(one.sender().handled(1, 1)) << "nothing was sent";
  EXPECT_TRUE(one.sender().handled(1, 0));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  EXPECT_FALSE(one.sender().handled(1, 4));
  EXPECT_FALSE(one.sender().handled_low(1, 4));
  ASSERT_TRUE(one.sender().handled(1, 2));
  EXPECT_FALSE(one.sender().handled(1, 1)) << "less than before";
  EXPECT_FALSE(one.sender().handled_low(1, 1));
  EXPECT_TRUE(one.sender().handled_low(1, 3));
}

TEST(AmSender, low_bits_go_around) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    ASSERT_EQ(one.send_small(i), PH_OK);
    ASSERT_TRUE(one.sender().handled_low(1, static_cast<std::uint16_t>(i + 1)));
    Said said;
    ASSERT_TRUE(one.port.take(said));
  }
  EXPECT_EQ(one.gate().known, 200'000u);
}

TEST(AmSender, refusals_that_cannot_be_are_malformed) {
  const auto refused = [](AmSending& one, std::uint64_t number, ph_status status,
                          std::uint32_t items = 0) {
    return one.sender().refused(1, {number, status, items, 7});
  };
  AmSending one(8);
  EXPECT_FALSE(refused(one, 0, PH_ERR_RANGE)) << "nothing was sent";
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  ASSERT_TRUE(one.sender().handled(1, 1));
  EXPECT_FALSE(refused(one, 0, PH_ERR_RANGE)) << "it was handled";
  EXPECT_FALSE(refused(one, 5, PH_ERR_RANGE)) << "it was not sent";
  EXPECT_FALSE(refused(one, 1, PH_OK));
  EXPECT_FALSE(refused(one, 1, PH_AGAIN)) << "no error";
  EXPECT_FALSE(refused(one, 1, static_cast<ph_status>(-1000)));
  EXPECT_FALSE(refused(one, 1, PH_ERR_RANGE, 1)) << "it is no aggregate";
  EXPECT_TRUE(refused(one, 2, PH_ERR_RANGE));
  EXPECT_FALSE(refused(one, 2, PH_ERR_RANGE)) << "a second time";
  EXPECT_FALSE(refused(one, 1, PH_ERR_RANGE)) << "out of order";
  EXPECT_TRUE(refused(one, 4, PH_ERR_RANGE));
  EXPECT_EQ(one.port.late, (Tolds{{0, PH_ERR_RANGE}, {0, PH_ERR_RANGE}}));
}

// ---- completions

TEST(AmSender, a_copied_payload_is_the_callers_at_once) {
  for (const std::size_t size : {8, 200, 3000})
    for (const bool waits : {false, true}) {
      AmSending one;
      if (waits) one.port.refuse(1, 2);  // behind the promise
      ASSERT_EQ(one.send(5, size, 0), PH_OK);
      EXPECT_EQ(one.port.told, (Tolds{{5, PH_OK}})) << size;
      EXPECT_TRUE(one.port.holds_nothing()) << "it uses up no request";
      EXPECT_EQ(one.run(), (std::vector<std::uint64_t>{5}));
      EXPECT_EQ(one.port.told.size(), 1u);
    }
}

TEST(AmSender, a_delivered_one_completes_when_it_was_handled) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 6; ++i)
    ASSERT_EQ(one.send(i, i % 2 == 0 ? 8 : 3000, PH_DELIVERED), PH_OK);
  EXPECT_EQ(one.sender().held(), 6u + 2 + 2) << "promises, what waits, what is lent";
  static_cast<void>(one.meet());
  EXPECT_EQ(one.port.told, Tolds{});
  ASSERT_TRUE(one.sender().handled(1, 2));
  EXPECT_EQ(one.port.told, (Tolds{{0, PH_OK}, {1, PH_OK}}));
  EXPECT_EQ(one.run().size(), 2u);
  EXPECT_EQ(one.port.told.size(), 6u);
  EXPECT_TRUE(one.port.holds_nothing());
  EXPECT_EQ(one.sender().held(), 0u);
}

TEST(AmSender, without_a_completion_left_nothing_was_sent) {
  AmSending one;
  one.port.settings.requests = 1;
  ASSERT_EQ(one.send(0, 8, PH_DELIVERED), PH_OK);
  ph_request request = 77;
  ph_am_args args = AmSending::args({}, 0);
  args.request = &request;
  EXPECT_EQ(one.sender().send(1, args, Asker::user), PH_AGAIN);
  EXPECT_EQ(request, 77u);
  EXPECT_EQ(one.send(1, 8, PH_NO_LCE), PH_OK) << "it needs none";
  EXPECT_EQ(one.send(2, 8, PH_DELIVERED, Asker::handler), PH_OK) << "beside requests";
  EXPECT_EQ(one.sender().budget().used(), Note::kPromiseBytes);
  EXPECT_EQ(one.run().size(), 3u);
  EXPECT_EQ(one.port.told, (Tolds{{0, PH_OK}, {2, PH_OK}}));
  EXPECT_EQ(one.sender().budget().used(), 0u);
}

TEST(AmSender, promises_of_handlers_are_bounded_by_the_queue) {
  AmSending one(1024);
  one.port.settings.am_queue_bytes = 1 << 16;
  one.restart();
  std::uint64_t accepted = 0;
  while (one.send(accepted, 8, PH_DELIVERED, Asker::handler) == PH_OK) ++accepted;
  EXPECT_EQ(accepted, (1u << 16) / Note::kPromiseBytes);
  EXPECT_EQ(one.send(accepted, 8, PH_DELIVERED, Asker::handler), PH_ERR_MEMORY);
  EXPECT_EQ(one.send(accepted, 8, PH_DELIVERED, Asker::reply), PH_OK);
}

// ---- refusals

TEST(AmSender, a_refusal_ends_each_kind_of_message_in_its_way) {
  AmSending one;
  ASSERT_EQ(one.send(10, 8, PH_DELIVERED), PH_OK);
  ASSERT_EQ(one.send(11, 8, 0), PH_OK);
  ASSERT_EQ(one.send(12, 8, PH_NO_LCE), PH_OK);
  ASSERT_EQ(one.send_small(13), PH_OK);
  one.port.told.clear();
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_TRUE(one.sender().refused(1, {i, PH_ERR_NOT_FOUND, 0, 7}));
  EXPECT_EQ(one.port.told, (Tolds{{10, PH_ERR_NOT_FOUND}}));
  EXPECT_EQ(one.port.late,
            (Tolds{{11, PH_ERR_NOT_FOUND}, {12, PH_ERR_NOT_FOUND}, {0, PH_ERR_NOT_FOUND}}));
  EXPECT_EQ(one.port.last_words,
            "am_send: rank 1 has no handler for the active message 7; register it before a "
            "barrier");
  ASSERT_TRUE(one.sender().handled(1, 4));
  EXPECT_EQ(one.port.told.size(), 1u) << "told once";
  EXPECT_TRUE(one.port.holds_nothing());
  EXPECT_EQ(one.sender().held(), 0u);
}

TEST(AmSender, other_refusals_name_message_and_rank) {
  AmSending one;
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_EQ(one.send_small(i), PH_OK);
  ASSERT_TRUE(one.sender().refused(1, {0, PH_ERR_RANGE, 0, 65535}));
  EXPECT_EQ(one.port.last_words,
            "am_send: the active message 65535 ended with an error of its handlers at rank 1");
  ASSERT_TRUE(one.sender().refused(1, {1, PH_ERR_DEPARTED, 0, 3}));
  EXPECT_EQ(one.port.last_words,
            "am_send: rank 1 left before the handler of the active message 3 had run");
}

// ---- replies

TEST(AmSender, as_many_replies_are_wanted_as_there_are_slots) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(one.send(i, 8, PH_NO_LCE | PH_AM_REPLY), PH_OK);
  one.handle_all();
  EXPECT_EQ(one.send(9, 8, PH_NO_LCE | PH_AM_REPLY), PH_AGAIN) << "it does not queue";
  EXPECT_EQ(one.send(9, 8), PH_OK) << "others go on";
  EXPECT_EQ(one.sender().budget().used(), 0u);
  one.sender().note_reply_handled(1);
  EXPECT_EQ(one.send(9, 8, PH_NO_LCE | PH_AM_REPLY), PH_OK);
  EXPECT_FALSE(one.sender().unreplied(1, 5));
  EXPECT_FALSE(one.sender().unreplied(1, 0));
  EXPECT_TRUE(one.sender().unreplied(1, 4));
  EXPECT_EQ(one.gate().wanted, 0u);
}

TEST(AmSender, in_handlers_more_are_wanted_at_the_queues_cost) {
  AmSending one(4);
  const std::uint64_t each = one.port.settings.am_carried_max + 4096;
  one.port.settings.am_queue_bytes = 4 * each;
  one.restart();
  std::uint64_t accepted = 0;
  while (one.send(accepted, 8, PH_NO_LCE | PH_AM_REPLY, Asker::handler) == PH_OK) {
    one.handle_all();
    ++accepted;
  }
  EXPECT_EQ(accepted, 8u);
  EXPECT_EQ(one.gate().wanted, 8u);
  EXPECT_EQ(one.sender().budget().used(), 4 * each);
  one.sender().note_reply_handled(1);
  EXPECT_EQ(one.sender().budget().used(), 3 * each);
  EXPECT_TRUE(one.sender().unreplied(1, 7));
  EXPECT_EQ(one.sender().budget().used(), 0u);
}

TEST(AmSender, a_message_that_is_refused_at_the_call_wants_no_reply) {
  AmSending one(4);
  one.port.settings.requests = 0;
  EXPECT_EQ(one.send(0, 8, PH_AM_REPLY), PH_AGAIN);
  EXPECT_EQ(one.gate().wanted, 0u);
}

TEST(AmSender, replies_need_no_budget_however_many) {
  AmSending one(4);
  one.port.settings.am_queue_bytes = 1 << 16;
  one.port.settings.requests = 2;
  one.restart();
  while (one.send(99, 8000, PH_NO_LCE, Asker::handler) == PH_OK) {
  }
  for (std::uint64_t i = 0; i < 50; ++i)
    ASSERT_EQ(one.send(i, 8000, PH_DELIVERED, Asker::reply), PH_OK);
  const std::vector<std::uint64_t> all = one.run();
  ASSERT_GE(all.size(), 50u);
  EXPECT_EQ(one.port.told.size(), 50u);
  EXPECT_EQ(one.sender().counts(1).replies, 50u);
  EXPECT_EQ(one.sender().budget().used(), 0u);
}

// ---- losses

TEST(AmSender, a_loss_ends_every_state_once) {
  for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_PROTOCOL})
    for (const bool lives : {false, true}) {
      AmSending one(4);
      one.port.lives = lives;
      ASSERT_EQ(one.send(0, 8, PH_NO_LCE), PH_OK);        // sent, an id
      ASSERT_EQ(one.send(1, 3000, PH_DELIVERED), PH_OK);  // lent, a promise
      ASSERT_EQ(one.send_small(2), PH_OK);                // sent, nothing
      ASSERT_EQ(one.send(3, 8, PH_DELIVERED | PH_AM_REPLY), PH_OK);
      ASSERT_EQ(one.send(4, 8, PH_NO_LCE), PH_OK);  // waits, an id
      ASSERT_EQ(one.send(5, 3000, PH_DELIVERED, Asker::handler), PH_OK);
      ASSERT_EQ(one.send_small(6), PH_OK);
      one.lose(why);
      EXPECT_EQ(one.port.told, (Tolds{{1, why}, {3, why}, {5, why}}));
      const bool is_missed = lives || why == PH_ERR_DEPARTED;
      EXPECT_EQ(one.port.late, is_missed ? (Tolds{{0, why}, {4, why}}) : (Tolds{{4, why}}));
      EXPECT_EQ(one.gate().wanted, 0u);
      EXPECT_EQ(one.sender().held(), 1u) << "the body that is still lent";
      EXPECT_TRUE(one.port.run_turns());
      EXPECT_EQ(one.sender().held(), 0u);
      EXPECT_EQ(one.sender().budget().used(), 0u);
      EXPECT_TRUE(one.port.holds_nothing());
      EXPECT_EQ(one.send_small(7), why);
      EXPECT_EQ(one.send(7, 8, PH_DELIVERED), why);
    }
}

// What stands in the ring the engine tells of by itself.
TEST(AmSender, what_nothing_names_and_has_not_gone_when_its_rank_is_lost_is_left_to_the_flush) {
  AmSending one(4);
  const Bytes payload = some(3000);
  ASSERT_EQ(one.sender().send(1, AmSending::args(payload), Asker::user), PH_OK);  // a body, lent
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(one.send_small(i), PH_OK);      // two wait
  ASSERT_EQ(one.send(5, 8, PH_NO_LCE), PH_OK);                                    // and an id
  EXPECT_EQ(one.port.lost, 0u);
  one.lose();
  EXPECT_EQ(one.port.lost, 2u);
  one.port.run_turns();
  EXPECT_EQ(one.port.lost, 3u);
  EXPECT_EQ(one.port.late, (Tolds{{5, PH_ERR_PEER}}));
}

// Inside each call that names it, from the first contact to the last message that waits.
TEST(AmSender, a_rank_that_is_lost_inside_a_call_ends_all_once) {
  for (const bool reserves : {false, true})
    for (std::uint64_t at = 1; at < 60; ++at) {
      AmSending one(8);
      one.port.reserves = reserves;
      one.port.lose_inside(at);
      std::uint64_t accepted = 0;
      for (std::uint64_t i = 0; i < 12; ++i) {
        if (i == 3) one.port.refuse(0, FakePort::kNever);
        const std::size_t size = i % 3 == 0 ? 3000 : i % 3 == 1 ? 200 : 8;
        const ph_status status = one.send(i, size, PH_DELIVERED, Asker::handler);
        EXPECT_TRUE(status == PH_OK || status == PH_ERR_PEER);
        accepted += status == PH_OK;
      }
      one.port.refuse_nothing();
      static_cast<void>(one.run());
      one.lose();
      one.port.run_turns();
      EXPECT_EQ(one.port.told.size(), accepted) << at;
      EXPECT_TRUE(one.port.holds_nothing());
      EXPECT_EQ(one.sender().held(), 0u) << at;
      EXPECT_EQ(one.sender().budget().used(), 0u);
      EXPECT_FALSE(one.port.is_reserved());
    }
}

// ---- leaving

TEST(AmSender, a_closing_lane_sends_what_waits_and_takes_nothing_new) {
  AmSending one(4);
  for (std::uint64_t i = 0; i < 8; ++i) ASSERT_EQ(one.send(i, i % 2 == 0 ? 8 : 3000), PH_OK);
  one.sender().close();
  EXPECT_EQ(one.send_small(9), PH_ERR_STATE);
  EXPECT_EQ(one.send(9, 8), PH_ERR_STATE);
  EXPECT_FALSE(one.sender().is_idle());
  EXPECT_EQ(one.run().size(), 8u);
  EXPECT_EQ(one.send_small(9), PH_ERR_STATE) << "the gate stays shut";
  EXPECT_TRUE(one.sender().is_idle());
  EXPECT_EQ(one.sender().held(), 0u);
}

TEST(AmSender, an_error_while_the_lane_closes_is_that_of_the_close) {
  AmSending one(4);
  ASSERT_EQ(one.send(0, 8, PH_NO_LCE), PH_OK);
  ASSERT_EQ(one.send(1, 8, PH_DELIVERED), PH_OK);
  one.sender().close();
  EXPECT_TRUE(one.sender().is_idle()) << "nobody waits for handlers of others";
  ASSERT_TRUE(one.sender().refused(1, {0, PH_ERR_RANGE, 0, 7}));
  EXPECT_EQ(one.port.unheard, (std::vector<ph_status>{PH_ERR_RANGE}));
  one.lose(PH_ERR_DEPARTED);
  EXPECT_EQ(one.port.told, (Tolds{{1, PH_ERR_DEPARTED}}));
  EXPECT_EQ(one.sender().held(), 0u);
}

// One has gone, and two wait for slots; nobody will hear of their handlers here.
TEST(AmSender, a_closing_lane_ends_each_promise_and_what_waits_goes_all_the_same) {
  AmSending one(1);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.send(i, 8, PH_DELIVERED), PH_OK);
  EXPECT_EQ(one.sender().held(), 5u);
  one.sender().close();
  EXPECT_EQ(one.port.told,
            (Tolds{{0, PH_ERR_DEPARTED}, {1, PH_ERR_DEPARTED}, {2, PH_ERR_DEPARTED}}));
  EXPECT_EQ(one.sender().held(), 2u);
  EXPECT_EQ(one.run(), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(one.port.told.size(), 3u) << "each is told once";
  EXPECT_EQ(one.sender().held(), 0u);
  EXPECT_EQ(one.port.unheard, std::vector<ph_status>{});
}

}  // namespace
}  // namespace photon::service::am::sending_test
