#include "limit_network.hpp"

#include "job.hpp"
#include "limit_socket.hpp"

namespace photon::perf {

FabricNames fabric_names(const Job& job) {
  return {job.setting("ofi_provider", "auto"), job.setting("ofi_domain", "auto")};
}

namespace {

FabricLimits fabric_limits(const Link& link) {
  return {link.team(), link.buffers(), fabric_names(link.job())};
}

}  // namespace

Limits put_latency_limits(const Link& link, MemoryKind kind) {
  if (link.transport() == "tcp") return {socket_latency_limits(link.team(), link.buffers()), ""};
  if (link.transport() != "ofi") return {latency_limits(link.team(), link.buffers(), kind), ""};
  const auto fabric = fabric_limits(link);
  return {fabric.latency(), fabric.missing()};
}

Limits put_rate_limits(const Link& link) {
  if (link.transport() == "tcp") return {socket_rate_limits(link.team()), ""};
  if (link.transport() != "ofi") return {rate_limits(link.team()), ""};
  const auto fabric = fabric_limits(link);
  return {fabric.rate(), fabric.missing()};
}

Limits put_bandwidth_limits(const Link& link, MemoryKind kind) {
  if (link.transport() == "tcp") return {socket_bandwidth_limits(link.team(), link.buffers()), ""};
  if (link.transport() != "ofi")
    return {put_bandwidth_limits(link.team(), link.buffers(), kind), ""};
  const auto fabric = fabric_limits(link);
  return {fabric.bandwidth(), fabric.missing()};
}

}  // namespace photon::perf
