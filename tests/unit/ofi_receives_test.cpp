#include "transport/ofi/ofi_receives.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fake_fabric.hpp"

namespace photon::transport::ofi {
namespace {

using photon::test::FakeFabric;

class OfiReceives : public testing::Test {
 protected:
  void say(const std::string& text) {
    FakeFabric::deliver(fabric_.number(), std::as_bytes(std::span(text)));
  }
  void look() {
    Completion completions[8];
    std::size_t count = 0;
    EXPECT_EQ(fabric_.read(completions, count), Fabric::Got::some);
    for (std::size_t i = 0; i < count; ++i)
      receives_->arrived(*completions[i].operation, completions[i].size_bytes);
  }
  std::string next() {
    const auto bytes = receives_->next();
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    receives_->taken();
    return text;
  }

  FakeFabric fabric_{{.refuses_every = 3}, {.receives_count = 2}};
  std::unique_ptr<Receives> receives_ = std::move(*Receives::make(fabric_, 2, 4096));
};

TEST_F(OfiReceives, hand_out_in_order_and_are_posted_again_when_the_provider_takes_them) {
  for (int round = 0; round < 10; ++round) {
    while (receives_->is_short()) ASSERT_TRUE(receives_->post());
    const std::string number = std::to_string(round);
    say("first " + number);
    say("second " + number);
    say("third " + number);
    look();
    EXPECT_EQ(receives_->arrived_count(), 2u);
    EXPECT_EQ(next(), "first " + number);
    EXPECT_EQ(next(), "second " + number);
    EXPECT_FALSE(receives_->has_arrived());
    while (receives_->is_short()) ASSERT_TRUE(receives_->post());
    look();
    EXPECT_EQ(next(), "third " + number);
  }
}

}  // namespace
}  // namespace photon::transport::ofi
