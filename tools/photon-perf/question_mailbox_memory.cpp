// mailbox-memory: bytes of the heap that an open mailbox costs, and a buffer that is posted to it:
// the first, and those behind it. The buffers themselves are the caller's.
#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mails.hpp"
#include "resources.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kBoxesDefault = 1'000'000;
constexpr double kOpenBar_bytes = 192;
constexpr double kBufferBar_bytes = 64;
constexpr std::uint64_t kMore = 3;  // buffers behind the first: four stand in a queue without gaps

// Of the allocator; where another one than glibc's is in use, of the process.
double heap_bytes() {
  const auto info = ::mallinfo2();
  const std::size_t used = info.uordblks + info.hblkhd;
  return static_cast<double>(used != 0 ? used : private_bytes());
}

void add_row(Bench& bench, const char* mode, std::uint64_t count, double bytes_each,
             double bar_bytes) {
  Row row;
  row.question = bench.options.question;
  row.mode = mode;
  row.size_bytes = static_cast<std::uint64_t>(std::lround(std::max(bytes_each, 0.0)));
  row.iterations = count;
  row.limit = bar_bytes;
  row.limit_name = "bar";
  row.limit_ratio = static_cast<double>(row.size_bytes) / bar_bytes;
  row.note = fmt::format("{:.1f} bytes each; bar {:.0f}", bytes_each, bar_bytes);
  bench.report.add(std::move(row));
}

}  // namespace

void ask_mailbox_memory(Bench& bench) {
  if (bench.job.rank() != 0) return;
  const std::uint64_t count =
      bench.options.iterations == 0 ? kBoxesDefault : bench.options.iterations;
  std::vector<ph_mailbox> boxes(count);
  std::vector<std::byte> buffers(count * (1 + kMore));
  const auto post = [&](std::uint64_t box, std::uint64_t buffer) {
    post_buffer(bench.job, boxes[box], &buffers[box * (1 + kMore) + buffer], 1);
  };
  const double before_bytes = heap_bytes();
  for (std::uint64_t i = 0; i < count; ++i) boxes[i] = open_mailbox(bench.job, i, 1);
  const double open_bytes = heap_bytes();
  for (std::uint64_t i = 0; i < count; ++i) post(i, 0);
  const double first_bytes = heap_bytes();
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::uint64_t more = 1; more <= kMore; ++more) post(i, more);
  const double all_bytes = heap_bytes();
  for (const ph_mailbox box : boxes)
    bench.job.check(ph_mailbox_close(bench.job.context(), box), "closing a mailbox");
  ph_mailbox_event event;
  while (ph_mailbox_take(bench.job.context(), {}, &event) == PH_OK) continue;
  const auto boxes_count = static_cast<double>(count);
  add_row(bench, "open", count, (open_bytes - before_bytes) / boxes_count, kOpenBar_bytes);
  add_row(bench, "first buffer", count, (first_bytes - open_bytes) / boxes_count, kBufferBar_bytes);
  add_row(bench, "each buffer more", count * kMore,
          (all_bytes - first_bytes) / (boxes_count * kMore), kBufferBar_bytes);
}

}  // namespace photon::perf
