#include "boot/address_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace photon::boot {
namespace {

template <class T>
base::Result<std::vector<T>> gather(const ph_bootstrap& bootstrap, const T& own) {
  std::vector<T> all(bootstrap.size);
  const int status = bootstrap.allgather(bootstrap.user, &own, all.data(), sizeof own);
  if (status != 0) return callback_failed("allgather", status);
  if (std::memcmp(&all[bootstrap.rank], &own, sizeof own) == 0) return all;
  return base::Error{.status = PH_ERR_BOOTSTRAP,
                     .what =
                         "the bootstrap's allgather does not return this rank's own data at "
                         "its place; are two ranks called " +
                         std::to_string(bootstrap.rank) + "?"};
}

}  // namespace

base::Error callback_failed(const char* name, int status) {
  return {.status = PH_ERR_BOOTSTRAP,
          .what = std::string("the bootstrap's ") + name + " callback returned " +
                  std::to_string(status)};
}

base::Result<std::vector<EndpointInfo>> exchange_infos(const ph_bootstrap& bootstrap,
                                                       const EndpointInfo& own) {
  auto endpoint_infos = gather(bootstrap, own);
  if (!endpoint_infos) return endpoint_infos;
  for (Rank rank = 0; rank < bootstrap.size; ++rank) {
    const EndpointInfo& endpoint_info = (*endpoint_infos)[rank];
    if (endpoint_info.magic == kInfoMagic && endpoint_info.version == kInfoVersion) continue;
    std::string what = "rank " + std::to_string(rank);
    if (endpoint_info.magic == kInfoMagic)
      what += " introduces itself in version " + std::to_string(endpoint_info.version) +
              ", and this rank in version " + std::to_string(kInfoVersion) +
              "; run all ranks with one version of the library";
    else
      what += " runs no library of this kind, or the bootstrap's allgather mixes up its data";
    return base::Error{.status = PH_ERR_BOOTSTRAP, .what = std::move(what), .rank = rank};
  }
  return endpoint_infos;
}

base::Result<std::vector<Rank>> exchange_hosts(const ph_bootstrap& bootstrap,
                                               const std::vector<EndpointInfo>& endpoint_infos) {
  const EndpointInfo& own = endpoint_infos[bootstrap.rank];
  Rank host = 0;
  // Nearly always the first of those that look right; at the latest our own socket.
  while (host < bootstrap.rank &&
         !(says_same_host(own, endpoint_infos[host]) && answers(endpoint_infos[host])))
    ++host;
  auto hosts = gather(bootstrap, host);
  if (!hosts) return hosts;
  const auto wrong = std::ranges::find_if(*hosts, [&](Rank one) { return one >= bootstrap.size; });
  if (wrong == hosts->end()) return hosts;
  return base::Error{.status = PH_ERR_BOOTSTRAP,
                     .what = "the bootstrap's allgather mixes up its data"};
}

base::Result<std::vector<Addresses>> exchange_addresses(const ph_bootstrap& bootstrap,
                                                        const base::Result<Addresses>& own) {
  auto addresses = gather(bootstrap, own ? *own : Addresses{});
  if (!own) return own.error();
  if (!addresses) return addresses;
  for (Rank rank = 0; rank < bootstrap.size; ++rank) {
    if (socket_address((*addresses)[rank].front()).size_bytes != 0) continue;
    return base::Error{.status = PH_ERR_BOOTSTRAP,
                       .what = "the job is on several hosts, and rank " + std::to_string(rank) +
                               " cannot be reached by the network; its own error says why",
                       .rank = rank};
  }
  return addresses;
}

}  // namespace photon::boot
