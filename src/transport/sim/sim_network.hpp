// The network between the ranks of one process: an integer clock, and for each rank the packets on
// their way to it in the order they are due.
//
// Invariants: where the profile orders links, due times on one never decrease and ties go by the
// order of posting, so a link is a FIFO; in the others every packet goes its own way, but for the
// last. The clock only goes forward. Driven by one thread, everything is a pure function of
// the seed and the calls. Every decision about when a packet or a part of a fragment arrives is
// made in post() and post_fragment(), nowhere else; NICs touch memory (sim_nics.cpp) when the clock
// has come there, whoever moves it. Time passes a little with each look for packets. Nobody has to
// look a thousand times for a packet that is far away: the clock jumps when all ranks only look,
// and when the packet's rank sleeps. With a Pacer one thread drives all ranks: then only the Pacer
// moves the clock on (and each look a little), and who sleeps hands over to it. The lanes of one
// number have a network of their own, with wires, draws and news of its own; all those of a job go
// by one clock, under its mutex. Owner: the job's transports together (shared_ptr). Threads: any,
// under that mutex.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "base/result.hpp"
#include "transport/sim/sim_losses.hpp"
#include "transport/sim/sim_overflow.hpp"
#include "transport/sim/sim_packet.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::transport::sim {

// Runs the other ranks while one waits, where one thread drives them all.
class SimNetwork;

class Pacer {
 public:
  // Returns when something is due at `me` in the network, be it a lane's, in which it sleeps, me
  // was woken there, or the clock reads until_ns.
  virtual void sleep(SimNetwork& where, Rank me, std::uint64_t until_ns) noexcept = 0;
  // The same in the middle of a copy: no doing of the engine's.
  virtual void interrupt(SimNetwork& where, Rank me, std::uint64_t until_ns) noexcept = 0;

 protected:
  ~Pacer() = default;
};

// The memory that a rank's ph_alloc() hands out, where peers can map it; else empty.
struct SimArena {
  std::shared_ptr<std::byte[]> memory;
  std::size_t size_bytes = 0;
};

// A fault to inject, so that tests can show that it is found: into the first packet it fits to
// after `after` such.
struct Fault {
  enum class Kind : std::uint8_t {
    none,
    drop,            // a record is lost: its line stays empty
    swap,            // two records that follow each other change places
    repeat,          // a record comes again in the place of the next one
    lose_message,    // as drop, and so:
    repeat_message,  // as repeat, of records of services
    early,   // a record comes before its bulk bytes, a fragment is told of before it has landed
    credit,  // a credit is forgotten for good
    count,   // a fragment is told of twice
    leak,    // a record of one lane comes in the place of one of another
    key,     // keys are used again: not the network's, but who makes the engines', and so:
    fence,   // mailboxes do not give up what they read into a buffer that they take back
    // Not the network's either, but who makes the engines': active messages
    one_wave,      // are quiet after one wave
    early_return,  // are given back the room of a chunk whose handler has not begun
    no_unreplied,  // do not say that no reply comes
    reorder_am,    // pass each other at their sender
    // Of every death, wherever `after` stands:
    silence,  // nobody is told of it
    rejoin,   // who comes under the number of a dead rank is taken for that rank
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
    base::SimProfile profile = base::SimProfile::stream;
    // Each wire has a longest delay of its own, up to max_delay_ns, and now and then a packet takes
    // much longer.
    bool uneven = false;
    Fault fault;
    // Of each rank, where there are NICs: how much of its own memory is registered at a time, and
    // how many of a hundred more the system refuses although there is room.
    std::uint64_t locals_max = 1 << 16;
    std::uint64_t locals_refused_percent = 0;
  };

