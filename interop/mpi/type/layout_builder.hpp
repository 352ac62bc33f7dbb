// A layout that is put together from others.
//
//   empty -- place(), append() of data --> some of the runs -- finish() --> a layout; done
//
// Invariants: those of Layout. A layout has at most kMostRuns runs, so that a type cannot take all
// memory of its process.
// Owner: who describes a type. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interop/mpi/type/layout.hpp"

namespace photon::mpi {

// Thrown by what works out layouts; Types catches it.
struct Refused {
  const char* why;
};

inline constexpr std::size_t kMostRuns = std::size_t{1} << 25;

class LayoutBuilder {
 public:
  // So many elements of that layout, the first of them at the offset.
  void place(const Layout& part, std::int64_t offset, std::int64_t count);
  // Data of elements that have been named by meet(), or will be.
  void append(Run run);
  // The basic type of data that is in the layout.
  void meet(const Layout& part) noexcept;
  // Once.
  Layout finish(std::int64_t extent);

 private:
  Layout layout_;
  bool has_met_ = false;
};

}  // namespace photon::mpi
