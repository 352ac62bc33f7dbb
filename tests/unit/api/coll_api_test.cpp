// What only the interface of collectives checks, and all of it for a rank alone.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <string>
#include <vector>

namespace photon {
namespace {

class CollApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_team_world(context_, &team_), PH_OK);
    args_.size = sizeof args_;
    args_.kind = PH_COLL_ALLREDUCE;
    args_.in = &in_;
    args_.out = &out_;
    args_.count = 1;
    args_.type = PH_INT64;
    args_.op = PH_OP_ADD;
  }
  void TearDown() override { ph_context_destroy(context_); }
  std::string words() const {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }

  ph_context* context_ = nullptr;
  ph_team* team_ = nullptr;
  std::int64_t in_ = 17;
  std::int64_t out_ = 0;
  ph_coll_args args_{};
};

TEST_F(CollApi, runs_begins_and_starts_for_a_member_alone) {
  ASSERT_EQ(ph_coll_run(team_, &args_, PH_FOREVER), PH_OK) << words();
  EXPECT_EQ(out_, 17);
  in_ = 18;
  const std::uint64_t name = 4711;
  args_.local = {&name, sizeof name};
  ASSERT_EQ(ph_coll_begin(team_, &args_), PH_OK) << words();
  ph_completion completion{};
  std::size_t count = 0;
  ASSERT_EQ(ph_probe(context_, {0, PH_LOCAL, nullptr}, &completion, 1, &count), PH_OK);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(completion.id, name);
  EXPECT_EQ(completion.peer, 0u);
  EXPECT_EQ(out_, 18);
  ph_request request = PH_REQUEST_NONE;
  args_.local = {};
  args_.request = &request;
  ph_coll* coll = nullptr;
  ASSERT_EQ(ph_coll_prepare(team_, &args_, &coll), PH_OK) << words();
  for (in_ = 20; in_ < 30; ++in_) {
    ASSERT_EQ(ph_coll_start(coll), PH_OK) << words();
    ASSERT_EQ(ph_wait_request(context_, &request, nullptr, PH_FOREVER), PH_OK);
    EXPECT_EQ(out_, in_);
  }
  EXPECT_EQ(ph_coll_free(coll), PH_OK);
  EXPECT_EQ(ph_coll_free(coll), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_coll_start(coll), PH_ERR_ARGUMENT);
}

TEST_F(CollApi, refuses_what_makes_no_sense_and_says_what) {
  EXPECT_EQ(ph_coll_begin(nullptr, &args_), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_coll_begin(team_, nullptr), PH_ERR_ARGUMENT);
  args_.size = 8;
  EXPECT_EQ(ph_coll_begin(team_, &args_), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("args->size"), std::string::npos) << words();
  args_.size = sizeof args_;
  EXPECT_EQ(ph_coll_run(team_, &args_, 1000), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("args->request"), std::string::npos) << words();
  args_.handler = [](void*, ph_status) {};
  EXPECT_EQ(ph_coll_run(team_, &args_, PH_FOREVER), PH_ERR_ARGUMENT);
  args_.handler = nullptr;
  EXPECT_EQ(ph_coll_prepare(team_, &args_, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_coll_start(nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_coll_free(nullptr), PH_OK);
  args_.root = 9;
  args_.kind = PH_COLL_BCAST;
  EXPECT_EQ(ph_coll_begin(team_, &args_), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("root"), std::string::npos) << words();
  args_.root = 0;
  EXPECT_EQ(ph_coll_run(team_, &args_, PH_FOREVER), PH_OK) << words();
}

TEST_F(CollApi, is_refused_after_the_end_of_the_context) {
  ph_coll* coll = nullptr;
  ASSERT_EQ(ph_coll_prepare(team_, &args_, &coll), PH_OK);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_EQ(ph_coll_begin(team_, &args_), PH_ERR_STATE);
  EXPECT_EQ(ph_coll_run(team_, &args_, PH_FOREVER), PH_ERR_STATE);
  EXPECT_EQ(ph_coll_start(coll), PH_ERR_STATE);
  EXPECT_EQ(ph_coll_free(coll), PH_ERR_STATE);
}

}  // namespace
}  // namespace photon
