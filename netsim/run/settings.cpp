#include "netsim/run/settings.hpp"

#include <charconv>
#include <iterator>
#include <variant>

namespace photon::netsim {
namespace {

using Text = std::string Settings::*;
using Count = std::uint32_t Settings::*;
using Long = std::uint64_t Settings::*;
using Real = double Settings::*;
using NetworkText = std::string TopologySettings::*;
using NetworkCount = std::uint32_t TopologySettings::*;
using MotifText = std::string MotifSettings::*;
using MotifCount = std::uint32_t MotifSettings::*;
using MotifReal = double MotifSettings::*;
using MotifFlag = bool MotifSettings::*;
using NicText = std::string nic::Settings::*;
using NicCount = std::uint32_t nic::Settings::*;
using NicReal = double nic::Settings::*;
using Member = std::variant<Text, Count, Long, Real, NetworkText, NetworkCount, MotifText,
                            MotifCount, MotifReal, MotifFlag, NicText, NicCount, NicReal>;

constexpr Key kKeys[] = {
    {"network.topology", "", "router, torus, hyperx, fattree or dragonfly"},
    {"network.shape", "", "4x4x4, 8,8:8 or 4:4:1:4, as the topology has it"},
    {"network.routing", "", "static, adaptive, ugal or valiant, as the topology has it"},
    {"network.hosts_per_router", "hosts", "torus and hyperx"},
    {"network.width", "links", "hyperx: links between two routers"},
    {"network.link_GBps", "GB/s", "rate of a link"},
    {"network.crossbar_GBps", "GB/s", "rate of a crossbar port; 0: 1.5 x link"},
    {"network.flit_bytes", "B", "sizes are whole flits"},
    {"network.packet_bytes", "B", "payload of a packet at most"},
    {"network.header_bytes", "B", "added to each packet"},
    {"network.link_ns", "ns", "latency of a link"},
    {"network.input_ns", "ns", "latency of a router's input"},
    {"network.output_ns", "ns", "latency of a router's output"},
    {"network.buffer_bytes", "B", "each buffer, per port and VC"},
    {"network.vcs", "VCs", "0: as many as the routing needs"},
    {"network.delivery", "", "head or tail"},
    {"nic.protocol", "", "the card's model"},
    {"nic.order", "", "none, or hold: early packets wait for those before them"},
    {"nic.turns", "", "message, or packet: bulk messages leave packet by packet in turn"},
    {"nic.pcie_ns", "ns", "a command down; a write up"},
    {"nic.dma_GBps", "GB/s", "each way, shared by the node's ranks; 0: 1.5 x link"},
    {"nic.dma_read_ns", "ns", "from asking for bytes of host memory to their coming"},
    {"nic.packet_ns", "ns", "of the card for each packet, each way"},
    {"nic.lookup_ns", "ns", "rvma: of a mailbox"},
    {"nic.memcpy_GBps", "GB/s", "of a rank"},
    {"nic.eager_bytes", "B", "rdma-usual: up to this by copies"},
    {"nic.registration_ns", "ns", "of a buffer"},
    {"nic.registration", "", "once a buffer, or each use"},
    {"nic.poll_ns", "ns", "of a rank, to find what was written"},
    {"nic.cq_ns", "ns", "of a rank, to read an entry of a completion queue"},
    {"nic.buffers_per_peer", "buffers", "of a rank, for messages of each peer"},
    {"nic.mtu", "B", "payload of a packet; 0: network.packet_bytes"},
    {"motif.name", "",
     "exchange, shift, incast, alltoall, sweep3d, halo3d, halo3d26, uniform or schedule"},
    {"motif.ranks", "", "a number, or a grid as 4x4x4"},
    {"motif.bytes", "B", "of each message"},
    {"motif.distance", "ranks", "shift: the receiver is rank + distance"},
    {"motif.target", "rank", "incast: the receiver"},
    {"motif.nx", "cells", "sweep3d, halo: of a rank"},
    {"motif.ny", "cells", "the same"},
    {"motif.nz", "cells", "the same"},
    {"motif.kba", "planes", "sweep3d: of a block; it divides nz"},
    {"motif.fields", "values", "sweep3d, halo: of 8 B of a cell; 0: 8 for sweep3d, 1 for others"},
    {"motif.compute_ns", "ns", "sweep3d: x kba x fields a block; halo: an iteration; -1: 140, 0"},
    {"motif.reduce", "", "halo: an allreduce of 8 B ends an iteration"},
    {"motif.load", "", "uniform: share of a link's rate that each rank offers"},
    {"motif.warmup_us", "us", "uniform: not measured"},
    {"motif.measure_us", "us", "uniform: measured"},
    {"motif.file", "", "schedule: the file's path"},
    {"run.iterations", "steps", "steps of the motif"},
    {"run.seed", "", "of all random draws"},
    {"run.max_us", "us", "bound of simulated time; 0: none"},
    {"run.threads", "threads", "that share the work; the result is the same"},
    {"run.ranks_per_node", "ranks", "rank r lives on node r / this"},
    {"run.local_ns", "ns", "between ranks of one node"},
    {"run.local_GBps", "GB/s", "the same"},
};

const Member kMembers[] = {
    &TopologySettings::topology,
    &TopologySettings::shape,
    &TopologySettings::routing,
    &TopologySettings::hosts_per_router,
    &TopologySettings::width,
    &Settings::link_GBps,
    &Settings::crossbar_GBps,
    &Settings::flit_bytes,
    &Settings::packet_bytes,
    &Settings::header_bytes,
    &Settings::link_ns,
    &Settings::input_ns,
    &Settings::output_ns,
    &Settings::buffer_bytes,
    &Settings::vcs,
    &Settings::delivery,
    &nic::Settings::protocol,
    &nic::Settings::order,
    &nic::Settings::turns,
    &nic::Settings::pcie_ns,
    &nic::Settings::dma_GBps,
    &nic::Settings::dma_read_ns,
    &nic::Settings::packet_ns,
    &nic::Settings::lookup_ns,
    &nic::Settings::memcpy_GBps,
    &nic::Settings::eager_bytes,
    &nic::Settings::registration_ns,
    &nic::Settings::registration,
    &nic::Settings::poll_ns,
    &nic::Settings::cq_ns,
    &nic::Settings::buffers_per_peer,
    &nic::Settings::mtu,
    &MotifSettings::name,
    &MotifSettings::ranks,
    &MotifSettings::bytes,
    &MotifSettings::distance,
    &MotifSettings::target,
    &MotifSettings::nx,
    &MotifSettings::ny,
    &MotifSettings::nz,
    &MotifSettings::kba,
    &MotifSettings::fields,
    &MotifSettings::compute_ns,
    &MotifSettings::reduce,
    &MotifSettings::load,
    &MotifSettings::warmup_us,
    &MotifSettings::measure_us,
    &MotifSettings::file,
    &MotifSettings::steps,
    &Settings::seed,
    &Settings::max_us,
    &Settings::threads,
    &Settings::ranks_per_node,
    &Settings::local_ns,
    &Settings::local_GBps,
};
static_assert(std::size(kKeys) == std::size(kMembers));

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && rest == text.data() + text.size();
}
bool read(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool read(std::string_view text, bool& value) {
  value = text == "true";
  return value || text == "false";
}

// Writes the value into the member of whichever part of the settings has it.
struct Write {
  Settings& settings;
  std::string_view text;

  template <class Value>
  bool operator()(Value Settings::*member) const {
    return read(text, settings.*member);
  }
  template <class Value>
  bool operator()(Value TopologySettings::*member) const {
    return read(text, settings.network.*member);
  }
  template <class Value>
  bool operator()(Value nic::Settings::*member) const {
    return read(text, settings.nic.*member);
  }
  template <class Value>
  bool operator()(Value MotifSettings::*member) const {
    return read(text, settings.motif.*member);
  }
};

Error bad(std::string_view key, std::string_view value, std::string_view allowed) {
  return {std::string(key) + " = " + std::string(value) + ": allowed is " + std::string(allowed)};
}

std::string as_text(double value) {  // six digits
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  return {text, end};
}

bool is_within(double value, double least, double most) { return value >= least && value <= most; }

// What is wrong with rates and latencies, or nothing.
std::string bad_number(const Settings& s, double crossbar) {
  const auto wrong = [](const char* key, double value, const char* allowed) {
    return bad(key, as_text(value), allowed).what;
  };
  if (!is_within(s.link_GBps, 1e-3, 1e6)) {
    return wrong("network.link_GBps", s.link_GBps, "0.001 to 1000000");
  }
  if (!is_within(crossbar, s.link_GBps, 1e6)) {
    return wrong("network.crossbar_GBps", crossbar, "the link's rate and more, up to 1000000");
  }
  if (!is_within(s.link_ns, 0, 1e9)) return wrong("network.link_ns", s.link_ns, "0 to 10^9");
  if (!is_within(s.input_ns, 0, 1e9)) return wrong("network.input_ns", s.input_ns, "0 to 10^9");
  if (!is_within(s.output_ns, 0, 1e9)) return wrong("network.output_ns", s.output_ns, "0 to 10^9");
  if (!is_within(s.max_us, 0, 1e12)) return wrong("run.max_us", s.max_us, "0 to 10^12");
  return {};
}

// What is wrong with sizes, or nothing.
std::string bad_size(const Settings& s) {
  const auto wrong = [](const char* key, std::uint64_t value, const std::string& allowed) {
    return bad(key, std::to_string(value), allowed).what;
  };
  if (s.flit_bytes == 0) return wrong("network.flit_bytes", 0, "1 B and more");
  if (s.packet_bytes == 0) return wrong("network.packet_bytes", 0, "1 B and more");
  const std::uint64_t whole = std::uint64_t{s.packet_bytes} + s.header_bytes;
  const std::uint64_t flits = flits_of(whole, s.flit_bytes);
  if (flits > 65535) return wrong("network.packet_bytes", s.packet_bytes, "up to 65535 flits");
  if (flits > s.buffer_bytes / s.flit_bytes) {
    return wrong("network.packet_bytes", s.packet_bytes,
                 "up to network.buffer_bytes = " + std::to_string(s.buffer_bytes));
  }
  if (s.nic.mtu > s.packet_bytes) {
    return wrong("nic.mtu", s.nic.mtu,
                 "up to network.packet_bytes = " + std::to_string(s.packet_bytes));
  }
  if (s.vcs > 16) return wrong("network.vcs", s.vcs, "up to 16");
  return {};
}

}  // namespace

std::span<const Key> keys() { return kKeys; }

Result<Settings> with(Settings settings, std::string_view key, std::string_view value) {
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    if (kKeys[i].name != key) continue;
    if (std::visit(Write{settings, value}, kMembers[i])) return settings;
    return bad(key, value, kKeys[i].unit == "" ? "a whole number" : "a number without unit");
  }
  std::string all;
  for (const Key& one : kKeys) all += (all.empty() ? "" : ", ") + std::string(one.name);
  return Error{"unknown key " + std::string(key) + "; the keys are " + all};
}

