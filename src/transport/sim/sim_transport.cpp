#include "transport/sim/sim_transport.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace photon::transport::sim {
namespace {

base::Error unreachable_memory(SimNetwork& network, Rank rank) {
  const std::string who = "sim: rank " + std::to_string(rank);
  if (network.is_hidden(rank)) return {PH_ERR_DEPARTED, 0, who + " has closed this lane", rank};
  return {PH_ERR_STATE, 0, who + " is reached by records only", rank};
}

base::Error absent_memory(Rank rank) {
  return {PH_ERR_PEER, EFAULT, "sim: no memory at that address of rank " + std::to_string(rank),
          rank};
}

// As the kernel would find out when asked to copy.
bool is_there(std::uint64_t address, std::size_t size_bytes) noexcept {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = address & ~(page_bytes - 1);
  return ::msync(reinterpret_cast<void*>(static_cast<std::uintptr_t>(first)),
                 address - first + size_bytes, MS_ASYNC) == 0;
}

// Pages that nobody touches cost nothing.
template <class T>
std::shared_ptr<T[]> zeroed(std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T>);
  const std::size_t bytes = count * sizeof(T);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {std::launder(static_cast<T*>(memory)), [bytes](T* first) { ::munmap(first, bytes); }};
}

SimArena arena_for(const SimNetwork& network, std::size_t size_bytes) {
  if (!network.is_mapped()) return {};
  return {zeroed<std::byte>(size_bytes), size_bytes};
}

}  // namespace

SimTransport::SimTransport(const base::Config& config, Rank me, std::shared_ptr<SimNetwork> network)
    : me_(me),
      seed_(config.sim_seed),
      geometry_{static_cast<unsigned>(std::countr_zero(config.ring_lines)), config.bulk_bytes},
      regions_count_(config.max_regions),
      overflow_bytes_(config.overflow_bytes),
      regions_(zeroed<RegionEntry>(config.max_regions)),  // what free entries look like
      arena_(arena_for(*network, config.arena_bytes)),
      network_(std::move(network)),
      incarnation_(network_->enter(me)),
      locals_(*network_, me),
      slots_(network_->size()) {
  if (incarnation_ != 0) return;
  network_->show_regions(me_, regions_, regions_count_);
  network_->show_arena(me_, arena_);
}

SimTransport::SimTransport(const SimTransport& home, std::shared_ptr<SimNetwork> network)
    : me_(home.me_),
      seed_(home.seed_),
      geometry_(home.geometry_),
      regions_count_(home.regions_count_),
      overflow_bytes_(home.overflow_bytes_),
      regions_(home.regions_),
      arena_(home.arena_),
      network_(std::move(network)),
      home_(home.network_),
      incarnation_(network_->enter(me_)),
      locals_(*network_, me_),
      slots_(network_->size()) {
  network_->show_regions(me_, regions_, regions_count_);
}

base::Result<std::unique_ptr<Transport>> SimTransport::open_lane(std::uint32_t number,
                                                                 boot::Boot& /*boot*/) {
  return std::unique_ptr<Transport>(std::make_unique<SimTransport>(*this, network_->lane(number)));
}

// Of a rank that is still in the job only this lane has gone. The dead are gone from all lanes, be
// it that this one is the first to hear of it.
base::Error SimTransport::gone_error(Rank rank, const std::string& what) {
  if (network_->is_link_lost(rank, me_))
    return {PH_ERR_PEER, ETIMEDOUT, what + " cannot be reached any more: the link to it is lost",
            rank};
  const bool is_lane = home_ != nullptr && !home_->is_gone(rank, me_) && !network_->has_died(rank);
  return {is_lane ? PH_ERR_DEPARTED : PH_ERR_PEER, 0,
          what + (is_lane ? " has closed this lane" : " has ended"), rank};
}

SimTransport::~SimTransport() {
  for (const auto& flight : flights_) network_->cancel(*flight);
  if (incarnation_ == 0) network_->leave(me_);
}

