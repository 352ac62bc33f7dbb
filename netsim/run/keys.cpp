#include "netsim/run/keys.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace photon::netsim {
namespace {

constexpr double kMost = 4294967295;
constexpr double kMostLong = 18446744073709551615.0;

constexpr Allowed within(double least, double most) {
  return {AllowedKind::range, least, most, {}};
}
constexpr Allowed words(std::string_view list) { return {AllowedKind::words, 0, 0, list}; }
constexpr Allowed form(std::string_view text) { return {AllowedKind::form, 0, 0, text}; }

constexpr Key kKeys[] = {
    {"network.topology", "", &TopologySettings::topology,
     words("router torus hyperx fattree dragonfly"), "how routers and hosts are wired"},
    {"network.shape", "", &TopologySettings::shape,
     form("4x4x4, 8,8:8 or 4:4:1:4, as the topology has it"), "its sizes"},
    {"network.routing", "", &TopologySettings::routing, words("static adaptive ugal valiant"),
     "as the topology has it"},
    {"network.hosts_per_router", "hosts", &TopologySettings::hosts_per_router, within(1, 65535),
     "torus and hyperx"},
    {"network.width", "links", &TopologySettings::width, within(1, 65535),
     "hyperx: links between two routers"},
    {"network.link_GBps", "GB/s", &Settings::link_GBps, within(1e-3, 1e6), "rate of a link"},
    {"network.crossbar_GBps", "GB/s", &Settings::crossbar_GBps, within(0, 1e6),
     "rate of a crossbar port, not below the link's; 0: 1.5 x link"},
    {"network.flit_bytes", "B", &Settings::flit_bytes, within(1, 65536), "sizes are whole flits"},
    {"network.packet_bytes", "B", &Settings::packet_bytes, within(1, kMost),
     "payload of a packet at most; up to 65535 flits"},
    {"network.header_bytes", "B", &Settings::header_bytes, within(0, 65536),
     "added to each packet"},
    {"network.link_ns", "ns", &Settings::link_ns, within(0, 1e9), "latency of a link"},
    {"network.input_ns", "ns", &Settings::input_ns, within(0, 1e9), "latency of a router's input"},
    {"network.output_ns", "ns", &Settings::output_ns, within(0, 1e9),
     "latency of a router's output"},
    {"network.buffer_bytes", "B", &Settings::buffer_bytes, within(1, kMost),
     "each buffer, per port and VC; whole flits, rounded up"},
    {"network.vcs", "VCs", &Settings::vcs, within(0, 16), "0: as many as the routing needs"},
    {"network.delivery", "", &Settings::delivery, words("head tail"), "when a packet is delivered"},
    {"nic.protocol", "", &nic::Settings::protocol,
     words("bare rdma-usual rdma-equal rdma-put rdma-put-ack rdma-put-behind rdma-put-imm rvma"),
     "the card's model"},
    {"nic.order", "", &nic::Settings::order, words("none hold"),
     "hold: early packets wait for those before them"},
    {"nic.turns", "", &nic::Settings::turns, words("message packet"),
     "packet: bulk messages leave packet by packet in turn"},
    {"nic.pcie_ns", "ns", &nic::Settings::pcie_ns, within(0, 1e9), "a command down; a write up"},
    {"nic.dma_GBps", "GB/s", &nic::Settings::dma_GBps, within(0, 1e6),
     "each way, shared by the node's ranks; 0: 1.5 x link"},
    {"nic.dma_read_ns", "ns", &nic::Settings::dma_read_ns, within(0, 1e6),
     "from asking for bytes of host memory to their coming"},
    {"nic.packet_ns", "ns", &nic::Settings::packet_ns, within(0, 1e6),
     "of the card for each packet, each way"},
    {"nic.lookup_ns", "ns", &nic::Settings::lookup_ns, within(0, 1e6), "rvma: of a mailbox"},
    {"nic.memcpy_GBps", "GB/s", &nic::Settings::memcpy_GBps, within(1e-3, 1e6), "of a rank"},
    {"nic.eager_bytes", "B", &nic::Settings::eager_bytes, within(0, kMost),
     "rdma-usual: up to this by copies"},
    {"nic.registration_ns", "ns", &nic::Settings::registration_ns, within(0, 1e9), "of a buffer"},
    {"nic.registration", "", &nic::Settings::registration, words("once each"),
     "once a buffer, or each use"},
    {"nic.addresses", "", &nic::Settings::addresses, words("asked known"),
     "rdma-put*, of a peer's buffers: asked for by the first put, or known before the run"},
    {"nic.poll_ns", "ns", &nic::Settings::poll_ns, within(0, 1e9),
     "of a rank, to find what was written"},
    {"nic.cq_ns", "ns", &nic::Settings::cq_ns, within(0, 1e9),
     "of a rank, to read an entry of a completion queue"},
    {"nic.buffers_per_peer", "buffers", &nic::Settings::buffers_per_peer, within(1, 64),
     "of a rank, for messages of each peer"},
    {"nic.mtu", "B", &nic::Settings::mtu, within(0, kMost),
     "payload of a packet; 0: network.packet_bytes"},
    {"motif.name", "", &MotifSettings::name,
     words("pair exchange shift incast alltoall sweep3d halo3d halo3d26 uniform schedule"),
     "what ranks do"},
    {"motif.ranks", "", &MotifSettings::ranks, form("a number, or a grid as 4x4x4"), "how many"},
    {"motif.bytes", "B", &MotifSettings::bytes, within(1, kMost), "of each message"},
    {"motif.distance", "ranks", &MotifSettings::distance, within(0, kMost),
     "shift: the receiver is rank + distance"},
    {"motif.target", "rank", &MotifSettings::target, within(0, kMost), "incast: the receiver"},
    {"motif.nx", "cells", &MotifSettings::nx, within(1, 65535), "sweep3d, halo: of a rank"},
    {"motif.ny", "cells", &MotifSettings::ny, within(1, 65535), "the same"},
    {"motif.nz", "cells", &MotifSettings::nz, within(1, 65535), "the same"},
    {"motif.kba", "planes", &MotifSettings::kba, within(1, 65535),
     "sweep3d: of a block; it divides nz"},
    {"motif.fields", "values", &MotifSettings::fields, within(0, 65535),
     "sweep3d, halo: of 8 B of a cell; 0: 8 for sweep3d, 1 for others"},
    {"motif.compute_ns", "ns", &MotifSettings::compute_ns, within(-1, 1e9),
     "sweep3d: x kba x fields a block; halo: an iteration; -1: 140 for sweep3d, 0 for others"},
    {"motif.reduce", "", &MotifSettings::reduce, words("true false"),
     "halo: an allreduce of 8 B ends an iteration"},
    {"motif.load", "", &MotifSettings::load, within(1e-6, 1),
     "uniform: share of a link's rate that each rank offers"},
    {"motif.warmup_us", "us", &MotifSettings::warmup_us, within(0, 1e9), "uniform: not measured"},
    {"motif.measure_us", "us", &MotifSettings::measure_us, within(1e-3, 1e9), "uniform: measured"},
    {"motif.file", "", &MotifSettings::file, form("a path"), "schedule: the file"},
    {"run.iterations", "steps", &MotifSettings::steps, within(1, 65535), "steps of the motif"},
    {"run.seed", "", &Settings::seed, within(0, kMostLong), "of all random draws"},
    {"run.max_us", "us", &Settings::max_us, within(0, 1e12), "bound of simulated time; 0: none"},
    {"run.threads", "threads", &Settings::threads, within(1, 256),
     "that share the work; the result is the same"},
    {"run.ranks_per_node", "ranks", &Settings::ranks_per_node, within(1, 256),
     "at most; without run.placement, rank r lives on node r / this"},
    {"run.placement", "", &Settings::placement, form("nodes as 0,4,8-11, one for each rank"),
     "where ranks live"},
    {"run.local_ns", "ns", &Settings::local_ns, within(0, 1e9), "between ranks of one node"},
    {"run.local_GBps", "GB/s", &Settings::local_GBps, within(1e-3, 1e6), "the same"},
};

// Calls `use` with the value that the member is of.
template <class AnySettings, class Use>
auto use_member(AnySettings& settings, const Member& member, const Use& use) {
  const auto in = [&use](auto& owner, const auto& members) {
    return std::visit([&](auto pointer) { return use(owner.*pointer); }, members);
  };
  switch (member.index()) {
    case 0: return in(settings, std::get<0>(member));
    case 1: return in(settings.network, std::get<1>(member));
    case 2: return in(settings.nic, std::get<2>(member));
    default: return in(settings.motif, std::get<3>(member));
  }
}

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

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (list.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
  return false;
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

bool is_allowed(const Allowed& allowed, const Value& value) {
  if (allowed.kind == AllowedKind::form) return true;
  if (allowed.kind == AllowedKind::words) return has_word(allowed.text, text_of(value));
  const double* real = std::get_if<double>(&value);
  const auto* whole = std::get_if<std::uint64_t>(&value);
  const double number = real != nullptr ? *real : static_cast<double>(*whole);
  return number >= allowed.least && number <= allowed.most;  // false if it is not a number
}

}  // namespace

std::span<const Key> keys() { return kKeys; }

const Key* find_key(std::string_view name) {
  for (const Key& key : kKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

Value value_of(const Settings& settings, const Key& key) {
  return use_member(settings, key.member, [](const auto& value) -> Value {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::uint32_t>) {
      return std::uint64_t{value};
    } else {
      return value;
    }
  });
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  return std::get<bool>(value) ? "true" : "false";
}

std::string allowed_text(const Key& key) {
  const Allowed& allowed = key.allowed;
  std::string text(allowed.text);
  if (allowed.kind == AllowedKind::form) return text;
  if (allowed.kind == AllowedKind::words) {
    for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 2)) {
      text.insert(at, ",");
    }
    const std::size_t last = text.rfind(", ");
    if (last != std::string::npos) text.replace(last, 2, " or ");
    return text;
  }
  const bool is_real = std::holds_alternative<double>(value_of(Settings{}, key));
  const auto bound = [is_real](double number) {
    if (is_real && number >= 1e6)
      return "10^" + std::to_string(std::to_string(static_cast<std::uint64_t>(number)).size() - 1);
    if (is_real) return number_text(number);
    if (number == kMostLong) return std::string("2^64 - 1");
    if (number == kMost) return std::string("2^32 - 1");
    return std::to_string(static_cast<std::uint64_t>(number));
  };
  return std::string(is_real ? "a number" : "a whole number") + " from " + bound(allowed.least) +
         " to " + bound(allowed.most) + (key.unit.empty() ? "" : " " + std::string(key.unit));
}

