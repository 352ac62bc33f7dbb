// am-pipeline: a message whose payload is worked on part by part as it comes, in a ring of a few
// parts, against the same work on all of it when it is there. The work on a part takes as long as
// its transfer, so at best the time is half. Index 0 is the target.
#include <algorithm>
#include <string>

#include "checksum.hpp"
#include "clock.hpp"
#include "contest.hpp"
#include "means.hpp"
#include "messages.hpp"
#include "resources.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kPayload = 1;
constexpr std::uint64_t kPartBytes = 64 << 10;
constexpr std::uint64_t kRingParts = 4;

// Takes payloads whole or in parts, reads every byte, and works.
class Worker {
 public:
  Worker(Link& link, bool is_whole, std::uint64_t work_ns)
      : link_(&link), is_whole_(is_whole), work_ns_(work_ns) {}

  void take(const ph_am_message& message, ph_am_landing& landing) {
    if (message.payload_bytes != link_->size_bytes()) throw Failure("a message of another size");
    landing.buffer = link_->landing(0);
    landing.buffer_bytes = link_->size_bytes();
    if (!is_whole_) {
      landing.flags = PH_AM_CYCLE;
      landing.buffer_bytes = std::min<std::uint64_t>(kRingParts * kPartBytes, link_->size_bytes());
      landing.chunk_bytes = kPartBytes;
    }
    landing.done = landed;
    landing.argument = this;
  }
  std::uint64_t ended() const noexcept { return ended_; }
  bool has_failed() const noexcept { return has_failed_; }

 private:
  static ph_status landed(void* argument, const ph_am_message* message, const ph_am_part* part) {
    Worker& self = *static_cast<Worker*>(argument);
    const auto start_ns = now_ns();
    if (part->status == PH_OK) self.sum_ += checksum_of(part->data, part->size_bytes);
    const auto parts = static_cast<std::uint64_t>((part->size_bytes + kPartBytes - 1) / kPartBytes);
    while (now_ns() < start_ns + parts * self.work_ns_) {
    }
    if (part->is_last == 0) return PH_OK;
    self.has_failed_ = self.has_failed_ || self.sum_ != message->immediate;
    self.sum_ = 0;
    ++self.ended_;
    return PH_OK;
  }

  Link* link_;
  const bool is_whole_;
  const std::uint64_t work_ns_;
  std::uint64_t ended_ = 0;
  std::uint64_t sum_ = 0;
  bool has_failed_ = false;
};

// One at a time: the next one goes when the work on the last one is over.
Outcome work_stream(Link& link, bool is_whole, std::uint64_t work_ns, std::uint64_t count) {
  const Job& job = link.job();
  Worker worker(link, is_whole, work_ns);
  Listening listening(job, kPayload, [&](const ph_am_message& message, ph_am_landing& landing) {
    worker.take(message, landing);
  });
  begin(link.team());
  const auto start_ns = now_ns();
  if (link.team().index() == 1) {
    ph_am_args args = message_args(kPayload, link.source(0), link.size_bytes());
    args.immediate = checksum_of(link.source(0), link.size_bytes());
    for (std::uint64_t sent = 0; sent < count; ++sent) {
      ph_request request = PH_REQUEST_NONE;
      args.flags = PH_DELIVERED;
      args.request = &request;
      send_until_taken(
          job, [&] { return ph_am_send(job.context(), link.peer(), &args); }, "a message");
      job.check(ph_wait_request(job.context(), &request, nullptr, PH_FOREVER), "a message");
    }
  } else {
    listening.await([&] { return worker.ended() == count; });
    if (worker.has_failed()) throw Failure("a payload that did not come");
  }
  Outcome outcome;
  outcome.per_second = static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
  link.part();
  return outcome;
}

// How long the transfer of a part takes, of payloads that nobody works on.
std::uint64_t transfer_ns(Link& link) {
  constexpr std::uint64_t kMessages = 8;
  const Outcome outcome = work_stream(link, true, 0, kMessages);
  const double message_ns = 1e9 / std::max(outcome.per_second, 1e-3);
  const auto parts = static_cast<double>((link.size_bytes() + kPartBytes - 1) / kPartBytes);
  return static_cast<std::uint64_t>(message_ns / parts);
}

}  // namespace

void ask_am_pipeline(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes : sizes_or(bench.options, {4U << 20})) {
    Link link(bench, team, {bench.options.memory, size_bytes});
    const std::uint64_t work_ns = transfer_ns(link);
    std::uint64_t grown_bytes = 0;
    Contest contest;
    contest.unit = Unit::megabytes_per_second;
    contest.size_bytes = size_bytes;
    contest.limits = {{"all, then the work", [&](std::uint64_t count) {
                         return work_stream(link, true, work_ns, count);
                       }}};
    contest.ours = {"parts of 64 KiB", [&](std::uint64_t count) {
                      const std::uint64_t before = resident_bytes();
                      const Outcome outcome = work_stream(link, false, work_ns, count);
                      const std::uint64_t after = resident_bytes();
                      grown_bytes = std::max(grown_bytes, after - std::min(before, after));
                      return outcome;
                    }};
    Row row = row_of(bench, contest, compete(team, contest, bench.options.iterations), link);
    row.note += "; memory grew by " + std::to_string(grown_bytes >> 10) + " KiB";
    bench.report.add(std::move(row));
  }
}

}  // namespace photon::perf
