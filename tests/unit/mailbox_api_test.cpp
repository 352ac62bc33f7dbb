// What only the interface of mailboxes checks, and all of it between a rank and itself.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>

namespace photon {
namespace {

class MailboxApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override { ph_context_destroy(context_); }
  ph_context* context_ = nullptr;
};

TEST_F(MailboxApi, is_refused_without_a_context_and_after_its_end) {
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.source = PH_ANY_RANK;
  ph_mailbox box{};
  ph_mailbox_event event{};
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  std::size_t count = 0;
  EXPECT_EQ(ph_mailbox_open(nullptr, &args, &box), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_take(nullptr, box, &event), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_wait(nullptr, box, &event, 0), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_close(nullptr, box), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_put_u64(nullptr, 0, 1, 0, {nullptr, 0}), PH_ERR_STATE);
  ASSERT_EQ(ph_mailbox_open(context_, &args, &box), PH_OK);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_EQ(ph_mailbox_open(context_, &args, &box), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_inc_epoch(context_, box), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_epoch(context_, box, &epoch, &incarnation), PH_ERR_STATE);
  EXPECT_EQ(ph_mailbox_retained(context_, box, nullptr, 0, &count), PH_ERR_STATE);
}

TEST_F(MailboxApi, null_and_wrong_sizes_are_arguments_that_cannot_be) {
  ph_mailbox_args args{};
  args.source = PH_ANY_RANK;
  ph_mailbox box{};
  ph_mailbox_buffer buffer{};
  ph_mailbox_put_args put{};
  std::uint64_t epoch = 0;
  EXPECT_EQ(ph_mailbox_open(context_, nullptr, &box), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_open(context_, &args, &box), PH_ERR_ARGUMENT) << "its size is 0";
  args.size = sizeof args;
  EXPECT_EQ(ph_mailbox_open(context_, &args, nullptr), PH_ERR_ARGUMENT);
  ASSERT_EQ(ph_mailbox_open(context_, &args, &box), PH_OK);
  EXPECT_EQ(ph_mailbox_post(context_, box, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_post(context_, box, &buffer), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_put(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_append(context_, 0, &put), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_take(context_, box, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_wait(context_, box, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_epoch(context_, box, &epoch, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_retained(context_, box, nullptr, 1, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_mailbox_put_u64(context_, 0, 1, 0, {nullptr, 8}), PH_ERR_ARGUMENT);
}

TEST_F(MailboxApi, waits_as_long_as_it_is_told_to) {
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.source = PH_ANY_RANK;
  args.address = 3;
  ph_mailbox box{};
  ASSERT_EQ(ph_mailbox_open(context_, &args, &box), PH_OK);
  ph_mailbox_event event{};
  EXPECT_EQ(ph_mailbox_take(context_, box, &event), PH_AGAIN);
  EXPECT_EQ(ph_mailbox_inc_epoch(context_, box), PH_AGAIN);
  EXPECT_EQ(ph_mailbox_wait(context_, box, &event, 100), PH_TIMEOUT);
  std::uint64_t value = 0;
  const std::uint64_t sent = 99;
  const ph_mailbox_buffer buffer{sizeof buffer, &value, sizeof value, 0, nullptr, 0};
  ASSERT_EQ(ph_mailbox_post(context_, box, &buffer), PH_OK);
  ASSERT_EQ(ph_mailbox_put_u64(context_, 0, 3, 0, {&sent, sizeof sent}), PH_OK);
  ASSERT_EQ(ph_mailbox_wait(context_, {}, &event, PH_FOREVER), PH_OK);
  EXPECT_EQ(event.address, 3u);
  EXPECT_EQ(value, sent);
}

}  // namespace
}  // namespace photon