Result<Settings> with(Settings settings, const Key& key, std::string_view text) {
  const bool is_read =
      use_member(settings, key.member, [text](auto& value) { return read(text, value); });
  if (is_read && is_allowed(key.allowed, value_of(settings, key))) return settings;
  return Error{std::string(key.name) + " = " + std::string(text) + ": allowed is " +
               allowed_text(key)};
}

Result<Settings> with(Settings settings, std::string_view name, std::string_view text) {
  if (const Key* key = find_key(name)) return with(std::move(settings), *key, text);
  // Those of its section, or all if there is no such section.
  const std::string_view section = name.substr(0, name.find('.') + 1);
  const bool has_section = std::any_of(std::begin(kKeys), std::end(kKeys), [&](const Key& one) {
    return !section.empty() && one.name.starts_with(section);
  });
  std::string all;
  for (const Key& one : kKeys) {
    if (has_section && !one.name.starts_with(section)) continue;
    all += (all.empty() ? "" : ", ") + std::string(one.name);
  }
  return Error{std::string(name) + " = " + std::string(text) +
               ": the key is unknown; allowed are " + all};
}

std::string complete_text(const Settings& settings) {
  std::string text;
  for (const Key& key : kKeys) {
    if (key.name == "run.threads") continue;
    text += std::string(key.name) + " = " + text_of(value_of(settings, key)) + "\n";
  }
  return text;
}

}  // namespace photon::netsim
