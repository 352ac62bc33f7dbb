// The model of active messages, fed by hand with what keeps its promises, and with what breaks
// them; and messages that the network loses or doubles, found by whole runs.
#include <gtest/gtest.h>

#include <memory>

#include "simtest/am_quiets.hpp"
#include "simtest/case.hpp"
#include "simtest/pattern.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

class AmModelFed : public testing::Test {
 protected:
  AmModelFed() {
    program_.ranks = 2;
    program_.window_bytes = 4096;
    program_.options = {{"max_cid_size", "8"}};
    program_.steps.resize(2);
    program_.ams = true;
    oracle_ = std::make_unique<Oracle>(program_, history_, [] { return 0; });
    ams_ = std::make_unique<AmModel>(*oracle_, program_);
    quiets_ = std::make_unique<AmQuiets>(*oracle_, *ams_, program_);
    for (const ph_rank rank : {0u, 1u}) ams_->enroll(rank, kAmIds[0], 1);
    step_.verb = Verb::am_send;
    step_.size_bytes = 100;
    step_.local_id_bytes = 8;
    step_.flags = PH_NO_LCE;
  }
  // By rank 0, to rank 1, not yet answered by the call.
  AmMessage& begin(AmMessage* cause = nullptr) {
    const ph_rank from = cause == nullptr ? 0 : cause->to;
    return ams_->begin(from,
                       {AmMessage::Way::args, 1 - from, &step_, cause, quiets_->of(from).begun});
  }
  AmMessage& send(AmMessage* cause = nullptr) {
    AmMessage& one = begin(cause);
    ams_->posted(one, PH_OK);
    return one;
  }
  // As its handler sees it, with the bytes that it had.
  ph_am_message seen(const AmMessage& one) {
    bytes_.resize(one.payload.size());
    Pattern(Purpose::source, one.value()).fill(bytes_);
    const std::uint64_t value = one.value();
    std::memcpy(bytes_.data(), &value, sizeof value);
    ph_am_message message{};
    message.size = sizeof message;
    message.source = one.from;
    message.id = one.id;
    message.immediate = one.immediate;
    message.payload = bytes_.data();
    message.payload_bytes = bytes_.size();
    return message;
  }
  AmMessage* begun(const AmMessage& one, std::uint64_t handler = 1) {
    return ams_->begun(one.to, handler, seen(one));
  }
  void handle(AmMessage& one, ph_status status = PH_OK) {
    if (begun(one) != nullptr) ams_->handled(one.to, one, status);
  }
  void complete(const AmMessage& one, ph_status status) {
    ph_completion completion{};
    completion.kind = PH_LOCAL;
    completion.peer = one.to;
    completion.status = status;
    completion.id = one.value();
    completion.id_size_bytes = 8;
    EXPECT_TRUE(ams_->completed(one.from, completion));
  }
  static ph_completion without_id(ph_status status) {
    ph_completion completion{};
    completion.kind = PH_LOCAL;
    completion.peer = 1;
    completion.status = status;
    return completion;
  }
  bool nameless(ph_status status) { return ams_->takes_nameless(0, without_id(status)); }
  void end_quiesce(ph_rank rank, ph_status status, ph_rank named = 0) {
    ph_error error{};
    error.status = status;
    error.rank = named;
    quiets_->ended(rank, status, error);
  }
  std::string kind() const { return oracle_->failed() ? oracle_->finding()->kind : "none"; }

  Program program_;
  Step step_;
  History history_{false};
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<AmModel> ams_;
  std::unique_ptr<AmQuiets> quiets_;
  std::vector<std::byte> bytes_;
};

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
};

class AmFaults : public testing::TestWithParam<InjectedAm> {};

TEST_P(AmFaults, are_found_within_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Case one{seed, GetParam().profile, 4, 200, {GetParam().kind, seed % 20}};
    one.ams = Ams::all;
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
