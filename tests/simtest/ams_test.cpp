// The model of active messages, fed by hand with what keeps its promises, and with what breaks
// them; and messages that the network loses or doubles, found by whole runs.
#include <gtest/gtest.h>

#include "simtest/case.hpp"
#include "tests/simtest/brief.hpp"
#include "tests/simtest/fed_ams.hpp"

namespace photon::simtest {
namespace {

TEST_F(AmModelFed, what_is_handled_in_order_is_settled) {
  AmMessage& first = send();
  AmMessage& second = send();
  EXPECT_FALSE(ams_->is_settled());
  handle(first);
  handle(second);
  EXPECT_TRUE(ams_->is_settled());
  EXPECT_EQ(kind(), "none");
}

TEST_F(AmModelFed, one_that_does_not_come_is_named) {
  send();
  ams_->report_pending();
  EXPECT_EQ(kind(), "lost");
}

TEST_F(AmModelFed, messages_keep_their_order) {
  send();
  handle(send());
  EXPECT_EQ(kind(), "order");
}

TEST_F(AmModelFed, none_is_handled_twice) {
  AmMessage& one = send();
  handle(one);
  handle(one);
  EXPECT_EQ(kind(), "twice");
}

TEST_F(AmModelFed, nothing_comes_of_what_was_told_to_try_again) {
  AmMessage& one = begin();
  ams_->posted(one, PH_AGAIN);
  EXPECT_TRUE(ams_->is_settled());
  handle(one);
  EXPECT_EQ(kind(), "unexpected");
}

TEST_F(AmModelFed, a_handler_is_never_told_to_try_again) {
  AmMessage& one = send();
  ASSERT_NE(begun(one), nullptr);
  ams_->posted(begin(&one), PH_AGAIN);
  EXPECT_EQ(kind(), "status");
}

TEST_F(AmModelFed, the_bytes_are_those_of_the_call) {
  AmMessage& one = send();
  ph_am_message message = seen(one);
  bytes_[50] ^= std::byte{1};
  ams_->begun(1, 1, message);
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(AmModelFed, the_bytes_stay_until_the_handler_returns) {
  AmMessage& one = send();
  const ph_am_message message = seen(one);
  ASSERT_NE(ams_->begun(1, 1, message), nullptr);
  ams_->check_bytes(one, message);
  EXPECT_EQ(kind(), "none");
  bytes_.back() ^= std::byte{1};
  ams_->check_bytes(one, message);
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(AmModelFed, one_handler_runs_at_a_time) {
  AmMessage& first = send();
  AmMessage& second = send();
  ASSERT_NE(begun(first), nullptr);
  begun(second);
  EXPECT_EQ(kind(), "handler");
}

TEST_F(AmModelFed, a_rank_that_leaves_handles_nothing) {
  AmMessage& one = send();
  ams_->gone(1, false);
  EXPECT_TRUE(ams_->is_settled());
  handle(one);
  EXPECT_EQ(kind(), "handler");
}

TEST_F(AmModelFed, an_id_without_a_handler_is_refused_and_its_sender_told) {
  step_.offset = kAmNeverId;
  AmMessage& one = send();
  EXPECT_FALSE(ams_->is_settled());
  complete(one, PH_ERR_NOT_FOUND);
  EXPECT_TRUE(ams_->is_settled());
  EXPECT_EQ(kind(), "none");
  complete(one, PH_ERR_NOT_FOUND);
  EXPECT_EQ(kind(), "twice");
}

TEST_F(AmModelFed, what_was_refused_is_not_handled) {
  step_.offset = 1;
  AmMessage& one = send();
  complete(one, PH_ERR_NOT_FOUND);
  ams_->enroll(1, kAmIds[1], 2);
  begun(one, 2);
  EXPECT_EQ(kind(), "twice");
}

TEST_F(AmModelFed, what_has_a_handler_is_not_refused) {
  complete(send(), PH_ERR_NOT_FOUND);
  EXPECT_EQ(kind(), "status");
}

TEST_F(AmModelFed, the_error_of_a_handler_is_told_with_or_without_an_id) {
  AmMessage& one = send();
  step_.local_id_bytes = 0;
  AmMessage& other = send();
  handle(one, kAmFailure);
  handle(other, kAmFailure);
  EXPECT_FALSE(ams_->is_settled());
  complete(one, kAmFailure);
  EXPECT_FALSE(ams_->is_settled());
  EXPECT_EQ(ams_->count_nameless(0, without_id(kAmFailure)), 1u);
  EXPECT_TRUE(nameless(kAmFailure));
  EXPECT_TRUE(ams_->is_settled());
  EXPECT_FALSE(nameless(kAmFailure)) << "only one has none";
  EXPECT_EQ(kind(), "none");
}

TEST_F(AmModelFed, what_is_delivered_is_said_when_its_handler_has_ended) {
  step_.flags = std::uint32_t{PH_DELIVERED};
  AmMessage& one = send();
  AmMessage& other = send();
  handle(one);
  complete(one, PH_OK);
  EXPECT_EQ(kind(), "none");
  ASSERT_NE(begun(other), nullptr);
  complete(other, PH_OK);
  EXPECT_EQ(kind(), "status");
}

TEST_F(AmModelFed, no_error_comes_of_a_rank_that_lives) {
  AmMessage& one = send();
  complete(one, PH_ERR_PEER);
  EXPECT_EQ(kind(), "status");
}

TEST_F(AmModelFed, what_a_lost_link_took_without_a_word_is_named) {
  send();
  oracle_->link_lost(0, 1);
  ams_->link_lost(0, 1);
  EXPECT_TRUE(ams_->is_settled());
  ams_->finalized(0);
  EXPECT_EQ(kind(), "silent");
}

TEST_F(AmModelFed, what_a_lost_link_took_of_those_that_go_together_one_error_tells) {
  step_.flags |= PH_AM_MAY_WAIT;
  send();
  oracle_->link_lost(0, 1);
  ams_->link_lost(0, 1);
  const ph_completion error = without_id(PH_ERR_PEER);
  oracle_->completed(0, {PH_ANY_RANK, PH_EITHER, nullptr}, error, ams_->count_nameless(0, error));
  ams_->finalized(0);
  EXPECT_EQ(kind(), "none");
}

TEST_F(AmModelFed, a_quiesce_that_ends_before_what_its_rank_had_sent_is_early) {
  AmMessage& one = send();
  quiets_->begin(0);
  EXPECT_FALSE(quiets_->is_settled());
  send();  // behind its call: it need not wait for that
  handle(one);
  quiets_->begin(1);
  end_quiesce(1, PH_OK);
  EXPECT_EQ(kind(), "none");
  end_quiesce(0, PH_OK);
  EXPECT_TRUE(quiets_->is_settled());
  quiets_->begin(0);
  end_quiesce(0, PH_OK);
  EXPECT_EQ(kind(), "early");
}

TEST_F(AmModelFed, a_quiesce_that_ends_before_what_handlers_have_sent_is_early) {
  AmMessage& one = send();
  quiets_->begin(0);
  ASSERT_NE(begun(one), nullptr);
  send(&one);
  ams_->handled(1, one, PH_OK);
  end_quiesce(0, PH_OK);
  EXPECT_EQ(kind(), "early");
}

TEST_F(AmModelFed, a_quiesce_that_fails_names_who_is_lacking) {
  quiets_->begin(0);
  oracle_->died(1);
  end_quiesce(0, PH_ERR_PEER, 1);
  EXPECT_EQ(kind(), "none");
  EXPECT_FALSE(quiets_->is_wanted(0)) << "it is broken for good";
  end_quiesce(0, PH_ERR_PEER, 0);
  EXPECT_EQ(kind(), "status");
}

struct InjectedAm {
  transport::sim::Fault::Kind kind;
  Profile profile;
  const char* name;
  const char* finding;
  Ams ams = Ams::all;
};

class AmFaults : public testing::TestWithParam<InjectedAm> {};

TEST_P(AmFaults, are_found_within_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Case one{seed, GetParam().profile, 4, 200, {GetParam().kind, seed % 20}};
    one.ams = GetParam().ams;
    one.losses = Losses::none;
    one.echoes = Echoes::none;
    one.mailboxes = Mailboxes::none;
    one.collectives = Collectives::none;
    const Result result = run_case(one, false);
    if (result.finding && result.finding->kind == GetParam().finding) return;
  }
  FAIL() << "nobody noticed";
}

constexpr InjectedAm kInjectedAms[] = {
    {transport::sim::Fault::Kind::lose_message, Profile::stream, "lose", "lost"},
    {transport::sim::Fault::Kind::lose_message, Profile::srd, "lose_srd", "lost"},
    {transport::sim::Fault::Kind::repeat_message, Profile::stream, "repeat", "twice"},
    {transport::sim::Fault::Kind::repeat_message, Profile::srd, "repeat_srd", "twice"},
    {transport::sim::Fault::Kind::one_wave, Profile::stream, "one_wave", "early"},
    {transport::sim::Fault::Kind::early_return, Profile::stream, "early_return", "bytes",
     Ams::landing},
    {transport::sim::Fault::Kind::no_unreplied, Profile::stream, "no_unreplied", "starved"},
    {transport::sim::Fault::Kind::reorder_am, Profile::stream, "reorder", "order"},
};
INSTANTIATE_TEST_SUITE_P(network, AmFaults, testing::ValuesIn(kInjectedAms),
                         [](const auto& injected) { return std::string(injected.param.name); });

TEST(AmPrograms, send_handle_quiesce_and_keep_the_promises) {
  for (const Profile profile : kProfiles)
    for (std::uint64_t seed = 1; seed <= seeds_of(30); ++seed) {
      Case one{seed, profile, 4, 200, {}};
      one.ams = Ams::all;
      const Result first = run_and_repeat(one);
      EXPECT_NE(first.history.find("handles message"), std::string::npos) << seed;
    }
}

TEST(AmPrograms, let_payloads_land_and_keep_the_promises) {
  std::string all;
  for (const Profile profile : kProfiles)
    for (std::uint64_t seed = 1; seed <= seeds_of(10); ++seed) {
      Case one{seed, profile, 4, 200, {}};
      one.ams = Ams::landing;
      all += run_and_repeat(one).history;
    }
  EXPECT_NE(all.find(", the last one"), std::string::npos);
  EXPECT_NE(all.find("(prepared"), std::string::npos);
}

// What was drawn before payloads landed is drawn as ever.
TEST(AmPrograms, with_landings_are_those_without_and_more) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Choice with, without;
    with.ams = Ams::landing;
    without.ams = Ams::plain;
    const Program more = generate(seed, 4, 200, with), plain = generate(seed, 4, 200, without);
    for (ph_rank rank = 0; rank < 4; ++rank) {
      std::size_t at = 0;
      for (const Step& step : more.steps[rank])
        if (at < plain.steps[rank].size() && text_of(step) == text_of(plain.steps[rank][at])) ++at;
      EXPECT_EQ(at, plain.steps[rank].size()) << seed;
      EXPECT_GT(more.steps[rank].size(), 0u);
    }
  }
}

// The draws of all other steps are what they are without.
TEST(AmPrograms, are_those_without_them_and_more) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Choice with, without;
    with.ams = Ams::all;
    without.ams = Ams::none;
    const Program more = generate(seed, 4, 200, with), plain = generate(seed, 4, 200, without);
    for (ph_rank rank = 0; rank < 4; ++rank) {
      std::string rest, all;
      for (const Step& step : plain.steps[rank]) all += text_of(step) + "\n";
      for (const Step& step : more.steps[rank])
        if (step.verb < Verb::am_small || step.verb > Verb::am_begin) rest += text_of(step) + "\n";
      EXPECT_EQ(rest, all) << seed;
    }
  }
}

}  // namespace
}  // namespace photon::simtest
