#include "interop/mpi/type/contents.hpp"

#include <algorithm>
#include <cstddef>

#include "interop/mpi/type/layout_builder.hpp"

namespace photon::mpi {

namespace {

constexpr Refused kNoAnswer{"MPI does not say how it was made"};

bool is_named_combiner(int combiner) noexcept {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

// Without its contents; false where MPI refuses.
template <class Calls>
bool read_combiner(const Calls& calls, MPI_Datatype type, int& combiner) {
  if constexpr (requires { calls.Type_get_envelope_c; }) {
    MPI_Count ints = 0, addresses = 0, counts = 0, types = 0;
    if (calls.Type_get_envelope_c != nullptr)
      return calls.Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner) ==
             MPI_SUCCESS;
  }
  int ints = 0, addresses = 0, types = 0;
  return calls.Type_get_envelope(type, &ints, &addresses, &types, &combiner) == MPI_SUCCESS;
}

// MPI's arrays may be empty, and null addresses are refused by some MPIs.
template <class T>
std::vector<T> room_for(MPI_Count count) {
  return std::vector<T>(static_cast<std::size_t>(std::max<MPI_Count>(count, 1)));
}

template <class T>
void add_to(std::vector<std::int64_t>& numbers, const std::vector<T>& read, MPI_Count count) {
  numbers.insert(numbers.end(), read.begin(), read.begin() + count);
}

}  // namespace

Contents::Contents(MPI_Datatype type) {
  if (!read_combiner(real(), type, combiner_)) throw kNoAnswer;
  if (is_named()) return;
  if (!read_large(real(), type)) read(type);
}

Contents::~Contents() {
  for (MPI_Datatype& type : types_) {
    int combiner = MPI_COMBINER_NAMED;
    if (read_combiner(real(), type, combiner) && !is_named_combiner(combiner))
      real().Type_free(&type);
  }
}

bool Contents::is_named() const noexcept { return is_named_combiner(combiner_); }

void Contents::read(MPI_Datatype type) {
  int ints_count = 0, addresses_count = 0, types_count = 0;
  if (real().Type_get_envelope(type, &ints_count, &addresses_count, &types_count, &combiner_) !=
      MPI_SUCCESS)
    throw kNoAnswer;
  auto ints = room_for<int>(ints_count);
  auto addresses = room_for<MPI_Aint>(addresses_count);
  auto types = room_for<MPI_Datatype>(types_count);
  numbers_.reserve(static_cast<std::size_t>(ints_count) +
                   static_cast<std::size_t>(addresses_count));
  if (real().Type_get_contents(type, ints_count, addresses_count, types_count, ints.data(),
                               addresses.data(), types.data()) != MPI_SUCCESS)
    throw kNoAnswer;
  types.resize(static_cast<std::size_t>(types_count));
  types_.swap(types);
  add_to(numbers_, ints, ints_count);
  add_to(numbers_, addresses, addresses_count);
}

// To where the constructor has them, before the ints that follow.
void Contents::move_counts(std::size_t place, MPI_Count count) {
  if (numbers_.size() < place + static_cast<std::size_t>(count)) throw kNoAnswer;
  std::rotate(numbers_.begin() + static_cast<std::ptrdiff_t>(place), numbers_.end() - count,
              numbers_.end());
}

// False: this MPI has no such calls.
template <class Calls>
bool Contents::read_large(const Calls& calls, MPI_Datatype type) {
  if constexpr (!requires { calls.Type_get_contents_c; }) {
    return false;
  } else {
    if (calls.Type_get_contents_c == nullptr || calls.Type_get_envelope_c == nullptr) return false;
    MPI_Count ints_count = 0, addresses_count = 0, counts_count = 0, types_count = 0;
    if (calls.Type_get_envelope_c(type, &ints_count, &addresses_count, &counts_count, &types_count,
                                  &combiner_) != MPI_SUCCESS)
      throw kNoAnswer;
    if (counts_count == 0) return false;  // ints hold all
    auto ints = room_for<int>(ints_count);
    auto addresses = room_for<MPI_Aint>(addresses_count);
    auto counts = room_for<MPI_Count>(counts_count);
    auto types = room_for<MPI_Datatype>(types_count);
    numbers_.reserve(static_cast<std::size_t>(ints_count + addresses_count + counts_count));
    if (calls.Type_get_contents_c(type, ints_count, addresses_count, counts_count, types_count,
                                  ints.data(), addresses.data(), counts.data(),
                                  types.data()) != MPI_SUCCESS)
      throw kNoAnswer;
    types.resize(static_cast<std::size_t>(types_count));
    types_.swap(types);
    add_to(numbers_, ints, ints_count);
    add_to(numbers_, addresses, addresses_count);
    add_to(numbers_, counts, counts_count);
    if (combiner_ == MPI_COMBINER_SUBARRAY) move_counts(1, counts_count);
    if (combiner_ == MPI_COMBINER_DARRAY) move_counts(3, counts_count);
    return true;
  }
}

}  // namespace photon::mpi
