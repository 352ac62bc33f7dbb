// task-siblings: one way of an array from one PE to another of its process: as a buffer, which is
// copied once, and as a message, into which it is packed and from which it is copied. Sources are
// rewritten before each message, and every byte is read by the owner of the landing. The limit of
// buffers: one copy by either of two threads, and a flag.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "array_rows.hpp"
#include "checksum.hpp"
#include "contents.hpp"
#include "link.hpp"
#include "means.hpp"
#include "ping_pong.hpp"
#include "task_arrays.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

struct FreeHeap {
  void operator()(std::byte* base) const noexcept { std::free(base); }
};
using Pages = std::unique_ptr<std::byte, FreeHeap>;

Pages make_pages(std::uint64_t size_bytes) {
  constexpr std::uint64_t kPageBytes = 4096;
  const auto whole_bytes = (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  Pages pages(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, whole_bytes)));
  if (!pages) throw Failure(fmt::format("no memory for {} bytes", whole_bytes));
  std::memset(pages.get(), 0, whole_bytes);
  return pages;
}

enum class Copier : std::uint8_t { sender, receiver };

// What two threads can do.
template <Copier copier>
Outcome copy_and_flag(Team& team, const Buffers& buffers, std::uint64_t round_trips) {
  begin(team);
  Contents contents(buffers, team.index());
  auto& out = team.area().means[team.index()].arrived[0].line.flag;
  const auto& in = team.area().means[team.other()].arrived[0].line.flag;
  auto outcome =
      half_trips(team, contents, round_trips,
                 PingPong{[&](std::uint64_t number) { contents.write(buffers.source, number); },
                          [&](std::uint64_t number) {
                            if constexpr (copier == Copier::sender)
                              std::memcpy(reinterpret_cast<std::byte*>(buffers.peer_landing[0]),
                                          buffers.source, buffers.size_bytes);
                            out.store_release(number);
                          },
                          [&](std::uint64_t number) {
                            spin_until_equal<SpinForm::pause>(in, number);
                            if constexpr (copier == Copier::receiver)
                              std::memcpy(buffers.landing[0],
                                          reinterpret_cast<const std::byte*>(buffers.peer_source),
                                          buffers.size_bytes);
                            contents.read(buffers.landing[0], number);
                          }});
  contents.expect_all(batches_for(round_trips).total());
  team.barrier();
  return outcome;
}

// The PEs of rank 0 measure; those of other ranks end at once.
class Siblings {
 public:
  explicit Siblings(Bench& bench)
      : bench_(bench),
        pes_(bench.job, {2, TaskArrays::handlers(), arrays_, &bench.processors, bench.job.rank(),
                         [this](ph_task_pe* pe) { measure(1, pe); }}) {}

  void measure_first() { measure(0, pes_.pe()); }

 private:
  // By both threads.
  void measure(std::uint32_t index, ph_task_pe* pe) {
    if (bench_.job.rank() != 0) return;
    arrays_[index].join(pe, 1 - index);
    Team team(bench_.block, Team::Scope::pair, index, 2);
    auto sizes = sizes_or(bench_.options, {64, 1024, 4096, 16384, 32768, 65536, 131072, 262144,
                                           1 << 20, 4 << 20, 16 << 20, 64 << 20});
    std::sort(sizes.begin(), sizes.end());
    std::vector<SizeRatio> ratios;
    for (const auto size_bytes : sizes)
      ratios.push_back({size_bytes, add_size(team, arrays_[index], size_bytes)});
    if (index == 0) say_threshold(bench_, ratios);
  }
  double add_size(Team& team, TaskArrays& arrays, std::uint64_t size_bytes) {
    const Pages source = make_pages(size_bytes);
    const Pages landing = make_pages(size_bytes);
    Buffers buffers;
    buffers.size_bytes = size_bytes;
    buffers.source = source.get();
    buffers.landing.fill(landing.get());
    buffers.is_fresh = bench_.options.buffers == BufferKind::fresh;
    fill_pattern(source.get(), size_bytes, team.index() + 1);
    introduce(team, buffers);
    arrays.lend(team, buffers, PH_TASK_UNREG);
    ArrayRows rows(bench_, team, size_bytes, [&](Row& row) {
      row.transport = "none";
      row.buffers = text_of(bench_.options.buffers);
    });
    const std::vector<Entry> bare = {
        {"a copy by the sender",
         [&](std::uint64_t count) { return copy_and_flag<Copier::sender>(team, buffers, count); }},
        {"a copy by the receiver", [&](std::uint64_t count) {
           return copy_and_flag<Copier::receiver>(team, buffers, count);
         }}};
    const std::vector<Entry> both = {
        {"put of a buffer", [&](std::uint64_t count) { return arrays.put(count); }},
        {"get of a buffer", [&](std::uint64_t count) { return arrays.get(count); }}};
    for (const Entry& buffer : both) rows.add(buffer, bare);
    const double ratio =
        rows.add({"message", [&](std::uint64_t count) { return arrays.pack(count); }}, both);
    arrays.take_back();
    return ratio;
  }

  Bench& bench_;
  TaskArrays arrays_[2];
  TaskPes pes_;
};

}  // namespace

void ask_task_siblings(Bench& bench) {
  Siblings siblings(bench);
  siblings.measure_first();
  Team(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size()).barrier_asleep();
}

}  // namespace photon::perf
