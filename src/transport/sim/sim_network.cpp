#include "transport/sim/sim_network.hpp"

#include <algorithm>
#include <chrono>

namespace photon::transport::sim {
namespace {

constexpr std::uint64_t kLookNs = 50;           // simulated time a look for packets takes
constexpr std::uint64_t kIdleLooksPerRank = 8;  // then nobody has anything else to do
constexpr std::uint64_t kLossStream = std::uint64_t{1} << 62;  // apart from those of the wires

}  // namespace

SimNetwork::SimNetwork(std::uint32_t ranks_count, const Settings& settings)
    : SimNetwork(ranks_count, settings, std::make_shared<Clock>(), nullptr) {}

SimNetwork::SimNetwork(std::uint32_t ranks_count, const Settings& settings,
                       std::shared_ptr<Clock> clock, SimNetwork* home)
    : settings_(settings),
      clock_(std::move(clock)),
      mutex_(clock_->mutex),
      now_ns_(clock_->now_ns),
      home_(home),
      seats_(ranks_count),
      losses_(ranks_count, Random(settings.seed).stream(kLossStream)),
      intents_(std::make_unique<Intent[]>(std::size_t{ranks_count} * ranks_count)) {
  const Random root(settings.seed);
  for (std::uint64_t from = 0; from < ranks_count; ++from) {
    for (std::uint64_t to = 0; to < ranks_count; ++to) {
      Wire& wire = seats_[from].wires.emplace_back(Wire{root.stream(from << 32 | to)});
      wire.max_delay_ns =
          settings.uneven ? wire.random.up_to(settings.max_delay_ns) : settings.max_delay_ns;
    }
    seats_[from].draws = root.stream(from << 32 | 0xffffffff);
  }
}

std::shared_ptr<SimNetwork> SimNetwork::lane(std::uint32_t number) {
  const std::scoped_lock lock(mutex_);
  auto& network = lanes_[number];
  if (network != nullptr) return network;
  Settings settings = settings_;
  settings.seed = settings_.seed + std::uint64_t{number} * 0x9e37'79b9'7f4a'7c15;
  network.reset(new SimNetwork(size(), settings, clock_, this));
  // What has happened to the job's own: nobody is there yet who would have to be told.
  for (Rank rank = 0; rank < size(); ++rank) {
    network->seats_[rank].left = seats_[rank].left;
    network->seats_[rank].died = seats_[rank].died;
    for (Rank to = 0; to < size(); ++to)
      network->seats_[rank].wires[to].cut_until_ns = seats_[rank].wires[to].cut_until_ns;
  }
  for (const Loss& loss : losses_.all()) network->lose_link_locked(loss);
  return network;
}

void SimNetwork::show_regions(Rank me, std::shared_ptr<RegionEntry[]> regions, std::size_t count) {
  const std::scoped_lock lock(mutex_);
  seats_[me].regions = std::move(regions);
  seats_[me].regions_count = count;
}

const RegionEntry* SimNetwork::regions_of(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return seats_[rank].regions.get();
}

Overflow SimNetwork::overflow(Rank from, Rank to, std::uint64_t size_bytes) {
  if (!is_mapped() || from == to) return {};
  const std::scoped_lock lock(mutex_);
  auto& made = overflows_[{from, to}];
  if (made == nullptr) made = std::make_unique<SimOverflow>(size_bytes);
  return made->view();
}

Holds* SimNetwork::holds(Rank mapper, Rank owner) {
  if (home_ != nullptr) return nullptr;
  const std::scoped_lock lock(mutex_);
  auto& made = holds_[{mapper, owner}];
  if (made == nullptr) made = std::make_unique<Holds>();
  return made.get();
}

void SimNetwork::show_arena(Rank me, const SimArena& arena) {
  const std::scoped_lock lock(mutex_);
  seats_[me].arena = arena.memory;
  seats_[me].arena_bytes = arena.size_bytes;
}

SimArena SimNetwork::arena_of(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return {seats_[rank].arena.lock(), seats_[rank].arena_bytes};
}

std::uint64_t SimNetwork::draw(Rank me, std::uint64_t max) {
  const std::scoped_lock lock(mutex_);
  return seats_[me].draws.up_to(max);
}

void SimNetwork::post(Rank to, Packet packet) {
  const std::scoped_lock lock(mutex_);
  post_locked(to, std::move(packet));
}

std::uint64_t SimNetwork::draw_due(Wire& wire) {
  constexpr std::uint64_t kSeldom = 64;
  constexpr std::uint64_t kMuchLonger = 16;
  std::uint64_t delay_ns = wire.random.up_to(wire.max_delay_ns);
  if (settings_.uneven && wire.random.up_to(kSeldom - 1) == 0) delay_ns *= kMuchLonger;
  const std::uint64_t due_ns = std::max(now_ns_, wire.cut_until_ns) + delay_ns;
  wire.last_due_ns = std::max(wire.last_due_ns, due_ns);
  return is_ordered() ? wire.last_due_ns : due_ns;
}

void SimNetwork::post_locked(Rank to, Packet packet) {
  Seat& sender = seats_[packet.from];
  if (sender.left && packet.incarnation == 0 && packet.kind != Packet::Kind::gone) return;
  Wire& wire = sender.wires[to];
  std::uint64_t due_ns = draw_due(wire);
  if (packet.kind == Packet::Kind::gone) due_ns = wire.last_due_ns;
  idle_looks_count_ = 0;
  if (is_lost_on_way(to, packet)) return;
  if (settings_.fault.kind != Fault::Kind::none && inject(to, due_ns, packet)) return;
  enqueue(to, due_ns, std::move(packet));
}

void SimNetwork::enqueue(Rank to, std::uint64_t due_ns, Packet packet) {
  Seat& seat = seats_[to];
  if (seat.left) return;
  seat.arriving.emplace(Due{due_ns, posted_count_++}, std::move(packet));
  seat.news.notify_all();
}

void SimNetwork::take_due(Rank me, std::vector<Packet>& due) {
  const std::scoped_lock lock(mutex_);
  pass_time();
  land_due();
  auto& arriving = seats_[me].arriving;
  while (!arriving.empty() && arriving.begin()->first.first <= now_ns_) {
    Packet& packet = arriving.begin()->second;
    const bool is_told = packet.kind != Packet::Kind::fragment ||
                         (packet.flight->status == PH_OK && !packet.flight->cancelled);
    const bool ends_pair = packet.is_malformed;
    const Rank from = packet.from;
    if (is_told) due.push_back(std::move(packet));
    arriving.erase(arriving.begin());
    idle_looks_count_ = 0;
    if (ends_pair) cut_off(from, me);
  }
}

void SimNetwork::pass_time() {
  now_ns_ += kLookNs;
  if (is_paced()) return;
  if (++idle_looks_count_ < kIdleLooksPerRank * seats_.size()) return;
  idle_looks_count_ = 0;
  jump_to_next();
}

void SimNetwork::jump_to_next() {
  std::uint64_t next_ns = ~std::uint64_t{0};
  for (const Seat& seat : seats_) {
    if (!seat.arriving.empty()) next_ns = std::min(next_ns, seat.arriving.begin()->first.first);
  }
  if (next_ns != ~std::uint64_t{0}) now_ns_ = std::max(now_ns_, next_ns);
}

void SimNetwork::sleep(Rank me, std::int64_t timeout_us) {
  // A day is for ever here, and its nanoseconds do not overflow as those of PH_FOREVER would.
  constexpr std::int64_t kDayUs = std::int64_t{86'400} * 1'000'000;
  const std::chrono::microseconds timeout(
      timeout_us < 0 ? kDayUs : std::min<std::int64_t>(timeout_us, kDayUs));
  std::unique_lock lock(mutex_);
  Seat& seat = seats_[me];
  if (is_paced()) {
    const auto until_ns =
        timeout_us < 0 ? kNever : now_ns_ + static_cast<std::uint64_t>(timeout.count()) * 1000;
    lock.unlock();
    clock_->pacer->sleep(*this, me, until_ns);
    seat.woken = false;
    return;
  }
  seat.news.wait_for(lock, timeout, [&] { return seat.woken || !seat.arriving.empty(); });
  seat.woken = false;
  if (!seat.arriving.empty()) now_ns_ = std::max(now_ns_, seat.arriving.begin()->first.first);
}

void SimNetwork::interrupt(Rank me) {
  constexpr std::uint64_t kLongestNs = 1000;
  clock_->pacer->interrupt(*this, me, now_ns() + kLongestNs);
  seats_[me].woken = false;
}

void SimNetwork::wake(Rank me) {
  const std::scoped_lock lock(mutex_);
  seats_[me].woken = true;
  seats_[me].news.notify_all();
}

std::uint64_t SimNetwork::news_due_ns(Rank me) {
  const std::scoped_lock lock(mutex_);
  const Seat& seat = seats_[me];
  if (seat.woken) return 0;
  return seat.arriving.empty() ? kNever : seat.arriving.begin()->first.first;
}

bool SimNetwork::is_quiet() {
  const std::scoped_lock lock(mutex_);
  const auto is_idle = [](const SimNetwork& network) {
    return std::all_of(network.seats_.begin(), network.seats_.end(),
                       [](const Seat& seat) { return seat.arriving.empty(); });
  };
  return is_idle(*this) && std::all_of(lanes_.begin(), lanes_.end(),
                                       [&](const auto& lane) { return is_idle(*lane.second); });
}

void SimNetwork::advance_to(std::uint64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  now_ns_ = std::max(now_ns_, now_ns);
  land_due();
  for (const auto& [number, network] : lanes_) network->land_due();
}

std::uint64_t SimNetwork::now_ns() {
  const std::scoped_lock lock(mutex_);
  return now_ns_;
}

}  // namespace photon::transport::sim
