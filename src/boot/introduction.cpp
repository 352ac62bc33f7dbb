#include "boot/introduction.hpp"

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

base::Result<std::vector<Card>> exchange_cards(const ph_bootstrap& bootstrap, const Card& own) {
  auto cards = gather(bootstrap, own);
  if (!cards) return cards;
  for (Rank rank = 0; rank < bootstrap.size; ++rank) {
    const Card& card = (*cards)[rank];
    if (card.magic == kCardMagic && card.version == kCardVersion) continue;
    std::string what = "rank " + std::to_string(rank);
    if (card.magic == kCardMagic)
      what += " introduces itself in version " + std::to_string(card.version) +
              ", and this rank in version " + std::to_string(kCardVersion) +
              "; run all ranks with one version of the library";
    else
      what += " runs no library of this kind, or the bootstrap's allgather mixes up its data";
    return base::Error{.status = PH_ERR_BOOTSTRAP, .what = std::move(what), .rank = rank};
  }
  return cards;
}

base::Result<std::vector<Rank>> exchange_hosts(const ph_bootstrap& bootstrap,
                                               const std::vector<Card>& cards) {
  const Card& own = cards[bootstrap.rank];
  Rank host = 0;
  // Nearly always the first of those that look right; at the latest our own socket.
  while (host < bootstrap.rank && !(says_same_host(own, cards[host]) && answers(cards[host])))
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
