// What only the interface of mailboxes checks, and all of it between a rank and itself.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace photon {
namespace {

class MailboxApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    open_.size = sizeof open_;
    open_.address = 7;
    open_.source = PH_ANY_RANK;
    post_.size = sizeof post_;
    post_.data = words_;
    post_.size_bytes = sizeof words_;
    put_.size = sizeof put_;
    put_.address = 7;
    put_.source = &one_;
    put_.size_bytes = sizeof one_;
    put_.epoch = PH_ANY_EPOCH;
    put_.flags = PH_NO_LCE;
    withdraw_.size = sizeof withdraw_;
    withdraw_.address = 7;
    withdraw_.operations = 1;
  }
  void TearDown() override { ph_context_destroy(context_); }

  // Each of the calls, with arguments that are right.
  void expect_all(ph_context* context, ph_status status) {
    ph_mailbox box{};
    ph_mailbox_event event{};
    std::uint64_t epoch = 0;
    std::uint32_t incarnation = 0;
    std::size_t count = 0;
    EXPECT_EQ(ph_mailbox_open(context, &open_, &box), status);
    EXPECT_EQ(ph_mailbox_post(context, box, &post_), status);
    EXPECT_EQ(ph_mailbox_take(context, box, &event), status);
    EXPECT_EQ(ph_mailbox_wait(context, box, &event, 0), status);
    EXPECT_EQ(ph_mailbox_inc_epoch(context, box), status);
    EXPECT_EQ(ph_mailbox_epoch(context, box, &epoch, &incarnation), status);
    EXPECT_EQ(ph_mailbox_release(context, box, 0), status);
    EXPECT_EQ(ph_mailbox_rewind(context, box, 0), status);
    EXPECT_EQ(ph_mailbox_retained(context, box, &event, 1, &count), status);
    ph_mailbox_range_list ranges{};
    EXPECT_EQ(ph_mailbox_ranges(context, box, 0, &ranges), status);
    EXPECT_EQ(ph_mailbox_buf_ptrs(context, box, nullptr, 0, &count), status);
    EXPECT_EQ(ph_mailbox_close(context, box), status);
    EXPECT_EQ(ph_mailbox_put(context, 0, &put_), status);
    EXPECT_EQ(ph_mailbox_append(context, 0, &put_), status);
    EXPECT_EQ(ph_mailbox_put_u64(context, 0, 7, 0, {&one_, sizeof one_}), status);
    EXPECT_EQ(ph_mailbox_withdraw(context, 0, &withdraw_), status);
    EXPECT_EQ(box.bits, 0u);
  }
  ph_mailbox opened() {
    ph_mailbox box{};
    EXPECT_EQ(ph_mailbox_open(context_, &open_, &box), PH_OK);
    return box;
  }
  std::string why() {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }

  ph_context* context_ = nullptr;
  std::uint64_t words_[4] = {};
  std::uint64_t one_ = 1;
  ph_mailbox_args open_{};
  ph_mailbox_buffer post_{};
  ph_mailbox_put_args put_{};
  ph_mailbox_withdraw_args withdraw_{};
};

TEST_F(MailboxApi, is_refused_without_a_context_and_after_its_end) {
  expect_all(nullptr, PH_ERR_STATE);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  expect_all(context_, PH_ERR_STATE);
}

TEST_F(MailboxApi, a_withdrawal_of_nothing_or_of_another_version_is_refused) {
  EXPECT_EQ(ph_mailbox_withdraw(context_, 0, nullptr), PH_ERR_ARGUMENT);
  ph_mailbox_withdraw_args args = withdraw_;
  args.size -= 8;
  EXPECT_EQ(ph_mailbox_withdraw(context_, 0, &args), PH_ERR_ARGUMENT);
  args = withdraw_;
  args.operations = 0;
  EXPECT_EQ(ph_mailbox_withdraw(context_, 0, &args), PH_ERR_ARGUMENT);
  EXPECT_NE(why().find("neither bytes nor operations"), std::string::npos) << why();
  args = withdraw_;
  args.flags = 1u << 30;
  EXPECT_EQ(ph_mailbox_withdraw(context_, 0, &args), PH_ERR_ARGUMENT);
  args = withdraw_;
  ph_request request = PH_REQUEST_NONE;
  args.flags = PH_NO_LCE;
  args.request = &request;
  EXPECT_EQ(ph_mailbox_withdraw(context_, 0, &args), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_withdraw(context_, 9, &withdraw_), PH_ERR_RANK);
  args = withdraw_;
  args.local = {nullptr, 4};
  EXPECT_EQ(ph_mailbox_withdraw(context_, 0, &args), PH_ERR_ARGUMENT);
}