Result<Rounded> parameters_of(const Settings& s, std::uint32_t vcs) {
  const double crossbar = s.crossbar_GBps == 0 ? 1.5 * s.link_GBps : s.crossbar_GBps;
  if (std::string wrong = bad_number(s, crossbar); !wrong.empty()) return Error{wrong};
  if (std::string wrong = bad_size(s); !wrong.empty()) return Error{wrong};
  if (s.delivery != "head" && s.delivery != "tail") {
    return bad("network.delivery", s.delivery, "head or tail");
  }
  const FlitTime link = flit_time(s.flit_bytes, s.link_GBps);
  const FlitTime through = flit_time(s.flit_bytes, crossbar);
  const auto packet_flits = static_cast<std::uint32_t>(
      flits_of(std::uint64_t{s.packet_bytes} + s.header_bytes, s.flit_bytes));
  Rounded rounded;
  Parameters& p = rounded.parameters;
  p.flit_ps = link.ps;
  p.crossbar_ps = through.ps;
  p.link_ps = time_of_ns(s.link_ns);
  p.input_ps = time_of_ns(s.input_ns);
  p.output_ps = time_of_ns(s.output_ns);
  p.buffer_flits = s.buffer_bytes / s.flit_bytes;
  p.card_flits = s.nic.protocol == "bare" ? p.buffer_flits : packet_flits;
  p.vcs = s.vcs == 0 ? vcs : s.vcs;
  p.is_delivered_at_tail = s.delivery == "tail";
  p.seed = s.seed;
  const double worst = link.error > through.error ? link.error : through.error;
  if (worst > 0.001) {
    rounded.note = "a flit takes " + std::to_string(link.ps) + " ps on a link and " +
                   std::to_string(through.ps) + " ps in the crossbar: rounding to whole " +
                   "picoseconds changed a rate by " + as_text(100 * worst) + "%";
  }
  return rounded;
}

}  // namespace photon::netsim
