// memory: bytes that one more peer costs this rank, before and after first contact.
// Never contacted: two contexts in a pretended job, of few and of many ranks, both kept; the
// difference of their growth over the difference of their ranks. Contacted: growth while rank 0
// exchanges a message with each other rank, the first of which pay for what only the first contacts
// cost. The kernel's memory for sockets is not in it. Nor are, in the row that the bar is for, the
// buffers that a provider of libfabric keeps for each connection beside the kernel's: what a bare
// endpoint costs is measured by the same messages, and taken off.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "inbox.hpp"
#include "limit_fabric.hpp"
#include "questions.hpp"
#include "resources.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kFewRanks = 1'000;
constexpr std::uint32_t kManyRanks = 101'000;
constexpr double kBar_bytes = 64;
constexpr double kNetworkBar_bytes = 200;
constexpr double kContactBar_bytes = 16 * 1024;

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

Pretended pretend(const Bench& bench, std::uint32_t ranks) {
  const auto before_bytes = static_cast<double>(resident_bytes());
  const ph_bootstrap bootstrap{&ranks, 0, ranks, pretend_allgather, pretend_barrier};
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  const std::string transport = bench.job.setting("transport", "auto");
  const std::string provider = bench.job.setting("ofi_provider", "auto");
  const ph_option options[] = {{"transport", transport.c_str()},
                               {"ofi_provider", provider.c_str()}};
  config.options = options;
  config.options_count = std::size(options);
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

bool is_network(const Row& row) { return row.transport == "tcp" || row.transport == "ofi"; }

void set_bar(Row& row, double bytes_each, double bar_bytes) {
  row.limit = bar_bytes;
  row.limit_name = "bar";
  row.limit_ratio = std::max(bytes_each, 0.0) / bar_bytes;
  if (row.note.empty()) row.note = fmt::format("{:.1f} bytes a peer", bytes_each);
  row.note += fmt::format("; bar {:.0f}", bar_bytes);
}

void measure_unknown(Bench& bench) {
  pretend(bench, kFewRanks);  // what only the first context of a process costs
  const auto few = pretend(bench, kFewRanks);
  const auto many = pretend(bench, kManyRanks);
  constexpr auto kPeers = kManyRanks - kFewRanks;
  const double bytes_each = (many.growth_bytes - few.growth_bytes) / kPeers;
  auto row = peer_row(bench, "never contacted", kPeers, bytes_each);
  set_bar(row, bytes_each, is_network(row) ? kNetworkBar_bytes : kBar_bytes);
  bench.report.add(std::move(row));
}

// Rank 0 calls each of the others, who reply; its growth for one, shared pages included.
// A peer that is skipped is called all the same, and before the growth begins.
double contact_bytes(Bench& bench, std::uint32_t skipped) {
  Inbox inbox(bench.job);
  const auto call = [&](ph_rank rank) {
    inbox.post([&] { return ph_notify(bench.job.context(), rank, rank); }, "notifying");
  };
  if (bench.job.rank() != 0) {
    const ph_query query{PH_ANY_RANK, PH_EITHER, nullptr};
    bench.job.check(ph_wait(bench.job.context(), query, PH_FOREVER), "waiting for rank 0");
    inbox.await_remote();
    call(0);
    return 0;
  }
  const auto peers = bench.job.size() - 1;
  double before_bytes = static_cast<double>(resident_bytes());
  for (ph_rank rank = 1; rank <= peers; ++rank) {
    call(rank);
    inbox.await_remote();
    if (rank <= skipped) before_bytes = static_cast<double>(resident_bytes());
  }
  return (static_cast<double>(resident_bytes()) - before_bytes) / (peers - skipped);
}

void measure_contacted(Bench& bench, Team& crew) {
  const auto peers = bench.job.size() - 1;
  const std::uint32_t skipped = peers > 6 ? 3 : peers > 1 ? 1 : 0;
  const double all_bytes = contact_bytes(bench, skipped);
  crew.barrier_asleep();
  const auto add = [&](const char* mode, double bytes_each, bool is_judged) {
    auto row = peer_row(bench, mode, peers - skipped, bytes_each);
    row.note = fmt::format("{:.0f} bytes a peer after one message each way", bytes_each);
    if (is_judged && is_network(row))
      set_bar(row, static_cast<double>(row.size_bytes), kContactBar_bytes);
    bench.report.add(std::move(row));
  };
  std::optional<double> bare_bytes;
  if (crew.agree(std::string_view(bench.job.path_to(1 % bench.job.size()).transport) == "ofi"))
    bare_bytes = bare_contact_bytes(
        crew, {bench.job.setting("ofi_provider", "auto"), bench.job.setting("ofi_domain", "auto")},
        skipped);
  if (bench.job.rank() != 0) return;
  add("contacted", all_bytes, !bare_bytes);
  if (!bare_bytes) return;
  add("contacted, bare", *bare_bytes, false);
  add("contacted, ours", all_bytes - *bare_bytes, true);
}

}  // namespace

void ask_memory(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  measure_contacted(bench, crew);
  if (bench.job.rank() == 0) measure_unknown(bench);
}

}  // namespace photon::perf
