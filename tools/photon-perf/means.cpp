#include "means.hpp"

#include <cstring>

namespace photon::perf {

std::vector<Means> means_for(Team& team, const Buffers& buffers, MemoryKind kind) {
  std::vector<Means> all;
  if (kind == MemoryKind::alloc) {
    add_stores(all, buffers.size_bytes);
    add_pulls(all, buffers.size_bytes);
  }
  add_rings(all, buffers.size_bytes);
  if (buffers.size_bytes > 0 && cma_works(team, buffers)) add_kernel_copies(all);
  return all;
}

void begin(Team& team) noexcept {
  if (team.index() == 0) {
    for (auto& area : team.area().means) {
      for (auto& lone : area.arrived) lone.line.flag.store_release(0);
      for (auto& lone : area.ready) lone.line.flag.store_release(0);
      for (auto* lone : {&area.asked, &area.taken, &area.drained, &area.rewriting_ns}) {
        lone->line.flag.store_release(0);
      }
      for (auto& chunk : area.chunk_flags) chunk.flag.store_release(0);
    }
  }
  team.barrier();
}

void begin(Team& team, const Means& means, const Channel& out) {
  for (std::uint64_t slot = 0; out.is_sender() && slot < out.slots(); ++slot) {
    auto* const place = (out.*means.source)(slot);
    if (place != out.source(slot)) std::memcpy(place, out.source(slot), out.size_bytes());
  }
  begin(team);
}

}  // namespace photon::perf
