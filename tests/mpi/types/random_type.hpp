// Datatypes that a seed draws: constructors inside constructors, down to named types.
// Owner: the test. Threads: one.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "interop/mpi/real/real.hpp"

namespace photon::mpi::test {

struct DrawnType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::string words;                 // how it was made
  std::vector<MPI_Datatype> leaves;  // of its data, without repetition
  bool is_named = false;             // not to be freed
};

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : random_(seed) {}
  // At most so many constructors inside each other. Small enough to be packed; committed.
  DrawnType draw(unsigned levels);
  // From `low` to `high`.
  std::int64_t number(std::int64_t low, std::int64_t high);

 private:
  DrawnType named();
  DrawnType made(unsigned levels);
  DrawnType made_of(const DrawnType& part, std::int64_t constructor);
  DrawnType strided(const DrawnType& part, bool is_in_bytes);
  DrawnType blocks(const DrawnType& part, bool is_in_bytes);
  DrawnType equal_blocks(const DrawnType& part, bool is_in_bytes);
  DrawnType subarray(const DrawnType& part);
  DrawnType darray(const DrawnType& part);
  DrawnType structure(unsigned levels);
  std::vector<int> ints(std::size_t count, std::int64_t low, std::int64_t high);

  std::mt19937_64 random_;
};

void free_type(DrawnType& drawn);

}  // namespace photon::mpi::test
