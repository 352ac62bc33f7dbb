// memory: bytes that one more peer costs this rank, before and after first contact.
// Never contacted: two contexts in a pretended job, of few and of many ranks, both kept; the
// difference of their growth over the difference of their ranks. Contacted: growth while rank 0
// exchanges a message with each other rank.
#include <fmt/core.h>

#include <cstring>
#include <memory>

#include "inbox.hpp"
#include "questions.hpp"
#include "resources.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kFewRanks = 1'000;
constexpr std::uint32_t kManyRanks = 101'000;
constexpr double kBar_bytes = 64;

// Every pretended rank says what this one says; nobody will ever contact them.
int pretend_allgather(void* user, const void* mine, void* all, size_t size_bytes) {
  const auto ranks = *static_cast<const std::uint32_t*>(user);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::memcpy(static_cast<std::byte*>(all) + rank * size_bytes, mine, size_bytes);
  }
  return 0;
}

int pretend_barrier(void*) { return 0; }

struct Destroy {
  void operator()(ph_context* context) const { ph_context_destroy(context); }
};
using ContextPointer = std::unique_ptr<ph_context, Destroy>;

// A context of a pretended job, and what it added to this process.
struct Pretended {
  ContextPointer context;
  double growth_bytes;
};

Pretended pretend(std::uint32_t ranks) {
  const auto before_bytes = static_cast<double>(resident_bytes());
  const ph_bootstrap bootstrap{&ranks, 0, ranks, pretend_allgather, pretend_barrier};
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    throw Failure(
        fmt::format("cannot create a rank of a pretended job of {}: {}", ranks, error.text));
  }
  return {ContextPointer(context), static_cast<double>(resident_bytes()) - before_bytes};
}

Row peer_row(const Bench& bench, const char* mode, std::uint64_t peers, double bytes_each) {
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(1).transport;
  row.mode = mode;
  row.size_bytes = bytes_each < 0 ? 0 : static_cast<std::uint64_t>(bytes_each + 0.5);
  row.iterations = peers;
  return row;
}

void measure_unknown(Bench& bench) {
  pretend(kFewRanks);  // what only the first context of a process costs
  const auto few = pretend(kFewRanks);
  const auto many = pretend(kManyRanks);
  constexpr auto kPeers = kManyRanks - kFewRanks;
  const double bytes_each = (many.growth_bytes - few.growth_bytes) / kPeers;
  auto row = peer_row(bench, "never contacted", kPeers, bytes_each);
  row.limit = kBar_bytes;
  row.limit_name = "bar";
  row.limit_ratio = bytes_each / kBar_bytes;
  row.note = fmt::format("{:.1f} bytes a peer; bar {:.0f}", bytes_each, kBar_bytes);
  bench.report.add(std::move(row));
}

// Rank 0 calls each of the others, who reply; its growth is shared pages included.
void measure_contacted(Bench& bench) {
  Inbox inbox(bench.job);
  const auto call = [&](ph_rank rank) {
    inbox.post([&] { return ph_notify(bench.job.context(), rank, rank); }, "notifying");
  };
  if (bench.job.rank() != 0) {
    const ph_query query{PH_ANY_RANK, PH_EITHER, nullptr};
    bench.job.check(ph_wait(bench.job.context(), query, PH_FOREVER), "waiting for rank 0");
    inbox.await_remote();
    return call(0);
  }
  const auto peers = bench.job.size() - 1;
  const auto before_bytes = static_cast<double>(resident_bytes());
  for (ph_rank rank = 1; rank <= peers; ++rank) {
    call(rank);
    inbox.await_remote();
  }
  const double bytes_each = (static_cast<double>(resident_bytes()) - before_bytes) / peers;
  auto row = peer_row(bench, "contacted", peers, bytes_each);
  row.note = fmt::format("{:.0f} bytes a peer after one message each way", bytes_each);
  bench.report.add(std::move(row));
}

}  // namespace

void ask_memory(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  measure_contacted(bench);
  crew.barrier_asleep();
  if (bench.job.rank() == 0) measure_unknown(bench);
}

}  // namespace photon::perf
