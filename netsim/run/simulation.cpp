#include "netsim/run/simulation.hpp"

#include <algorithm>

#include "netsim/run/windows.hpp"

namespace photon::netsim {

Simulation::Simulation(std::unique_ptr<Common> common, std::string note, std::uint32_t parts)
    : common_(std::move(common)), note_(std::move(note)) {
  for (std::uint32_t number = 0; number < parts; ++number) {
    workers_.push_back(std::make_unique<Worker>(*common_, number, parts));
  }
}

void Simulation::audit() {
  is_audited_ = true;
  for (const auto& worker : workers_) worker->part().audit();
}

// In pieces of simulated time, so that a watcher can be told; they change nothing.
void Simulation::run_serially(Watcher* watcher) {
  Worker& worker = *workers_[0];
  const Time bound = common_->bound == kNever ? kNever : common_->bound + 1;
  if (watcher == nullptr) return worker.run_until(bound);
  constexpr Time kPiece = 100 * kPicosecondsPerNs;
  while (worker.part().fault().empty() && !worker.part().queue().is_empty()) {
    const Time next = worker.part().queue().top().time;
    if (next >= bound) return;
    worker.run_until(std::min(bound, next + kPiece));
    if (watcher->is_due()) watcher->progress(worker.part().now(), worker.share_done());
  }
}

RunResult Simulation::run(Watcher* watcher) {
  RunResult result;
  result.note = note_;
  if (workers_.size() == 1) {
    run_serially(watcher);
  } else {
    result.failure = run_windows(
        workers_, {common_->fabric.parameters.router_to_router_ps(), common_->bound, watcher});
    if (!result.failure.empty()) return result;
  }
  result.finished_ps = common_->finished;
  for (const Time time : result.finished_ps) {
    if (time == kNever) continue;
    result.last_ps = std::max(result.last_ps, time);
    result.mean_ps += static_cast<double>(time) / static_cast<double>(result.finished_ps.size());
  }
  result.span_ps = result.last_ps;
  result.flit_ps = common_->fabric.parameters.flit_ps;
  result.links = links_by_class(common_->fabric, common_->state);
  for (const auto& worker : workers_) {
    const Counters& counters = worker->part().counters();
    result.span_ps = std::max(result.span_ps, counters.sent_until);
    result.packets += counters.delivered;
    result.hops += counters.hops;
    const nic::Figures figures = worker->figures();
    result.out_of_order += figures.out_of_order;
    result.peak_held_bytes = std::max(result.peak_held_bytes, figures.peak_held_bytes);
    result.peak_card_bytes = std::max(result.peak_card_bytes, figures.peak_memory_bytes);
    result.latency_ns.add(worker->latencies());
    result.posted_bytes += worker->posted_bytes();
    result.control_bytes += worker->control_bytes();
    result.bytes_from_cards += worker->sent_bytes();
    result.bytes_to_cards += worker->came_bytes();
    result.flits_from_cards += counters.flits_from_cards;
    result.flits_to_cards += counters.flits_to_cards;
    result.events += counters.events;
  }
  result.failure = why_it_failed(result);
  return result;
}

namespace {

// The first rank that was never done, or nothing; and whether its peers' cards wait, too.
std::string who_waits(const RunResult& result) {
  const auto& finished = result.finished_ps;
  const auto found = std::find(finished.begin(), finished.end(), kNever);
  if (found == finished.end()) return {};
  std::string text = "rank " + std::to_string(found - finished.begin()) + " waits for ever";
  const std::uint64_t sent = result.bytes_from_cards - result.control_bytes;
  if (sent >= result.posted_bytes) return text;
  return text + "; cards wait for buffers of their peers with " +
         std::to_string(result.posted_bytes - sent) + " B that were posted";
}

}  // namespace

std::string Simulation::why_it_failed(const RunResult& result) {
  Time now = 0;
  bool is_empty = true;
  bool has_events = false;
  std::uint64_t sum = 0;
  for (const auto& worker : workers_) {
    Part& part = worker->part();
    if (!part.fault().empty()) return part.fault();
    now = std::max(now, part.now());
    is_empty = is_empty && part.is_empty();
    has_events = has_events || !part.queue().is_empty();
    sum += worker->sent_sum() - worker->came_sum();
  }
  if (has_events && common_->bound == kEndOfTime) {
    return "simulated time passed 2^63 ps, which is as far as it is counted";
  }
  const std::string bound = "the bound of simulated time (run.max_us) passed";
  if (!is_empty) {
    return (has_events ? bound + ": " : "") + "packets stayed in the network at " +
           std::to_string(now) + " ps: " + waiting_cycle(common_->fabric, common_->state);
  }
  if (has_events) return bound;
  for (const auto& worker : workers_) {
    if (std::string left = worker->part().what_is_left(); !left.empty()) return left;
  }
  if (sum != 0) return "a packet was not delivered exactly once";
  if (std::string waits = who_waits(result); !waits.empty()) return waits;
  if (result.bytes_from_cards != result.posted_bytes + result.control_bytes ||
      result.bytes_to_cards != result.bytes_from_cards ||
      result.flits_to_cards != result.flits_from_cards) {
    return "the bytes on hosts' links are not those of the messages";
  }
  return is_audited_ ? what_disagrees(result) : std::string();
}

std::string Simulation::what_disagrees(const RunResult& result) const {
  std::uint64_t sent = 0;
  for (const auto& worker : workers_) {
    if (std::string what = worker->part().what_disagrees(); !what.empty()) return what;
    sent += worker->sent_flits();
  }
  for (const LinkClass& its : result.links) {
    if ((its.name != kFromHosts && its.name != kToHosts) || its.flits == sent) continue;
    return "the links " + its.name + " carried " + std::to_string(its.flits) +
           " flits, the messages have " + std::to_string(sent);
  }
  return {};
}

namespace {

// A card counts the packets of a message in 24 bits.
std::string wrong_with_packets(const Settings& settings, const Motif& motif) {
  constexpr std::uint64_t kMostPackets = std::uint64_t{1} << 24;
  const std::uint32_t mtu = with_defaults(settings).nic.mtu;
  const std::uint64_t packets = (std::uint64_t{motif.most_bytes()} + mtu - 1) / mtu;
  if (packets <= kMostPackets) return {};
  return (settings.nic.mtu == 0 ? "network.packet_bytes = " : "nic.mtu = ") + std::to_string(mtu) +
         ": allowed is so much that a message has up to 2^24 packets, and the largest, of " +
         std::to_string(motif.most_bytes()) + " B, has " + std::to_string(packets);
}

Result<Placement> place_ranks(const Settings& settings, const Common& common) {
  const std::uint32_t hosts = common.fabric.wiring.hosts;
  const std::uint32_t ranks = common.motif->ranks();
  const std::uint64_t most = std::uint64_t{hosts} * settings.ranks_per_node;
  if (ranks > most) {
    const bool is_from_file = settings.motif.name == "schedule";
    return Error{(is_from_file ? "motif.file = " + settings.motif.file + ", which has " +
                                     std::to_string(ranks) + " ranks"
                               : "motif.ranks \"" + settings.motif.ranks + "\"") +
                 ": allowed are up to " + std::to_string(most) +
                 " ranks, run.ranks_per_node on each host"};
  }
  return make_placement(settings.placement, ranks, {hosts, settings.ranks_per_node});
}

}  // namespace

Result<std::unique_ptr<Simulation>> make_simulation(const Settings& settings) {
  auto topology = make_topology(settings.network);
  if (!topology) return Error{topology.error()};
  if (std::string wrong = wrong_with(settings.nic, (*topology)->is_ordered()); !wrong.empty()) {
    return Error{wrong};
  }
  MotifSettings asked = settings.motif;
  asked.link_GBps = settings.link_GBps;
  asked.seed = settings.seed;
  auto motif = make_motif(asked);
  if (!motif) return Error{motif.error()};
  auto rounded = parameters_of(settings, (*topology)->vcs());
  if (!rounded) return Error{rounded.error()};
  std::string note = rounded->note;
  std::uint32_t parts = settings.threads;
  if (parts > 1 && rounded->parameters.router_to_router_ps() == 0) {
    note += std::string(note.empty() ? "" : "; ") + "without latencies the run has one thread";
    parts = 1;
  }
  if (std::string wrong = wrong_with_packets(settings, **motif); !wrong.empty()) {
    return Error{wrong};
  }
  auto common = std::make_unique<Common>(settings, std::move(*topology), std::move(*motif),
                                         rounded->parameters, parts);
  auto placement = place_ranks(settings, *common);
  if (!placement) return Error{placement.error()};
  common->placement = std::move(*placement);
  return std::unique_ptr<Simulation>(new Simulation(std::move(common), std::move(note), parts));
}

Result<RunResult> run(const Settings& settings) {
  auto simulation = make_simulation(settings);
  if (!simulation) return Error{simulation.error()};
  return (*simulation)->run();
}

}  // namespace photon::netsim
