// Opening and ending, and what can be said about paths.
#include "transport/ofi/ofi_transport.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

// Of one message. Providers that copy what is small (ofi_rxm: up to 16 KiB, its own head included)
// send it without asking the receiver, whose rank may compute.
constexpr std::size_t kMessageBytes = (16 << 10) - 512;
constexpr std::size_t kMostWindowSlots = kMostFragments;  // and as many fragments
constexpr std::size_t kMostSends = 2048;  // of all peers, unless that were less than one each

// A peer that takes nothing cannot use up what the others need.
std::size_t window_slots(std::size_t peers_count) noexcept {
  if (peers_count == 0) return 1;
  return std::clamp<std::size_t>(kMostSends / peers_count, 1, kMostWindowSlots);
}

}  // namespace

const char* refusal_text(Refusal why) noexcept {
  switch (why) {
    case Refusal::garbage: return "is none of this protocol";
    case Refusal::version: return "is of another version of the protocol";
    case Refusal::unexpected: return "is of no rank that was expected to say it";
    case Refusal::wrong_key: return "does not bear the key of the rank that it says it is of";
    case Refusal::wrong_secret: return "does not show that its sender knows the job's secret";
    case Refusal::silent:
    case Refusal::crowded:
    case Refusal::no_room: break;
  }
  return "?";
}

base::Result<std::unique_ptr<Transport>> open_ofi(const base::Config& config, boot::Boot& boot,
                                                  const OfiOptions& options) {
  if (auto has = has_fabric(); !has) return std::move(has.error());
  return open_ofi_over(config, boot, open_fabric, options);
}

base::Result<std::unique_ptr<Transport>> open_ofi_over(const base::Config& config, boot::Boot& boot,
                                                       OpenFabric open, const OfiOptions& options) {
  if (auto can = boot::can_prove(); !can) return std::move(can.error());
  auto own = std::make_shared<OwnSide>();
  own->open_fabric = std::move(open);
  own->give_back_ns = options.give_back_ns;
  own->time = options.time;
  if (auto opened = own->open(options.regions, config.max_regions); !opened)
    return std::move(opened.error());
  return OfiTransport::open(config, boot, std::move(own), 0);
}

base::Result<std::unique_ptr<Transport>> OfiTransport::open(const base::Config& config,
                                                            boot::Boot& boot,
                                                            std::shared_ptr<OwnSide> own,
                                                            std::uint32_t lane) {
  const std::size_t peers_count = boot.size() - 1;
  Parts parts;
  parts.window_slots = window_slots(peers_count);
  const std::size_t fragments_count =
      config.ofi_direct_least_bytes == 0 ? 0 : peers_count * parts.window_slots;
  auto fabric = own->open_fabric({.provider = config.ofi_provider.view(),
                                  .domain = config.ofi_domain.view(),
                                  .is_one_host = boot.local_size() == boot.size(),
                                  .met = config.tcp_preferred.view(),
                                  .peers_count = peers_count,
                                  .sends_count = peers_count * parts.window_slots,
                                  .receives_count = kReceives + kSpareReceives,
                                  .fragments_count = fragments_count,
                                  .told_count = fragments_count});
  if (!fabric) return std::move(fabric.error());
  parts.fabric = std::move(*fabric);
  const auto& traits = parts.fabric->traits();
  parts.message_bytes = std::min(traits.most_bytes, kMessageBytes);
  auto endpoint_info =
      make_endpoint_info(network::shared_settings(config, boot.size()),
                         {traits.provider, parts.fabric->address(0), parts.message_bytes,
                          moves_memory(traits.has_rma_endpoints, traits.data_bytes)});
  if (!endpoint_info) return std::move(endpoint_info.error());
  parts.endpoint_info = *endpoint_info;
  auto receives = Receives::make(*parts.fabric, kReceives, kSpareReceives, parts.message_bytes);
  if (!receives) return std::move(receives.error());
  parts.receives = std::move(*receives);
  parts.messages = std::make_unique<MessagePool>(*parts.fabric, parts.message_bytes);
  network::Wakeup wake;
  if (!wake.open()) return base::system_error("ofi: eventfd");
  parts.own = std::move(own);
  parts.lane = lane;
  if (auto taken = parts.own->take_lane(config.max_lanes); !taken) return std::move(taken.error());
  return std::unique_ptr<Transport>(
      std::make_unique<OfiTransport>(config, boot, std::move(parts), std::move(wake)));
}

