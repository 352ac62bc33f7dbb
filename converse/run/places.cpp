// Who a PE is, and where.
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "converse/run/process.hpp"

namespace photon::converse {

namespace {

std::uint32_t host_of(const char* call, int pe) noexcept {
  const Pe& self = here(call);
  check_pe(call, pe);
  return self.process->host_of[static_cast<std::uint32_t>(pe) / self.place.pes_per_process];
}

void check_process(const char* call, int node) noexcept {
  const Pe& pe = here(call);
  if (node < 0 || static_cast<std::uint32_t>(node) >= pe.place.processes)
    refuse(call, "there is no process %d: the job has %u", node, pe.place.processes);
}

// How many PEs of the processes before this one are on that host.
int pes_on_host(const Pe& pe, std::uint32_t host, std::uint32_t before) noexcept {
  const auto& hosts = pe.process->host_of;
  const auto processes = std::count(hosts.begin(), hosts.begin() + before, host);
  return static_cast<int>(processes) * static_cast<int>(pe.place.pes_per_process);
}

std::uint32_t checked_host(const char* call, int node) noexcept {
  const auto& hosts = here(call).process->host_of;
  const std::uint32_t count = *std::max_element(hosts.begin(), hosts.end()) + 1;
  if (node < 0 || static_cast<std::uint32_t>(node) >= count)
    refuse(call, "there is no physical node %d: the job runs on %u", node, count);
  return static_cast<std::uint32_t>(node);
}

}  // namespace

}  // namespace photon::converse

using photon::converse::check_pe;
using photon::converse::check_process;
using photon::converse::here;
using photon::converse::host_of;

int CmiMyPe(void) { return static_cast<int>(here(__func__).place.pe); }
int CmiNumPes(void) { return static_cast<int>(here(__func__).place.pes); }
int CmiMyNode(void) { return static_cast<int>(here(__func__).place.process); }
int CmiNumNodes(void) { return static_cast<int>(here(__func__).place.processes); }
int CmiMyRank(void) { return static_cast<int>(here(__func__).place.rank); }
int CmiMyNodeSize(void) { return static_cast<int>(here(__func__).place.pes_per_process); }

int CmiNodeOf(int pe) {
  check_pe(__func__, pe);
  return pe / CmiMyNodeSize();
}

int CmiRankOf(int pe) {
  check_pe(__func__, pe);
  return pe % CmiMyNodeSize();
}

int CmiNodeFirst(int node) {
  check_process(__func__, node);
  return node * CmiMyNodeSize();
}

int CmiNodeSize(int node) {
  check_process(__func__, node);
  return CmiMyNodeSize();
}

int CmiNumCores(void) { return static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

int CmiNumPhysicalNodes(void) {
  const auto& hosts = here(__func__).process->host_of;
  return static_cast<int>(*std::max_element(hosts.begin(), hosts.end())) + 1;
}

int CmiPhysicalNodeID(int pe) { return static_cast<int>(host_of(__func__, pe)); }

int CmiNumPesOnPhysicalNode(int node) {
  const photon::converse::Pe& pe = here(__func__);
  return photon::converse::pes_on_host(pe, photon::converse::checked_host(__func__, node),
                                       pe.place.processes);
}

int CmiGetFirstPeOnPhysicalNode(int node) {
  const std::uint32_t host = photon::converse::checked_host(__func__, node);
  const auto& hosts = here(__func__).process->host_of;
  const auto first = std::find(hosts.begin(), hosts.end(), host) - hosts.begin();
  return static_cast<int>(first) * CmiMyNodeSize();
}

int CmiPhysicalRank(int pe) {
  const std::uint32_t host = host_of(__func__, pe);
  const auto process = static_cast<std::uint32_t>(CmiNodeOf(pe));
  return photon::converse::pes_on_host(here(__func__), host, process) + CmiRankOf(pe);
}

int CmiPeOnSamePhysicalNode(int pe, int other) {
  return host_of(__func__, pe) == host_of(__func__, other) ? 1 : 0;
}

int CmiSetCPUAffinity(int core) {
  here(__func__);
  if (core < 0 || core >= CPU_SETSIZE) return -1;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  return ::sched_setaffinity(0, sizeof cores, &cores);
}

int CmiOnCore(void) { return ::sched_getcpu(); }
