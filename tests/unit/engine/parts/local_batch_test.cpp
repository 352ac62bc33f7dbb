#include "engine/parts/local_batch.hpp"

#include <gtest/gtest.h>
#include <photon/photon.h>

#include <memory>

namespace photon::engine {
namespace {

class LocalBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t id = 0; id < 10; ++id) peer_->local.push({id, 8, PH_OK});
  }

  const std::unique_ptr<Peer> peer_ = std::make_unique<Peer>();
  LocalBatch batch_;
};

TEST_F(LocalBatchTest, none_has_begun) {
  EXPECT_EQ(batch_.next(), nullptr);
  EXPECT_EQ(batch_.left(), 0u);
  EXPECT_EQ(batch_.taken(), 0);
  EXPECT_EQ(batch_.end(), 0);
}

TEST_F(LocalBatchTest, it_hands_out_so_many_and_tells_of_each_once) {
  peer_->local.pop();
  batch_.begin(*peer_, 4);
  for (std::uint64_t taken = 0; taken < 4; ++taken) {
    EXPECT_EQ(batch_.left(), 4 - taken);
    ASSERT_EQ(batch_.next(), peer_.get());
    peer_->local.pop();
    if (taken != 1) continue;
    EXPECT_EQ(batch_.taken(), 2);
  }
  EXPECT_EQ(batch_.next(), nullptr);
  EXPECT_EQ(batch_.left(), 0u);
  EXPECT_EQ(batch_.end(), 2);
  EXPECT_EQ(batch_.end(), 0);
}

TEST_F(LocalBatchTest, an_end_before_the_last_leaves_the_rest) {
  batch_.begin(*peer_, 9);
  peer_->local.pop();
  EXPECT_EQ(batch_.end(), 1);
  EXPECT_EQ(batch_.next(), nullptr);
  peer_->local.pop();  // by somebody else
  EXPECT_EQ(batch_.taken(), 0);
  batch_.begin(*peer_, 1);
  EXPECT_EQ(batch_.next(), peer_.get());
}

TEST_F(LocalBatchTest, what_is_pushed_meanwhile_is_not_part_of_it) {
  batch_.begin(*peer_, 9);
  for (std::uint64_t id = 10; id < 100; ++id) peer_->local.push({id, 8, PH_OK});
  for (int taken = 0; taken < 9; ++taken) {
    ASSERT_NE(batch_.next(), nullptr);
    peer_->local.pop();
  }
  EXPECT_EQ(batch_.next(), nullptr);
}

// Events that a run has handed out are free again when they are needed.
TEST(LocalBatchEvents, as_many_may_be_posted_as_were_taken) {
  const ph_option few = {"requests", "16"};
  const ph_config config = {sizeof config, nullptr, &few, 1};
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(&config, &context, nullptr), PH_OK);
  const auto post = [&] { return ph_put_u64(context, 0, {nullptr, 0}, {}, {1, 2}); };
  const auto drop_remotes = [&] {
    while (ph_probe_u64(context, 0, PH_REMOTE).kind != 0) continue;
  };
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(post(), PH_OK) << i;
    drop_remotes();
  }
  EXPECT_EQ(post(), PH_AGAIN);
  int at_hand = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 6; ++i) {
      std::uint64_t id = 0;
      if (ph_take_local_u64(context, 0, &id) != 0)
        ++at_hand;
      else
        ASSERT_EQ(ph_probe_u64(context, 0, PH_LOCAL).kind, PH_LOCAL);
    }
    for (int i = 0; i < 6; ++i) {
      ASSERT_EQ(post(), PH_OK) << "round " << round << ", put " << i;
      drop_remotes();
    }
    ASSERT_EQ(post(), PH_AGAIN) << round;
  }
  if (sync::register_heavy_barrier()) {  // else no thread has the bias
    EXPECT_GT(at_hand, 60) << "half of those taken";
  }
  EXPECT_EQ(ph_finalize(context), PH_OK);
  ph_context_destroy(context);
}

}  // namespace
}  // namespace photon::engine
