#include "boot/callback_boot.hpp"

#include <algorithm>

#include "boot/address_exchange.hpp"
#include "boot/callback_progress.hpp"
#include "boot/limits.hpp"

namespace photon::boot {
namespace {

base::Result<> check_bootstrap(const ph_bootstrap& bootstrap) {
  if (!bootstrap.allgather || !bootstrap.barrier || bootstrap.size == 0 ||
      bootstrap.rank >= bootstrap.size) {
    return base::Error{.status = PH_ERR_ARGUMENT,
                       .what = "ph_bootstrap needs both callbacks and rank < size, not rank " +
                               std::to_string(bootstrap.rank) + " of " +
                               std::to_string(bootstrap.size)};
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Boot>> CallbackBoot::open(const ph_bootstrap& bootstrap,
                                                       const base::Config& config) {
  if (auto checked = check_bootstrap(bootstrap); !checked) return checked.error();
  // The socket is bound before the endpoint infos go out: a quick peer may write at once.
  auto parts = make_parts();
  if (!parts) return parts.error();
  std::unique_ptr<CallbackBoot> boot(new CallbackBoot(bootstrap, std::move(*parts)));
  if (auto introduced = boot->introduce(config); !introduced) return introduced.error();
  return std::unique_ptr<Boot>(std::move(boot));
}

base::Result<> CallbackBoot::introduce(const base::Config& config) {
  auto endpoint_infos = exchange_infos(bootstrap_, endpoint_info());
  if (!endpoint_infos) return endpoint_infos.error();
  trust((*endpoint_infos)[0].nonce);
  auto hosts = exchange_hosts(bootstrap_, *endpoint_infos);
  if (!hosts) return hosts.error();
  for (Rank one = 0; one < size(); ++one)
    place(one, (*endpoint_infos)[one], (*hosts)[one] == (*hosts)[rank()]);
  const Rank first = hosts->front();
  const bool one_host = std::ranges::all_of(*hosts, [first](Rank host) { return host == first; });
  if (one_host) return {};
  hosts_ = std::move(*hosts);
  return reach_hosts(config);
}

base::Result<> CallbackBoot::reach_hosts(const base::Config& config) {
  auto addresses = exchange_addresses(bootstrap_, open_side_channel(config));
  if (!addresses) return addresses.error();
  return begin_messages(std::move(*addresses));
}

base::Result<> CallbackBoot::allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                                       const Serve& serve) {
  if (auto checked = check_gather(mine.size(), all.size(), size()); !checked) return checked;
  return collect("allgather", serve, [&] {
    return bootstrap_.allgather(bootstrap_.user, mine.data(), all.data(), mine.size());
  });
}

base::Result<> CallbackBoot::barrier(const Serve& serve) {
  return collect("barrier", serve, [this] { return bootstrap_.barrier(bootstrap_.user); });
}

base::Result<> CallbackBoot::collect(const char* name, const Serve& serve,
                                     const std::function<int()>& callback) {
  std::optional<CallbackProgress> meanwhile;
  if (serve && size() > 1) meanwhile.emplace(serve);
  const int status = callback();
  if (meanwhile) meanwhile->end();
  if (status != 0) return callback_failed(name, status);
  return {};
}

}  // namespace photon::boot
