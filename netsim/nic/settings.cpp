#include "netsim/nic/settings.hpp"

#include "netsim/nic/bare.hpp"

namespace photon::netsim::nic {

std::unique_ptr<Card> make_card(const Settings& settings, Port& port, std::uint32_t node,
                                std::uint32_t /*slots*/) {
  return std::make_unique<BareCard>(port, node, settings.mtu);
}

std::string wrong_with(const Settings& settings, bool /*is_ordered*/) {
  if (settings.protocol == "bare") return {};
  return "nic.protocol = " + settings.protocol + ": allowed is bare";
}

}  // namespace photon::netsim::nic
