// A provider that does what a test says, and four members of a team that have it.
// Owner: the test. Threads: one.
#pragma once

#include "coll_unit.hpp"

namespace photon::test {

// A provider that does what the test says, and writes down what it is called for.
struct Scripted {
  explicit Scripted(const char* name = "scripted") {
    table.size = sizeof table;
    table.name = name;
    table.user = this;
    table.takes = [](void* self, const ph_coll_call* call) {
      auto& all = *static_cast<Scripted*>(self);
      if (all.kind == call->kind) all.asked = *call;
      return static_cast<int>(all.kind == call->kind || all.second_kind == call->kind);
    };
    table.join = [](void* self, const ph_coll_team* team, void** state) {
      auto& all = *static_cast<Scripted*>(self);
      ++all.joined;
      EXPECT_EQ(team->count, Members::kCount);
      *state = &all;
      return all.join_says;
    };
    table.leave = [](void* self, void*) { ++static_cast<Scripted*>(self)->left; };
    table.begin = [](void* self, void* state, const ph_coll_call* call, void** op) {
      auto& all = *static_cast<Scripted*>(self);
      EXPECT_EQ(state, self);
      all.calls.push_back(*call);
      *op = &all.calls;
      return all.begin_says;
    };
    table.advance = [](void* self, void*, void* op) {
      auto& all = *static_cast<Scripted*>(self);
      EXPECT_EQ(op, &all.calls);
      ++all.advanced;
      return all.advance_says;
    };
    table.cancel = [](void* self, void*, void*) {
      auto& all = *static_cast<Scripted*>(self);
      ++all.cancelled;
      return all.cancel_says;
    };
  }
  ph_coll_provider table{};
  ph_coll_kind kind = PH_COLL_BARRIER, second_kind = PH_COLL_BARRIER;
  ph_status join_says = PH_OK, begin_says = PH_OK, advance_says = PH_AGAIN, cancel_says = PH_OK;
  int joined = 0, left = 0, advanced = 0, cancelled = 0;
  std::vector<ph_coll_call> calls;
  ph_coll_call asked{};  // of `kind`, the latest
};

// All members have it, and want it.
class ProvidedMembers {
 public:
  explicit ProvidedMembers(std::uint64_t early_bytes = 64 << 10) : members(early_bytes) {
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      members.port(rank).settings.coll = base::word("scripted");
      EXPECT_EQ(members[rank].add_provider(nullptr, scripts[rank].table), PH_OK);
    }
  }
  void begin(Rank rank, const ph_coll_args& args) {
    ASSERT_EQ(members[rank].begin(members.world(rank), args, &ops[rank]), PH_OK);
  }
  void begin_barrier() {
    for (Rank rank = 0; rank < Members::kCount; ++rank) begin(rank, coll_args(PH_COLL_BARRIER));
  }
  void run() {
    for (Rank rank = 0; rank < Members::kCount; ++rank) members.port(rank).wants_turn();
    members.run();
  }

  std::array<Scripted, Members::kCount> scripts;
  Members members;
  std::array<Operation*, Members::kCount> ops{};
};

}  // namespace photon::test
