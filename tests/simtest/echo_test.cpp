// The model of the echo service, fed by hand with what keeps its promises, and with what breaks
// them; and service records that the network loses or doubles, found by whole runs.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "simtest/case.hpp"
#include "simtest/echo_model.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

class EchoModelFed : public testing::Test {
 protected:
  EchoModelFed() {
    program_.ranks = 2;
    program_.window_bytes = 4096;
    program_.options = {{"max_cid_size", "8"}};
    program_.steps.resize(2);
    program_.echoes = true;
    oracle_ = std::make_unique<Oracle>(program_, history_, [] { return 0; });
    echoes_ = std::make_unique<EchoModel>(*oracle_, program_);
    echoes_->listening(1, 1);
  }
  // By rank 0, of rank 1, accepted.
  Echoed& ask(std::uint64_t size_bytes = 0) {
    Echoed& one =
        echoes_->begin(0, 1, size_bytes == 0 ? Echoed::Kind::ask : Echoed::Kind::body, size_bytes);
    echoes_->posted(one, PH_OK);
    return one;
  }
  Echoed& tell() {
    Echoed& one = echoes_->begin(0, 1, Echoed::Kind::tell);
    echoes_->posted(one, PH_OK);
    return one;
  }
  void answer(const Echoed& one, ph_status status = PH_OK) {
    echoes_->answered(0, {1, status, one.value(), one.sum});
  }
  void hear(const Echoed& one, std::uint64_t handler = 1) {
    echoes_->heard(1, handler, 0, one.value());
    echoes_->handled(1);
  }
  std::string kind() const { return oracle_->failed() ? oracle_->finding()->kind : "none"; }

  Program program_;
  History history_{false};
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<EchoModel> echoes_;
};

TEST_F(EchoModelFed, what_is_answered_and_heard_is_settled) {
  Echoed& first = ask();
  Echoed& body = ask(100);
  Echoed& told = tell();
  EXPECT_FALSE(echoes_->is_settled());
  answer(body);  // another kind has an order of its own
  answer(first);
  EXPECT_FALSE(echoes_->is_settled()) << "nobody has heard what was told";
  hear(told);
  EXPECT_TRUE(echoes_->is_settled());
  EXPECT_EQ(kind(), "none");
}

TEST_F(EchoModelFed, an_answer_that_does_not_come_is_named) {
  ask();
  echoes_->report_pending();
  EXPECT_EQ(kind(), "lost");
}

TEST_F(EchoModelFed, answers_keep_their_order) {
  ask();
  answer(ask());
  EXPECT_EQ(kind(), "order");
}

TEST_F(EchoModelFed, none_is_answered_twice) {
  Echoed& one = ask();
  answer(one);
  answer(one);
  EXPECT_EQ(kind(), "twice");
}

TEST_F(EchoModelFed, nothing_comes_of_what_was_told_to_try_again) {
  Echoed& one = echoes_->begin(0, 1, Echoed::Kind::ask);
  echoes_->posted(one, PH_AGAIN);
  EXPECT_TRUE(echoes_->is_settled());
  answer(one);
  EXPECT_EQ(kind(), "unexpected");
}

