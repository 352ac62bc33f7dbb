// A layout beside what MPI itself does with the type.
// Owner: none (functions). Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "interop/mpi/real/real.hpp"
#include "interop/mpi/type/datatype.hpp"
#include "interop/mpi/type/walk.hpp"

namespace photon::mpi::test {

// Memory of so many elements, wherever they lie from the address of the buffer on, and some around.
class Memory {
 public:
  explicit Memory(Elements elements);
  void fill(std::mt19937_64& random);
  std::vector<std::uint8_t>& bytes() noexcept { return bytes_; }
  // What MPI takes for the beginning of the buffer.
  void* begin() noexcept { return place_at(bytes_.data(), -low_); }

 private:
  std::int64_t low_ = 0;
  std::vector<std::uint8_t> bytes_;
};

// Bytes that lie one behind the other, as MPI_BYTE would have them.
const Layout& plain_bytes();

std::vector<std::uint8_t> pack_by_mpi(Memory& memory, MPI_Datatype type, std::int64_t count);
std::vector<std::uint8_t> pack_by_runs(Memory& memory, Elements elements);
void unpack_by_runs(const std::vector<std::uint8_t>& packed, Memory& memory, Elements elements);

// Two bytes of the elements are the same byte of memory.
bool is_overlapping(Memory& memory, Elements elements);

// Sizes and bounds, and so many elements packed and unpacked. The type has been committed.
void expect_like_mpi(Types& types, MPI_Datatype type, std::int64_t count, std::uint64_t seed);

}  // namespace photon::mpi::test
