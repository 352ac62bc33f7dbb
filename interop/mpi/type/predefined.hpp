// The layouts of MPI's named datatypes, by their handles.
//
// A table with open addressing: most of its places are empty, so a lookup mostly compares one word.
// Invariants: nothing changes after the constructor. MPI_DATATYPE_NULL stands in it without layout.
// Owner: Types. Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>

#include "interop/mpi/real/real.hpp"
#include "interop/mpi/type/layout.hpp"

namespace photon::mpi {

class Predefined {
 public:
  struct Entry {
    std::uintptr_t bits = 0;
    const Layout* layout = nullptr;
  };

  Predefined();
  Predefined(const Predefined&) = delete;
  Predefined& operator=(const Predefined&) = delete;

  // Null: it is none of the named ones. An entry without layout: no type at all.
  const Entry* find(MPI_Datatype type) const noexcept {
    const std::uintptr_t bits = bits_of(type);
    for (std::size_t place = place_of(bits);; place = (place + 1) % kPlaces) {
      if (entries_[place].bits == bits) return &entries_[place];
      if (entries_[place].bits == 0) return nullptr;
    }
  }

 private:
  static constexpr unsigned kPlacesLog = 10;
  static constexpr std::size_t kPlaces = std::size_t{1} << kPlacesLog;

  // MPI's handles are ints or addresses.
  template <class Handle>
  static std::uintptr_t bits_of(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<std::uintptr_t>(handle);
    } else {
      return static_cast<std::uint32_t>(handle);
    }
  }
  static std::size_t place_of(std::uintptr_t bits) noexcept {
    return (std::uint64_t{bits} * 0x9e3779b97f4a7c15u) >> (64 - kPlacesLog);
  }
  void add(std::uintptr_t bits, const Layout* layout);

  std::deque<Layout> layouts_;
  std::array<Entry, kPlaces> entries_{};
};

// Of a type of Fortran by precision and range, by its combiner.
Layout layout_of_f90(MPI_Datatype type, int combiner);
// Of a named type that is not in the table: whatever MPI says, with no basic type.
Layout layout_of_unknown(MPI_Datatype type);

}  // namespace photon::mpi
