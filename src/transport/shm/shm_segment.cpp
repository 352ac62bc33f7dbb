#include "transport/shm/shm_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "base/resource_limits.hpp"

namespace photon::transport::shm {

namespace {

constexpr int kNeededSeals = F_SEAL_SHRINK | F_SEAL_GROW;

std::byte* map_shared(int fd, std::size_t offset, std::size_t size_bytes, int protection) noexcept {
  void* at = ::mmap(nullptr, size_bytes, protection, MAP_SHARED | MAP_NORESERVE, fd,
                    static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

base::Error resize_error(const char* name, const SegmentShape& shape) {
  return base::system_error("ftruncate " + std::string(name) + " to " +
                            std::to_string(shape.size_bytes) + " bytes");
}

base::Error map_error(const char* name, std::size_t size_bytes) {
  base::Error error = base::system_error("mmap of " + std::to_string(size_bytes) +
                                         " bytes of shared memory (" + name + ")");
  if (error.native_errno == ENOMEM) error.status = PH_ERR_MEMORY;
  return error;
}

// Zeroed memory is a valid object of this type; the peer may already have written to it.
SegmentControl* control_at(std::byte* data, std::size_t offset) noexcept {
  return std::launder(reinterpret_cast<SegmentControl*>(data + offset));
}

}  // namespace

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

// Beyond the limit the kernel would not only refuse the size but end the process by SIGXFSZ.
base::Result<> check_file_size(const char* name, const SegmentShape& shape) {
  if (shape.size_bytes <= base::file_size_limit_bytes()) return {};
  errno = EFBIG;
  return resize_error(name, shape);
}

base::Result<Segment::Created> Segment::create(const char* name, const SegmentShape& shape) {
  if (auto checked = check_file_size(name, shape); !checked) return std::move(checked.error());
  base::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return base::system_error(std::string("memfd_create ") + name);
  if (::ftruncate(fd.get(), static_cast<off_t>(shape.size_bytes)) != 0)
    return resize_error(name, shape);
  if (::fcntl(fd.get(), F_ADD_SEALS, kNeededSeals | F_SEAL_SEAL) != 0)
    return base::system_error(std::string("fcntl(F_ADD_SEALS) of ") + name);
  std::byte* data = map_shared(fd.get(), 0, shape.size_bytes, PROT_READ | PROT_WRITE);
  if (data == nullptr) return map_error(name, shape.size_bytes);
  SegmentControl* control = control_at(data, shape.control_offset);
  control->start(reinterpret_cast<std::uintptr_t>(data));
  return Created{Segment(data, shape.size_bytes, control), std::move(fd)};
}

base::Result<> check_segment(int fd, const SegmentShape& shape) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return base::system_error("fstat of shared memory");
  if (static_cast<std::uint64_t>(status.st_size) != shape.size_bytes)
    return base::Error{.status = PH_ERR_PROTOCOL,
                       .what = "a peer's shared memory has " + std::to_string(status.st_size) +
                               " bytes, expected " + std::to_string(shape.size_bytes)};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0) return base::system_error("fcntl(F_GET_SEALS) of shared memory");
  if ((seals & kNeededSeals) != kNeededSeals)
    return base::Error{.status = PH_ERR_PROTOCOL,
                       .what = "a peer's shared memory is not sealed against resizing"};
  return {};
}

base::Result<Segment> Segment::map(int fd, const SegmentShape& shape, const View& view) {
  if (auto checked = check_segment(fd, shape); !checked) return std::move(checked.error());
  std::byte* data = map_shared(fd, 0, view.size_bytes, PROT_READ);
  if (data == nullptr) return map_error("a peer's", view.size_bytes);
  Segment segment(data, view.size_bytes, nullptr);
  if (view.writable_bytes > 0 &&
      ::mprotect(data + view.writable_offset, view.writable_bytes, PROT_READ | PROT_WRITE) != 0)
    return map_error("a peer's", view.size_bytes);
  return segment;
}

std::optional<Segment> Segment::share(int fd, const SegmentShape& shape) noexcept {
  const std::size_t page = shape.control_offset / page_bytes() * page_bytes();
  std::byte* glance = map_shared(fd, page, page_bytes(), PROT_READ | PROT_WRITE);
  if (glance == nullptr) return std::nullopt;
  SegmentControl* seen = control_at(glance, shape.control_offset - page);
  const bool held = seen->try_acquire();
  auto* data = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(seen->address()));
  ::munmap(glance, page_bytes());
  if (!held) return std::nullopt;
  SegmentControl* control = control_at(data, shape.control_offset);
  control->look();
  return Segment(data, shape.size_bytes, control);
}

void Segment::protect(std::size_t offset, std::size_t size_bytes) noexcept {
  // A failure leaves the pages writable, as they are between ranks of one process.
  static_cast<void>(::mprotect(data_ + offset, size_bytes, PROT_READ));
}

void Segment::reset() noexcept {
  if (data_ == nullptr) return;
  const bool counted = control_ != nullptr && process_ == ::getpid();
  if (!counted || control_->release()) ::munmap(data_, size_bytes_);
  data_ = nullptr;
  control_ = nullptr;
}

void Segment::take(Segment& other) noexcept {
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = other.size_bytes_;
  control_ = std::exchange(other.control_, nullptr);
  process_ = other.process_;
}

}  // namespace photon::transport::shm
