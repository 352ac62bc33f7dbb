// For the unit tests of the engine's files: two engines over a transport that the test controls,
// and arguments without much ado. Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include "engine/engine_group.hpp"
#include "engine/settings.hpp"

namespace photon::engine::test {

using photon::test::EngineGroup;
using photon::test::FakeNet;
using photon::test::FakeOptions;
using photon::test::fill;
using photon::test::filled;
using photon::test::first_difference;
using photon::test::free_memory;
using photon::test::get_args;
using photon::test::Ground;
using photon::test::Guarded;
using photon::test::id_of;
using photon::test::notice;
using photon::test::put_args;
using photon::test::remove_region;
using transport::Reach;

inline FakeOptions options(Reach::Kind reach = Reach::Kind::none, bool keys_visible = true) {
  FakeOptions options;
  options.reach = reach;
  options.keys_visible = keys_visible;
  return options;
}

// Ranks 0 and 1 that have met; rank 1 exposes `memory`.
struct Two {
  explicit Two(const FakeOptions& chosen = options(), Ground ground = Ground::fake,
               std::span<const service::Kind> services = api::services())
      : ranks(2, ground, chosen, services), memory(64 << 10) {
    ranks.meet(0, 1);
    region = ranks.add(1, memory.bytes());
  }

  ph_put_args put(std::span<const std::byte> source, std::uint32_t flags = 0) {
    ph_put_args args = put_args(source, ph_at(&region, 0), local_id, remote_id);
    args.flags = flags;
    return args;
  }
  ph_get_args get(std::span<std::byte> destination, std::uint32_t flags = 0) {
    ph_get_args args = get_args(destination, ph_at(&region, 0), local_id, remote_id);
    args.flags = flags;
    return args;
  }
  std::size_t count(Rank rank, std::uint32_t kinds) { return ranks.probe(rank, kinds).size(); }

  // Gets of that size of which the next is the first that the kernel copies, where it can.
  void get_until_kernel(std::size_t size_bytes) {
    ranks.net().seats[0].own_time_ns = 1'000'000;  // patience with the owner would be over some day
    std::vector<std::byte> landing(size_bytes);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(ranks[0].get(1, get(landing)), PH_OK);
      EXPECT_EQ(ranks.take(0, PH_LOCAL).status, PH_OK);
      EXPECT_EQ(ranks.take(1, PH_REMOTE).id, remote_id);
    }
  }

  EngineGroup ranks;
  Guarded memory;
  ph_region region{};
  std::uint64_t local_id = 11;
  std::uint64_t remote_id = 22;
};

}  // namespace photon::engine::test
