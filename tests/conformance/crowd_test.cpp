// Everybody sends to everybody, itself included; every byte is compared with what its sender must
// have sent.
#include "transport_harness.hpp"

namespace photon::test {
namespace {

constexpr std::uint64_t kRecordsPerPair = 300;

// The part of one rank: sends its records to all, checks those of all.
class Member {
 public:
  Member(Peer& peer, std::uint64_t max_bulk_bytes)
      : peer_(peer), max_bulk_bytes_(max_bulk_bytes), sent_(peer.size()), received_(peer.size()) {}

  // Whatever is possible now; false: nothing was.
  bool step() {
    bool progressed = false;
    for (transport::Rank rank = 0; rank < peer_.size(); ++rank) {
      progressed |= send_to(rank);
      progressed |= receive_from(rank);
    }
    return progressed;
  }
  // Whether step() would find something to do.
  bool can_step() {
    for (transport::Rank rank = 0; rank < peer_.size(); ++rank) {
      if (!peer_.knows(rank)) continue;
      if (peer_.to(rank).has_record()) return true;
      if (sent_[rank] < kRecordsPerPair && peer_.to(rank).fits(next_to(rank))) return true;
    }
    return false;
  }
  bool done() const {
    for (transport::Rank rank = 0; rank < peer_.size(); ++rank)
      if (sent_[rank] < kRecordsPerPair || received_[rank] < kRecordsPerPair) return false;
    return true;
  }

 private:
  Record record(transport::Rank from, transport::Rank to, std::uint64_t number) const {
    return random_record((from << 8 | to) << 20 | number, max_bulk_bytes_);
  }
  Record next_to(transport::Rank rank) const { return record(peer_.rank(), rank, sent_[rank]); }

  bool send_to(transport::Rank rank) {
    if (sent_[rank] == kRecordsPerPair || !peer_.to(rank).send(next_to(rank))) return false;
    ++sent_[rank];
    return true;
  }
  bool receive_from(transport::Rank rank) {
    if (!peer_.knows(rank)) return false;
    const auto arrived = peer_.to(rank).receive();
    if (!arrived) return false;
    if (*arrived != record(rank, peer_.rank(), received_[rank]))
      throw std::runtime_error("record " + std::to_string(received_[rank]) + " of rank " +
                               std::to_string(rank) + " is not what was sent");
    ++received_[rank];
    return true;
  }

  Peer& peer_;
  const std::uint64_t max_bulk_bytes_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

void run_crowd_on_threads(const TransportKind& kind, std::uint32_t ranks_count) {
  TransportHarness job(kind, ranks_count);
  ASSERT_TRUE(job.opened());
  constexpr std::int64_t kTenMinutesUs = 600'000'000;
  job.on_threads([&](transport::Rank rank) {
    Member member(job[rank], job.config().bulk_chunk);
    while (!member.done()) {
      job[rank].poll();
      if (!member.step()) job[rank].sleep_unless([&] { return member.can_step(); }, kTenMinutesUs);
    }
    job.meet();
  });
}

TEST_P(TransportConformance, two_ranks_on_threads_exchange_everything) {
  run_crowd_on_threads(GetParam(), 2);
}
TEST_P(TransportConformance, three_ranks_on_threads_exchange_everything) {
  run_crowd_on_threads(GetParam(), 3);
}
TEST_P(TransportConformance, five_ranks_on_threads_exchange_everything) {
  run_crowd_on_threads(GetParam(), 5);
}
TEST_P(TransportConformance, eight_ranks_on_threads_exchange_everything) {
  run_crowd_on_threads(GetParam(), 8);
}

TEST_P(TransportConformance, four_ranks_driven_by_one_thread_exchange_everything) {
  TransportHarness job(GetParam(), 4);
  ASSERT_TRUE(job.opened());
  std::vector<Member> members;
  for (transport::Rank rank = 0; rank < job.size(); ++rank)
    members.emplace_back(job[rank], job.config().bulk_chunk);
  EXPECT_TRUE(job.eventually([&] {
    bool all_done = true;
    for (Member& member : members) {
      member.step();
      all_done &= member.done();
    }
    return all_done;
  }));
}

}  // namespace
}  // namespace photon::test
