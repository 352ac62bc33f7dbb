#include "shared_block.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "failure.hpp"

namespace photon::perf {

SharedBlock SharedBlock::create(std::size_t data_bytes) {
  const auto size_bytes = sizeof(LimitArea) + data_bytes;
  const int descriptor = memfd_create("photon-perf", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(size_bytes)) != 0) {
    throw Failure(fmt::format("cannot create {} bytes of shared memory for the limit programs: {}",
                              size_bytes, std::strerror(errno)));
  }
  return {descriptor, size_bytes};
}

SharedBlock SharedBlock::attach(const Ticket& ticket, std::size_t data_bytes) {
  const auto path = fmt::format("/proc/{}/fd/{}", ticket.pid, ticket.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    throw Failure(
        fmt::format("cannot open rank 0's shared memory {}: {}; the limit programs need all ranks "
                    "in one pid namespace and under one user",
                    path, std::strerror(errno)));
  }
  return {descriptor, sizeof(LimitArea) + data_bytes};
}

SharedBlock::SharedBlock(int descriptor, std::size_t size_bytes)
    : descriptor_(descriptor), size_bytes_(size_bytes) {
  base_ = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (base_ == MAP_FAILED) {
    const int native_errno = errno;
    close(descriptor);
    throw Failure(fmt::format("cannot map {} bytes for the limit programs: {}", size_bytes,
                              std::strerror(native_errno)));
  }
}

SharedBlock::SharedBlock(SharedBlock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_),
      base_(std::exchange(other.base_, nullptr)) {}

SharedBlock::~SharedBlock() {
  close_descriptor();
  if (base_ != nullptr) munmap(base_, size_bytes_);
}

SharedBlock::Ticket SharedBlock::ticket() const noexcept { return {getpid(), descriptor_}; }

void SharedBlock::close_descriptor() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

std::span<std::byte> SharedBlock::data() const noexcept {
  return {static_cast<std::byte*>(base_) + sizeof(LimitArea), size_bytes_ - sizeof(LimitArea)};
}

}  // namespace photon::perf
