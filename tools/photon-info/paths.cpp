#include <array>
#include <chrono>
#include <cstdint>
#include <span>

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
    if (status != PH_OK) return {peer, "", "", false, false, false, "", ph_status_text(status)};
    return {peer,          path.transport,         path.state,  path.same_process != 0,
            path.cma != 0, path.arena_mapped != 0, path.reason, problems_[peer]};
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

}  // namespace

std::vector<Path> find_paths(photon::Context& context) {
  const auto memory = context.allocate<std::byte>(kBlockBytes * context.size());
  const auto block = context.allocate<std::byte>(kBlockBytes);
  const auto regions = context.allgather(memory.region());
  Round round(context);
  round.exchange({}, regions, kHelloId);
  round.settle();
  round.exchange(block.span(), regions, kBlockId);
  std::vector<Path> paths;
  for (photon::Rank peer = 0; peer < context.size(); ++peer)
    if (peer != context.rank()) paths.push_back(round.describe(peer));
  context.barrier();  // nobody leaves, and gives its memory back, while others still put
  return paths;
}

}  // namespace photon_info
