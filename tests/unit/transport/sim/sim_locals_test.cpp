// What a simulated NIC knows of its rank's memory, and how it stops who relies on more.
#include "transport/sim/sim_locals.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::transport::sim {
namespace {

struct Nic {
  explicit Nic(std::uint64_t most = 100, std::uint64_t refused_percent = 0)
      : network(1, {.profile = base::SimProfile::srd,
                    .locals_max = most,
                    .locals_refused_percent = refused_percent}),
        locals(network, 0),
        memory(1000) {}

  std::span<const std::byte> part(std::size_t begin, std::size_t bytes) const {
    return std::span(memory).subspan(begin, bytes);
  }
  PostedFragment fragment(std::uint64_t handle, std::size_t begin, std::size_t bytes,
                          bool is_write) {
    PostedFragment one;
    one.size_bytes = bytes;
    one.local = handle;
    if (is_write)
      one.source = memory.data() + begin;
    else
      one.destination = memory.data() + begin;
    return one;
  }

  SimNetwork network;
  SimLocals locals;
  std::vector<std::byte> memory;
};

TEST(SimLocals, a_fragment_may_lie_anywhere_in_the_registration_it_names) {
  Nic nic;
  const auto read = *nic.locals.add(nic.part(100, 200), false);
  const auto written = *nic.locals.add(nic.part(100, 200), true);
  EXPECT_NE(read, 0u);
  EXPECT_NE(read, written) << "each has a handle of its own";
  for (const auto& fragment :
       {nic.fragment(read, 100, 200, true), nic.fragment(written, 100, 1, true),
        nic.fragment(written, 299, 1, false)}) {
    nic.locals.begin(fragment);
    nic.locals.end(fragment);
  }
  nic.locals.remove(read);
  nic.locals.remove(written);
  EXPECT_EQ(nic.locals.count(), 0u);
}

TEST(SimLocals, what_leaves_its_registration_is_stopped_with_words) {
  Nic nic;
  const auto read = *nic.locals.add(nic.part(100, 200), false);
  EXPECT_DEATH(nic.locals.begin(nic.fragment(0, 100, 1, true)), "names no registration");
  EXPECT_DEATH(nic.locals.begin(nic.fragment(read + 1, 100, 1, true)), "names no registration");
  EXPECT_DEATH(nic.locals.begin(nic.fragment(read, 99, 2, true)), "leaves the registration");
  EXPECT_DEATH(nic.locals.begin(nic.fragment(read, 299, 2, true)), "leaves the registration");
  EXPECT_DEATH(nic.locals.begin(nic.fragment(read, 100, 1, false)), "registered for reading");
}

TEST(SimLocals, what_is_in_use_or_unknown_cannot_be_given_back) {
  Nic nic;
  const auto read = *nic.locals.add(nic.part(0, 1000), false);
  EXPECT_DEATH(nic.locals.remove(read + 1), "not registered");
  const auto fragment = nic.fragment(read, 0, 10, true);
  nic.locals.begin(fragment);
  EXPECT_DEATH(nic.locals.remove(read), "under way");
  nic.locals.end(fragment);
  nic.locals.remove(read);
  EXPECT_DEATH(nic.locals.remove(read), "not registered");
}

TEST(SimLocals, a_full_nic_has_room_again_when_one_was_given_back) {
  Nic nic(2);
  const auto first = *nic.locals.add(nic.part(0, 10), false);
  ASSERT_TRUE(nic.locals.add(nic.part(0, 10), false));
  const auto third = nic.locals.add(nic.part(0, 10), false);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().status, PH_ERR_MEMORY);
  nic.locals.remove(first);
  EXPECT_TRUE(nic.locals.add(nic.part(0, 10), false));
}

TEST(SimLocals, the_system_refuses_as_many_as_the_settings_say) {
  Nic nic(10'000, 30);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) refused += nic.locals.add(nic.part(0, 10), false) ? 0 : 1;
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 400);
}

}  // namespace
}  // namespace photon::transport::sim
