// What the limit programs with payload share: whose buffers are where, and the kernel's copies.
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "checksum.hpp"
#include "limits.hpp"
#include "shared_file.hpp"

namespace photon::perf {
namespace {

struct Card {
  std::uint64_t source;
  std::array<std::uint64_t, kWindow> landing;
  std::uint64_t checksum;
  pid_t pid;
  FilePlace source_place;
  std::array<FilePlace, kWindow> landing_place;
};

}  // namespace

void introduce(Team& team, Buffers& buffers) {
  // Where Yama restricts ptrace to descendants, a rank must let its peers in. Elsewhere: EINVAL.
  (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  Card mine{};
  const Mappings mappings;
  mine.source_place = mappings.file_of(buffers.source);
  mine.source = reinterpret_cast<std::uint64_t>(buffers.source);
  for (std::size_t i = 0; i < kWindow; ++i) {
    mine.landing[i] = reinterpret_cast<std::uint64_t>(buffers.landing[i]);
    mine.landing_place[i] = mappings.file_of(buffers.landing[i]);
  }
  mine.checksum = checksum_of(buffers.source, buffers.size_bytes);
  mine.pid = getpid();
  team.exchange(mine);
  const auto theirs = team.card_of<Card>(team.other());
  buffers.peer_source = theirs.source;
  const auto sources_bytes = buffers.size_bytes + (kWindow - 1) * buffers.source_stride;
  buffers.mapped_source = mappings.here(theirs.source_place, sources_bytes);
  for (std::size_t i = 0; i < kWindow; ++i) {
    buffers.mapped_landing[i] = mappings.here(theirs.landing_place[i], buffers.size_bytes);
  }
  buffers.peer_landing = theirs.landing;
  buffers.peer_checksum = theirs.checksum;
  buffers.peer_pid = theirs.pid;
  bool is_mapped = buffers.mapped_source != nullptr;
  for (const auto* landing : buffers.mapped_landing) is_mapped = is_mapped && landing != nullptr;
  team.exchange(is_mapped);
  buffers.is_mapped = is_mapped && team.card_of<bool>(team.other());
}

bool cma_write(const Buffers& buffers, std::size_t slot) noexcept {
  const iovec local{buffers.source_at(slot), buffers.size_bytes};
  const iovec remote{reinterpret_cast<void*>(buffers.peer_landing[slot]), buffers.size_bytes};
  return process_vm_writev(buffers.peer_pid, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(buffers.size_bytes);
}

bool cma_read(const Buffers& buffers, std::size_t slot) noexcept {
  const iovec local{buffers.landing[slot], buffers.size_bytes};
  const auto source = buffers.peer_source + slot * buffers.source_stride;
  const iovec remote{reinterpret_cast<void*>(source), buffers.size_bytes};
  return process_vm_readv(buffers.peer_pid, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(buffers.size_bytes);
}

bool cma_works(Team& team, const Buffers& buffers) {
  const bool works = cma_write(buffers, 0) && cma_read(buffers, 0);
  team.exchange(works);
  return works && team.card_of<bool>(team.other());
}

}  // namespace photon::perf