base::Result<Link*> SimTransport::connect(Rank rank) {
  if (rank >= slots_.size()) {
    return base::Error{PH_ERR_RANK, 0,
                       "sim: connect to rank " + std::to_string(rank) + " of " +
                           std::to_string(slots_.size()) + " ranks",
                       rank};
  }
  if (slots_[rank].link) return &slots_[rank].link->view();
  if (slots_[rank].released || network_->is_gone(rank, me_) || network_->is_link_lost(rank, me_))
    return gone_error(rank, "sim: connect to rank " + std::to_string(rank) + ", which");
  return &make_link(rank).view();
}

void SimTransport::send(Rank rank, Packet packet) {
  packet.incarnation = incarnation_;
  network_->post(rank, std::move(packet));
}

SimLink& SimTransport::make_link(Rank rank) {
  auto made = std::make_unique<SimLink>(me_, geometry_);
  made->view().tx_overflow = network_->overflow(me_, rank, overflow_bytes_);
  slots_[rank].link = std::move(made);
  send(rank, {.kind = Packet::Kind::hello, .from = me_});
  return *slots_[rank].link;
}

void SimTransport::disconnect(Rank rank) noexcept {
  if (rank >= slots_.size() || !slots_[rank].link) return;
  slots_[rank].link.reset();
  slots_[rank].released = true;
}

void SimTransport::kick(Rank rank) noexcept {
  if (rank >= slots_.size() || !slots_[rank].link) return;
  SimLink* link = slots_[rank].link.get();
  while (auto record = link->next_record()) send(rank, std::move(*record));
  if (auto credits = link->changed_credits()) send(rank, std::move(*credits));
}

void SimTransport::poll(Sink& sink) noexcept {
  network_->take_due(me_, due_);
  for (const Packet& packet : due_) accept(packet, sink);
  due_.clear();
}

void SimTransport::accept(const Packet& packet, Sink& sink) {
  if (packet.kind == Packet::Kind::done) return fragment_done(packet, sink);
  Slot& slot = slots_[packet.from];
  if (slot.released || is_stranger(packet)) return;
  if (packet.kind == Packet::Kind::gone) {
    if (!slot.link) return;  // a rank that we never met has gone
    return sink.on_gone(packet.from,
                        gone_error(packet.from, "sim: rank " + std::to_string(packet.from)));
  }
  if (!slot.link || !slot.link->answered()) {
    if (!slot.link) make_link(packet.from);
    answered(packet.from);
    sink.on_link(packet.from);
  }
  if (packet.kind == Packet::Kind::hello) return;
  if (packet.kind == Packet::Kind::fragment)
    return sink.on_fragment(packet.from, *packet.flight->fragment.imm);
  slot.link->deliver(packet);
  sink.on_activity(packet.from);
}

// A job's ranks are those that opened it: who was started anew under the number of a dead one is
// none of them, whether its death is known here or not.
bool SimTransport::is_stranger(const Packet& packet) const noexcept {
  return packet.incarnation != 0 && network_->settings().fault.kind != Fault::Kind::rejoin;
}

void SimTransport::fragment_done(const Packet& packet, Sink& sink) {
  std::erase(flights_, packet.flight);
  locals_.end(packet.flight->fragment);
  sink.on_done(packet.flight->fragment.token, packet.flight->status);
}

// A short queue, so that it is often full.
bool SimTransport::post(const PostedFragment& fragment) noexcept {
  constexpr std::size_t kQueueLength = 8;
  if (flights_.size() == kQueueLength) return false;
  locals_.begin(fragment);
  flights_.push_back(std::make_shared<Flight>(Flight{.fragment = fragment}));
  network_->post_fragment(me_, flights_.back());
  return true;
}

void SimTransport::answered(Rank rank) {
  SimLink& link = *slots_[rank].link;
  link.set_answered();
  if (!network_->is_mapped() || rank == me_) return;
  link.share({&network_->intent(me_, rank), &network_->intent(rank, me_),
              network_->regions_of(rank), !sync::register_heavy_barrier(),
              network_->overflow(rank, me_, overflow_bytes_), network_->holds(me_, rank),
              network_->holds(rank, me_)});
  kick(rank);  // that we have met
}

