#include "boot/single_boot.hpp"

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

std::unique_ptr<boot::Boot> alone() { return std::move(*boot::SingleBoot::open()); }

TEST(SingleBoot, is_rank_0_of_1) {
  const auto boot = alone();
  EXPECT_EQ(boot->rank(), 0u);
  EXPECT_EQ(boot->size(), 1u);
  EXPECT_EQ(boot->local_size(), 1u);
  EXPECT_NE(boot->secret(), boot::Secret{});
}

TEST(SingleBoot, sends_to_itself_and_is_readable_meanwhile) {
  const auto boot = alone();
  EXPECT_FALSE(is_readable(boot->poll_fd()));
  ASSERT_TRUE(*boot->send(0, as_bytes("hello"), {}));
  EXPECT_TRUE(is_readable(boot->poll_fd()));
  EXPECT_EQ(as_text(await_message(*boot)->bytes), "hello");
  EXPECT_FALSE(is_readable(boot->poll_fd()));
  EXPECT_FALSE(*boot->receive());
}

TEST(SingleBoot, gathers_its_own_bytes_and_serves_once) {
  const auto boot = alone();
  std::array<std::byte, 3> all{};
  int served = 0;
  ASSERT_TRUE(boot->allgather(as_bytes("abc"), all, [&] { ++served; }));
  EXPECT_EQ(as_text(all), "abc");
  ASSERT_TRUE(boot->barrier({}));
  EXPECT_EQ(served, 1);
}

TEST(SingleBoot, refuses_another_rank_and_a_result_of_the_wrong_size) {
  const auto boot = alone();
  EXPECT_EQ(boot->send(1, {}, {}).error().status, PH_ERR_RANK);
  std::array<std::byte, 2> all{};
  EXPECT_EQ(boot->allgather(as_bytes("abc"), all, {}).error().status, PH_ERR_ARGUMENT);
}

}  // namespace
}  // namespace photon::test
