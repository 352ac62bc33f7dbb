#include "transport/ofi/ofi_receives.hpp"

#include <gtest/gtest.h>

#include <set>
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
  std::unique_ptr<Receives> receives_ = std::move(*Receives::make(fabric_, 2, 0, 4096));
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

// A large memory of which little is used costs little.
class ManyReceives : public testing::Test {
 protected:
  void post() {
    while (receives_->is_short()) ASSERT_TRUE(receives_->post());
  }
  void come(std::size_t count) { come(count, fabric_); }
  void come(std::size_t count, FakeFabric& fabric) {
    for (std::size_t i = 0; i < count; ++i)
      FakeFabric::deliver(fabric.number(), std::as_bytes(std::span("a message")));
    Completion completions[kReceives + kSpareReceives];
    std::size_t found = 0;
    for (std::size_t all = 0; all < count; all += found) {
      ASSERT_EQ(fabric.read(completions, found), Fabric::Got::some);
      for (std::size_t i = 0; i < found; ++i)
        receives_->arrived(*completions[i].operation, completions[i].size_bytes);
    }
  }
  void take_all() {
    for (; receives_->has_arrived(); receives_->taken()) places_.insert(receives_->next().data());
  }

  FakeFabric fabric_{{}, {.receives_count = kReceives + kSpareReceives}};
  std::unique_ptr<Receives> receives_ = std::move(*Receives::make(fabric_, kReceives, 0, 4096));
  std::set<const std::byte*> places_;
};

TEST_F(ManyReceives, use_few_buffers_for_messages_that_come_one_by_one) {
  for (int i = 0; i < 1000; ++i) {
    post();
    come(1);
    take_all();
  }
  EXPECT_EQ(receives_->wanted(), kFewReceives);
  EXPECT_LE(places_.size(), kFewReceives + 1);
}

TEST_F(ManyReceives, are_twice_as_many_when_more_than_half_have_come_at_once_and_no_more_than_all) {
  for (std::size_t wanted = kFewReceives; wanted < kReceives; wanted *= 2) {
    post();
    come(wanted / 2);
    EXPECT_EQ(receives_->wanted(), wanted);
    come(1);
    EXPECT_EQ(receives_->wanted(), 2 * wanted);
    take_all();
  }
  post();
  come(kReceives);
  EXPECT_EQ(receives_->wanted(), kReceives);
  EXPECT_FALSE(receives_->is_short()) << "there is none left";
  take_all();
  EXPECT_TRUE(receives_->is_short());
}

TEST_F(ManyReceives, are_more_by_a_few_for_each_endpoint_more_and_no_more_than_there_are) {
  receives_ = std::move(*Receives::make(fabric_, kReceives, kSpareReceives, 4096));
  for (std::size_t endpoints = 1; endpoints < kMostEndpoints; ++endpoints) {
    receives_->widen();
    EXPECT_EQ(receives_->wanted(), (1 + endpoints) * kFewReceives);
  }
  receives_ = nullptr;
}

// Of what all have, one can bring no more than its part.
TEST_F(ManyReceives, are_twice_as_many_when_more_than_half_of_an_endpoints_have_come) {
  FakeFabric two{{}, {.receives_count = kReceives + kSpareReceives}};
  ASSERT_TRUE(two.open_endpoint());
  receives_ = std::move(*Receives::make(two, kReceives, kSpareReceives, 4096));
  receives_->widen();
  for (std::size_t wanted = 2 * kFewReceives; wanted < kReceives; wanted *= 2) {
    post();
    come(wanted / 4 + 1, two);
    EXPECT_EQ(receives_->wanted(), 2 * wanted);
    take_all();
  }
  receives_ = nullptr;
}

TEST_F(ManyReceives, of_which_one_was_spoiled_is_posted_again) {
  post();
  FakeFabric::deliver(fabric_.number(), std::as_bytes(std::span("spoiled")));
  Completion completion[1];
  std::size_t count = 0;
  ASSERT_EQ(fabric_.read(completion, count), Fabric::Got::some);
  EXPECT_FALSE(receives_->is_short());
  receives_->spoiled(*completion[0].operation);
  EXPECT_TRUE(receives_->is_short());
  post();
  EXPECT_FALSE(receives_->has_arrived());
}

}  // namespace
}  // namespace photon::transport::ofi
