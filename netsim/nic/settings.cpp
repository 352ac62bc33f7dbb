#include "netsim/nic/settings.hpp"

#include "netsim/nic/bare.hpp"
#include "netsim/nic/eager.hpp"
#include "netsim/nic/put.hpp"

namespace photon::netsim::nic {
namespace {

std::string wrong(const std::string& key, const std::string& value, const std::string& allowed) {
  return "nic." + key + " = " + value + ": allowed is " + allowed;
}

bool is_known(const std::string& protocol) {
  for (const char* known : {"bare", "rvma", "rdma-usual", "rdma-equal", "rdma-put", "rdma-put-ack",
                            "rdma-put-behind", "rdma-put-imm"}) {
    if (protocol == known) return true;
  }
  return false;
}

std::string wrong_number(const Settings& s) {
  struct Range {
    const char* key;
    double value;
    double least;
    double most;
    const char* allowed;
  };
  for (const Range& range : {Range{"pcie_ns", s.pcie_ns, 0, 1e9, "0 to 10^9"},
                             Range{"dma_read_ns", s.dma_read_ns, 0, 1e6, "0 to 10^6"},
                             Range{"packet_ns", s.packet_ns, 0, 1e6, "0 to 10^6"},
                             Range{"lookup_ns", s.lookup_ns, 0, 1e6, "0 to 10^6"},
                             Range{"registration_ns", s.registration_ns, 0, 1e9, "0 to 10^9"},
                             Range{"poll_ns", s.poll_ns, 0, 1e9, "0 to 10^9"},
                             Range{"cq_ns", s.cq_ns, 0, 1e9, "0 to 10^9"},
                             Range{"memcpy_GBps", s.memcpy_GBps, 1e-3, 1e6, "0.001 to 1000000"}}) {
    if (range.value >= range.least && range.value <= range.most) continue;
    return wrong(range.key, std::to_string(range.value), range.allowed);
  }
  if (s.dma_GBps != 0 && !(s.dma_GBps >= 1e-3 && s.dma_GBps <= 1e6)) {
    return wrong("dma_GBps", std::to_string(s.dma_GBps), "0, or 0.001 to 1000000");
  }
  if (s.buffers_per_peer < 1 || s.buffers_per_peer > 64) {
    return wrong("buffers_per_peer", std::to_string(s.buffers_per_peer), "1 to 64");
  }
  if (s.mtu != 0 && s.mtu < kControlBytes) {
    return wrong("mtu", std::to_string(s.mtu), "0, or 8 B and more");
  }
  return {};
}

}  // namespace

std::unique_ptr<Card> make_card(const Settings& settings, Port& port, std::uint32_t node,
                                std::uint32_t /*slots*/) {
  const std::string& name = settings.protocol;
  if (name == "bare") return std::make_unique<BareCard>(port, node, settings.mtu);
  if (name == "rdma-usual" || name == "rdma-equal") {
    return std::make_unique<EagerCard>(settings, port, node, name == "rdma-usual");
  }
  Telling telling = Telling::rvma;
  if (name == "rdma-put") telling = Telling::last_byte;
  if (name == "rdma-put-ack") telling = Telling::ack;
  if (name == "rdma-put-behind") telling = Telling::behind;
  if (name == "rdma-put-imm") telling = Telling::immediate;
  return std::make_unique<PutCard>(settings, port, node, telling);
}

Settings stand_in_for(Settings settings) {
  const bool is_put = settings.protocol == "rdma-put-imm" && settings.addresses == "known";
  const bool is_free = settings.cq_ns == 0 && settings.lookup_ns == 0;
  const bool is_rvma = is_put || settings.protocol == "rdma-equal";
  if (is_rvma && is_free && settings.order == "none") settings.protocol = "rvma";
  return settings;
}

std::string wrong_with(const Settings& s, bool is_ordered) {
  if (!is_known(s.protocol)) {
    return wrong("protocol", s.protocol,
                 "bare, rvma, rdma-usual, rdma-equal, rdma-put, rdma-put-ack, rdma-put-behind or "
                 "rdma-put-imm");
  }
  if (s.order != "none" && s.order != "hold") return wrong("order", s.order, "none or hold");
  if (s.order == "hold" && !s.protocol.starts_with("rdma-")) {
    return wrong("order", s.order, "none, since nic.protocol = " + s.protocol);
  }
  if (s.turns != "message" && s.turns != "packet") {
    return wrong("turns", s.turns, "message or packet");
  }
  if (s.registration != "once" && s.registration != "each") {
    return wrong("registration", s.registration, "once or each");
  }
  if (s.addresses != "asked" && s.addresses != "known") {
    return wrong("addresses", s.addresses, "asked or known");
  }
  if (s.protocol == "rdma-put" && !is_ordered && s.order != "hold") {
    return wrong("protocol", s.protocol,
                 "another one where packets may overtake, or nic.order = hold");
  }
  return wrong_number(s);
}

}  // namespace photon::netsim::nic
