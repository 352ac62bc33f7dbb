#include "transport/sim/sim_overflow.hpp"

#include <sys/mman.h>

#include <new>

namespace photon::transport::sim {

SimOverflow::SimOverflow(std::uint64_t size_bytes) : size_bytes_(size_bytes) {
  void* memory =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  words_ = std::launder(static_cast<Policy::Cell<std::uint64_t>*>(memory));
}

SimOverflow::~SimOverflow() { ::munmap(words_, size_bytes_); }

}  // namespace photon::transport::sim
