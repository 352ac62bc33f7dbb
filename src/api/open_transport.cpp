#include "api/open_transport.hpp"

#include <cerrno>
#include <utility>

#include "base/log.hpp"
#include "base/resource_limits.hpp"
#include "transport/mixed/mixed_transport.hpp"
#include "transport/ofi/ofi_transport.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/sim/sim_transport.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace photon::api {

namespace {

using Opened = base::Result<std::unique_ptr<transport::Transport>>;

Opened open_network(const base::Config& config, boot::Boot& boot,
                    std::span<transport::RegionEntry> regions) {
  return config.network == base::NetworkChoice::ofi
             ? transport::ofi::open_ofi(config, boot, {.regions = regions})
             : transport::tcp::open_tcp(config, boot, {.regions = regions});
}

// `has_near`: whether the half for this host was opened.
Opened open_mixed(const base::Config& config, boot::Boot& boot, bool& has_near) {
  has_near = false;
  return transport::mixed::open_mixed(
      boot, {.near =
                 [&](boot::Boot& near) {
                   auto opened = transport::shm::open_shm(config, near);
                   has_near = static_cast<bool>(opened);
                   return opened;
                 },
             .far =
                 [&](boot::Boot& far, std::span<transport::RegionEntry> regions) {
                   return open_network(config, far, regions);
                 }});
}

// What holds for every process in the same sandbox and under the same limits, and not for this one
// at this moment: memory and descriptors that have run out are no reason to go another way.
bool is_refusal(const base::Error& error) noexcept {
  const int number = error.native_errno;
  return error.status == PH_ERR_SYSTEM &&
         (base::is_call_refused(number) || number == EFBIG || number == EINVAL);
}

Opened open_automatic(const base::Config& config, boot::Boot& boot) {
  const bool one_host = boot.local_size() == boot.size();
  bool has_shared_memory = false;
  auto opened = one_host ? transport::shm::open_shm(config, boot)
                         : open_mixed(config, boot, has_shared_memory);
  if (opened || !is_refusal(opened.error())) return opened;
  if (has_shared_memory) {  // it is the network that is refused, and no way is left to other hosts
    opened.error().what = "the network to ranks of other hosts: " + opened.error().what;
    return opened;
  }
  const base::Log log(config.log, boot.rank());
  const char* const network = config.network == base::NetworkChoice::ofi ? "ofi" : "tcp";
  const auto level = boot.rank() == 0 ? base::LogLevel::warn : base::LogLevel::info;
  if (log.enabled(level))
    log.write(level, "no shared memory here, so all ranks are reached by %s, which is slower: %s",
              network, opened.error().what.c_str());
  auto instead = open_network(config, boot, {});
  if (!instead)
    instead.error().what =
        opened.error().what + "; nor is the network there: " + instead.error().what;
  return instead;
}

}  // namespace

Opened open_transport(const base::Config& config, boot::Boot& boot) {
  switch (config.transport) {
    case base::TransportChoice::sim: return transport::sim::open_sim(config, boot);
    case base::TransportChoice::tcp: return transport::tcp::open_tcp(config, boot);
    case base::TransportChoice::ofi: return transport::ofi::open_ofi(config, boot);
    case base::TransportChoice::mixed: {
      bool has_near = false;
      return open_mixed(config, boot, has_near);
    }
    case base::TransportChoice::shm: return transport::shm::open_shm(config, boot);
    case base::TransportChoice::automatic: break;
  }
  return open_automatic(config, boot);
}

}  // namespace photon::api
