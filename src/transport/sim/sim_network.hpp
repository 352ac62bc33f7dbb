// The network between the ranks of one process: an integer clock, and for each rank the packets on
// their way to it in the order they are due.
//
// Invariants: due times on one link never decrease and ties go by the order of posting, so a link
// is a FIFO. The clock only goes forward. Driven by one thread, everything is a pure function of
// the seed and the calls. Every decision about when a packet arrives is made in post(), nowhere
// else. Time passes a little with each look for packets. Nobody has to look a thousand times for a
// packet that is far away: the clock jumps when all ranks only look, and when the packet's rank
// sleeps. Owner: the job's transports together (shared_ptr). Threads: any, under one mutex.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/sim/packet.hpp"
#include "transport/sim/random.hpp"

namespace photon::transport::sim {

class SimNetwork {
 public:
  struct Settings {
    std::uint64_t seed = 1;
    std::uint64_t max_delay_ns = 1000;
  };

  SimNetwork(std::uint32_t ranks_count, const Settings& settings);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(seats_.size()); }

  // Takes the packet; it is dropped if the receiver has left.
  void post(Rank to, Packet packet);
  // Lets time pass and appends what is due at `me`, oldest first.
  void take_due(Rank me, std::vector<Packet>& due);

  // Until a packet is on its way to `me` (the clock then jumps to it), wake(), or the timeout in
  // real time. Whatever was posted or woken before the call counts: no wake-up is lost.
  void sleep(Rank me, std::int64_t timeout_us);
  void wake(Rank me);

  // `me` takes and posts no more; what it posted still arrives, then `gone`.
  void leave(Rank me);
  bool has_left(Rank rank);

  std::uint64_t now_ns();

 private:
  // One direction between two ranks, at its sender.
  struct Wire {
    Random random;
    std::uint64_t last_due_ns = 0;
  };
  using Due = std::pair<std::uint64_t, std::uint64_t>;  // time, number of posting
  struct Seat {
    std::map<Due, Packet> arriving;
    std::vector<Wire> wires;  // by receiver
    std::condition_variable news;
    bool woken = false;
    bool left = false;
  };

  void post_locked(Rank to, Packet packet);
  void pass_time();
  void jump_to_next();

  const Settings settings_;
  std::mutex mutex_;
  std::vector<Seat> seats_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t posted_count_ = 0;
  std::uint64_t idle_looks_count_ = 0;  // looks since something was posted or found due
};

}  // namespace photon::transport::sim
