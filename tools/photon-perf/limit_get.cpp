// Limits of a single get: the caller copies in and leaves a notice, or asks the owner for a copy.
#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
#include "failure.hpp"
#include "limits.hpp"

namespace photon::perf {
namespace {

// Index 0 runs `get(sequence)` in batches; index 1 runs `serve(sequence)` as often.
template <class Get, class Serve>
Outcome get_batches(Team& team, const Buffers& buffers, std::uint64_t gets, Get get, Serve serve) {
  if (team.index() == 0) {
    for (auto& lone : team.area().ping) lone.line.flag.store_release(0);
  }
  team.barrier();
  Outcome outcome;
  const auto batches = batches_for(gets);
  std::uint64_t sequence = 0;
  std::uint64_t sum = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++sequence;
      if (team.index() == 1) {
        serve(sequence);
      } else {
        get(sequence);
        sum += checksum_of(buffers.landing[0], buffers.size_bytes);
      }
    }
    const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
    if (team.index() == 0)
      outcome.batches_ns.push_back(elapsed_ns / static_cast<double>(batches.each));
  }
  if (team.index() == 0) expect_checksum(buffers, sum, batches.total());
  team.barrier();
  return outcome;
}

Outcome ask_owner(Team& team, const Buffers& buffers, std::uint64_t gets) {
  auto& request = team.area().ping[0].line.flag;
  auto& reply = team.area().ping[1].line.flag;
  auto* const shared = team.data().data();
  return get_batches(
      team, buffers, gets,
      [&](std::uint64_t sequence) {
        request.store_release(sequence);
        spin_until_equal<SpinForm::tight>(reply, sequence);
        std::memcpy(buffers.landing[0], shared, buffers.size_bytes);
      },
      [&](std::uint64_t sequence) {
        spin_until_equal<SpinForm::tight>(request, sequence);
        std::memcpy(shared, buffers.source, buffers.size_bytes);
        reply.store_release(sequence);
      });
}

template <class Fetch>
Outcome fetch_and_notice(Team& team, const Buffers& buffers, std::uint64_t gets, Fetch fetch) {
  auto& notice = team.area().ping[0].line.flag;
  return get_batches(
      team, buffers, gets,
      [&](std::uint64_t sequence) {
        fetch();
        notice.store_release(sequence);
      },
      [&](std::uint64_t sequence) { spin_until_at_least<SpinForm::tight>(notice, sequence); });
}

}  // namespace

std::vector<Entry> get_latency_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  if (kind == MemoryKind::alloc) {
    return {{"copy-in + notice", [&](std::uint64_t count) {
               const auto* const shared = expose_source(team, buffers);
               return fetch_and_notice(team, buffers, count, [&] {
                 std::memcpy(buffers.landing[0], shared, buffers.size_bytes);
               });
             }}};
  }
  std::vector<Entry> entries{
      {"request + copy", [&](std::uint64_t count) { return ask_owner(team, buffers, count); }}};
  if (buffers.size_bytes > 0 && cma_works(team, buffers)) {
    entries.push_back({"process_vm_readv", [&](std::uint64_t count) {
                         return fetch_and_notice(team, buffers, count, [&] {
                           if (cma_read(buffers, 0)) return;
                           throw Failure("process_vm_readv stopped working");
                         });
                       }});
  }
  return entries;
}

}  // namespace photon::perf
