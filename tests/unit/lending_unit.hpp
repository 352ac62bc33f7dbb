// For the unit tests of rendezvous: rank 0 announces its memory to rank 1.
// Owner: the test. Threads: one.
#pragma once

#include <vector>

#include "engine_unit.hpp"

namespace photon::engine::test {

struct Lending {
  explicit Lending(const FakeOptions& chosen = options(), std::uint32_t count = 2)
      : ranks(count, Ground::fake, chosen), memory(16 << 10) {
    ranks.meet(0, 1);
  }

  ph_status announce(ph_buffer_kind kind, std::span<std::byte> bytes, std::uint64_t tag = 7) {
    ph_announce_args args{};
    args.size = sizeof args;
    args.kind = kind;
    args.tag = tag;
    args.buffer = bytes.data();
    args.size_bytes = bytes.size();
    args.request = &request;
    return api::announce(ranks[0], 1, args);
  }
  // How the announcement of `request` stands.
  ph_status test() { return ranks[0].test(request, result); }
  bool is_over() {
    return ranks.eventually([&] { return (ended = test()) != PH_AGAIN; });
  }
  static ph_match any(ph_buffer_kind kind) { return {kind, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE}; }
  // Whether rank 1 finds one; it makes progress.
  bool find(const ph_match& match) {
    return ranks.eventually([&] { return api::test_buffer(ranks[1], match, buffer) == PH_OK; });
  }
  ph_status look(const ph_match& match) { return api::test_buffer(ranks[1], match, buffer); }
  ph_put_args put(std::span<const std::byte> source, std::uint32_t flags) {
    ph_put_args args = put_args(source, {}, local_id, remote_id);
    args.flags = flags;
    return args;
  }
  void turns(int count = 100) {
    for (int i = 0; i < count; ++i) ranks.turn();
  }
  // So that rank 0 has no line left, rank 1 standing still.
  void fill_ring(Rank from = 0) {
    const ph_region region = ranks.add(1 - from, memory.bytes().first(8));
    ph_put_args args = put({memory.data(), 8}, PH_NO_LCE | PH_NO_RCE);
    args.target = ph_at(&region, 0);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(ranks[from].put(1 - from, args), PH_OK);
  }

  EngineGroup ranks;
  Guarded memory;
  ph_request request = PH_REQUEST_NONE;
  ph_result result{};
  ph_status ended = PH_AGAIN;
  ph_buffer buffer{};
  std::uint64_t local_id = 11;
  std::uint64_t remote_id = 22;
};

}  // namespace photon::engine::test
