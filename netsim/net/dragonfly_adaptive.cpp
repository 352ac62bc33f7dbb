// UGAL and Valiant routing of the dragonfly.
#include "netsim/net/dragonfly.hpp"

namespace photon::netsim {
namespace {

// One of 0 .. count - 1 other than two given ones; there is one.
std::uint32_t draw_other(Random& random, std::uint32_t count, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t low = a < b ? a : b;
  const std::uint32_t high = a < b ? b : a;
  std::uint32_t drawn = random.below(count - 2);
  if (drawn >= low) ++drawn;
  if (drawn >= high) ++drawn;
  return drawn;
}

}  // namespace

// The least weight so far; of several equal ones each is kept with the same chance.
struct Dragonfly::Choice {
  Random& random;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint32_t equals = 0;
  std::uint32_t slice = 0;
  bool is_detour = false;

  void offer(std::uint64_t weight, std::uint32_t offered_slice, bool offered_detour) {
    if (weight > least) return;
    equals = weight < least ? 1 : equals + 1;
    least = weight;
    if (equals > 1 && random.below(equals) != 0) return;
    slice = offered_slice;
    is_detour = offered_detour;
  }
};

Hop Dragonfly::route_adaptive(const Here& here, const Place& place, Packet& packet) const {
  const bool is_in_group = place.group == place.to_group;
  if (place.is_from_host) {
    return is_in_group ? leave_within_group(here, place, packet) : leave_host(here, place, packet);
  }
  if (is_in_group) {
    // From another group by one local link; or this is the middle router of a way in the group.
    const std::uint32_t vc = place.is_from_global ? place.vc : place.vc + 2;
    return {local_port(place.router, place.to_router), vc};
  }
  const std::uint32_t source_group = packet.source / (shape_.hosts * shape_.routers);
  if (place.group == source_group) return pass_source_group(here, place, packet);
  if (place.is_from_global) return enter_middle_group(here, place, packet);
  return towards_group(place, place.to_group, packet.slice);
}

// At the first router, the destination in this group.
Hop Dragonfly::leave_within_group(const Here& here, const Place& place, Packet&) const {
  const std::uint32_t straight = local_port(place.router, place.to_router);
  if (shape_.routers <= 2) return {straight, place.vc};
  const std::uint32_t middle =
      draw_other(*here.random, shape_.routers, place.router, place.to_router);
  const std::uint32_t detour = local_port(place.router, middle);
  const bool is_straight = shape_.routing == DragonflyRouting::ugal &&
                           here.queues.length(straight, place.vc) <=
                               2 * here.queues.length(detour, place.vc) + kDetourFlits;
  return {is_straight ? straight : detour, place.vc};
}

// At the first router, the destination in another group.
Hop Dragonfly::leave_host(const Here& here, const Place& place, Packet& packet) const {
  const bool has_middle = shape_.groups > 2;
  if (has_middle) {
    packet.middle = static_cast<std::uint16_t>(
        draw_other(*here.random, shape_.groups, place.group, place.to_group));
  }
  Choice choice{*here.random};
  const bool may_be_straight = shape_.routing == DragonflyRouting::ugal || !has_middle;
  for (std::uint32_t slice = 0; slice < shape_.slices; ++slice) {
    if (may_be_straight) {
      const std::uint32_t port = port_towards(place, place.to_group, slice);
      choice.offer(here.queues.length(port, place.vc), slice, false);
    }
    if (has_middle) {
      const std::uint32_t port = port_towards(place, packet.middle, slice);
      choice.offer(2 * here.queues.length(port, place.vc) + kDetourFlits, slice, true);
    }
  }
  packet.slice = static_cast<std::uint16_t>(choice.slice);
  packet.is_detoured = choice.is_detour;
  const std::uint32_t group = choice.is_detour ? packet.middle : place.to_group;
  return towards_group(place, group, packet.slice);
}

// At a second router of the source group: it owns the link that was chosen. If it owns the other
// one, too, it compares again.
Hop Dragonfly::pass_source_group(const Here& here, const Place& place, Packet& packet) const {
  if (shape_.routing == DragonflyRouting::ugal && packet.middle != kNoMiddle) {
    const std::uint32_t straight = link_number(packet.slice, place.group, place.to_group);
    const std::uint32_t detour = link_number(packet.slice, place.group, packet.middle);
    if (owner(straight) == place.router && owner(detour) == place.router) {
      packet.is_detoured = here.queues.length(global_port(straight), place.vc) >
                           2 * here.queues.length(global_port(detour), place.vc) + kDetourFlits;
    }
  }
  const std::uint32_t group = packet.is_detoured ? packet.middle : place.to_group;
  return towards_group(place, group, packet.slice);
}

Hop Dragonfly::enter_middle_group(const Here& here, const Place& place, Packet& packet) const {
  Choice choice{*here.random};
  for (std::uint32_t slice = 0; slice < shape_.slices; ++slice) {
    const bool is_own = owner(link_number(slice, place.group, place.to_group)) == place.router;
    const std::uint32_t length =
        here.queues.length(port_towards(place, place.to_group, slice), place.vc);
    choice.offer(is_own ? length : 2 * length, slice, false);
  }
  packet.slice = static_cast<std::uint16_t>(choice.slice);
  return towards_group(place, place.to_group, packet.slice);
}

}  // namespace photon::netsim
