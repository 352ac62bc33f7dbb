// Opening: the memory and descriptors of this rank, and what it can say about itself.
#include "transport/shm/shm_transport.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "base/resource_limits.hpp"
#include "boot/cores.hpp"
#include "system/random.hpp"
#include "transport/shm/shm_transport_impl.hpp"

namespace photon::transport::shm {

namespace {

Nonce random_nonce() noexcept {
  Nonce nonce{};
  // A nonce that is not random would still have to be found at an address: weaker, not wrong.
  static_cast<void>(system::fill_random(nonce));
  return nonce;
}

base::Result<> try_cma(base::ShmCma wanted) {
  if (wanted == base::ShmCma::off)
    return base::Error{.status = PH_ERR_CONFIG, .what = "setting shm_cma is off"};
  return allow_cma();
}

}  // namespace

base::Result<std::unique_ptr<Transport>> open_shm(const base::Config& config, boot::Boot& boot) {
  return open_shm(config, boot, ShmOptions{});
}

base::Result<std::unique_ptr<Transport>> open_shm(const base::Config& config, boot::Boot& boot,
                                                  const ShmOptions& options) {
  const Layout layout(config, boot.size());
  auto cma = try_cma(config.shm_cma);
  if (!cma && config.shm_cma == base::ShmCma::on) return std::move(cma.error());
  auto published = Segment::create("photon-public", layout.published);
  if (!published) return std::move(published.error());
  auto arena = Segment::create("photon-arena", layout.arena);
  if (!arena) return std::move(arena.error());
  // What only a first contact would find out: the larger rings, and the look at a peer's seals.
  if (auto checked = check_file_size("photon-ring", layout.ring); !checked)
    return std::move(checked.error());
  if (auto checked = check_segment(published->fd.get(), layout.published); !checked)
    return std::move(checked.error());
  auto own = std::make_shared<OwnSide>(OwnSide{
      std::move(*published), std::move(*arena), options.token ? *options.token : process_token(),
      options.heavy_barrier && sync::register_heavy_barrier(), std::move(cma),
      LaneSlots(config.max_lanes)});
  return ShmTransport::open(config, boot, std::move(own));
}

base::Result<std::unique_ptr<Transport>> ShmTransport::open(const base::Config& config,
                                                            boot::Boot& boot,
                                                            std::shared_ptr<OwnSide> own) {
  auto slot = own->slots.take();
  if (!slot)
    return base::Error{.status = PH_ERR_MEMORY,
                       .what = "all " + std::to_string(config.max_lanes) +
                               " lanes are open, the context's own included; close one or raise "
                               "PHOTON_MAX_LANES"};
  base::UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return base::system_error("eventfd");
  Lane lane{std::move(own), std::move(*slot), std::move(wake)};
  return std::unique_ptr<Transport>(std::make_unique<ShmTransport>(config, boot, std::move(lane)));
}

base::Result<std::unique_ptr<Transport>> ShmTransport::open_lane(std::uint32_t /*number*/,
                                                                 boot::Boot& boot) {
  return open(config_, boot, lane_.own);
}

ShmTransport::ShmTransport(const base::Config& config, boot::Boot& boot, Lane lane)
    : boot_(boot),
      config_(config),
      layout_(config, boot.size()),
      lane_(std::move(lane)),
      own_(*lane_.own),
      log_(config.log, boot.rank()),
      nonce_(random_nonce()),
      offer_(describe_settings(config, boot.size())),
      peers_(boot.size()),
      heard_(round_up(boot.size(), kDoorbellsPerWord) / kDoorbellsPerWord),
      boot_fd_(boot.poll_fd()) {
  offer_.process_high = own_.token.high;
  offer_.process_low = own_.token.low;
  offer_.pid = static_cast<std::uint64_t>(::getpid());
  offer_.flags = own_.heavy_barrier ? 0 : kNeedsFence;
  // Ranks that share cores write and read in bursts, by turns. Then lines in a row are faster, for
  // they can be fetched ahead.
  if (boot::threads_with_cores(config, boot) > 0) offer_.flags |= kLinesApart;
  offer_.arena_address = reinterpret_cast<std::uintptr_t>(arena().data());
  offer_.nonce_address = reinterpret_cast<std::uintptr_t>(nonce_.data());
  offer_.nonce = nonce_;
  offer_.slot = lane_.slot.number();
  // Of a lane that had this place before.
  own_gate().disarm();
  for (std::size_t i = 0; i < heard_.size(); ++i) doorbell_words()[i].set(0);
}

bool ShmTransport::drained() const noexcept { return cut_off_.empty() && boot_.idle(); }

std::span<std::byte> ShmTransport::arena() noexcept {
  return {own_.arena.segment.data() + layout_.doorbells_bytes, layout_.arena_bytes};
}

std::span<RegionEntry> ShmTransport::regions() noexcept {
  auto* first = own_.published.segment.data() + layout_.regions_offset;
  return {std::launder(reinterpret_cast<RegionEntry*>(first)), config_.max_regions};
}

}  // namespace photon::transport::shm
