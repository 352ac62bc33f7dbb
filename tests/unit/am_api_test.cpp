// What only the interface of active messages checks, and messages to oneself.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <string>

namespace photon {
namespace {

class AmApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  std::string words() const {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }
  static ph_status count(void* user, const ph_am_message* message, ph_am_landing*) {
    EXPECT_NE(message->context, nullptr);
    ++*static_cast<int*>(user);
    return PH_OK;
  }

  ph_context* context_ = nullptr;
  int handled_ = 0;
};

TEST_F(AmApi, what_is_null_or_of_another_size_is_refused_with_words) {
  EXPECT_EQ(ph_am_register(context_, 1, nullptr, nullptr), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("handler is null"), std::string::npos) << words();
  ph_am_args args{};
  EXPECT_EQ(ph_am_send(context_, 0, &args), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("sizeof(ph_am_args)"), std::string::npos) << words();
  EXPECT_EQ(ph_am_send(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_am_reply(nullptr, &args), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_am_poll(context_, 2), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("flags"), std::string::npos) << words();
}

TEST_F(AmApi, a_poll_says_whether_a_handler_ran) {
  EXPECT_EQ(ph_am_poll(context_, 0), PH_AGAIN);
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
  while (ph_am_poll(context_, 0) != PH_OK) ASSERT_EQ(handled_, 0);
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(ph_am_poll(context_, 0), PH_AGAIN);
}

TEST_F(AmApi, sending_runs_no_handler) {
  ASSERT_EQ(ph_am_register(context_, 1, count, &handled_), PH_OK);
  ph_am_args args{};
  args.size = sizeof args;
  args.id = 1;
  args.flags = PH_NO_LCE;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ph_am_send_small(context_, 0, 1, {}), PH_OK);
    ASSERT_EQ(ph_am_send(context_, 0, &args), PH_OK);
  }
  EXPECT_EQ(handled_, 0);
  while (handled_ < 200) static_cast<void>(ph_am_poll(context_, 0));
}

TEST_F(AmApi, a_finalized_context_takes_no_call) {
  ph_context* other = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &other, nullptr), PH_OK);
  ASSERT_EQ(ph_finalize(other), PH_OK);
  EXPECT_EQ(ph_am_register(other, 1, count, &handled_), PH_ERR_STATE);
  EXPECT_EQ(ph_am_unregister(other, 1), PH_ERR_STATE);
  EXPECT_EQ(ph_am_send_small(other, 0, 1, {}), PH_ERR_STATE);
  EXPECT_EQ(ph_am_poll(other, 0), PH_ERR_STATE);
  ph_context_destroy(other);
}

}  // namespace
}  // namespace photon
