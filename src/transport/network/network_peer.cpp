#include "transport/network/network_peer.hpp"

#include <utility>

namespace photon::transport::network {

// A Link that the engine has already is not touched: it reads it without our lock.
base::Result<> NetworkPeer::give_link(const base::Config& config, bool is_self, bool posts) {
  if (link == nullptr) {
    auto made = RingOverNetwork::make(config, is_self);
    if (!made) return std::move(made.error());
    link = std::move(*made);
    link->view().post_kicks = posts;
  }
  is_linked = true;
  return {};
}

}  // namespace photon::transport::network
