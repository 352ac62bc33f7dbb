// ledger-full: rank 0 posts as fast as the library lets it, rank 1 sleeps a second after every
// thousand messages. Nothing may be lost or overtaken, and the sender's memory must stay bounded.
#include <fmt/core.h>

#include <algorithm>

#include "clock.hpp"
#include "resources.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kTakenDefault = 5'000;  // taken by rank 1 before it calls a halt
constexpr std::uint64_t kNapInterval = 1'000;
constexpr std::uint64_t kLongNap_ns = 1'000'000'000;
constexpr std::uint64_t kHalt = UINT64_MAX;
constexpr std::uint64_t kLastBit = std::uint64_t{1} << 63;  // in an id: no message follows
constexpr std::size_t kSlots = 1024;

// Rank 0; the number of messages posted until told to halt.
std::uint64_t send_until_halt(Link& link) {
  bool halted = false;
  const auto notice = [&](const ph_completion& completion) {
    halted = halted || completion.id == kHalt;
  };
  const auto locals_before = link.inbox().locals();
  std::uint64_t posted = 0;
  while (!halted) {
    const auto status = link.put(link.source(0), posted % kSlots, {posted, posted});
    if (status == PH_OK) ++posted;
    if (status != PH_AGAIN) link.job().check(status, "putting");
    if (status == PH_AGAIN || posted % Inbox::kCapacity == 0) link.inbox().poll(notice);
  }
  link.inbox().post(
      [&] {
        return link.put(link.source(0), 0, {posted, posted | kLastBit});
      },
      "putting", notice);
  ++posted;
  while (link.inbox().locals() - locals_before < posted) link.inbox().poll(notice);
  return posted;
}

// Rank 1: naps after each thousand until `limit` were taken, then drains to the last.
void receive_with_naps(Link& link, std::uint64_t limit) {
  std::uint64_t taken = 0;
  bool last = false;
  const auto check = [&](const ph_completion& completion) {
    if (completion.kind != PH_REMOTE) return;
    last = (completion.id & kLastBit) != 0;
    if ((completion.id & ~kLastBit) != taken) {
      throw Failure(fmt::format("message {} arrived where {} was due: lost or out of order",
                                completion.id & ~kLastBit, taken));
    }
    ++taken;
  };
  while (taken < limit) {
    const auto until_nap = kNapInterval - taken % kNapInterval;
    const auto before = taken;
    link.inbox().poll_each(std::min<std::uint64_t>(until_nap, Inbox::kCapacity), check);
    if (taken != before && taken % kNapInterval == 0) sleep_ns(kLongNap_ns);
  }
  link.inbox().post([&] { return link.notify(kHalt); }, "notifying", check);
  while (!last) link.inbox().poll_each(Inbox::kCapacity, check);
}

}  // namespace

void ask_ledger_full(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  const auto limit = bench.options.iterations == 0 ? kTakenDefault : bench.options.iterations;
  Link link(bench, team, {bench.options.memory, sizeof(std::uint64_t), kSlots, true});
  put_stream(link, kSlots, kWindow);  // contact, and what any use of the library costs
  team.barrier();
  const auto before_bytes = resident_bytes();
  const auto peak_before_bytes = std::max(peak_resident_bytes(), before_bytes);
  const auto start_ns = now_ns();
  std::uint64_t posted = 0;
  if (team.index() == 0) {
    posted = send_until_halt(link);
  } else {
    receive_with_naps(link, limit);
  }
  link.part();
  const auto grown_bytes =
      peak_resident_bytes() - std::min(peak_resident_bytes(), peak_before_bytes);
  Row row;
  row.question = bench.options.question;
  row.transport = link.transport();
  row.memory = text_of(bench.options.memory);
  row.mode = "naps of 1 s";
  row.size_bytes = sizeof(std::uint64_t);
  row.iterations = posted;
  row.rate_per_s = static_cast<double>(posted) * 1e9 / static_cast<double>(now_ns() - start_ns);
  row.note = fmt::format("none lost, none out of order; the sender's memory grew by {} KiB",
                         grown_bytes / 1024);
  bench.report.add(std::move(row));
}

}  // namespace photon::perf
