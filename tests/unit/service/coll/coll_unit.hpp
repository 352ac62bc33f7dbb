// Four members of a team, each with a port of its own and the service on it; messages between them
// go when the test says so, in the order of each sender.
// Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/coll/collectives.hpp"
#include "service/fake_port.hpp"

namespace photon::test {

using service::coll::Collectives;
using service::coll::Operation;
using service::coll::OpState;
using service::coll::Team;

class MemberPort final : public FakePort {
 public:
  explicit MemberPort(Rank rank, std::uint32_t ranks_count = kSize)
      : FakePort(wire::Owner::coll, ranks_count), rank_(rank) {
    tick_ns = 30'000;
  }
  Rank rank() const noexcept override { return rank_; }
  const base::Config& config() const noexcept override { return settings; }
  ph_status expose(std::span<const std::byte> memory, std::uint32_t access,
                   service::Exposed& exposed) override {
    if (std::exchange(lacks_memory, false)) throw std::bad_alloc();
    return FakePort::expose(memory, access, exposed);
  }
  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override {
    if (std::exchange(lacks_memory, false)) throw std::bad_alloc();
    return FakePort::get(from, what, handle);
  }
  ph_status say(const service::Saying& what, std::uint64_t* ticket) override {
    if (lacks_words) throw std::bad_alloc();
    return FakePort::say(what, ticket);
  }
  // Ranks 0 and 1 are on one host, and 2 and 3 on another.
  bool is_here(Rank rank) const noexcept override { return !has_hosts || rank / 2 == rank_ / 2; }
  Rank host_of(Rank rank) const noexcept override {
    return is_here(rank) || knows_others ? rank / 2 * 2 : PH_ANY_RANK;
  }
  base::Config settings;
  bool has_hosts = false;
  bool knows_others = false;  // who is with whom on the other host
  bool lacks_words = false;   // nothing can be said
  bool lacks_memory = false;  // the next that would be exposed or read finds none

 private:
  const Rank rank_;
};

class Members {
 public:
  static constexpr std::uint32_t kCount = FakePort::kSize;

  explicit Members(std::uint64_t early_bytes = 64 << 10) : Members(with_early(early_bytes)) {}
  explicit Members(const base::Config& settings) {
    for (Rank rank = 0; rank < kCount; ++rank) {
      ports_[rank] = std::make_unique<MemberPort>(rank);
      ports_[rank]->settings = settings;
      all_[rank] = std::make_unique<Collectives>(*ports_[rank]);
      ports_[rank]->serve(*all_[rank]);
    }
  }

  Collectives& operator[](Rank rank) { return *all_[rank]; }
  MemberPort& port(Rank rank) { return *ports_[rank]; }
  Team& world(Rank rank) {
    Team* team = nullptr;
    EXPECT_EQ(all_[rank]->world(team), PH_OK);
    return *team;
  }

  // One message of that rank goes, or one read of its ends. False: there is none.
  bool step(Rank from) {
    Said said;
    if (ports_[from]->take(said)) {
      if (!is_dead_[said.to]) ports_[said.to]->deliver({from, said.header, said.payload, {}, 0, 0});
      return true;
    }
    if (ports_[from]->gets() == 0) return false;
    ports_[from]->end_get();
    return true;
  }
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < kCount; ++rank) {
        if (is_dead_[rank]) continue;
        moved = ports_[rank]->run_turns() || moved;
        moved = step(rank) || moved;
      }
    }
  }
  // It does nothing any more, and the others are told.
  void kill(Rank rank, ph_status why = PH_ERR_PEER) {
    is_dead_[rank] = true;
    for (Rank other = 0; other < kCount; ++other)
      if (other != rank) ports_[other]->lose(rank, why);
  }
  void expect_nothing_held() {
    for (Rank rank = 0; rank < kCount; ++rank) {
      if (is_dead_[rank]) continue;
      EXPECT_EQ(all_[rank]->held(), 0u) << rank;
      EXPECT_TRUE(ports_[rank]->holds_nothing()) << rank;
    }
  }

 private:
  static base::Config with_early(std::uint64_t bytes) {
    base::Config settings;
    settings.coll_early_bytes = bytes;
    return settings;
  }

  std::array<std::unique_ptr<MemberPort>, kCount> ports_;
  std::array<std::unique_ptr<Collectives>, kCount> all_;
  std::array<bool, kCount> is_dead_{};
};

inline constexpr Rank kAllMembers = Members::kCount;

inline ph_coll_args coll_args(ph_coll_kind kind) {
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = kind;
  return args;
}

// A sum of 64-bit integers over all members.
struct Sum {
  explicit Sum(std::uint64_t count, std::int64_t first)
      : in(count), out(count), args(coll_args(PH_COLL_ALLREDUCE)) {
    for (std::uint64_t i = 0; i < count; ++i) in[i] = first + static_cast<std::int64_t>(i);
    args.in = in.data();
    args.out = out.data();
    args.count = count;
    args.type = PH_INT64;
    args.op = PH_OP_ADD;
  }
  std::vector<std::int64_t> in, out;
  ph_coll_args args;
};

}  // namespace photon::test