base::Result<std::unique_ptr<Transport>> OfiTransport::open_lane(std::uint32_t number,
                                                                 boot::Boot& boot) {
  return open(config_, boot, parts_.own, number);
}

OfiTransport::OfiTransport(const base::Config& config, boot::Boot& boot, Parts parts,
                           network::Wakeup wake)
    : NetworkTransport({.config = config,
                        .boot = boot,
                        .time = parts.own->time,
                        .wake = std::move(wake),
                        .order = network::NewsQueue::Order::links_and_fragments_first,
                        .posts = false}),
      parties_{boot.rank(), boot.size(), parts.lane},
      imm_codec_(boot.size(), kImmBits),
      parts_(std::move(parts)),
      peers_(boot.size()),
      exposures_(*parts_.fabric, parts_.own->regions()),
      flusher_(lock_, [this] { return flush_held(); }) {
  waiting_.reserve(2 * peers_.size());  // kick() may not fail
  retried_.reserve(2 * peers_.size());
  stalled_.reserve(peers_.size());
  restarted_.reserve(peers_.size());
  static_cast<void>(parts_.receives->post());
  const auto& traits = parts_.fabric->traits();
  if (traits.advice != nullptr)
    PHOTON_LOG(log_, warn, "ofi: provider %s: %s", traits.provider.c_str(), traits.advice);
}

// Memory that the provider has is given back by its end, before its owners go.
OfiTransport::~OfiTransport() {
  flusher_.stop();
  is_ending_rma_endpoint_ = true;  // no fragment begins any more
  say_bye_to_all();
  rma_endpoints_.clear();
  exposures_.end_rma_endpoint();
  for (const std::uint64_t handle : locals_) parts_.fabric->hide(handle);
  parts_.fabric->stop();
  peers_.clear();
  parts_.messages.reset();
  parts_.receives.reset();
  parts_.own->give_lane_back();
}

void OfiTransport::describe(Rank rank, ph_path& path) {
  const network::Entered entered(lock_);
  path.transport = rank == parties_.self ? "self" : "ofi";
  path.same_process = path.cma = path.arena_mapped = 0;
  const OfiPeer* peer = known(rank);
  const auto& traits = parts_.fabric->traits();
  const std::string by = traits.provider + " (" + traits.domain + ")";
  std::string reason = "no contact yet: it is met when first used";
  if (rank == parties_.self) {
    reason = "itself: records by a ring; peers by " + by;
    reason += refused_.words("whose message", refusal_text);
  } else if (peer != nullptr && peer->is_open()) {
    reason = by + ": records and payload in messages of up to " +
             std::to_string(parts_.message_bytes) + " bytes, copied at both ends";
    if (traits.has_rma_endpoints && !has_no_rma_endpoint_)
      reason += "; " + std::to_string(config_.ofi_direct_least_bytes) +
                " bytes and more by the provider, from and to their place";
    else if (has_no_rma_endpoint_)
      reason += "; the provider opens no RMA endpoint for large payload any more";
    else if (config_.ofi_direct_least_bytes == 0)
      reason += "; large payload too, for ofi_direct_least_bytes is 0";
    else
      reason += "; large payload too: the provider cannot move memory (FI_RMA) as it would have to";
  } else if (peer != nullptr && peer->state == OfiPeer::State::ended) {
    reason = "it has ended, or cannot be reached by " + by;
  } else if (peer != nullptr) {
    reason = "asked for an answer, by " + by + "; that needs its progress";
  }
  std::snprintf(path.reason, sizeof path.reason, "%s", reason.c_str());
}

}  // namespace photon::transport::ofi
