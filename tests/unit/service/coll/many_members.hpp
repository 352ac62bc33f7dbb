// As many members of a team as a test wants; messages go at once.
// Owner: the test. Threads: one.
#pragma once

#include <memory>
#include <vector>

#include "coll_unit.hpp"

namespace photon::test {

class ManyMembers {
 public:
  explicit ManyMembers(std::uint32_t count, const base::Config& settings = {}) {
    for (Rank rank = 0; rank < count; ++rank) {
      ports_.push_back(std::make_unique<MemberPort>(rank, count));
      ports_.back()->settings = settings;
      all_.push_back(std::make_unique<Collectives>(*ports_.back()));
      ports_.back()->serve(*all_.back());
    }
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  Collectives& operator[](Rank rank) { return *all_[rank]; }
  MemberPort& port(Rank rank) { return *ports_[rank]; }
  Team& world(Rank rank) {
    Team* team = nullptr;
    EXPECT_EQ(all_[rank]->world(team), PH_OK);
    return *team;
  }
  // One of all members, beside that of all ranks.
  std::vector<Team*> split() {
    std::vector<Team*> teams(size());
    for (int look = 0; look < 2; ++look) {
      for (Rank rank = 0; rank < size(); ++rank)
        static_cast<void>(all_[rank]->split(world(rank), 0, 0, teams[rank]));
      run();
    }
    return teams;
  }
  // `dead` says and takes nothing.
  void run(Rank dead = FakePort::kNobody) {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < size(); ++rank) {
        if (rank == dead) continue;
        ports_[rank]->run_turns();
        Said said;
        while (ports_[rank]->take(said)) {
          moved = true;
          if (said.to != dead) {
            ASSERT_TRUE(ports_[said.to]->deliver({rank, said.header, said.payload, {}, 0, 0}));
          }
        }
      }
    }
  }

 private:
  std::vector<std::unique_ptr<MemberPort>> ports_;
  std::vector<std::unique_ptr<Collectives>> all_;
};

}  // namespace photon::test
