// What only the interface of quiescence checks, and all of it of a rank alone.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <string>

namespace photon {
namespace {

class AmQuiesceApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override { ph_context_destroy(context_); }
  ph_context* context_ = nullptr;
};

TEST_F(AmQuiesceApi, is_refused_without_a_context_and_after_its_end) {
  ph_request request = PH_REQUEST_NONE;
  EXPECT_EQ(ph_am_quiesce(nullptr, 0), PH_ERR_STATE);
  EXPECT_EQ(ph_am_quiesce_begin(nullptr, &request), PH_ERR_STATE);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_EQ(ph_am_quiesce(context_, 0), PH_ERR_STATE);
  EXPECT_EQ(ph_am_quiesce_begin(context_, &request), PH_ERR_STATE);
}

TEST_F(AmQuiesceApi, refuses_a_request_that_is_null_with_words) {
  EXPECT_EQ(ph_am_quiesce_begin(context_, nullptr), PH_ERR_ARGUMENT);
  ph_error error{};
  ph_last_error(context_, &error);
  EXPECT_NE(std::string(error.text).find("request is null"), std::string::npos) << error.text;
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(AmQuiesceApi, ends_for_a_rank_alone_again_and_again) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ph_am_quiesce(context_, PH_FOREVER), PH_OK);
    ph_request request = PH_REQUEST_NONE;
    ASSERT_EQ(ph_am_quiesce_begin(context_, &request), PH_OK);
    ph_result result{};
    if (request != PH_REQUEST_NONE) {
      EXPECT_EQ(ph_wait_request(context_, &request, &result, PH_FOREVER), PH_OK);
    }
    EXPECT_EQ(result.status, PH_OK);
  }
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

// A request that nobody has waited for goes with the context.
TEST_F(AmQuiesceApi, leaves_with_one_under_way) {
  ph_request request = PH_REQUEST_NONE;
  ASSERT_EQ(ph_am_quiesce_begin(context_, &request), PH_OK);
  EXPECT_EQ(ph_finalize(context_), PH_OK);
}

}  // namespace
}  // namespace photon
