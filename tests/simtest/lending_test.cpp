// The model of rendezvous, fed by hand with what keeps its promises, and with what breaks them.
#include "simtest/lending.hpp"

#include <gtest/gtest.h>

namespace photon::simtest {
namespace {

class LendingModel : public testing::Test {
 protected:
  LendingModel() {
    program_.ranks = 2;
    program_.window_bytes = 4096;
    program_.options = {{"max_cid_size", "8"}};
    program_.steps.resize(2);
    for (int i = 0; i < 4; ++i) program_.steps[0].push_back(announcement());
    oracle_ = std::make_unique<Oracle>(program_, history_, [] { return 0; });
    lending_ = std::make_unique<Lending>(*oracle_, program_);
  }
  static Step announcement() {
    Step step;
    step.verb = Verb::announce;
    step.peer = 1;
    step.kinds = PH_RECV_BUFFER;
    step.operand = 2;
    step.size_bytes = 100;
    step.requested = true;
    return step;
  }
  // By rank 0, accepted and under way.
  Loan& lend(int number = 0) {
    Loan& loan = lending_->begin(0, program_.steps[0][static_cast<std::size_t>(number)]);
    loan.request = 1;
    lending_->announced(loan, PH_OK);
    return loan;
  }
  static ph_buffer shown(Loan& loan) {
    ph_buffer buffer{};
    buffer.token = loan.number;
    buffer.kind = PH_RECV_BUFFER;
    buffer.tag = 2;
    buffer.size_bytes = 100;
    buffer.target = {reinterpret_cast<std::uint64_t>(loan.bytes().data()), 1};
    return buffer;
  }
  void took(Loan& loan, std::uint64_t tag = PH_ANY_TAG) {
    lending_->took(1, {PH_RECV_BUFFER, PH_ANY_RANK, tag, PH_ANY_SIZE}, shown(loan));
  }
  void finish(Loan& loan) {
    loan.finished = true;
    lending_->finished(loan, PH_OK);
  }
  // A put of 40 bytes, which land if `lands`.
  void put(Loan& loan, bool lands) {
    step_.size_bytes = 40;
    step_.flags = PH_NO_LCE | PH_NO_RCE;
    Transfer* one = lending_->begin(loan, step_);
    ASSERT_NE(one, nullptr);
    lending_->posted(*one, PH_OK);
    if (lands) std::copy(one->memory.begin(), one->memory.end(), loan.bytes().begin());
  }
  bool failed() const { return oracle_->failed(); }

  Program program_;
  History history_{false};
  Step step_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Lending> lending_;
};

TEST_F(LendingModel, what_is_taken_filled_and_finished_is_settled) {
  Loan& loan = lend();
  EXPECT_FALSE(lending_->is_settled());
  took(loan);
  put(loan, true);
  finish(loan);
  EXPECT_FALSE(lending_->is_settled()) << "its owner has not heard of it";
  lending_->over(loan, PH_OK);
  EXPECT_TRUE(lending_->is_settled());
  lending_->check_memory();
  EXPECT_FALSE(failed()) << oracle_->finding()->text;
}

TEST_F(LendingModel, bytes_that_come_after_the_finish_are_missed) {
  Loan& loan = lend();
  took(loan);
  put(loan, false);
  finish(loan);
  lending_->over(loan, PH_OK);
  EXPECT_TRUE(failed());
}

TEST_F(LendingModel, what_nobody_has_finished_is_not_over) {
  Loan& loan = lend();
  took(loan);
  lending_->over(loan, PH_OK);
  EXPECT_TRUE(failed());
}

TEST_F(LendingModel, what_is_over_is_written_by_nobody) {
  Loan& loan = lend();
  took(loan);
  finish(loan);
  lending_->over(loan, PH_OK);
  loan.bytes()[3] ^= std::byte{1};
  lending_->check_memory();
  EXPECT_TRUE(failed());
}

TEST_F(LendingModel, none_is_taken_twice) {
  Loan& loan = lend();
  took(loan);
  EXPECT_FALSE(failed());
  took(loan);
  EXPECT_TRUE(failed());
}

TEST_F(LendingModel, none_overtakes_an_older_one) {
  lend(0);
  took(lend(1));
  EXPECT_TRUE(failed());
}

TEST_F(LendingModel, none_is_taken_that_was_not_asked_for) {
  took(lend(), 1);
  EXPECT_TRUE(failed());
}

TEST_F(LendingModel, only_what_was_called_back_and_not_taken_is_given_back) {
  Loan& first = lend(0);
  first.recalled = true;
  lending_->over(first, PH_ERR_NOT_FOUND);
  EXPECT_FALSE(failed()) << oracle_->finding()->text;
  Loan& second = lend(1);
  took(second);
  second.recalled = true;
  lending_->over(second, PH_ERR_NOT_FOUND);
  EXPECT_TRUE(failed());
}

}  // namespace
}  // namespace photon::simtest
