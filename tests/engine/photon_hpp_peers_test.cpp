// What photon.hpp has of peers as such: contact, state, mapped memory.
#include <gtest/gtest.h>

#include <photon/photon.hpp>
#include <utility>

namespace photon {
namespace {

TEST(PhotonHppPeers, a_peer_is_met_and_its_memory_mapped_until_the_object_goes) {
  Context context({.options = {{"transport", "shm"}}});
  EXPECT_EQ(context.peer_state(0), PH_PEER_UNKNOWN);
  context.contact(0);
  while (context.peer_state(0) != PH_PEER_CONNECTED) (void)context.probe_one();
  auto memory = context.allocate<int>(4);
  auto mapped = context.map<int>(0, memory.region());
  ASSERT_TRUE(mapped.has_value());
  EXPECT_EQ(mapped->size(), 4u);
  (*mapped)[3] = 7;
  EXPECT_EQ(memory[3], 7);
  Mapped<int> other = std::move(*mapped);
  EXPECT_EQ(other.span().back(), 7);
  const int* const place = memory.data();
  memory = {};  // freed, and held
  EXPECT_NE(context.allocate<int>(4).data(), place);
  other = {};
  mapped.reset();
  EXPECT_EQ(context.allocate<int>(4).data(), place);
  EXPECT_THROW((void)context.map<int>(1, {}), Error);
  EXPECT_THROW(context.contact(1), Error);
}

}  // namespace
}  // namespace photon
