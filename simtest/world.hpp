// A job in one thread: every rank is a whole context on a fiber of its own, over a simulated
// network whose clock, delays and schedule come from one seed.
//
//   World --> run(body) --> each rank: body(rank) on its fiber, until all have ended or none can go
//
//   fiber: ready -- chosen --> running -- pause() --> ready at a later time
//                                      -- waits in the library --> asleep -- news, time --> ready
//                                      -- body returns --> ended
//
// Invariant: what happens is a function of the settings and the bodies alone; exactly one fiber
// runs, and it gives way only in pause() and where the library waits.
// Owner: the caller. Threads: one, the one that made it.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/parts/region_book.hpp"
#include "engine/parts/source_cache.hpp"
#include "transport/sim/sim_network.hpp"

namespace photon::simtest {

class World {
 public:
  struct Settings {
    std::uint64_t seed = 1;
    std::uint32_t ranks = 2;
    std::vector<std::pair<std::string, std::string>> options;  // of every context
    transport::sim::SimNetwork::Settings network;              // its seed is `seed`
  };

  explicit World(const Settings& settings);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::uint32_t size() const noexcept;
  ph_context* context(ph_rank rank) noexcept;

  // Once. A body may call everything in photon.h, and pause(). `stuck` is called when some rank
  // waits for what can never come, or the run lasts too long; from then on every wait ends.
  void run(const std::function<void(ph_rank)>& body, const std::function<void()>& stuck);

  // Within a body: let at least `ns` of simulated time pass for this rank; the others go on.
  void pause(std::uint64_t ns);
  std::uint64_t now_ns() const noexcept;
  // How long a rank was made to stand still so far, whatever it did.
  std::uint64_t stood_still_ns(ph_rank rank) const noexcept;

  // Ends every wait, now and from now on.
  void give_up() noexcept;

  // A rank dies in the middle of anything: it never runs again, and its peers hear of that at most
  // `notice_ns` later (SimNetwork::die()). Unless it has ended by then.
  struct Death {
    std::uint64_t at_ns;
    std::uint64_t notice_ns;
    std::uint64_t restart_ns;  // so long after it somebody comes under its number; 0: nobody
  };
  void die(ph_rank rank, const Death& death);
  // Called at each death, outside of all bodies.
  void on_death(std::function<void(ph_rank)> died) { died_ = std::move(died); }
  // After run(), when nothing is looked at any more: the bodies of the dead are left, each wait
  // ending at once; they still see the context and what they had.
  void bury();

  // Nothing passes between a group (a bit for each rank) and the others for a while.
  void cut(std::uint64_t group, std::uint64_t for_ns);
  bool is_cut();

  // The link between two ranks is lost for good at that time (SimNetwork::lose_link()).
  void lose_link(const transport::sim::Loss& loss, std::uint64_t at_ns);
  // Called at each loss, outside of all bodies and before it.
  void on_loss(std::function<void(const transport::sim::Loss&)> lost) { lost_ = std::move(lost); }
  // When `me` can know of it; SimNetwork::kNever: not at all.
  std::uint64_t loss_known_ns(ph_rank rank, ph_rank me);

  // SimNetwork::stores_reach().
  bool stores_reach(ph_rank me, ph_rank rank, std::uint64_t size_bytes) const noexcept;

  // While no context but those of the dead is finalized: whether nothing is on its way, and then
  // which pair of ranks does not agree on the credits given back, on a lane or the contexts' own
  // ("" if all do).
  bool is_quiet();
  std::string unbalanced_credits() const;
  // Then also: which engine of a rank holds on to anything or to a link to a dead rank, or took
  // more memory than its settings say.
  std::string leftovers() const;
  // And what all ranks' NICs were asked to register.
  engine::SourceCache::Counts sources() const noexcept;

 private:
  struct Parts;

  ph_context* open(ph_rank rank, engine::KeySource keys);
  void start_anew(ph_rank rank);
  const ph_context* running(ph_rank rank, std::uint32_t number) const;
  std::string leftovers_of(const ph_context& one) const;

  std::unique_ptr<Parts> parts_;
  std::vector<ph_context*> contexts_;
  std::vector<ph_context*> strangers_;  // under the numbers of the dead
  std::function<void(ph_rank)> died_;
  std::function<void(const transport::sim::Loss&)> lost_;
};

}  // namespace photon::simtest
