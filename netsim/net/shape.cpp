// From the names and shapes of settings to a topology.
#include <charconv>
#include <optional>
#include <string_view>

#include "netsim/net/dragonfly.hpp"
#include "netsim/net/fat_tree.hpp"
#include "netsim/net/hyperx.hpp"
#include "netsim/net/torus.hpp"

namespace photon::netsim {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Made = Result<std::unique_ptr<Topology>>;
constexpr std::uint64_t kMostHosts = std::uint64_t{1} << 24;
// With 16 VCs the places of all queues (state.hpp) are numbered in 32 bits.
constexpr std::uint64_t kMostPorts = std::uint64_t{1} << 26;

// Numbers of at least 1 between separators, or nothing.
std::optional<Numbers> numbers_between(std::string_view text, char separator) {
  Numbers numbers;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc{} || rest != part.data() + part.size() || number == 0) return {};
    numbers.push_back(number);
    if (end == std::string_view::npos) return numbers;
    text.remove_prefix(end + 1);
  }
}

// The product with what comes after it, or more than any limit.
std::uint64_t product(const Numbers& numbers, std::uint64_t first) {
  std::uint64_t all = first;
  for (const std::uint32_t number : numbers) {
    all *= number;
    if (all > kMostPorts) return kMostPorts + 1;
  }
  return all;
}

Error bad_shape(const TopologySettings& settings, const char* allowed) {
  return {"network.shape \"" + settings.shape + "\" of topology " + settings.topology +
          ": allowed is " + allowed};
}

Error bad_routing(const TopologySettings& settings, const char* allowed) {
  return {"network.routing \"" + settings.routing + "\": allowed for topology " +
          settings.topology + " is " + allowed};
}

constexpr const char* kTooLarge = "a network of at most 2^24 hosts and 2^26 ports";

Made make_router(const TopologySettings& settings) {
  if (settings.routing != "static") return bad_routing(settings, "static");
  const auto hosts = numbers_between(settings.shape, 'x');
  if (!hosts || hosts->size() != 1) return bad_shape(settings, "the number of hosts, as 8");
  if (hosts->front() > 65535) return bad_shape(settings, "at most 65535 hosts");
  return Made(std::make_unique<SingleRouter>(hosts->front()));
}

Made make_grid(const TopologySettings& settings) {
  const bool is_torus = settings.topology == "torus";
  const auto sizes = numbers_between(settings.shape, 'x');
  if (!sizes) return bad_shape(settings, "sizes of dimensions, as 4x4x4");
  std::uint64_t ports = settings.hosts_per_router;
  for (const std::uint32_t size : *sizes) {
    ports += is_torus ? 2 : std::uint64_t{size - 1} * settings.width;
  }
  if (settings.hosts_per_router == 0 || product(*sizes, settings.hosts_per_router) > kMostHosts ||
      product(*sizes, ports) > kMostPorts) {
    return bad_shape(settings, kTooLarge);
  }
  if (is_torus) {
    if (settings.routing != "static") return bad_routing(settings, "static");
    return Made(std::make_unique<Torus>(*sizes, settings.hosts_per_router));
  }
  const bool is_adaptive = settings.routing == "adaptive";
  if (!is_adaptive && settings.routing != "static") {
    return bad_routing(settings, "static and adaptive");
  }
  return Made(std::make_unique<HyperX>(
      HyperXShape{*sizes, settings.width, settings.hosts_per_router, is_adaptive}));
}

Made make_fat_tree(const TopologySettings& settings) {
  constexpr const char* kForm = "levels down,up with a last one down, as 8,8:8";
  const bool is_adaptive = settings.routing == "adaptive";
  if (!is_adaptive && settings.routing != "static") {
    return bad_routing(settings, "static and adaptive");
  }
  std::vector<FatTreeLevel> levels;
  std::string_view rest = settings.shape;
  std::uint64_t hosts = 1;
  std::uint64_t routers_a_group = 1;
  while (true) {
    const std::size_t end = rest.find(':');
    const bool is_last = end == std::string_view::npos;
    const auto level = numbers_between(rest.substr(0, end), ',');
    if (!level || level->size() != (is_last ? 1U : 2U)) return bad_shape(settings, kForm);
    levels.push_back({level->front(), is_last ? 0 : level->back()});
    hosts *= level->front();
    if (!is_last) routers_a_group *= level->back();
    if (hosts > kMostHosts || routers_a_group > kMostHosts) return bad_shape(settings, kTooLarge);
    if (is_last) break;
    rest.remove_prefix(end + 1);
  }
  // A level has a group of routers for each part of the hosts; groups grow by the way up.
  std::uint64_t ports = 0;
  std::uint64_t groups = hosts;
  std::uint64_t routers = 1;  // of a group
  for (const FatTreeLevel& level : levels) {
    groups /= level.down;
    ports += groups * routers * (std::uint64_t{level.down} + level.up);
    if (ports > kMostPorts) return bad_shape(settings, kTooLarge);
    routers *= level.up;
  }
  return Made(std::make_unique<FatTree>(levels, is_adaptive));
}

Made make_dragonfly(const TopologySettings& settings) {
  const auto numbers = numbers_between(settings.shape, ':');
  if (!numbers || numbers->size() != 4) {
    return bad_shape(settings, "hosts:routers:links:groups, as 4:4:1:4");
  }
  const Numbers& n = *numbers;
  const std::uint64_t ports = n[0] + std::uint64_t{n[1]} + std::uint64_t{n[2]} * n[3];
  if (product({n[0], n[1], n[3]}, 1) > kMostHosts || product({n[1], n[3]}, ports) > kMostPorts ||
      n[2] > 65535 || n[3] > 65535) {
    return bad_shape(settings, kTooLarge);
  }
  DragonflyShape shape{n[0], n[1], n[2], n[3], DragonflyRouting::shortest};
  if (settings.routing == "ugal") {
    shape.routing = DragonflyRouting::ugal;
  } else if (settings.routing == "valiant") {
    shape.routing = DragonflyRouting::valiant;
  } else if (settings.routing != "static") {
    return bad_routing(settings, "static, ugal and valiant");
  }
  return Made(std::make_unique<Dragonfly>(shape));
}

}  // namespace

Result<std::unique_ptr<Topology>> make_topology(const TopologySettings& settings) {
  if (settings.topology == "router") return make_router(settings);
  if (settings.topology == "torus" || settings.topology == "hyperx") {
    if (settings.width == 0) return Error{"network.width 0: allowed is 1 and more"};
    return make_grid(settings);
  }
  if (settings.topology == "fattree") return make_fat_tree(settings);
  if (settings.topology == "dragonfly") return make_dragonfly(settings);
  return Error{"network.topology \"" + settings.topology +
               "\": allowed are router, torus, hyperx, fattree and dragonfly"};
}

}  // namespace photon::netsim
