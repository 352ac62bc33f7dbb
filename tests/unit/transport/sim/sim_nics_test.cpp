// The simulated network's NICs: parts, order by profile, seeds, faults. What every transport with
// NICs must do is in tests/conformance.
#include <gtest/gtest.h>
#include <photon/memory.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "transport/sim/sim_transport.hpp"

namespace photon::transport::sim {
namespace {

constexpr std::size_t kBytes = 4096;

// Rank 0 writes to and reads from rank 1's memory.
struct Net {
  explicit Net(base::SimProfile profile, std::uint64_t seed = 1, Fault fault = {})
      : network(2, {.seed = seed, .max_delay_ns = 5000, .profile = profile, .fault = fault}),
        regions(new RegionEntry[16]),
        memory(kBytes) {
    network.show_regions(1, regions, 16);
    regions[3].publish(kKey, {address(0), kBytes, PH_ACCESS_ALL});
  }
  static constexpr std::uint64_t kKey = 0x30 + 3;

  std::uint64_t address(std::size_t offset) {
    return reinterpret_cast<std::uintptr_t>(memory.data() + offset);
  }
  std::shared_ptr<Flight> write(std::size_t offset, const std::vector<std::byte>& source,
                                std::optional<std::uint32_t> imm = {}) {
    auto flight = std::make_shared<Flight>();
    flight->fragment = {.rank = 1,
                        .address = address(offset),
                        .key = kKey,
                        .size_bytes = source.size(),
                        .source = source.data(),
                        .imm = imm};
    network.post_fragment(0, flight);
    return flight;
  }
  std::vector<Packet> look(Rank rank) {
    std::vector<Packet> due;
    network.take_due(rank, due);
    return due;
  }

  SimNetwork network;
  std::shared_ptr<RegionEntry[]> regions;
  std::vector<std::byte> memory;
};

std::vector<std::byte> ones(std::size_t size_bytes) {
  return std::vector<std::byte>(size_bytes, std::byte{1});
}

std::size_t count_ones(const std::vector<std::byte>& bytes) {
  return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), std::byte{1}));
}

constexpr base::SimProfile kProfiles[] = {base::SimProfile::rc, base::SimProfile::srd,
                                          base::SimProfile::unnamed};

TEST(SimNics, a_fragment_lands_in_parts_and_both_sides_hear_of_it_when_it_is_whole) {
  for (const auto profile : kProfiles) {
    bool seen_in_part = false;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Net net(profile, seed);
      const auto source = ones(kBytes);
      net.write(0, source, 7);
      std::size_t told = 0, done = 0;
      for (int looks = 0; looks < 2000; ++looks) {
        for (const Packet& packet : net.look(1)) {
          EXPECT_EQ(packet.kind, Packet::Kind::fragment);
          EXPECT_EQ(count_ones(net.memory), kBytes);
          ++told;
        }
        for (const Packet& packet : net.look(0)) {
          EXPECT_EQ(packet.kind, Packet::Kind::done);
          EXPECT_EQ(packet.flight->status, PH_OK);
          EXPECT_EQ(count_ones(net.memory), kBytes);
          ++done;
        }
        if (seen_in_part || told + done != 0) continue;  // counting is slow under TSan
        const std::size_t there = count_ones(net.memory);
        seen_in_part = there != 0 && there != kBytes;
      }
      ASSERT_EQ(told, 1u) << seed;
      ASSERT_EQ(done, 1u) << seed;
    }
    EXPECT_TRUE(seen_in_part) << "a fragment never took time";
  }
}

TEST(SimNics, the_last_byte_may_land_before_the_first_where_nothing_is_ordered) {
  for (const auto profile : kProfiles) {
    bool seen = false;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Net net(profile, seed);
      const auto source = ones(kBytes);
      net.write(0, source);
      for (int looks = 0; looks < 1000 && count_ones(net.memory) != kBytes; ++looks) {
        net.look(0);
        seen |= net.memory.back() == std::byte{1} && net.memory.front() != std::byte{1};
      }
    }
    EXPECT_EQ(seen, profile != base::SimProfile::rc);
  }
}

// The names of eight fragments as their target hears them.
std::vector<std::uint32_t> told(base::SimProfile profile, std::uint64_t seed) {
  Net net(profile, seed);
  const auto source = ones(64);
  for (std::uint32_t i = 0; i < 8; ++i) net.write(i * 64, source, i);
  std::vector<std::uint32_t> names;
  while (names.size() < 8)
    for (const Packet& packet : net.look(1)) names.push_back(*packet.flight->fragment.imm);
  return names;
}

