// What waits for what when nothing moves any more.
#include "netsim/net/part.hpp"

namespace photon::netsim {
namespace {

// Channels: first all input queues, then all output queues.
class Waiting {
 public:
  Waiting(const Fabric& fabric, const State& state)
      : fabric_(fabric), state_(state), inputs_(static_cast<std::uint32_t>(state.inputs.size())) {}

  std::uint32_t channels() const { return 2 * inputs_; }
  bool holds_packets(std::uint32_t channel) const {
    if (channel < inputs_) return state_.inputs[channel].output != kNone;
    return !state_.outputs[channel - inputs_].is_empty();
  }
  // What the head of the channel waits for, or kNone.
  std::uint32_t next(std::uint32_t channel) const {
    if (channel < inputs_) return inputs_ + state_.inputs[channel].output;
    const std::uint32_t queue = channel - inputs_;
    const std::uint32_t vcs = fabric_.parameters.vcs;
    const std::uint32_t peer = state_.ports[queue / vcs].peer;
    return (peer & kCardBit) != 0 ? kNone : peer * vcs + queue % vcs;
  }
  std::string name(std::uint32_t channel) const { return channel_name(fabric_, channel); }

 private:
  const Fabric& fabric_;
  const State& state_;
  std::uint32_t inputs_;
};

}  // namespace

std::string channel_name(const Fabric& fabric, std::uint32_t channel) {
  const std::uint32_t vcs = fabric.parameters.vcs;
  const std::uint32_t inputs = fabric.wiring.ports() * vcs;
  const std::uint32_t queue = channel < inputs ? channel : channel - inputs;
  const std::uint32_t router = fabric.router_of[queue / vcs];
  return "router " + std::to_string(router) + (channel < inputs ? " input " : " output ") +
         std::to_string(queue / vcs - fabric.wiring.port_base[router]) + " VC " +
         std::to_string(queue % vcs);
}

std::string waiting_cycle(const Fabric& fabric, const State& state) {
  const Waiting waiting(fabric, state);
  std::vector<std::uint32_t> seen_from(waiting.channels(), kNone);
  std::string stuck = "no packet is in a router";
  for (std::uint32_t start = 0; start < waiting.channels(); ++start) {
    std::uint32_t channel = start;
    while (channel != kNone && waiting.holds_packets(channel) && seen_from[channel] == kNone) {
      seen_from[channel] = start;
      stuck = "packets wait at " + waiting.name(channel) + ", in no cycle";
      channel = waiting.next(channel);
    }
    if (channel == kNone || seen_from[channel] != start) continue;
    std::string cycle = "cycle of waiting channels: ";
    const std::uint32_t first = channel;
    do {
      cycle += waiting.name(channel) + " -> ";
      channel = waiting.next(channel);
    } while (channel != first);
    return cycle + waiting.name(first);
  }
  return stuck;
}

}  // namespace photon::netsim
