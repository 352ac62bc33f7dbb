// overflow: every other rank sends notifications to rank 0, which is blocked outside the library
// until all have gone and none calls the library any more. Then rank 0 takes them: none lost, none
// out of order, none kept in its own memory.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clock.hpp"
#include "questions.hpp"
#include "resources.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kMessagesDefault = 1'000'000;  // of each sender

// Over a network what its target does not take waits with its sender, who calls the library no
// more.
void require_shared_memory(const Job& job) {
  const std::string transport = job.setting("transport", "auto");
  if (transport == "tcp" || transport == "ofi")
    throw Failure(
        "overflow is asked over shared memory, where ids that wait outlive their senders; " +
        transport + " has none");
}

void send_all(Bench& bench, std::uint64_t messages) {
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto status = ph_notify(bench.job.context(), 0, i);
    if (status == PH_AGAIN) {
      throw Failure(
          fmt::format("after {} notifications there is no room for more; raise "
                      "PHOTON_OVERFLOW_BYTES and PHOTON_OVERFLOW_TOTAL_BYTES",
                      i));
    }
    bench.job.check(status, "notifying");
  }
}

void take_all(Bench& bench, std::uint64_t messages) {
  Inbox inbox(bench.job);
  std::vector<std::uint64_t> expected(bench.job.size());
  for (std::uint64_t left = (bench.job.size() - 1) * messages; left > 0;) {
    inbox.poll([&](const ph_completion& completion) {
      if (completion.id != expected[completion.peer]++) {
        throw Failure(fmt::format("notification {} of rank {} arrived where {} was due",
                                  completion.id, completion.peer, expected[completion.peer] - 1));
      }
      --left;
    });
  }
}

}  // namespace

void ask_overflow(Bench& bench) {
  require_shared_memory(bench.job);
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  const auto messages = bench.options.iterations == 0 ? kMessagesDefault : bench.options.iterations;
  crew.barrier_asleep();
  auto start_ns = now_ns();
  if (crew.index() != 0) send_all(bench, messages);
  crew.barrier_asleep();  // rank 0 was asleep here all the time, and the others are from now on
  const double sent_ns = static_cast<double>(now_ns() - start_ns);
  const auto before_bytes = private_bytes();
  start_ns = now_ns();
  if (crew.index() == 0) take_all(bench, messages);
  const double taken_ns = static_cast<double>(now_ns() - start_ns);
  const auto grown_bytes = private_bytes() - std::min(private_bytes(), before_bytes);
  crew.barrier_asleep();
  const double total = static_cast<double>(messages) * (crew.count() - 1);
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
  row.mode = "senders silent";
  row.iterations = static_cast<std::uint64_t>(total);
  row.rate_per_s = total * 1e9 / taken_ns;
  row.note = fmt::format(
      "none lost, none out of order; sent at {:.1f} M/s in all; rank 0's own memory grew by {} KiB",
      total * 1e3 / sent_ns, grown_bytes / 1024);
  bench.report.add(std::move(row));
}

}  // namespace photon::perf
