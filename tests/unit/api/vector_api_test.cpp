// What only the interface of vectored operations checks, and each call once, within one rank.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstring>
#include <string>

namespace photon {
namespace {

class VectorApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_register(context_, there_, sizeof there_, PH_ACCESS_ALL, &region_), PH_OK);
    for (int i = 0; i < 64; ++i) own_[i] = static_cast<char>(i + 1);
  }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  template <class Args>
  Args args() {
    Args args{};
    args.size = sizeof args;
    args.flags = PH_NO_RCE;
    args.request = &request_;
    return args;
  }
  void finish() { EXPECT_EQ(ph_wait_request(context_, &request_, nullptr, PH_FOREVER), PH_OK); }
  std::string words() {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }
  // Null, or of another size, is refused.
  template <class Args>
  void check_size(ph_status (*call)(ph_context*, ph_rank, const Args*), const char* name) {
    EXPECT_EQ(call(context_, 0, nullptr), PH_ERR_ARGUMENT);
    EXPECT_NE(words().find(name), std::string::npos) << words();
    Args shorter{};
    shorter.size = sizeof shorter - 8;
    EXPECT_EQ(call(context_, 0, &shorter), PH_ERR_ARGUMENT);
    EXPECT_EQ(call(nullptr, 0, &shorter), PH_ERR_STATE);
  }

  ph_context* context_ = nullptr;
  ph_region region_{};
  ph_request request_ = PH_REQUEST_NONE;
  char own_[64] = {};
  char there_[64] = {};
};

TEST_F(VectorApi, arguments_of_another_size_are_refused_by_name) {
  check_size(&ph_put_vector, "ph_put_vector_args");
  check_size(&ph_get_vector, "ph_get_vector_args");
  check_size(&ph_put_strided, "ph_put_strided_args");
  check_size(&ph_get_strided, "ph_get_strided_args");
}

TEST_F(VectorApi, more_dimensions_than_there_are_places_are_refused) {
  auto put = args<ph_put_strided_args>();
  put.dimensions_count = PH_MAX_DIMENSIONS + 1;
  EXPECT_EQ(ph_put_strided(context_, 0, &put), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("9 dimensions"), std::string::npos) << words();
  auto get = args<ph_get_strided_args>();
  get.dimensions_count = static_cast<size_t>(-1);
  EXPECT_EQ(ph_get_strided(context_, 0, &get), PH_ERR_ARGUMENT);
}

TEST_F(VectorApi, lists_are_copied_at_the_call) {
  ph_put_segment puts[] = {{own_, 3, ph_at(&region_, 10)}, {own_ + 20, 5, ph_at(&region_, 40)}};
  auto put = args<ph_put_vector_args>();
  put.segments = puts;
  put.segments_count = 2;
  ASSERT_EQ(ph_put_vector(context_, 0, &put), PH_OK);
  std::memset(puts, 0xee, sizeof puts);
  finish();
  EXPECT_EQ(std::memcmp(there_ + 10, own_, 3), 0);
  EXPECT_EQ(std::memcmp(there_ + 40, own_ + 20, 5), 0);
  EXPECT_EQ(there_[13], 0);
  EXPECT_EQ(there_[39], 0);
  char back[8] = {};
  ph_get_segment gets[] = {{back + 3, 5, ph_at(&region_, 40)}, {back, 3, ph_at(&region_, 10)}};
  auto get = args<ph_get_vector_args>();
  get.segments = gets;
  get.segments_count = 2;
  ASSERT_EQ(ph_get_vector(context_, 0, &get), PH_OK);
  std::memset(gets, 0xee, sizeof gets);
  finish();
  EXPECT_EQ(std::memcmp(back, own_, 3), 0);
  EXPECT_EQ(std::memcmp(back + 3, own_ + 20, 5), 0);
}

TEST_F(VectorApi, a_matrix_is_transposed_on_the_way_there_and_back) {
  auto put = args<ph_put_strided_args>();
  put.source = own_;
  put.target = ph_at(&region_, 0);
  put.block_bytes = 1;
  put.dimensions_count = 2;
  put.dimensions[0] = {8, 1, 8};
  put.dimensions[1] = {8, 8, 1};
  ASSERT_EQ(ph_put_strided(context_, 0, &put), PH_OK);
  finish();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(there_[i % 8 * 8 + i / 8], own_[i]);
  char back[64] = {};
  auto get = args<ph_get_strided_args>();
  get.destination = back;
  get.source = ph_at(&region_, 0);
  get.block_bytes = 1;
  get.dimensions_count = 2;
  get.dimensions[0] = {8, 8, 1};
  get.dimensions[1] = {8, 1, 8};
  ASSERT_EQ(ph_get_strided(context_, 0, &get), PH_OK);
  finish();
  EXPECT_EQ(std::memcmp(back, own_, sizeof back), 0);
}

}  // namespace
}  // namespace photon