Reach SimTransport::reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept {
  if (rank >= slots_.size() || !slots_[rank].link) return {};
  if (network_->has_nics() && slots_[rank].link->answered() && !network_->is_gone(rank, me_) &&
      !network_->is_link_lost(rank, me_))
    return {Reach::Kind::posted, nullptr};
  if (!network_->is_mapped()) return {};
  const Link& link = slots_[rank].link->view();
  if (link.peer_regions == nullptr || !link.tx_credits->has_met() ||
      !network_->is_mapped_at(rank, me_))
    return {};
  if (!network_->stores_reach(me_, rank, size_bytes) || !is_there(address, size_bytes))
    return {Reach::Kind::call, nullptr};
  return {Reach::Kind::mapped, reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address))};
}

std::optional<Mapping> SimTransport::map(Rank rank, std::uint64_t address,
                                         std::uint64_t size_bytes) {
  if (rank >= slots_.size() || !slots_[rank].link || !network_->is_mapped_at(rank, me_) ||
      !network_->stores_reach(me_, rank, size_bytes))
    return std::nullopt;
  SimArena arena = network_->arena_of(rank);
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(arena.memory.get());
  if (!arena.memory || offset > arena.size_bytes || size_bytes > arena.size_bytes - offset)
    return std::nullopt;
  std::byte* const local = arena.memory.get() + offset;
  return Mapping{local, std::move(arena.memory)};
}

// At most kFragments fragments, in any order; between two of them the others run.
void SimTransport::copy_torn(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  constexpr std::size_t kFragments = 8;
  std::size_t ends[kFragments];
  std::size_t fragments_count = 0;
  for (std::size_t end = 0; end < size_bytes; ++fragments_count) {
    const std::size_t left = size_bytes - end;
    end += fragments_count + 1 == kFragments ? left : 1 + network_->draw(me_, left - 1);
    ends[fragments_count] = end;
  }
  bool done[kFragments] = {};
  for (std::size_t left = fragments_count; left > 0; --left) {
    std::size_t fragment = network_->draw(me_, fragments_count - 1);
    while (done[fragment]) fragment = (fragment + 1) % fragments_count;
    done[fragment] = true;
    const std::size_t begin = fragment == 0 ? 0 : ends[fragment - 1];
    std::memcpy(to + begin, from + begin, ends[fragment] - begin);
    if (network_->is_paced()) network_->interrupt(me_);
    if (network_->is_gone(me_, me_)) return;  // we died meanwhile
  }
}

base::Result<> SimTransport::read(Rank rank, std::uint64_t address,
                                  std::span<std::byte> destination) noexcept {
  if (reach(rank, address, destination.size()).kind == Reach::Kind::none)
    return unreachable_memory(*network_, rank);
  if (!is_there(address, destination.size())) return absent_memory(rank);
  const auto* from = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));
  copy_torn(destination.data(), from, destination.size());
  return {};
}

base::Result<> SimTransport::write(Rank rank, std::uint64_t address,
                                   std::span<const std::byte> source) noexcept {
  if (reach(rank, address, source.size()).kind == Reach::Kind::none)
    return unreachable_memory(*network_, rank);
  if (!is_there(address, source.size())) return absent_memory(rank);
  auto* to = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  copy_torn(to, source.data(), source.size());
  return {};
}

std::int64_t SimTransport::now_ns() noexcept {
  return network_->is_paced() ? static_cast<std::int64_t>(network_->now_ns()) : base::now_ns();
}

void SimTransport::pause(unsigned spins) noexcept {
  if (network_->is_paced())
    network_->sleep(me_, 1);
  else
    Policy::pause(spins);
}

void SimTransport::describe(Rank rank, ph_path& path) {
  path.same_process = 0;
  path.cma = 0;
  path.arena_mapped =
      network_->is_mapped() && rank != me_ && network_->stores_reach(me_, rank, 2) ? 1 : 0;
  std::snprintf(path.reason, sizeof path.reason, "simulated network, seed %llu: %s",
                static_cast<unsigned long long>(seed_),
                network_->has_nics() ? "NICs write to the memory of peers"
                : network_->is_mapped()
                    ? "memory of peers is touched at once or piece by piece, as if it were "
                      "mapped"
                    : "everything travels in records; no memory is reached directly, although the "
                      "ranks share a process");
}

}  // namespace photon::transport::sim
