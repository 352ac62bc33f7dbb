#include "service/am/am.hpp"

#include "am_receiving_unit.hpp"

namespace photon::service::am {
namespace {

using namespace test;

ph_status nothing(void*, const ph_am_message*, ph_am_landing*) { return PH_OK; }

TEST(Am, says_which_id_has_a_handler_already) {
  Receiver one;
  EXPECT_EQ(one.am->enroll(1, nothing, nullptr), PH_ERR_STATE);
  EXPECT_NE(one.port.last_error().what.find("the id 1"), std::string::npos);
}

TEST(Am, refuses_what_comes_for_a_handler_that_is_dismissed) {
  Receiver one;
  const HandlerNode* node = nullptr;
  ASSERT_EQ(one.am->dismiss(1, node), PH_OK);
  EXPECT_TRUE(one.am->is_dismissed(node));
  EXPECT_EQ(one.am->dismiss(1, node), PH_ERR_NOT_FOUND);
  ASSERT_TRUE(one.come(line(1, 1)));
  one.turn();
  EXPECT_TRUE(one.handled.empty());
  EXPECT_EQ(decode(one.said().at(0)[0])->op, Op::refused);
}

TEST(Am, does_not_let_go_of_a_handler_before_the_run_is_over_that_may_be_in_it) {
  Receiver one;
  const HandlerNode* node = nullptr;
  ASSERT_TRUE(one.come(line(1, 1)));
  one.am->collect();
  ASSERT_EQ(one.am->dismiss(1, node), PH_OK);
  EXPECT_FALSE(one.am->is_dismissed(node));
  EXPECT_EQ(one.am->held(), 2u);
  one.am->run();
  EXPECT_FALSE(one.am->is_dismissed(node));
  one.am->ran();
  EXPECT_TRUE(one.am->is_dismissed(node));
}

TEST(Am, runs_what_came_while_a_batch_that_had_stopped_early_went_on) {
  Receiver one;
  one.port.runs = true;
  const Bytes chunk = filled(one.port.settings.bulk_bytes / 32);
  one.port.settings.am_carried_max = chunk.size();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(one.come(part(1, 1, chunk, 0, chunk.size())));
  one.am->collect();
  one.am->run();
  one.am->ran();
  ASSERT_EQ(one.handled.size(), 4u) << "an eighth of the ring was handled";
  ASSERT_TRUE(one.come(line(1, 1)));
  one.turn();
  EXPECT_EQ(one.handled.size(), 6u);
}

TEST(Am, dismisses_nobody_inside_a_handler) {
  Receiver one;
  const HandlerNode* node = nullptr;
  one.port.is_inside = true;
  EXPECT_EQ(one.am->dismiss(1, node), PH_ERR_STATE);
  one.port.is_inside = false;
  ASSERT_TRUE(one.come(line(1, 1)));
  one.turn();
  EXPECT_EQ(one.handled.size(), 1u);
}

TEST(Am, replies_once_and_only_where_a_reply_is_wanted) {
  Receiver one;
  ph_am_args args{};
  args.size = sizeof args;
  args.flags = PH_NO_LCE;
  const ph_am_message* seen = nullptr;
  std::vector<ph_status> replied;
  one.enroll(2, [&](const ph_am_message& message, ph_am_landing&) {
    seen = &message;
    ph_am_args wrong = args;
    wrong.flags |= PH_AM_REPLY;
    replied.push_back(one.am->reply(&message, wrong));
    replied.push_back(one.am->reply(&message, args));
    replied.push_back(one.am->reply(&message, args));
    return PH_OK;
  });
  ASSERT_TRUE(one.come(line(1, 2, {}, kWantsReply)));
  ASSERT_TRUE(one.come(line(1, 2)));
  one.turn();
  EXPECT_EQ(replied, (std::vector<ph_status>{PH_ERR_ARGUMENT, PH_OK, PH_ERR_STATE, PH_ERR_STATE,
                                             PH_ERR_STATE, PH_ERR_STATE}));
  EXPECT_EQ(one.am->reply(seen, args), PH_ERR_STATE) << "outside";
  one.port.is_inside = true;
  EXPECT_EQ(one.am->reply(seen, args), PH_ERR_STATE) << "no handler of it runs";
}

TEST(Am, hears_what_a_target_tells_and_ends_who_tells_what_cannot_be) {
  const auto status = static_cast<std::uint64_t>(std::int64_t{PH_ERR_RANGE});
  const std::vector<std::pair<std::vector<std::uint64_t>, bool>> all = {
      {{word(Op::credit), 1}, true},
      {{word(Op::credit), 2}, false},
      {{word(Op::credit)}, false},
      {{word(Op::credit), 1, 0}, false},
      {{word(Op::credit, 0, 1), 1}, false},
      {{word(Op::refused, 0, 5), 0, status, 0}, true},
      {{word(Op::refused, 0, 5), 1, status, 0}, false},
      {{word(Op::refused, 0, 5), 0, 0, 0}, false},
      {{word(Op::refused, 0, 5), 0, 1, 0}, false},
      {{word(Op::refused, 0, 5), 0, ~0ull / 2, 0}, false},
      {{word(Op::refused, 0, 5), 0, status, ~0ull}, false},
      {{word(Op::refused, 0, 5), 0, status}, false},
      {{word(Op::unreplied), 1}, false},
      {{word(Op::unreplied), 0}, false},
      {{word(Op::read), 1}, false},
      {{word(Op::done), 1, 0}, false},
  };
  for (const auto& [words, is_good] : all) {
    Receiver one;
    ASSERT_EQ(one.am->send_small(1, 5, {}), PH_OK);
    EXPECT_EQ(one.come({1, words_of(words), {}, {}, 0, 0}), is_good)
        << (words[0] & 0xff) << " " << words.size();
    EXPECT_TRUE(one.come(line(2, 1)));
  }
}

// What a refused call has sent may be all that the quiesce under way has waited for.
TEST(Am, a_quiesce_that_is_refused_answers_for_what_goes_with_its_call) {
  for (const bool has_request : {false, true}) {
    Receiver one;
    ph_request request = PH_REQUEST_NONE;
    ASSERT_EQ(one.am->begin_quiesce(&request), PH_OK);
    ph_am_args args{};
    args.size = sizeof args;
    args.flags = PH_NO_LCE | PH_AM_MAY_WAIT;
    ASSERT_EQ(one.am->send(1, args), PH_OK);
    for (Rank child = 1; child < 4; ++child)
      ASSERT_TRUE(one.come({child, words_of({word(Op::up), 0, 0, 0}), {}, {}, 0, 0}));
    one.turn();
    ASSERT_TRUE(one.said().empty()) << "the message still waits for others";
    ASSERT_EQ(has_request ? one.am->begin_quiesce(&request) : one.am->enter_quiesce(),
              PH_ERR_STATE);
    one.turn();
    const auto said = one.said();
    ASSERT_EQ(said.size(), 4u);
    EXPECT_EQ(decode(said[0][0])->op, Op::aggregate);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(decode(said[i][0])->op, Op::down);
  }
}

TEST(Am, a_reply_that_was_refused_is_none) {
  Receiver one;
  ph_am_args args{};
  args.size = sizeof args;
  args.flags = PH_NO_LCE;
  std::vector<ph_status> replied;
  one.enroll(2, [&](const ph_am_message& message, ph_am_landing&) {
    one.port.lose(1, PH_ERR_PEER);
    for (int i = 0; i < 2; ++i) replied.push_back(one.am->reply(&message, args));
    return PH_OK;
  });
  ASSERT_TRUE(one.come(line(1, 2, {}, kWantsReply)));
  one.turn();
  EXPECT_EQ(replied, (std::vector<ph_status>{PH_ERR_PEER, PH_ERR_PEER}));
}

TEST(Am, hears_that_a_reply_will_not_come_only_of_those_that_have_not) {
  Receiver one;
  ph_am_args args{};
  args.size = sizeof args;
  args.flags = PH_NO_LCE | PH_AM_REPLY;
  ASSERT_EQ(one.am->send(1, args), PH_OK);
  ASSERT_EQ(one.am->send(1, args), PH_OK);
  ASSERT_TRUE(one.come(line(1, 1, {}, kIsReply)));
  ASSERT_TRUE(one.come({1, words_of({word(Op::unreplied), 1}), {}, {}, 0, 0}));
  EXPECT_FALSE(one.come({1, words_of({word(Op::unreplied), 1}), {}, {}, 0, 0}));
  one.turn();
  EXPECT_EQ(one.handled.size(), 1u);
}

}  // namespace
}  // namespace photon::service::am
