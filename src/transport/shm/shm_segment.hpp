// One piece of memory that ranks share: a memfd, sealed against resizing, and one mapping of it.
//
//   create() ---- descriptor in an offer ----> map():   a second mapping, in another process
//                                              share(): the very same mapping, in this process
//
// Ranks of one process use one mapping, so that a byte has one address: plain pointers work, and
// ThreadSanitizer sees both sides. The count of its holders and its address stand in the memory
// itself (SegmentControl), so the descriptor in flight keeps them readable and nobody follows a
// pointer to a segment that is gone.
//
// Invariant: a mapped memfd cannot shrink (seals), so no access of ours raises SIGBUS.
// Owner: the Segment unmaps, or leaves that to the last holder; the memory ends with its mappings.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sync/policy.hpp"
#include "sync/ref_count.hpp"

namespace photon::transport::shm {

std::size_t page_bytes() noexcept;
std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept;

// What both sides know about a segment from the settings alone.
struct SegmentShape {
  std::size_t size_bytes = 0;      // whole pages
  std::size_t control_offset = 0;  // of the SegmentControl, which does not cross a page
};

using SegmentControl = sync::RefCount<sync::HardwarePolicy>;  // of the creator's mapping
static_assert(sizeof(SegmentControl) == 16);
inline constexpr std::size_t kControlBytes = 64;  // room set aside for it

// How much of a peer's segment to map, and which pages of that this side may write.
struct View {
  std::size_t size_bytes = 0;
  std::size_t writable_offset = 0;
  std::size_t writable_bytes = 0;
};

class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept { take(other); }
  Segment& operator=(Segment&& other) noexcept {
    reset();
    take(other);
    return *this;
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { reset(); }

  struct Created;
  // Zeroed, writable everywhere; pages take memory when touched.
  static base::Result<Created> create(const char* name, const SegmentShape& shape);
  // Another process's segment. The descriptor is checked first and may be closed afterwards.
  static base::Result<Segment> map(int fd, const SegmentShape& shape, const View& view);
  // The mapping itself, if its creator is a rank of this process that still holds it.
  static std::optional<Segment> share(int fd, const SegmentShape& shape) noexcept;

  std::byte* data() const noexcept { return data_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }
  // From now on these whole pages are written by the other side only.
  void protect(std::size_t offset, std::size_t size_bytes) noexcept;
  void reset() noexcept;

 private:
  Segment(std::byte* data, std::size_t size_bytes, SegmentControl* control) noexcept
      : data_(data), size_bytes_(size_bytes), control_(control), process_(::getpid()) {}
  void take(Segment& other) noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  SegmentControl* control_ = nullptr;  // null: nobody else uses this mapping
  pid_t process_ = 0;                  // a forked child holds no reference
};

struct Segment::Created {
  Segment segment;
  base::UniqueFd fd;  // for offers
};

// Not larger than this process may make a file (RLIMIT_FSIZE).
base::Result<> check_file_size(const char* name, const SegmentShape& shape);
// Size and seals are as they must be.
base::Result<> check_segment(int fd, const SegmentShape& shape);

}  // namespace photon::transport::shm