  SimNetwork(std::uint32_t ranks_count, const Settings& settings);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(seats_.size()); }

  const Settings& settings() const noexcept { return settings_; }
  bool is_mapped() const noexcept { return settings_.profile == base::SimProfile::mapped; }
  // Whether NICs move fragments.
  bool has_nics() const noexcept { return settings_.profile >= base::SimProfile::rc; }

  // What a rank shares with those that may touch its memory; lives as long as the network.
  void show_regions(Rank me, std::shared_ptr<RegionEntry[]> regions, std::size_t count);
  const RegionEntry* regions_of(Rank rank);
  Intent& intent(Rank initiator, Rank owner) noexcept {
    return intents_[std::size_t{initiator} * size() + owner];
  }
  // The table of what the mapper has mapped of the owner's memory; null on the networks of lanes.
  Holds* holds(Rank mapper, Rank owner);
  // The memory of ph_alloc() of a rank, which lives as long as the rank's transports and all who
  // map it.
  void show_arena(Rank me, const SimArena& arena);
  SimArena arena_of(Rank rank);
  // From one rank to another, of `size_bytes`; null where no memory is shared.
  Overflow overflow(Rank from, Rank to, std::uint64_t size_bytes);
  // 0..max, of the draws that belong to `me`.
  std::uint64_t draw(Rank me, std::uint64_t max);

  // Takes the packet; it is dropped if the receiver has left.
  void post(Rank to, Packet packet);
  // A fragment of the initiator `from`: lands in parts; then its target is told, if it has an imm,
  // and its initiator.
  void post_fragment(Rank from, const std::shared_ptr<Flight>& flight);
  void cancel(Flight& flight);
  // The network that the lanes of this number have for themselves: the same settings and clock,
  // draws of its own. What ends or cuts the job's own does the same to it, now and later.
  std::shared_ptr<SimNetwork> lane(std::uint32_t number);

  // Returns when no NIC is touching memory.
  void quiesce() { const std::scoped_lock lock(mutex_); }
  // Lets time pass and appends what is due at `me`, oldest first.
  void take_due(Rank me, std::vector<Packet>& due);

  // Until a packet is on its way to `me` (the clock then jumps to it), wake(), or the timeout in
  // real time. Whatever was posted or woken before the call counts: no wake-up is lost.
  void sleep(Rank me, std::int64_t timeout_us);
  // In the middle of a copy of `me`, with a Pacer: others run, for a microsecond at most.
  void interrupt(Rank me);
  void wake(Rank me);

  // The ends of ranks, and what may come after them: sim_ends.cpp.
  // A transport of `me` opens: 0, or, after the death of that rank, another number each time.
  std::uint32_t enter(Rank me);
  // `me` takes and posts no more; what it posted still arrives, then `gone`. So on all lanes.
  void leave(Rank me);
  // Nobody begins to touch what `me` maps any more.
  void hide(Rank me);
  bool is_hidden(Rank rank);
  // The same without a word and in the middle of anything: `gone` comes at most `notice_ns` later,
  // and of what is under way not all, as the profile has it.
  void die(Rank me, std::uint64_t notice_ns);
  // Until `for_ns` from now nothing passes between the ranks of a group (a bit each) and all
  // others: it comes later, in the same order.
  void cut(std::uint64_t group, std::uint64_t for_ns);
  // When the last cut ends or has ended.
  std::uint64_t healed_ns();
  // The link between two ranks that live is lost for good, on all lanes: what has not come by now
  // does not come, and each of the two hears `gone` of the other, at a time of its own. Of ranks
  // that have left or died nothing changes.
  void lose_link(const Loss& loss);
  // When `me` can know that its link to the rank is lost (SimLosses::kUnknown: never); whether it
  // knows; and whether anything of its was lost so, and it does not know yet.
  std::uint64_t loss_known_ns(Rank rank, Rank me);
  bool is_link_lost(Rank rank, Rank me) { return loss_known_ns(rank, me) <= now_ns(); }
  bool owes_news(Rank me);
  // Whether the rank's end can be known at `me`; and whether it had died before it could leave.
  bool is_gone(Rank rank, Rank me);
  bool has_died(Rank rank);
  // Whether what the rank maps can be touched: a process that was killed may be mapped for a while.
  bool is_mapped_at(Rank rank, Rank me);
  // And whether `me` has them in its own address space, or asks the kernel.
  bool stores_reach(Rank me, Rank rank, std::uint64_t size_bytes) const noexcept;

  std::uint64_t now_ns();

  // Before anything else is called; it stays. For the Pacer: when news are due at a rank (kNever:
  // none is on its way; 0: it was woken), and moving the clock forward.
  void pace_by(Pacer& pacer) noexcept { clock_->pacer = &pacer; }
  bool is_paced() const noexcept { return clock_->pacer != nullptr; }
  std::uint64_t news_due_ns(Rank me);
  bool is_quiet();  // nothing is on its way, on no lane
  void advance_to(std::uint64_t now_ns);

 private:
  struct Clock {
    std::mutex mutex;
    std::uint64_t now_ns = 0;
    Pacer* pacer = nullptr;
  };
  // One direction between two ranks, at its sender.
  struct Wire {
    Random random;
    std::uint64_t max_delay_ns = 0;
    std::uint64_t last_due_ns = 0;
    std::uint64_t ids_forgotten = 0;  // by the fault `credit`
    std::uint64_t cut_until_ns = 0;   // nothing passes before
    std::uint64_t gone_ns = 0;        // the sender has left: when its receiver can know
  };
  using Due = std::pair<std::uint64_t, std::uint64_t>;  // time, number of posting
  struct Seat {
    std::map<Due, Packet> arriving;
    std::weak_ptr<std::byte[]> arena;
    std::size_t arena_bytes = 0;
    std::vector<Wire> wires;  // by receiver
    std::condition_variable news;
    std::shared_ptr<RegionEntry[]> regions;
    std::size_t regions_count = 0;
    Random draws;
    std::uint32_t incarnation = 0;  // of the latest transport under this number
    bool woken = false;
    bool left = false;
    bool died = false;          // then it has left, too
    bool stays_mapped = false;  // after its death, until it is known
    bool hidden = false;
  };

  // A part of a fragment.
  struct Part {
    Rank from = 0;
    std::shared_ptr<Flight> flight;
    std::uint64_t begin = 0;
    std::uint64_t size_bytes = 0;
  };

  SimNetwork(std::uint32_t ranks_count, const Settings& settings, std::shared_ptr<Clock> clock,
             SimNetwork* home);
  void leave_locked(Rank me);
  void die_locked(Rank me, std::uint64_t notice_ns);
  void cut_locked(std::uint64_t group, std::uint64_t until_ns);
  bool is_ordered() const noexcept { return settings_.profile <= base::SimProfile::rc; }
  std::uint64_t draw_due(Wire& wire);
  void tell(Rank from, std::uint64_t landed_ns, const std::shared_ptr<Flight>& flight);
  void land_due();
  void land(const Part& part);
  void post_locked(Rank to, Packet packet);
  void enqueue(Rank to, std::uint64_t due_ns, Packet packet);
  bool inject(Rank to, std::uint64_t due_ns, Packet& packet);
  void leak(Rank to, Packet& packet);
  void pass_time();
  void jump_to_next();
  void refuse_parts_to(Rank rank);
  void lose_under_way(Rank from, Rank to, std::uint64_t gone_ns);
  void put_off(Rank from, Rank to, std::uint64_t ns);
  void lose_link_locked(const Loss& loss);
  void lose_on_way(Rank from, Rank to);
  void tell_of_loss(Rank a, Rank b);
  bool is_lost_on_way(Rank to, Packet& packet);
  void cut_off(Rank from, Rank by);

  const Settings settings_;
  const std::shared_ptr<Clock> clock_;
  std::mutex& mutex_;       // of the clock
  std::uint64_t& now_ns_;   // by it
  SimNetwork* const home_;  // of a lane's: the job's own, which outlives it
  std::vector<Seat> seats_;
  SimLosses losses_;
  const std::unique_ptr<Intent[]> intents_;
  std::map<std::pair<Rank, Rank>, std::unique_ptr<SimOverflow>> overflows_;
  std::map<std::pair<Rank, Rank>, std::unique_ptr<Holds>> holds_;
  std::map<Due, Part> parts_;
  std::uint64_t posted_count_ = 0;
  std::uint64_t fitting_count_ = 0;  // packets that the fault fits to
  std::optional<Packet> held_;       // swap, repeat: the first of two records
  Rank held_for_ = 0;
  const SimNetwork* held_on_ = nullptr;  // leak: the lane's that it was posted to
  bool has_leaked_ = false;
  std::uint64_t idle_looks_count_ = 0;  // looks since something was posted or found due
  std::map<std::uint32_t, std::shared_ptr<SimNetwork>> lanes_;  // of the job's own
};

}  // namespace photon::transport::sim
