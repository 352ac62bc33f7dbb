// Decides which rank runs next and moves the simulated clock: the schedule of a World.
//
//   A rank is ready (at a time), asleep (until news or a time), running, or ended. Of those that
//   can go now one is drawn; if none can, the clock jumps to the first that will; if none ever
//   will, or the clock passes its bound, the run is stuck. Then every wait ends at once and the
//   clock runs ahead, so that the bodies get out of the library by their time limits. A rank that
//   was stopped is never drawn again, until bury() gets its body out in the same way.
//
// Invariant: draws come from one seeded stream, in the order of the switches.
// Owner: a World. Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "boot/serve.hpp"
#include "simtest/fiber.hpp"
#include "transport/sim/sim_network.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

class Conductor final : public transport::sim::Pacer {
 public:
  Conductor(transport::sim::SimNetwork& network, std::uint64_t seed);
  virtual ~Conductor() = default;

  // `stuck` is called once if the run gets stuck; all bodies have ended when this returns.
  void run(const std::function<void(ph_rank)>& body, const std::function<void()>& stuck);

  // Every wait ends from now on.
  void give_up() noexcept;

  // Something that happens at a time, outside of all fibers and before any rank runs then.
  void at(std::uint64_t ns, std::function<void()> event) { events_.emplace(ns, std::move(event)); }
  // In such an event: the rank stays for ever where it is. False: it has ended, or was stopped.
  bool stop(ph_rank rank);
  bool is_stopped(ph_rank rank) const noexcept { return seats_[rank].is_stopped; }
  // After run(): every wait ends, and the bodies of those that were stopped go on to their end.
  void bury();

  // On a rank's fiber.
  void pause(std::uint64_t ns);
  void sleep(transport::sim::SimNetwork& where, transport::Rank me,
             std::uint64_t until_ns) noexcept override;
  // Counts as standing still: how long a copy takes is drawn here, not up to the engine.
  void interrupt(transport::sim::SimNetwork& where, transport::Rank me,
                 std::uint64_t until_ns) noexcept override;
  // Ranks inside a collective: asleep until all have come. False: stuck.
  bool meet(const boot::Serve& serve);

  std::uint64_t stood_still_ns(ph_rank rank) const noexcept { return seats_[rank].stood_still_ns; }

 private:
  struct Seat {
    std::unique_ptr<Fiber> fiber;
    std::uint64_t ready_ns = 0;  // or asleep until then
    bool asleep = false;         // news wake it earlier, of the network that it sleeps in:
    transport::sim::SimNetwork* where = nullptr;
    std::uint64_t stalled_until_ns = 0;  // whatever happens
    std::uint64_t stood_still_ns = 0;    // in all
    bool is_stopped = false;
  };

  std::uint64_t due_ns(ph_rank rank);
  std::uint64_t draw_stall();
  void give_way(std::uint64_t ready_ns, transport::sim::SimNetwork* asleep_in);
  bool choose(ph_rank& rank);
  void resume(ph_rank rank);
  void let_happen();
  void get_stuck();

  transport::sim::SimNetwork& network_;
  transport::sim::Random random_;
  StackPool stacks_;
  std::vector<Seat> seats_;
  std::vector<ph_rank> able_;
  std::multimap<std::uint64_t, std::function<void()>> events_;  // still to happen, by time
  std::function<void(ph_rank)> body_;                           // the dead are in it until bury()
  std::function<void()> on_stuck_;
  ph_rank running_ = 0;
  std::uint32_t arrived_ = 0;      // in the current collective
  std::uint64_t collectives_ = 0;  // completed
  std::uint64_t switches_ = 0;
  bool inside_ = false;  // a fiber runs
  bool stuck_ = false;
};

}  // namespace photon::simtest