TEST_F(EchoModelFed, the_sum_is_that_of_the_body) {
  Echoed& one = ask(100);
  echoes_->answered(0, {1, PH_OK, one.value(), one.sum ^ 1});
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(EchoModelFed, no_error_comes_of_a_rank_that_lives) {
  answer(ask(), PH_ERR_PEER);
  EXPECT_EQ(kind(), "status");
}

TEST_F(EchoModelFed, an_error_comes_of_a_rank_that_has_died) {
  Echoed& one = ask();
  tell();
  oracle_->died(1);
  echoes_->gone(1, true);
  EXPECT_FALSE(echoes_->is_settled()) << "the answer is still to come";
  answer(one, PH_ERR_PEER);
  EXPECT_TRUE(echoes_->is_settled());
  EXPECT_EQ(kind(), "none");
}

TEST_F(EchoModelFed, what_is_told_keeps_its_order) {
  tell();
  hear(tell());
  EXPECT_EQ(kind(), "order");
}

TEST_F(EchoModelFed, nothing_is_heard_twice) {
  Echoed& one = tell();
  hear(one);
  hear(one);
  EXPECT_EQ(kind(), "twice");
}

TEST_F(EchoModelFed, who_is_deaf_may_miss_what_is_told_and_hears_nothing) {
  Echoed& one = tell();
  echoes_->listening(1, 0);
  EXPECT_TRUE(echoes_->is_settled());
  hear(one);
  EXPECT_EQ(kind(), "handler");
}

TEST_F(EchoModelFed, one_handler_runs_at_a_time) {
  Echoed& first = tell();
  Echoed& second = tell();
  echoes_->heard(1, 1, 0, first.value());
  echoes_->heard(1, 1, 0, second.value());
  EXPECT_EQ(kind(), "handler");
}

TEST_F(EchoModelFed, the_new_handler_hears_what_the_old_one_did_not) {
  Echoed& one = tell();
  echoes_->listening(1, 2);
  hear(one);
  EXPECT_EQ(kind(), "handler");
}

TEST_F(EchoModelFed, what_a_lost_link_took_without_a_word_is_named) {
  tell();
  oracle_->link_lost(0, 1);
  echoes_->link_lost(0, 1);
  EXPECT_TRUE(echoes_->is_settled());
  echoes_->finalized(0);
  EXPECT_EQ(kind(), "silent");
}

struct InjectedMessage {
  transport::sim::Fault::Kind kind;
  Profile profile;
  const char* name;
  const char* finding;
};

class EchoFaults : public testing::TestWithParam<InjectedMessage> {};

TEST_P(EchoFaults, are_found_within_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Case one{seed, GetParam().profile, 4, 200, {GetParam().kind, seed % 20}};
    one.echoes = Echoes::all;
    const Result result = run_case(one, false);
    if (result.finding && result.finding->kind == GetParam().finding) return;
  }
  FAIL() << "nobody noticed";
}

constexpr InjectedMessage kInjectedMessages[] = {
    {transport::sim::Fault::Kind::lose_message, Profile::stream, "lose", "lost"},
    {transport::sim::Fault::Kind::lose_message, Profile::srd, "lose_srd", "lost"},
    {transport::sim::Fault::Kind::repeat_message, Profile::stream, "repeat", "twice"},
    {transport::sim::Fault::Kind::repeat_message, Profile::srd, "repeat_srd", "twice"},
};
INSTANTIATE_TEST_SUITE_P(network, EchoFaults, testing::ValuesIn(kInjectedMessages),
                         [](const auto& injected) { return std::string(injected.param.name); });

// Seeds that show it are rarer here: 19 of the first 1,500 of `stream`, 37 without the service. So
// the bar is 1,000 seeds. The search goes round from one that shows it today: all before it were
// walked through each time, for half the time of this suite under sanitizers.
TEST(EchoPrograms, find_a_restarted_rank_that_is_taken_for_the_dead_one) {
  constexpr std::uint64_t kSeeds = 1000;
  constexpr std::pair<Profile, std::uint64_t> kFirst[] = {{Profile::stream, 241},
                                                          {Profile::srd, 241}};
  for (const auto& [profile, first] : kFirst) {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < kSeeds && found == 0; ++i) {
      const std::uint64_t seed = 1 + (first - 1 + i) % kSeeds;
      Case one{seed, profile, 4, 200, {transport::sim::Fault::Kind::rejoin, seed % 20}};
      one.echoes = Echoes::all;
      const Result result = run_case(one, false);
      if (result.finding && result.finding->kind == "id") found = seed;
    }
    EXPECT_NE(found, 0u) << kProfileNames[static_cast<int>(profile)] << ": nobody noticed";
    RecordProperty(kProfileNames[static_cast<int>(profile)], std::to_string(found));
  }
}

TEST(EchoPrograms, ask_tell_and_keep_the_promises) {
  for (const Profile profile : kProfiles)
    for (std::uint64_t seed = 1; seed <= seeds_of(30); ++seed) {
      Case one{seed, profile, 4, 200, {}};
      one.echoes = Echoes::all;
      const Result first = run_and_repeat(one);
      EXPECT_NE(first.history.find("answer of echo"), std::string::npos) << seed;
    }
}

}  // namespace
}  // namespace photon::simtest
