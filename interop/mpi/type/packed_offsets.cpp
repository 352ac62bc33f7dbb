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

// For each byte of the type: its offset from the first.
std::vector<std::uint32_t> offsets_of(MPI_Datatype type, std::size_t size, MPI_Aint first,
                                      std::size_t span) {
  const Committed one(type);
  int room = 0;
  if (real().Pack_size(1, one.get(), MPI_COMM_SELF, &room) != MPI_SUCCESS ||
      static_cast<std::size_t>(room) < size)
    throw kNotPacked;
  std::vector<std::uint32_t> offsets(size);
  Bytes spanned(span), packed(static_cast<std::size_t>(room));
  for (unsigned shift = 0; shift < 32 && ((span - 1) >> shift) != 0; shift += 8) {
    for (std::size_t at = 0; at < span; ++at) spanned[at] = static_cast<std::uint8_t>(at >> shift);
    int position = 0;
    if (real().Pack(begin_of(spanned, first), 1, one.get(), packed.data(), room, &position,
                    MPI_COMM_SELF) != MPI_SUCCESS ||
        static_cast<std::size_t>(position) != size)
      throw kNotPacked;
    for (std::size_t at = 0; at < size; ++at)
      offsets[at] |= static_cast<std::uint32_t>(packed[at]) << shift;
  }
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
  const auto offsets =
      offsets_of(type, static_cast<std::size_t>(size), first, static_cast<std::size_t>(span));
  for (std::size_t at = 0; at < offsets.size();) {
    std::size_t bytes = 1;
    while (at + bytes < offsets.size() && offsets[at + bytes] == offsets[at] + bytes) ++bytes;
    layout.append({first + static_cast<std::int64_t>(offsets[at]), bytes});
    at += bytes;
  }
}

}  // namespace photon::mpi