TEST(SimNics, fragments_land_in_the_order_of_posting_in_rc_and_overtake_each_other_in_srd) {
  bool overtaken = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto in_order = told(base::SimProfile::rc, seed);
    EXPECT_TRUE(std::is_sorted(in_order.begin(), in_order.end())) << seed;
    const auto in_any = told(base::SimProfile::srd, seed);
    overtaken |= !std::is_sorted(in_any.begin(), in_any.end());
  }
  EXPECT_TRUE(overtaken);
}

TEST(SimNics, one_seed_gives_one_history) {
  EXPECT_EQ(told(base::SimProfile::srd, 5), told(base::SimProfile::srd, 5));
  std::vector<std::vector<std::uint32_t>> histories;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    histories.push_back(told(base::SimProfile::srd, seed));
  std::sort(histories.begin(), histories.end());
  EXPECT_GT(std::unique(histories.begin(), histories.end()) - histories.begin(), 5);
}

TEST(SimNics, a_key_that_is_revoked_stops_the_parts_that_are_still_to_come) {
  bool stopped_in_the_middle = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Net net(base::SimProfile::srd, seed);
    const auto source = ones(kBytes);
    const auto flight = net.write(0, source, 7);
    for (std::uint64_t looks = 0; looks < seed; ++looks) net.look(0);
    net.regions[3].revoke();
    net.network.quiesce();
    const std::size_t there = count_ones(net.memory);
    for (int looks = 0; looks < 1000; ++looks) {
      net.look(0);
      for (const Packet& packet : net.look(1))
        EXPECT_TRUE(packet.kind != Packet::Kind::fragment || there == kBytes);
    }
    EXPECT_EQ(count_ones(net.memory), there);
    EXPECT_EQ(flight->status, there == kBytes ? PH_OK : PH_ERR_KEY);
    stopped_in_the_middle |= there != 0 && there != kBytes;
  }
  EXPECT_TRUE(stopped_in_the_middle);
}

TEST(SimNics, a_rank_that_leaves_refuses_what_is_on_its_way_and_says_so_before_it_is_gone) {
  for (const auto profile : kProfiles)
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Net net(profile, seed);
      const auto source = ones(kBytes);
      const auto flight = net.write(0, source, 7);
      for (std::uint64_t looks = 0; looks < seed; ++looks) net.look(0);
      if (net.look(0).empty() && flight->status == PH_OK) {
        net.network.leave(1);
        const std::size_t there = count_ones(net.memory);
        std::vector<Packet::Kind> kinds;
        for (int looks = 0; looks < 1000; ++looks)
          for (const Packet& packet : net.look(0)) kinds.push_back(packet.kind);
        if (!kinds.empty() && kinds[0] == Packet::Kind::done) {
          EXPECT_EQ(kinds.size(), 2u);
        }
        EXPECT_EQ(kinds.back(), Packet::Kind::gone);
        EXPECT_EQ(count_ones(net.memory), there);
        EXPECT_EQ(flight->status, there == kBytes ? PH_OK : PH_ERR_PEER);
      }
    }
}

// What the target is told of three fragments of which the fault fits to the second.
std::vector<std::uint32_t> told_with(Fault::Kind kind) {
  Net net(base::SimProfile::srd, 3, {kind, 1});
  const auto source = ones(64);
  std::vector<std::uint32_t> names;
  for (std::uint32_t i = 0; i < 3; ++i) {
    net.write(i * 64, source, i);
    for (int looks = 0; looks < 1000; ++looks)
      for (const Packet& packet : net.look(1)) {
        const auto name = *packet.flight->fragment.imm;
        names.push_back(name);
        const bool is_there =
            net.memory[name * 64] == std::byte{1} && net.memory[name * 64 + 63] == std::byte{1};
        EXPECT_EQ(is_there, kind != Fault::Kind::early || name != 1);
      }
  }
  return names;
}

TEST(SimNics, faults_tell_one_fragment_twice_or_before_it_has_landed) {
  using Names = std::vector<std::uint32_t>;
  EXPECT_EQ(told_with(Fault::Kind::none), (Names{0, 1, 2}));
  EXPECT_EQ(told_with(Fault::Kind::count), (Names{0, 1, 1, 2}));
  EXPECT_EQ(told_with(Fault::Kind::early), (Names{0, 1, 2}));
}

}  // namespace
}  // namespace photon::transport::sim
