// Memory of another process that is mapped in this one as well: found by the file behind it, so
// that a limit program can use the very buffers of the library without asking the library. Owner:
// the caller; a snapshot of /proc/self/maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photon::perf {

// A byte of a mapped file, the same in every process of the host. inode 0: not of a shared file.
struct FilePlace {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t offset;
};

class Mappings {
 public:
  Mappings();  // as they are now; none without /proc

  FilePlace file_of(const std::byte* address) const noexcept;
  // Where `size_bytes` from that place on may be read and written here, or null.
  std::byte* here(const FilePlace& place, std::size_t size_bytes) const noexcept;

 private:
  struct Mapping {
    std::uint64_t start;
    std::uint64_t end;
    FilePlace place;  // of `start`
  };
  std::vector<Mapping> shared_;  // and writable
};

}  // namespace photon::perf
