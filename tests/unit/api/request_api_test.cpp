// What only the interface of requests checks, and that it hands on what the engine says.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

namespace photon {
namespace {

class RequestApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_register(context_, memory_, sizeof memory_, PH_ACCESS_ALL, &region_), PH_OK);
  }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  // A put to ourselves of more than a call copies.
  ph_request start() {
    ph_put_args args{};
    args.size = sizeof args;
    args.source = source_.data();
    args.size_bytes = source_.size();
    args.target = ph_at(&region_, 0);
    args.flags = PH_NO_RCE;
    ph_request request = PH_REQUEST_NONE;
    args.request = &request;
    EXPECT_EQ(ph_put(context_, 0, &args), PH_OK);
    return request;
  }

  static constexpr std::size_t kBytes = std::size_t{1} << 20;
  ph_context* context_ = nullptr;
  std::vector<char> source_ = std::vector<char>(kBytes, 'x');
  char memory_[kBytes] = {};
  ph_region region_{};
};

TEST_F(RequestApi, null_places_are_refused_and_a_null_result_is_none) {
  ph_request request = start();
  ph_result result{};
  std::size_t done = 7;
  EXPECT_EQ(ph_test(context_, nullptr, &result), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_request(context_, nullptr, &result, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_any(context_, {&request, 1}, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_any(context_, {nullptr, 1}, &result, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_some(context_, {&request, 1}, nullptr, &done, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(done, 0u);
  EXPECT_EQ(ph_wait_some(context_, {&request, 1}, &result, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_cancel(context_, &request, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_cancel(context_, nullptr, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_request(context_, &request, nullptr, PH_FOREVER), PH_OK);
  EXPECT_EQ(request, PH_REQUEST_NONE);
  EXPECT_EQ(ph_test(nullptr, &request, nullptr), PH_ERR_STATE);
}

TEST_F(RequestApi, an_empty_list_holds_nothing_to_wait_for) {
  ph_result result{};
  std::size_t done = 7;
  EXPECT_EQ(ph_wait_any(context_, {nullptr, 0}, &result, PH_FOREVER), PH_ERR_NOT_FOUND);
  EXPECT_EQ(result.index, 0u);
  EXPECT_EQ(ph_wait_some(context_, {nullptr, 0}, nullptr, &done, PH_FOREVER), PH_ERR_NOT_FOUND);
  EXPECT_EQ(done, 0u);
}

TEST_F(RequestApi, any_gives_one_and_some_gives_the_rest) {
  std::vector<ph_request> requests;
  for (int i = 0; i < 4; ++i) requests.push_back(start());
  ph_result first{};
  ASSERT_EQ(ph_wait_any(context_, {requests.data(), 4}, &first, PH_FOREVER), PH_OK);
  EXPECT_EQ(requests[first.index], PH_REQUEST_NONE);
  EXPECT_EQ(first.size_bytes, kBytes);
  ph_result results[4];
  std::size_t taken = 1;
  while (taken < 4) {
    std::size_t done = 0;
    ASSERT_EQ(ph_wait_some(context_, {requests.data(), 4}, results, &done, PH_FOREVER), PH_OK);
    ASSERT_GT(done, 0u);
    taken += done;
  }
  EXPECT_EQ(taken, 4u);
  EXPECT_EQ(std::vector<ph_request>(4, PH_REQUEST_NONE), requests);
  EXPECT_EQ(memory_[kBytes - 1], 'x');
}

TEST_F(RequestApi, an_argument_struct_of_another_size_is_refused) {
  ph_put_args args{};
  args.size = sizeof args - sizeof(void*);  // as it was before it had a place for a request
  EXPECT_EQ(ph_put(context_, 0, &args), PH_ERR_ARGUMENT);
}

}  // namespace
}  // namespace photon
