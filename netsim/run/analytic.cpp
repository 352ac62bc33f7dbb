#include "netsim/run/analytic.hpp"

#include "netsim/clock/random.hpp"

namespace photon::netsim {
namespace {

std::uint32_t flits_with_header(const Settings& settings, std::uint32_t bytes) {
  return static_cast<std::uint32_t>(
      flits_of(std::uint64_t{bytes} + settings.header_bytes, settings.flit_bytes));
}

// The end of a message that passes so many routers, none of which is busy. Its packets follow one
// another on every link without a gap: the next one is granted before the one before it has left.
Time idle_latency(const Settings& settings, const Parameters& p, std::uint32_t routers) {
  Time now = p.flit_ps + p.link_ps + p.input_ps;
  for (std::uint32_t router = 1; router <= routers; ++router) {
    const Time edge = (now / p.crossbar_ps + 1) * p.crossbar_ps;
    now = edge + p.flit_ps + p.output_ps + p.link_ps + (router < routers ? p.input_ps : 0);
  }
  const std::uint32_t before = (settings.motif.bytes - 1) / settings.packet_bytes;
  now += std::uint64_t{before} * flits_with_header(settings, settings.packet_bytes) * p.flit_ps;
  if (!p.is_delivered_at_tail) return now;
  return now + flits_with_header(settings, settings.motif.bytes - before * settings.packet_bytes) *
                   p.flit_ps;
}

std::string times(std::uint32_t count, const std::string& text) {
  std::string all;
  for (std::uint32_t i = 0; i < count; ++i) all += text;
  return all;
}

// A network, and how many routers there are on the way from host 0 to host 1.
struct Way {
  TopologySettings network;
  std::uint32_t routers;
};

Way draw_way(Random& random) {
  const auto from_to = [&random](std::uint32_t least, std::uint32_t most) {
    return least + random.below(most - least + 1);
  };
  const auto number = [&](std::uint32_t least, std::uint32_t most) {
    return std::to_string(from_to(least, most));
  };
  const bool may_choose = random.below(2) == 0;
  const std::string routing = may_choose ? "adaptive" : "static";
  const std::uint32_t hosts = from_to(1, 2);
  switch (random.below(5)) {
    case 0: return {{"router", number(2, 9)}, 1};
    case 1:
      return {{"torus", times(from_to(0, 2), "1x") + number(2, 5), "static", hosts}, 3 - hosts};
    case 2:
      return {{"hyperx", times(from_to(0, 2), "1x") + number(2, 5), routing, hosts, from_to(1, 3)},
              3 - hosts};
    case 3: {
      const std::uint32_t levels = from_to(0, 3);
      const std::string below = times(levels, "1," + number(1, 3) + ":");
      const std::string top = levels == 0 ? number(2, 4) + "," + number(1, 3) + ":2" : number(2, 4);
      return {{"fattree", below + top, routing}, 2 * levels + 1};
    }
    default:
      return {{"dragonfly",
               std::to_string(hosts) + ":" + number(1, 4) + ":" + number(1, 3) + ":" + number(2, 5),
               may_choose ? "ugal" : "static"},
              3 - hosts};
  }
}

TableRow draw_row(Random& random, const std::string& name) {
  const auto up_to = [&random](std::uint32_t most, double unit) {
    return random.below(most + 1) * unit;
  };
  Settings settings;
  settings.link_GBps = 0.5 + up_to(10'000, 0.1);
  settings.crossbar_GBps = settings.link_GBps * (1 + up_to(200, 0.01));
  settings.flit_bytes = 1 + random.below(256);
  settings.packet_bytes = 1 + random.below(4096);
  settings.header_bytes = random.below(64);
  settings.link_ns = up_to(100'000, 0.001);
  settings.input_ns = up_to(100'000, 0.001);
  settings.output_ns = up_to(100'000, 0.001);
  settings.delivery = random.below(2) == 0 ? "head" : "tail";
  settings.motif = {"pair", "2", 1 + random.below(4 * settings.packet_bytes), 1, 1};
  settings.buffer_bytes = 4 * (settings.packet_bytes + settings.header_bytes + 256);
  const Way way = draw_way(random);
  settings.network = way.network;
  const auto rounded = parameters_of(settings, 1);
  const Time expected = rounded ? idle_latency(settings, rounded->parameters, way.routers) : 0;
  return {name, settings, expected};
}

// Each of `ranks` sends `bytes`, and the most loaded link carries `shares` of the messages.
TableRow loaded(const char* name, const TopologySettings& network, const MotifSettings& motif,
                std::uint32_t shares) {
  TableRow row{name, table_settings(), 0};
  row.settings.network = network;
  row.settings.motif = motif;
  row.expected_ps = static_cast<Time>(shares * (motif.bytes * 1000.0 / row.settings.link_GBps));
  return row;
}

MotifSettings shift(const char* ranks, std::uint32_t distance) {
  return {"shift", ranks, 500'000, 1, distance};
}

}  // namespace

std::vector<TableRow> idle_rows(std::uint32_t count, std::uint64_t seed) {
  Random random(seed, 0);
  std::vector<TableRow> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    rows.push_back(draw_row(random, "idle network " + std::to_string(i)));
  }
  return rows;
}

std::vector<TableRow> saturation_rows() {
  return {
      loaded("ring of 9, to the second neighbour", {"torus", "9"}, shift("9", 2), 2),
      loaded("bisection of a torus 4x4", {"torus", "4x4"}, shift("16", 8), 2),
      loaded("bisection of a HyperX 2, 4 hosts", {"hyperx", "2", "static", 4}, shift("8", 4), 4),
      loaded("bisection of a fat tree 4,2:4,2:2", {"fattree", "4,2:4,2:2"}, shift("32", 16), 4),
      loaded("bisection of a dragonfly 2:4:1:2", {"dragonfly", "2:4:1:2"}, shift("16", 8), 8),
      loaded("incast at one router", {"router", "8"}, {"incast", "8", 200'000}, 7),
      loaded("incast in a dragonfly 2:4:1:4", {"dragonfly", "2:4:1:4"}, {"incast", "32", 100'000},
             31),
  };
}

}  // namespace photon::netsim
