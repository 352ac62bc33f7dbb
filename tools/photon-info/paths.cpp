#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "findings.hpp"

namespace photon_info {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kSlice = std::chrono::milliseconds(5);
constexpr std::size_t kBlockBytes = 64 * 1024;  // large enough for the direct path
constexpr std::uint64_t kHelloId = 1;
constexpr std::uint64_t kBlockId = 2;

// A round of puts between all ranks. A peer that fails is noted and no longer waited for.
class Round {
 public:
  explicit Round(photon::Context& context)
      : context_(context), deadline_(Clock::now() + kPatience), problems_(context.size()) {}

  // One put of this size (0: a notification) to everybody; until it went and theirs came.
  void exchange(std::span<const std::byte> block, const std::vector<photon::Region>& regions,
                std::uint64_t id) {
    for (photon::Rank peer = 0; peer < context_.size(); ++peer)
      if (peer != context_.rank() && problems_[peer].empty()) send(peer, block, regions[peer], id);
    while (awaited_count_ > 0 && Clock::now() < deadline_) take();
  }

  // Direct paths need both sides' progress after the first record: serve until all are decided.
  void settle() {
    while (Clock::now() < deadline_ && is_undecided()) take();
  }

  [[nodiscard]] Path describe(photon::Rank peer) {
    ph_path path = {};
    path.size = sizeof path;
    const ph_status status = ph_path_to(context_.c_context(), peer, &path);
    const photon::Rank self = context_.rank();
    if (status != PH_OK)
      return {self, peer, "", "", false, false, false, "", ph_status_text(status)};
    return {self,
            peer,
            path.transport,
            path.state,
            path.same_process != 0,
            path.cma != 0,
            path.arena_mapped != 0,
            path.reason,
            problems_[peer]};
  }

 private:
  void send(photon::Rank peer, std::span<const std::byte> block, const photon::Region& region,
            std::uint64_t id) {
    try {
      // My block has its own place there: senders do not overwrite each other.
      const photon::Target target = photon::at(region, kBlockBytes * context_.rank());
      while (!context_.put(peer, block, target, {.local = id, .remote = id})) take();
      awaited_count_ += 2;
    } catch (const photon::Error& error) {
      problems_[peer] = error.what();
    }
  }

  void take() {
    std::array<photon::Completion, 16> storage;
    const auto found = context_.probe(storage);
    for (const photon::Completion& completion : found) {
      --awaited_count_;
      if (completion.status == PH_OK) continue;
      problems_[completion.peer] = ph_status_text(completion.status);
      --awaited_count_;  // nothing will come from there either
    }
    if (found.empty()) (void)context_.wait_for(kSlice);
  }

  bool is_undecided() {
    for (photon::Rank peer = 0; peer < context_.size(); ++peer) {
      const std::string state = describe(peer).state;
      if (peer != context_.rank() && (state == "unknown" || state == "connecting")) return true;
    }
    return false;
  }

  photon::Context& context_;
  Clock::time_point deadline_;
  std::vector<std::string> problems_;  // by rank
  // Completions still to come, mine and theirs. A fast peer's next put is counted before it is
  // awaited: hence signed, and never reset.
  std::int64_t awaited_count_ = 0;
};

// A Path as ranks exchange it.
struct PathCard {
  std::array<char, 16> transport;
  std::array<char, 16> state;
  std::array<char, sizeof(ph_path::reason)> reason;
  std::array<char, 256> problem;
  bool same_process;
  bool cma;
  bool arena_mapped;
};

template <std::size_t room>
void write(std::array<char, room>& into, const std::string& text) {
  into = {};
  text.copy(into.data(), room - 1);
}

PathCard card_of(const Path& path) {
  PathCard card{};
  write(card.transport, path.transport);
  write(card.state, path.state);
  write(card.reason, path.reason);
  write(card.problem, path.problem);
  card.same_process = path.same_process;
  card.cma = path.cma;
  card.arena_mapped = path.arena_mapped;
  return card;
}

Path path_of(photon::Rank from, photon::Rank to, const PathCard& card) {
  return {from,
          to,
          card.transport.data(),
          card.state.data(),
          card.same_process,
          card.cma,
          card.arena_mapped,
          card.reason.data(),
          card.problem.data()};
}

std::vector<PeerCount> count_peers(const photon::Context& context) {
  std::vector<PeerCount> found;
  for (const ph_counter& one : context.counters())
    if (std::string_view(one.name).starts_with("peers_"))
      found.push_back({one.name, one.help, one.value});
  return found;
}

}  // namespace

std::vector<Path> gather_paths(photon::Context& context, const std::vector<Path>& own) {
  std::vector<std::vector<PathCard>> columns;  // to a rank, from each
  for (photon::Rank to = 0; to < context.size(); ++to) {
    PathCard mine{};
    for (const Path& path : own)
      if (path.rank == to) mine = card_of(path);
    columns.push_back(context.allgather(mine));
  }
  std::vector<Path> all;
  for (photon::Rank from = 0; from < context.size(); ++from)
    for (photon::Rank to = 0; to < context.size(); ++to)
      if (from != to) all.push_back(path_of(from, to, columns[to][from]));
  return all;
}

Tried try_paths(photon::Context& context) {
  const auto memory = context.allocate<std::byte>(kBlockBytes * context.size());
  const auto block = context.allocate<std::byte>(kBlockBytes);
  const auto regions = context.allgather(memory.region());
  Round round(context);
  round.exchange({}, regions, kHelloId);
  round.settle();
  round.exchange(block.span(), regions, kBlockId);
  Tried tried;
  for (photon::Rank peer = 0; peer < context.size(); ++peer)
    if (peer != context.rank()) tried.paths.push_back(round.describe(peer));
  tried.peers = count_peers(context);
  context.barrier();  // nobody leaves, and gives its memory back, while others still put
  return tried;
}

}  // namespace photon_info
