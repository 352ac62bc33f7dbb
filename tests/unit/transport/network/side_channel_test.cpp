#include "transport/network/side_channel.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "memory_boot.hpp"

namespace photon::transport::network {
namespace {

constexpr std::int64_t kBeginNs = 1'000'000'000;  // long after any question
constexpr std::int64_t kUs = 1'000;

class CarriedSideChannel : public testing::Test {
 protected:
  void tell(unsigned count) {
    const std::byte word[1] = {std::byte{7}};
    for (unsigned i = 0; i < count; ++i) ASSERT_TRUE(*other_->send(0, word, {}));
  }
  unsigned look() {
    channel_.begin_look();
    unsigned count = 0;
    for (;; ++count) {
      const auto received = channel_.next();
      if (!received || !*received) return count;
    }
  }

  photon::test::MemoryJob job_{2};
  std::unique_ptr<boot::Boot> boot_ = job_.boot(0);
  std::unique_ptr<boot::Boot> other_ = job_.boot(1);
  SideChannel channel_{*boot_};
};

TEST_F(CarriedSideChannel, is_looked_at_by_the_clock_and_at_once_for_a_reason) {
  EXPECT_TRUE(channel_.is_due(kBeginNs));
  EXPECT_FALSE(channel_.is_due(kBeginNs));
  EXPECT_FALSE(channel_.is_due(kBeginNs + 49 * kUs));
  EXPECT_TRUE(channel_.is_due(kBeginNs + 50 * kUs));
  EXPECT_FALSE(channel_.is_due(kBeginNs + 249 * kUs, 4));
  EXPECT_TRUE(channel_.is_due(kBeginNs + 250 * kUs, 4));
  channel_.look_soon();
  EXPECT_TRUE(channel_.is_due(kBeginNs + 251 * kUs));
  EXPECT_EQ(look(), 0u);
  EXPECT_FALSE(channel_.is_due(kBeginNs + 251 * kUs));
}

TEST_F(CarriedSideChannel, is_looked_at_more_often_for_a_while_after_a_question) {
  const std::byte word[1] = {std::byte{7}};
  ASSERT_TRUE(*channel_.send(1, word));
  channel_.asked(kBeginNs);
  EXPECT_TRUE(channel_.is_due(kBeginNs));  // for what was sent
  EXPECT_EQ(look(), 0u);
  EXPECT_FALSE(channel_.is_due(kBeginNs + 4 * kUs));
  EXPECT_TRUE(channel_.is_due(kBeginNs + 5 * kUs));
  const std::int64_t later_ns = kBeginNs + 20'000 * kUs;
  EXPECT_TRUE(channel_.is_due(later_ns));
  EXPECT_FALSE(channel_.is_due(later_ns + 49 * kUs));
}

TEST_F(CarriedSideChannel, a_look_takes_so_many_messages_and_another_follows) {
  tell(65);
  ASSERT_TRUE(channel_.is_due(kBeginNs));
  EXPECT_EQ(look(), 64u);
  EXPECT_TRUE(channel_.is_due(kBeginNs));
  EXPECT_EQ(look(), 1u);
  EXPECT_FALSE(channel_.is_due(kBeginNs));
}

TEST_F(CarriedSideChannel, whose_descriptor_wakes_for_nothing_is_left_out_of_a_sleep) {
  const int fd = job_.poll_fd(0);
  for (int i = 0; i < 15; ++i) channel_.slept();
  EXPECT_EQ(channel_.sleep_on(-1).fd, fd);
  EXPECT_EQ(channel_.sleep_on(-1).limit_us, -1);
  channel_.slept();
  const auto without = channel_.sleep_on(-1);
  EXPECT_EQ(without.fd, -1);
  EXPECT_EQ(without.limit_us, 10'000);
  EXPECT_EQ(channel_.sleep_on(-1).fd, fd);  // the next one waits for it
  for (int i = 0; i < 8; ++i) channel_.slept();
  const auto short_without = channel_.sleep_on(300);
  EXPECT_EQ(short_without.fd, -1);
  EXPECT_EQ(short_without.limit_us, 300);
  for (int i = 0; i < 8; ++i) channel_.slept();
  tell(1);
  EXPECT_EQ(look(), 1u);
  EXPECT_EQ(channel_.sleep_on(-1).fd, fd);  // a message counts
}

// One whose end has come.
class BrokenBoot final : public boot::Boot {
 public:
  boot::Rank rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  const boot::Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return 1; }
  base::Result<bool> send(boot::Rank, std::span<const std::byte>, std::span<const int>) override {
    return false;
  }
  base::Result<std::optional<boot::Message>> receive() override {
    return base::Error{PH_ERR_BOOTSTRAP, 0, "it has ended"};
  }
  bool idle() const override { return true; }
  int poll_fd() const override { return 3; }
  base::Result<> allgather(std::span<const std::byte>, std::span<std::byte>,
                           const boot::Serve&) override {
    return {};
  }
  base::Result<> barrier(const boot::Serve&) override { return {}; }

 private:
  const boot::Secret secret_{};
};

TEST(CarriedSideChannelBroken, is_neither_looked_at_nor_waited_for) {
  BrokenBoot boot;
  SideChannel channel(boot);
  ASSERT_TRUE(channel.is_due(kBeginNs));
  channel.begin_look();
  const auto received = channel.next();
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().what, "it has ended");
  EXPECT_TRUE(channel.is_broken());
  channel.look_soon();
  EXPECT_FALSE(channel.is_due(2 * kBeginNs));
  for (int i = 0; i < 100; ++i) channel.slept();
  EXPECT_EQ(channel.sleep_on(-1).fd, -1);
  EXPECT_EQ(channel.sleep_on(-1).limit_us, -1);
}

}  // namespace
}  // namespace photon::transport::network