TEST_F(MailboxApi, is_refused_in_a_forked_child) {
  const pid_t child = ::fork();
  if (child == 0) {
    expect_all(context_, PH_ERR_FORKED);
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(MailboxApi, null_pointers_are_refused) {
  const ph_mailbox box = opened();
  ph_mailbox other{};
  ph_mailbox_event event{};
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  std::size_t count = 0;
  EXPECT_EQ(ph_mailbox_open(context_, nullptr, &other), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_open(context_, &open_, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_post(context_, box, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_take(context_, box, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_wait(context_, box, nullptr, PH_FOREVER), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_epoch(context_, box, nullptr, &incarnation), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_epoch(context_, box, &epoch, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_retained(context_, box, &event, 1, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_retained(context_, box, nullptr, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_retained(context_, box, nullptr, 0, &count), PH_OK);
  ph_mailbox_range_list ranges{nullptr, 1, 0};
  EXPECT_EQ(ph_mailbox_ranges(context_, box, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_ranges(context_, box, 0, &ranges), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_buf_ptrs(context_, box, nullptr, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_buf_ptrs(context_, box, nullptr, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_put(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_append(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_put_u64(context_, 0, 7, 0, {nullptr, 8}), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(MailboxApi, structures_of_another_size_are_refused) {
  const ph_mailbox box = opened();
  for (const int by : {-4, 8}) {
    ph_mailbox other{};
    ph_mailbox_args open = open_;
    open.address = 8;
    open.size += static_cast<std::size_t>(by);
    EXPECT_EQ(ph_mailbox_open(context_, &open, &other), PH_ERR_ARGUMENT);
    EXPECT_NE(why().find("mailbox_open"), std::string::npos) << why();
    ph_mailbox_buffer post = post_;
    post.size += static_cast<std::size_t>(by);
    EXPECT_EQ(ph_mailbox_post(context_, box, &post), PH_ERR_ARGUMENT);
    EXPECT_NE(why().find("mailbox_post"), std::string::npos) << why();
    ph_mailbox_put_args put = put_;
    put.size += static_cast<std::size_t>(by);
    EXPECT_EQ(ph_mailbox_put(context_, 0, &put), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_mailbox_append(context_, 0, &put), PH_ERR_ARGUMENT);
    EXPECT_NE(why().find("mailbox_put"), std::string::npos) << why();
  }
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

// A program that was compiled before the structures grew: what stands behind its own is not read.
TEST_F(MailboxApi, smaller_structures_of_older_programs_do_as_before) {
  open_.size = offsetof(ph_mailbox_args, linger_us);
  open_.linger_us = 1;  // a steered mailbox cannot have it
  const ph_mailbox box = opened();
  const ph_block segment{&one_, sizeof one_};
  post_.size = offsetof(ph_mailbox_buffer, segments);
  post_.segments = &segment;  // not together with data
  post_.segment_count = 1;
  EXPECT_EQ(ph_mailbox_post(context_, box, &post_), PH_OK) << why();
  post_.size = sizeof post_;
  EXPECT_EQ(ph_mailbox_post(context_, box, &post_), PH_ERR_ARGUMENT);
  EXPECT_NE(why().find("segments"), std::string::npos) << why();
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(MailboxApi, what_was_refused_says_what_and_why) {
  EXPECT_EQ(ph_mailbox_post(context_, {}, &post_), PH_ERR_STATE);
  EXPECT_NE(why().find("mailbox_post: the handle names no open mailbox"), std::string::npos);
  ph_mailbox_event event{};
  EXPECT_EQ(ph_mailbox_take(context_, {1}, &event), PH_ERR_STATE);
  EXPECT_NE(why().find("mailbox_take"), std::string::npos) << why();
  EXPECT_EQ(ph_mailbox_wait(context_, {1}, &event, PH_FOREVER), PH_ERR_STATE) << "at once";
  EXPECT_EQ(ph_mailbox_put_u64(context_, 1, 7, 0, {&one_, 8}), PH_ERR_RANK);
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(MailboxApi, a_rank_may_send_to_itself) {
  const ph_mailbox box = opened();
  ASSERT_EQ(ph_mailbox_post(context_, box, &post_), PH_OK);
  ph_mailbox_event event{};
  event.cookie = 77;
  EXPECT_EQ(ph_mailbox_take(context_, box, &event), PH_AGAIN);
  EXPECT_EQ(ph_mailbox_wait(context_, box, &event, 0), PH_TIMEOUT);
  EXPECT_EQ(event.cookie, 77u) << "unchanged";
  for (std::uint64_t i = 0; i < 4; ++i) {
    const std::uint64_t word = 10 + i;
    ASSERT_EQ(ph_mailbox_put_u64(context_, 0, 7, 8 * i, {&word, sizeof word}), PH_OK);
  }
  ASSERT_EQ(ph_mailbox_wait(context_, {}, &event, PH_FOREVER), PH_OK);
  EXPECT_EQ(event.box.bits, box.bits);
  EXPECT_EQ(event.operations, 4u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(words_[i], 10 + i);
  EXPECT_EQ(ph_mailbox_take(context_, box, &event), PH_AGAIN) << "taken once";
  EXPECT_EQ(ph_finalize(context_), PH_OK) << "with a mailbox that is open";
}

TEST_F(MailboxApi, another_context_has_mailboxes_of_its_own) {
  ph_context* other = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &other, nullptr), PH_OK);
  const ph_mailbox box = opened();
  EXPECT_EQ(ph_mailbox_post(other, box, &post_), PH_ERR_STATE);
  ph_mailbox theirs{};
  EXPECT_EQ(ph_mailbox_open(other, &open_, &theirs), PH_OK) << "the same address";
  EXPECT_EQ(ph_finalize(other), PH_OK);
  ph_context_destroy(other);
  EXPECT_EQ(ph_mailbox_close(context_, box), PH_OK);
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

}  // namespace
}  // namespace photon
