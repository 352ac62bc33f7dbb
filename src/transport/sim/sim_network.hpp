// The network between the ranks of one process: an integer clock, and for each rank the packets on
// their way to it in the order they are due.
//
// Invariants: due times on one link never decrease and ties go by the order of posting, so a link
// is a FIFO. The clock only goes forward. Driven by one thread, everything is a pure function of
// the seed and the calls. Every decision about when a packet arrives is made in post(), nowhere
// else. Time passes a little with each look for packets. Nobody has to look a thousand times for a
// packet that is far away: the clock jumps when all ranks only look, and when the packet's rank
// sleeps. With a Pacer one thread drives all ranks: then only the Pacer moves the clock on (and
// each look a little), and who sleeps hands over to it. Owner: the job's transports together
// (shared_ptr). Threads: any, under one mutex.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "transport/sim/packet.hpp"
#include "transport/sim/random.hpp"

namespace photon::transport::sim {

// Runs the other ranks while one waits, where one thread drives them all.
class Pacer {
 public:
  // Returns when something is due at `me`, me was woken, or the network's clock reads until_ns.
  virtual void sleep(Rank me, std::uint64_t until_ns) noexcept = 0;

 protected:
  ~Pacer() = default;
};

// A fault to inject, so that tests can show that it is found: into the first packet it fits to
// after `after` such.
struct Fault {
  enum class Kind : std::uint8_t {
    none,
    drop,    // a record is lost: its line stays empty
    swap,    // two records that follow each other change places
    repeat,  // a record comes again in the place of the next one
    early,   // a record comes before its bulk bytes
    credit,  // a credit is forgotten for good
  };
  Kind kind = Kind::none;
  std::uint64_t after = 0;
};

class SimNetwork {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  struct Settings {
    std::uint64_t seed = 1;
    std::uint64_t max_delay_ns = 1000;
    bool mapped = false;  // ranks touch each other's memory
    // Each wire has a longest delay of its own, up to max_delay_ns, and now and then a packet takes
    // much longer.
    bool uneven = false;
    Fault fault;
  };

  SimNetwork(std::uint32_t ranks_count, const Settings& settings);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(seats_.size()); }

  const Settings& settings() const noexcept { return settings_; }

  // What a rank shares with those that may touch its memory; lives as long as the network.
  void show_regions(Rank me, std::shared_ptr<RegionEntry[]> regions);
  const RegionEntry* regions_of(Rank rank);
  Intent& intent(Rank initiator, Rank owner) noexcept {
    return intents_[std::size_t{initiator} * size() + owner];
  }
  // 0..max, of the draws that belong to `me`.
  std::uint64_t draw(Rank me, std::uint64_t max);

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

  // Before anything else is called; it stays. For the Pacer: when news are due at a rank (kNever:
  // none is on its way; 0: it was woken), and moving the clock forward.
  void pace_by(Pacer& pacer) noexcept { pacer_ = &pacer; }
  bool is_paced() const noexcept { return pacer_ != nullptr; }
  std::uint64_t news_due_ns(Rank me);
  bool is_quiet();  // nothing is on its way
  void advance_to(std::uint64_t now_ns);

 private:
  // One direction between two ranks, at its sender.
  struct Wire {
    Random random;
    std::uint64_t max_delay_ns = 0;
    std::uint64_t last_due_ns = 0;
    std::uint64_t ids_forgotten = 0;  // by the fault `credit`
  };
  using Due = std::pair<std::uint64_t, std::uint64_t>;  // time, number of posting
  struct Seat {
    std::map<Due, Packet> arriving;
    std::vector<Wire> wires;  // by receiver
    std::condition_variable news;
    std::shared_ptr<RegionEntry[]> regions;
    Random draws;
    bool woken = false;
    bool left = false;
  };

  void post_locked(Rank to, Packet packet);
  void enqueue(Rank to, std::uint64_t due_ns, Packet packet);
  bool inject(Rank to, std::uint64_t due_ns, Packet& packet);
  void pass_time();
  void jump_to_next();

  const Settings settings_;
  Pacer* pacer_ = nullptr;
  std::mutex mutex_;
  std::vector<Seat> seats_;
  const std::unique_ptr<Intent[]> intents_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t posted_count_ = 0;
  std::uint64_t fitting_count_ = 0;  // packets that the fault fits to
  std::optional<Packet> held_;       // swap, repeat: the first of two records
  Rank held_for_ = 0;
  std::uint64_t idle_looks_count_ = 0;  // looks since something was posted or found due
};

}  // namespace photon::transport::sim
