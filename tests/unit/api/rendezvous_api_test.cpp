// What only the interface of rendezvous checks, and all of it between a rank and itself.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstring>

namespace photon {
namespace {

class RendezvousApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    right_.size = sizeof right_;
    right_.kind = PH_RECV_BUFFER;
    right_.tag = 3;
    right_.buffer = words_;
    right_.size_bytes = sizeof words_;
    right_.flags = PH_NO_LCE;
  }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  template <class Change>
  ph_status announce(Change change) {
    ph_announce_args args = right_;
    change(args);
    return ph_announce(context_, 0, &args);
  }

  ph_context* context_ = nullptr;
  std::uint64_t words_[100] = {};
  ph_announce_args right_{};
};

TEST_F(RendezvousApi, what_is_wrong_is_refused_and_announces_nothing) {
  EXPECT_EQ(ph_announce(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_announce(nullptr, 0, &right_), PH_ERR_STATE);
  EXPECT_EQ(ph_announce(context_, 1, &right_), PH_ERR_RANK);
  EXPECT_EQ(announce([](auto& args) { args.size -= 8; }), PH_ERR_ARGUMENT);
  for (const int kind : {0, 4, -1, 1 << 30})
    EXPECT_EQ(announce([=](auto& args) { args.kind = static_cast<ph_buffer_kind>(kind); }),
              PH_ERR_ARGUMENT);
  EXPECT_EQ(announce([](auto& args) { args.tag = PH_ANY_TAG; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(announce([](auto& args) { args.buffer = nullptr; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(announce([](auto& args) { args.flags = PH_DELIVERED; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(announce([](auto& args) { args.local = {nullptr, 8}; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(announce([&](auto& args) { args.local = {words_, 9}; }), PH_ERR_ID_SIZE);
  for (const std::uint64_t size : {PH_ANY_SIZE, std::uint64_t{1} << 62, ~std::uint64_t{0} - 1}) {
    EXPECT_EQ(announce([=](auto& args) { args.size_bytes = size; }), PH_ERR_ARGUMENT) << size;
    EXPECT_EQ(announce([=](auto& args) {
                args.kind = PH_SEND_REQUEST;
                args.size_bytes = size;
              }),
              PH_ERR_ARGUMENT);
  }
  EXPECT_EQ(announce([](auto& args) {
              args.buffer = reinterpret_cast<void*>(~std::uint64_t{0} - 100);
              args.size_bytes = 1000;
            }),
            PH_ERR_ARGUMENT);
  ph_request request = 9;
  EXPECT_EQ(announce([&](auto& args) { args.request = &request; }), PH_ERR_ARGUMENT)
      << "and PH_NO_LCE";
  EXPECT_EQ(request, 9u);
  ph_buffer buffer{};
  for (const auto kind : {PH_RECV_BUFFER, PH_SEND_BUFFER, PH_SEND_REQUEST}) {
    const ph_match any{kind, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE};
    EXPECT_EQ(ph_test_buffer(context_, &any, &buffer), PH_AGAIN);
    EXPECT_EQ(ph_wait_buffer(context_, &any, &buffer, 0), PH_TIMEOUT);
  }
}

TEST_F(RendezvousApi, null_pointers_and_other_contexts_are_refused) {
  const ph_match match{PH_RECV_BUFFER, 0, 3, PH_ANY_SIZE};
  ph_buffer buffer{};
  EXPECT_EQ(ph_test_buffer(context_, nullptr, &buffer), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_test_buffer(context_, &match, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_buffer(context_, nullptr, &buffer, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_wait_buffer(context_, &match, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_test_buffer(nullptr, &match, &buffer), PH_ERR_STATE);
  const ph_match nobody{PH_RECV_BUFFER, 5, 3, PH_ANY_SIZE};
  EXPECT_EQ(ph_wait_buffer(context_, &nobody, &buffer, PH_FOREVER), PH_ERR_RANK);
  EXPECT_EQ(ph_finish(context_, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_finish(nullptr, &buffer), PH_ERR_STATE);
  EXPECT_EQ(ph_finish(context_, &buffer), PH_ERR_NOT_FOUND);
  ph_put_args put{};
  put.size = sizeof put;
  ph_get_args get{};
  get.size = sizeof get;
  EXPECT_EQ(ph_put_buffer(context_, nullptr, 0, &put), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_put_buffer(context_, &buffer, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_put_buffer(context_, &buffer, 0, &put), PH_ERR_NOT_FOUND);
  EXPECT_EQ(ph_get_buffer(context_, nullptr, 0, &get), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_get_buffer(context_, &buffer, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_get_buffer(context_, &buffer, 0, &get), PH_ERR_NOT_FOUND);
  ASSERT_EQ(ph_announce(context_, 0, &right_), PH_OK);
  ASSERT_EQ(ph_wait_buffer(context_, &match, &buffer, PH_FOREVER), PH_OK);
  ph_context* other = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &other, nullptr), PH_OK);
  ASSERT_EQ(ph_announce(other, 0, &right_), PH_OK);
  ph_buffer theirs{};
  ASSERT_EQ(ph_wait_buffer(other, &match, &theirs, PH_FOREVER), PH_OK);
  EXPECT_EQ(ph_finish(other, &buffer), PH_ERR_NOT_FOUND) << "of another context";
  EXPECT_EQ(ph_finish(context_, &theirs), PH_ERR_NOT_FOUND);
  EXPECT_EQ(ph_finalize(other), PH_OK);
  EXPECT_EQ(ph_finish(other, &theirs), PH_ERR_STATE);
  ph_context_destroy(other);
  EXPECT_EQ(ph_finish(context_, &buffer), PH_OK);
}

TEST_F(RendezvousApi, a_rank_may_lend_to_itself_and_hear_of_it_in_a_probe) {
  const std::uint64_t id = 77;
  ASSERT_EQ(announce([&](auto& args) {
              args.flags = 0;
              args.local = {&id, sizeof id};
            }),
            PH_OK);
  const ph_match match{PH_RECV_BUFFER, PH_ANY_RANK, 3, sizeof words_};
  ph_buffer buffer{};
  ASSERT_EQ(ph_wait_buffer(context_, &match, &buffer, PH_FOREVER), PH_OK);
  const std::uint64_t word = 5;
  ph_put_args put{};
  put.size = sizeof put;
  put.source = &word;
  put.size_bytes = sizeof word;
  put.flags = PH_NO_LCE | PH_NO_RCE;
  ASSERT_EQ(ph_put_buffer(context_, &buffer, 8 * 99, &put), PH_OK);
  ASSERT_EQ(ph_finish(context_, &buffer), PH_OK);
  ph_completion one{};
  std::size_t count = 0;
  while (count == 0) ASSERT_EQ(ph_probe(context_, {0, PH_LOCAL, nullptr}, &one, 1, &count), PH_OK);
  EXPECT_EQ(one.id, id);
  EXPECT_EQ(one.status, PH_OK);
  EXPECT_EQ(words_[99], 5u);
}

}  // namespace
}  // namespace photon
