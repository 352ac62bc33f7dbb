#include "simtest/world.hpp"
#include "simtest/am_faults.hpp"

#include <cstdio>
#include <cstdlib>

#include "api/handle.hpp"
#include "boot/lane_demux.hpp"
#include "simtest/conductor.hpp"
#include "simtest/sim_boot.hpp"
#include "simtest/unfenced.hpp"
#include "transport/sim/sim_transport.hpp"

namespace photon::simtest {

namespace {

using transport::sim::SimNetwork;
using transport::sim::SimTransport;

[[noreturn]] void cannot_begin(const base::Error& why) {
  std::fprintf(stderr, "simtest: cannot make the contexts of a simulation: %s\n", why.what.c_str());
  std::abort();
}

// Every setting is given, so that no variable of the environment has a say.
base::Config config_of(const World::Settings& settings) {
  const base::Config defaults;
  std::vector<std::pair<std::string, std::string>> all;
  for (const base::Field& field : base::fields())
    all.emplace_back(field.name, base::value_text(defaults, field));
  all.emplace_back("transport", "sim");
  all.emplace_back("log", "error");
  all.insert(all.end(), settings.options.begin(), settings.options.end());
  std::vector<ph_option> options;
  options.reserve(all.size());
  for (const auto& [name, value] : all) options.push_back({name.c_str(), value.c_str()});
  auto config = base::read_config(options);
  if (!config) cannot_begin(config.error());
  return *config;
}

SimNetwork::Settings seeded(const World::Settings& settings) {
  auto network = settings.network;
  network.seed = settings.seed;
  return network;
}

// Of one rank. The fault `key`: the number that every key is made of is always the same, so that a
// slot gets the key it had before.
engine::KeySource keys_of(const World::Settings& settings, std::uint64_t seed) {
  if (settings.network.fault.kind == transport::sim::Fault::Kind::key)
    return [seed] { return seed; };
  return engine::seeded_keys(seed);
}

const SimTransport& transport_of(const ph_context& context) {
  return static_cast<const SimTransport&>(context.engine->transport());
}

// Its own, and those of its lanes.
std::vector<std::uint32_t> numbers_of(const ph_context& home) {
  std::vector<std::uint32_t> numbers = {0};
  for (const auto& lane : home.lanes) numbers.push_back(lane->number);
  return numbers;
}

std::string on_lane(std::uint32_t number) {
  return number == 0 ? std::string() : ", on lane " + std::to_string(number);
}

}  // namespace

struct World::Parts {
  explicit Parts(const Settings& settings)
      : config(config_of(settings)),
        network(std::make_shared<SimNetwork>(settings.ranks, seeded(settings))),
        conductor(*network, settings.seed) {}
  const base::Config config;
  std::shared_ptr<SimNetwork> network;
  Conductor conductor;
  Gathering gathering;
};

World::World(const Settings& settings) : parts_(std::make_unique<Parts>(settings)) {
  transport::sim::Random keys = transport::sim::Random(settings.seed).stream(0x6b657973);
  for (ph_rank rank = 0; rank < settings.ranks; ++rank) {
    contexts_.push_back(open(rank, keys_of(settings, keys.next())));
  }
}

// One whole context, from its parts.
ph_context* World::open(ph_rank rank, engine::KeySource keys) {
  const auto ranks = static_cast<std::uint32_t>(parts_->network->size());
  auto boot = boot::LaneDemux::front(
      std::make_unique<SimBoot>(rank, ranks, parts_->conductor, parts_->gathering));
  if (!boot) cannot_begin(boot.error());
  auto transport = std::make_unique<SimTransport>(parts_->config, rank, parts_->network);
  engine::Engine::Parts parts{parts_->config, std::move(*boot), std::move(transport),
                              std::move(keys)};
  if (parts_->network->settings().fault.kind == transport::sim::Fault::Kind::fence)
    parts.services = unfenced_services();
  else
    parts.services = am_faults(parts_->network->settings().fault.kind);
  auto context = api::assemble(std::move(parts));
  if (!context) cannot_begin(context.error());
  return context->release();
}

World::~World() {
  bury();
  for (ph_context* context : contexts_) ph_context_destroy(context);
  for (ph_context* context : strangers_) ph_context_destroy(context);
}

std::uint32_t World::size() const noexcept { return static_cast<std::uint32_t>(contexts_.size()); }

ph_context* World::context(ph_rank rank) noexcept { return contexts_[rank]; }

void World::run(const std::function<void(ph_rank)>& body, const std::function<void()>& stuck) {
  parts_->conductor.run(body, stuck);
}

void World::pause(std::uint64_t ns) { parts_->conductor.pause(ns); }

void World::give_up() noexcept { parts_->conductor.give_up(); }

void World::die(ph_rank rank, const Death& death) {
  Conductor& conductor = parts_->conductor;
  conductor.at(death.at_ns, [this, &conductor, rank, death] {
    if (!conductor.stop(rank)) return;
    parts_->network->die(rank, death.notice_ns);
    if (died_) died_(rank);
    if (death.restart_ns != 0)
      conductor.at(now_ns() + death.restart_ns, [this, rank] { start_anew(rank); });
  });
}

void World::bury() { parts_->conductor.bury(); }

// A process that does what the dead one did at first: it meets everybody and sends them something.
void World::start_anew(ph_rank rank) {
  constexpr std::uint64_t kNobodysId = ~std::uint64_t{0};
  strangers_.push_back(open(rank, engine::seeded_keys(rank)));
  for (ph_rank peer = 0; peer < size(); ++peer)
    if (peer != rank) static_cast<void>(ph_notify(strangers_.back(), peer, kNobodysId));
}

void World::lose_link(const transport::sim::Loss& loss, std::uint64_t at_ns) {
  parts_->conductor.at(at_ns, [this, loss] {
    if (lost_) lost_(loss);
    parts_->network->lose_link(loss);
  });
}

std::uint64_t World::loss_known_ns(ph_rank rank, ph_rank me) {
  return parts_->network->loss_known_ns(rank, me);
}

bool World::stores_reach(ph_rank me, ph_rank rank, std::uint64_t size_bytes) const noexcept {
  return parts_->network->stores_reach(me, rank, size_bytes);
}

void World::cut(std::uint64_t group, std::uint64_t for_ns) { parts_->network->cut(group, for_ns); }

bool World::is_cut() { return now_ns() < parts_->network->healed_ns(); }

bool World::is_quiet() { return parts_->network->is_quiet(); }

// The context of a rank that lives, or its lane of this number if it is open; null: neither.
const ph_context* World::running(ph_rank rank, std::uint32_t number) const {
  if (parts_->conductor.is_stopped(rank)) return nullptr;
  const ph_context* const home = contexts_[rank];
  if (number == 0) return home;
  for (const auto& lane : home->lanes)
    if (lane->number == number && lane->engine != nullptr) return lane.get();
  return nullptr;
}

std::string World::unbalanced_credits() const {
  for (ph_rank from = 0; from < contexts_.size(); ++from)
    for (const std::uint32_t number : numbers_of(*contexts_[from]))
      for (ph_rank to = 0; to < contexts_.size(); ++to) {
        const ph_context* const sends = running(from, number);
        const ph_context* const receives = running(to, number);
        if (sends == nullptr || receives == nullptr) continue;
        const auto* sender = transport_of(*sends).link_to(to);
        const auto* receiver = transport_of(*receives).link_to(from);
        if (sender == nullptr || receiver == nullptr || sender->told() == receiver->given())
          continue;
        return "rank " + std::to_string(to) + " has given back " +
               std::to_string(receiver->given().lines) + " lines, " +
               std::to_string(receiver->given().ledger) + " ids, " +
               std::to_string(receiver->given().bulk) + " bytes; rank " + std::to_string(from) +
               " knows of " + std::to_string(sender->told().lines) + ", " +
               std::to_string(sender->told().ledger) + ", " + std::to_string(sender->told().bulk) +
               on_lane(number);
      }
  return {};
}

std::string World::leftovers() const {
  for (ph_rank rank = 0; rank < contexts_.size(); ++rank)
    for (const std::uint32_t number : numbers_of(*contexts_[rank])) {
      const ph_context* const one = running(rank, number);
      if (one == nullptr) continue;
      if (const std::string left = leftovers_of(*one); !left.empty())
        return "rank " + std::to_string(rank) + " " + left + on_lane(number);
    }
  return {};
}

// Of a context or a lane.
std::string World::leftovers_of(const ph_context& one) const {
  for (ph_rank peer = 0; peer < contexts_.size(); ++peer)
    if (parts_->conductor.is_stopped(peer) && transport_of(one).link_to(peer) != nullptr)
      return "keeps its link to rank " + std::to_string(peer) + ", which died";
  const auto held = one.engine->resource_use();
  // Two ids and a payload for each request, an id for each completion and each slot of a ledger,
  // a payload for each announcement of a peer; the pools grow by 64 blocks.
  const base::Config& config = one.config;
  const std::uint64_t most =
      (4 + contexts_.size()) * config.requests + contexts_.size() * config.ledger_slots + 320;
  if (held.requests == 0 && held.events == 0 && held.blocks == 0 && held.queued == 0 &&
      held.pins == 0 && held.most_blocks <= most)
    return {};
  return "holds " + std::to_string(held.requests) + " requests, " + std::to_string(held.events) +
         " completions, " + std::to_string(held.blocks) + " blocks, " +
         std::to_string(held.queued) + " queued records, " + std::to_string(held.pins) +
         " pins of memory, though nothing is under way; it had " +
         std::to_string(held.most_blocks) + " blocks, at most " + std::to_string(most) +
         " can be needed";
}

engine::SourceCache::Counts World::sources() const noexcept {
  engine::SourceCache::Counts all;
  const auto add = [&all](const ph_context& one) {
    const engine::SourceCache::Counts& counts = one.engine->sources().counts();
    all.hits += counts.hits;
    all.misses += counts.misses;
    all.waits += counts.waits;
    all.refusals += counts.refusals;
    all.evictions += counts.evictions;
  };
  for (const ph_context* home : contexts_) {
    add(*home);
    for (const auto& lane : home->lanes)
      if (lane->engine != nullptr) add(*lane);
  }
  return all;
}

std::uint64_t World::now_ns() const noexcept { return parts_->network->now_ns(); }

std::uint64_t World::stood_still_ns(ph_rank rank) const noexcept {
  return parts_->conductor.stood_still_ns(rank);
}

}  // namespace photon::simtest
