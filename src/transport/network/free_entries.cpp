#include "transport/network/free_entries.hpp"

#include <sys/mman.h>

#include <new>
#include <type_traits>

namespace photon::transport::network {

// Zeroed memory is what free entries look like.
base::Result<std::shared_ptr<RegionEntry[]>> free_entries(std::size_t count) {
  static_assert(std::is_trivially_destructible_v<RegionEntry>);
  const std::size_t bytes = count * sizeof(RegionEntry);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return base::system_error("memory for registrations");
  return std::shared_ptr<RegionEntry[]>(std::launder(static_cast<RegionEntry*>(memory)),
                                        [bytes](RegionEntry* first) { ::munmap(first, bytes); });
}

base::Result<std::shared_ptr<RegionEntry[]>> own_or_given(std::span<RegionEntry> given,
                                                          std::size_t count) {
  if (given.empty()) return free_entries(count);
  return std::shared_ptr<RegionEntry[]>(std::shared_ptr<void>(), given.data());  // not ours to free
}

}  // namespace photon::transport::network
