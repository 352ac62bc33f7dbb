#include "transport/ofi/ofi_window.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fake_fabric.hpp"

namespace photon::transport::ofi {
namespace {

using photon::test::FakeFabric;
using photon::test::FakeManners;

class OfiWindow : public testing::Test {
 protected:
  void open(const FakeManners& manners) {
    fabric_ = std::make_unique<FakeFabric>(manners, FabricWants{.sends_count = 4});
    pool_ = std::make_unique<MessagePool>(*fabric_, 4096);
    window_ = std::move(*Window::make(*pool_, 1, 2));
  }
  Fabric::Taken send(std::size_t size_bytes) {
    EXPECT_FALSE(window_->room().empty());  // chooses the slot
    window_->built(size_bytes);
    return window_->send(*fabric_, {fabric_->number()});
  }
  void complete() {
    Completion completions[4];
    std::size_t count = 0;
    EXPECT_EQ(fabric_->read(completions, count), Fabric::Got::some);
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(window_->over(*completions[i].operation));
  }

  std::unique_ptr<FakeFabric> fabric_;
  std::unique_ptr<MessagePool> pool_;
  std::unique_ptr<Window> window_;
};

TEST_F(OfiWindow, has_room_until_all_slots_are_under_way) {
  open({});
  EXPECT_EQ(window_->room().size(), 4096u);
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  EXPECT_TRUE(window_->room().empty());
  complete();
  EXPECT_TRUE(window_->is_idle());
  EXPECT_FALSE(window_->room().empty());
}

// Each slot that is touched costs pages.
TEST_F(OfiWindow, uses_no_slot_that_it_can_do_without) {
  open({});
  const std::byte* first = window_->room().data();
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  const std::byte* second = window_->room().data();
  EXPECT_NE(second, first);
  complete();
  EXPECT_EQ(window_->room().data(), first);
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  EXPECT_EQ(window_->room().data(), second);
}

TEST_F(OfiWindow, counts_the_end_of_a_message_once) {
  open({});
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  Completion completions[4];
  std::size_t count = 0;
  EXPECT_EQ(fabric_->read(completions, count), Fabric::Got::some);
  ASSERT_EQ(count, 1u);
  EXPECT_TRUE(window_->over(*completions[0].operation));
  EXPECT_FALSE(window_->over(*completions[0].operation));
  EXPECT_TRUE(window_->is_idle());
}

TEST_F(OfiWindow, keeps_what_the_provider_does_not_take_and_builds_nothing_meanwhile) {
  open({});
  fabric_->stick(true);
  EXPECT_EQ(send(100), Fabric::Taken::full);
  EXPECT_TRUE(window_->is_waiting());
  EXPECT_TRUE(window_->room().empty());
  fabric_->stick(false);
  EXPECT_EQ(window_->send(*fabric_, {fabric_->number()}), Fabric::Taken::yes);
  EXPECT_FALSE(window_->is_waiting());
}

TEST_F(OfiWindow, what_is_not_sent_any_more_leaves_its_room_to_others) {
  open({});
  const auto other = std::move(*Window::make(*pool_, 2, 2));
  const std::byte* first = window_->room().data();
  fabric_->stick(true);
  EXPECT_EQ(send(100), Fabric::Taken::full);
  EXPECT_NE(other->room().data(), first);
  window_->forget_waiting();
  EXPECT_EQ(other->room().data(), first);
}

TEST_F(OfiWindow, a_peer_that_takes_nothing_uses_up_no_more_than_its_own) {
  open({});
  const auto other = std::move(*Window::make(*pool_, 2, 2));
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  EXPECT_EQ(send(100), Fabric::Taken::yes);
  EXPECT_TRUE(window_->room().empty());
  for (int i = 0; i < 2; ++i) {
    ASSERT_FALSE(other->room().empty());
    other->built(100);
    EXPECT_EQ(other->send(*fabric_, {fabric_->number()}), Fabric::Taken::yes);
  }
  EXPECT_TRUE(other->room().empty());
  fabric_->stop();
}

TEST_F(OfiWindow, what_is_over_at_once_takes_no_slot) {
  open({.inject_bytes = 200});
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(window_->room().empty());
    EXPECT_EQ(send(100), Fabric::Taken::over);
  }
  EXPECT_TRUE(window_->is_idle());
}

TEST_F(OfiWindow, shows_its_memory_where_that_is_asked_for) {
  open({.wants_memory_shown = true});
  EXPECT_EQ(send(100), Fabric::Taken::yes);  // the fabric looks at the handle
  complete();
}

}  // namespace
}  // namespace photon::transport::ofi
