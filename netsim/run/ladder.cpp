#include "netsim/run/ladder.hpp"

namespace photon::netsim {
namespace {

struct Protocol {
  const char* name;
  const char* effect;  // of the step from the one before
};

constexpr Protocol kProtocols[] = {
    {"rdma-usual", ""},
    {"rdma-equal", "no copies, no handshake"},
    {"rdma-put-ack", "addresses known before; told by acknowledgement, then message"},
    {"rdma-put-behind", "fence: the message waits for no acknowledgement"},
    {"rdma-put-imm", "fence: no message of its own"},
    {"rvma", "notification, lookup"},
};

Ladder protocols_of(const Settings& settings) {
  Ladder ladder{"protocols", {}};
  for (const Protocol& protocol : kProtocols) {
    ladder.rungs.push_back(
        {protocol.name, protocol.effect, with_protocol(settings, protocol.name)});
  }
  return ladder;
}

Ladder order_of(const Settings& settings, const std::string& adaptive) {
  Settings rvma = with_protocol(settings, "rvma");
  rvma.network.routing = adaptive;
  return {"order",
          {{"rdma-put, static", "", told_by_last_byte(settings, "static")},
           {"rdma-put held, " + adaptive, "ways around queues, waiting for early packets",
            told_by_last_byte(settings, adaptive)},
           {"rvma, " + adaptive, "no order needed", std::move(rvma)}}};
}

}  // namespace

std::string adaptive_routing_of(const TopologySettings& network) {
  if (network.routing != "static") return network.routing;
  if (network.topology == "dragonfly") return "ugal";
  const bool has_one = network.topology == "hyperx" || network.topology == "fattree";
  return has_one ? "adaptive" : "";
}

Settings with_protocol(Settings settings, const std::string& protocol) {
  settings.nic.protocol = protocol;
  settings.nic.order = "none";
  settings.nic.addresses = "known";
  return settings;
}

Settings asking_for_addresses(Settings settings) {
  settings = with_protocol(std::move(settings), "rdma-put-ack");
  settings.nic.addresses = "asked";
  return settings;
}

Settings told_by_last_byte(Settings settings, const std::string& routing) {
  settings = with_protocol(std::move(settings), "rdma-put");
  settings.nic.order = routing == "static" ? "none" : "hold";
  settings.network.routing = routing;
  return settings;
}

std::vector<Ladder> ladders_of(const Settings& settings) {
  std::vector<Ladder> ladders{protocols_of(settings)};
  const std::string adaptive = adaptive_routing_of(settings.network);
  if (!adaptive.empty()) ladders.push_back(order_of(settings, adaptive));
  ladders.push_back(
      {"addresses",
       {{"rdma-put-ack, asking", "", asking_for_addresses(settings)},
        {"rdma-put-ack", "addresses known before", with_protocol(settings, "rdma-put-ack")}}});
  return ladders;
}

std::vector<Step> steps_of(const Ladder& ladder, std::span<const Time> times) {
  std::vector<Step> steps;
  for (std::size_t i = 1; i < ladder.rungs.size(); ++i) {
    steps.push_back({ladder.rungs[i].effect, times[i - 1], times[i]});
  }
  return steps;
}

}  // namespace photon::netsim
