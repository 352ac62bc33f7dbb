#include "interop/mpi/type/packed_offsets.hpp"

#include <cstdint>
#include <vector>

namespace photon::mpi {

namespace {

constexpr Refused kNotPacked{"MPI does not pack it"};

// One element of a type as a type of its own, committed: a type that is part of another need not
// be, and the program's own handle stays as it is.
class Committed {
 public:
  explicit Committed(MPI_Datatype type) {
    if (real().Type_contiguous(1, type, &type_) != MPI_SUCCESS) throw kNotPacked;
    if (real().Type_commit(&type_) == MPI_SUCCESS) return;
    real().Type_free(&type_);
    throw kNotPacked;
  }
  ~Committed() { real().Type_free(&type_); }
  Committed(const Committed&) = delete;
  Committed& operator=(const Committed&) = delete;
  MPI_Datatype get() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

using Bytes = std::vector<std::uint8_t>;

// What MPI takes for the beginning of a buffer whose first byte of data is at `first`.
void* begin_of(Bytes& spanned, MPI_Aint first) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(spanned.data()) -
                                 static_cast<std::uintptr_t>(first));
}

// The bytes of one element of a type, packed by MPI from a buffer of all that it spans.
class Packer {
 public:
  Packer(MPI_Datatype type, std::size_t size, MPI_Aint first, std::size_t span)
      : one_(type), size_(size), first_(first), spanned_(span) {
    int room = 0;
    if (real().Pack_size(1, one_.get(), MPI_COMM_SELF, &room) != MPI_SUCCESS ||
        static_cast<std::size_t>(room) < size)
      throw kNotPacked;
    packed_.resize(static_cast<std::size_t>(room));
  }

  // `byte_at` says what stands at each offset from the first.
  template <class ByteAt>
  const Bytes& pack(ByteAt byte_at) {
    for (std::size_t at = 0; at < spanned_.size(); ++at) spanned_[at] = byte_at(at);
    int position = 0;
    if (real().Pack(begin_of(spanned_, first_), 1, one_.get(), packed_.data(),
                    static_cast<int>(packed_.size()), &position, MPI_COMM_SELF) != MPI_SUCCESS ||
        static_cast<std::size_t>(position) != size_)
      throw kNotPacked;
    return packed_;
  }

 private:
  const Committed one_;
  const std::size_t size_;
  const MPI_Aint first_;
  Bytes spanned_, packed_;
};

std::uint8_t scattered(std::size_t at) noexcept {
  return static_cast<std::uint8_t>((std::uint64_t{at} + 1) * 0x9e3779b97f4a7c15u >> 56);
}

// For each byte of the type: its offset from the first.
std::vector<std::uint32_t> offsets_of(Packer& packer, std::size_t size, std::size_t span) {
  std::vector<std::uint32_t> offsets(size);
  for (unsigned shift = 0; shift < 32 && ((span - 1) >> shift) != 0; shift += 8) {
    const Bytes& packed =
        packer.pack([&](std::size_t at) { return static_cast<std::uint8_t>(at >> shift); });
    for (std::size_t at = 0; at < size; ++at)
      offsets[at] |= static_cast<std::uint32_t>(packed[at]) << shift;
  }
  // An MPI may pack by value, and then what it leaves out of padding names a wrong place.
  const Bytes& packed = packer.pack(scattered);
  for (std::size_t at = 0; at < size; ++at)
    if (offsets[at] >= span || packed[at] != scattered(offsets[at]))
      throw Refused{"MPI does not pack it byte by byte"};
  return offsets;
}

}  // namespace

void append_packed(MPI_Datatype type, LayoutBuilder& layout) {
  MPI_Count size = 0;
  MPI_Aint first = 0, span = 0;
  if (real().Type_size_x(type, &size) != MPI_SUCCESS ||
      real().Type_get_true_extent(type, &first, &span) != MPI_SUCCESS)
    throw kNotPacked;
  if (size == 0) return;
  constexpr auto kMost = static_cast<std::int64_t>(kMostPackedBytes);
  if (size < 0 || size > kMost || span <= 0 || span > kMost)
    throw Refused{"it spans more than 256 MiB, and MPI alone knows how its bytes lie"};
  Packer packer(type, static_cast<std::size_t>(size), first, static_cast<std::size_t>(span));
  const auto offsets =
      offsets_of(packer, static_cast<std::size_t>(size), static_cast<std::size_t>(span));
  for (std::size_t at = 0; at < offsets.size();) {
    std::size_t bytes = 1;
    while (at + bytes < offsets.size() && offsets[at + bytes] == offsets[at] + bytes) ++bytes;
    layout.append({first + static_cast<std::int64_t>(offsets[at]), bytes});
    at += bytes;
  }
}

}  // namespace photon::mpi
