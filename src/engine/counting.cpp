#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

// Of the connected peers, how many are reached in which way.
struct Ways {
  std::uint64_t in_process = 0;
  std::uint64_t by_memory = 0;
  std::uint64_t by_network = 0;

  // As ph_path_to() says it, so that both say the same.
  void add(const ph_path& path) noexcept {
    if (path.same_process != 0)
      ++in_process;
    else if (std::string_view(path.transport) == "shm")
      ++by_memory;
    else
      ++by_network;
  }
};

}  // namespace

void Engine::start_counting(bool on) {
  for (Peer* peer : contacted_) {
    settle(*peer);
    if (on && peer->counters == nullptr) peer->counters = std::make_unique<PeerCounters>();
    peer->counts = on ? peer->counters.get() : nullptr;
  }
  counting_ = on;
}

PeerCounters Engine::counters_of(Peer& peer) {
  settle(peer);
  PeerCounters counters = peer.counters == nullptr ? PeerCounters{} : *peer.counters;
  counters.add(Count::lines_sent, peer.tx.tail());
  counters.add(Count::lines_received, peer.rx.head());
  counters.add(Count::ids_probed, peer.probed + peer.overflow_probed);
  return counters;
}

// Those of a peer, or of all peers together and then the rank's own; behind them the services'.
// Names live for ever.
ph_status Engine::counters(Rank rank, std::vector<NamedCount>& found) {
  if (rank != PH_ANY_RANK && rank >= size_)
    return fail(PH_ERR_RANK, rank, "counters: no rank " + std::to_string(rank) + " in this job");
  PeerCounters all;
  for (Peer* peer : contacted_)
    if (rank == PH_ANY_RANK || peer->rank == rank) all.merge(counters_of(*peer));
  for (std::size_t i = 0; i < kPeerCounts; ++i)
    found.push_back({peer_counter_texts()[i], all.values[i]});
  if (rank != PH_ANY_RANK) {
    services_->count(rank, found);
    return PH_OK;
  }
  const auto cache = sources_.counts();
  const auto strangers = transport_->rejected();
  Ways ways;
  for (const Peer* peer : contacted_) {
    if (peer->rank == self_ || peer->state != Peer::State::connected) continue;
    ph_path path{};
    if (describe(peer->rank, path) == PH_OK) ways.add(path);
  }
  const NamedCount kOwn[] = {
      {{"refusals", "Calls that said PH_AGAIN."}, own_counts_.refusals},
      {{"sleeps", "Times that a thread of this rank slept in the library."}, own_counts_.sleeps},
      {{"dropped", "Messages to no mailbox that were dropped without a word to their sender."},
       own_counts_.dropped},
      {{"turns", "Turns of progress."}, turn_},
      {{"most_requests", "Most requests in use, but for marks of sampled puts."},
       own_counts_.most_requests},
      {{"source_hits", "Sources that the NIC's cache knew."}, cache.hits},
      {{"source_misses", "Sources that had to be registered with the NIC."}, cache.misses},
      {{"source_evictions", "Sources given back to make room."}, cache.evictions},
      {{"rejected_silent", "Turned away: said not in time who it is, or went."}, strangers.silent},
      {{"rejected_garbage", "Turned away: does not speak the protocol."}, strangers.garbage},
      {{"rejected_version", "Turned away: speaks another version of it."}, strangers.version},
      {{"rejected_unexpected", "Turned away: no rank expected here."}, strangers.unexpected},
      {{"rejected_wrong_key", "Turned away: does not bear its rank's key."}, strangers.wrong_key},
      {{"rejected_wrong_secret", "Turned away: does not know the job's secret."},
       strangers.wrong_secret},
      {{"rejected_crowded", "Turned away: had to make room for others."}, strangers.crowded},
      {{"rejected_no_room", "Turned away: found no descriptor left."}, strangers.no_room},
      {{"peers_same_process", "Connected peers that are ranks of this process."}, ways.in_process},
      {{"peers_shared_memory", "Connected peers of this host, by shared memory."}, ways.by_memory},
      {{"peers_network", "Connected peers that are reached by the network."}, ways.by_network},
  };
  found.insert(found.end(), std::begin(kOwn), std::end(kOwn));
  services_->count(rank, found);
  return PH_OK;
}

namespace {

std::string text_of(const std::vector<NamedCount>& counts) {
  std::string text;
  for (const NamedCount& one : counts)
    if (one.value != 0)
      text +=
          (text.empty() ? "" : ", ") + std::string(one.text.name) + " " + std::to_string(one.value);
  return text.empty() ? "nothing" : text;
}

}  // namespace

// To stderr, whatever the log's level: it was asked for.
void Engine::print_counters() noexcept {
  try {
    std::vector<NamedCount> found;
    static_cast<void>(counters(PH_ANY_RANK, found));
    log_.write(base::LogLevel::info, "stats: in all: %s", text_of(found).c_str());
    for (Peer* peer : contacted_) {
      found.clear();
      static_cast<void>(counters(peer->rank, found));
      log_.write(base::LogLevel::info, "stats: rank %u: %s", peer->rank, text_of(found).c_str());
    }
  } catch (const std::bad_alloc&) {
    log_.write(base::LogLevel::info, "stats: no memory for them");
  }
}

}  // namespace photon::engine
