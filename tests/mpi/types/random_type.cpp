#include "random_type.hpp"

#include <algorithm>
#include <iterator>

namespace photon::mpi::test {

namespace {

constexpr std::int64_t kMostBytes = 2048;
constexpr std::int64_t kMostSpan = 1 << 16;

template <class T>
std::string list(const std::vector<T>& numbers) {
  std::string words = "[";
  for (const T number : numbers) words += std::to_string(number) + " ";
  return words + "]";
}

template <class... Numbers>
std::string call(const char* name, const DrawnType& part, const Numbers&... numbers) {
  std::string words = name;
  words += "(";
  ((words += numbers + ", "), ...);
  return words + part.words + ")";
}

std::string text(std::int64_t number) { return std::to_string(number); }

bool is_small(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Aint first = 0, span = 0, lower = 0, extent = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_true_extent(type, &first, &span);
  MPI_Type_get_extent(type, &lower, &extent);
  return size <= kMostBytes && span <= kMostSpan && std::abs(first) <= kMostSpan &&
         std::abs(extent) <= kMostSpan;
}

bool has_data(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Type_size_x(type, &size);
  return size != 0;
}

}  // namespace

void free_type(DrawnType& drawn) {
  if (!drawn.is_named && drawn.type != MPI_DATATYPE_NULL) MPI_Type_free(&drawn.type);
}

std::int64_t Drawing::number(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
}

std::vector<int> Drawing::ints(std::size_t count, std::int64_t low, std::int64_t high) {
  std::vector<int> drawn(count);
  for (int& one : drawn) one = static_cast<int>(number(low, high));
  return drawn;
}

DrawnType Drawing::draw(unsigned levels) {
  DrawnType drawn = made(levels);
  if (!drawn.is_named) MPI_Type_commit(&drawn.type);
  return drawn;
}

DrawnType Drawing::named() {
  struct Leaf {
    MPI_Datatype type;
    const char* name;
  };
  // MPICH packs a long double by its value, without what is in its six bytes of
  // padding.
  const Leaf leaves[] = {{MPI_DOUBLE, "double"},       {MPI_INT, "int"},
                         {MPI_SHORT, "short"},         {MPI_BYTE, "byte"},
                         {MPI_FLOAT, "float"},         {MPI_DOUBLE_INT, "double_int"},
                         {MPI_SHORT_INT, "short_int"}, {MPI_C_DOUBLE_COMPLEX, "complex"}};
  // Mostly the first, or few types would be of one basic type.
  const std::int64_t most = static_cast<std::int64_t>(std::size(leaves)) - 1;
  const Leaf& leaf = leaves[std::min(number(0, most), number(0, most))];
  return {leaf.type, leaf.name, {leaf.type}, true};
}

DrawnType Drawing::made(unsigned levels) {
  if (levels == 0) return named();
  for (;;) {
    const std::int64_t constructor = number(0, 11);
    DrawnType drawn;
    if (constructor == 0) {
      drawn = structure(levels);
    } else {
      DrawnType part = made(levels - 1);
      drawn = made_of(part, constructor);
      if (drawn.type != MPI_DATATYPE_NULL && has_data(drawn.type)) drawn.leaves = part.leaves;
      free_type(part);
    }
    if (drawn.type == MPI_DATATYPE_NULL) continue;  // Open MPI has no darray of a type without data
    if (is_small(drawn.type)) return drawn;
    free_type(drawn);
  }
}

DrawnType Drawing::made_of(const DrawnType& part, std::int64_t constructor) {
  DrawnType drawn;
  switch (constructor) {
    case 1: {
      const auto count = number(0, 5);
      MPI_Type_contiguous(static_cast<int>(count), part.type, &drawn.type);
      drawn.words = call("contiguous", part, text(count));
      return drawn;
    }
    case 2:
      MPI_Type_dup(part.type, &drawn.type);
      drawn.words = call("dup", part);
      return drawn;
    case 3: {
      const auto lower = number(-16, 16),
                 extent = number(0, 9) == 0 ? number(-64, 0) : number(0, 96);
      MPI_Type_create_resized(part.type, lower, extent, &drawn.type);
      drawn.words = call("resized", part, text(lower), text(extent));
      return drawn;
    }
    case 4: return strided(part, false);
    case 5: return strided(part, true);
    case 6: return blocks(part, false);
    case 7: return blocks(part, true);
    case 8: return equal_blocks(part, false);
    case 9: return equal_blocks(part, true);
    case 10: return subarray(part);
    default: return darray(part);
  }
}

DrawnType Drawing::strided(const DrawnType& part, bool is_in_bytes) {
  const auto count = static_cast<int>(number(0, 5)), length = static_cast<int>(number(0, 3));
  auto stride = static_cast<int>(is_in_bytes ? number(-70, 70) : number(-6, 6));
  // Open MPI 4.1 packs blocks with a stride of -1 byte as if they lay one behind the other.
  if (stride == -1) stride = -2;
  DrawnType drawn;
  if (is_in_bytes)
    MPI_Type_create_hvector(count, length, stride, part.type, &drawn.type);
  else
    MPI_Type_vector(count, length, stride, part.type, &drawn.type);
  drawn.words =
      call(is_in_bytes ? "hvector" : "vector", part, text(count), text(length), text(stride));
  return drawn;
}

DrawnType Drawing::blocks(const DrawnType& part, bool is_in_bytes) {
  const auto count = static_cast<std::size_t>(number(0, 4));
  const auto lengths = ints(count, 0, 3);
  const auto places = is_in_bytes ? ints(count, -80, 80) : ints(count, -5, 9);
  const std::vector<MPI_Aint> addresses(places.begin(), places.end());
  DrawnType drawn;
  if (is_in_bytes)
    MPI_Type_create_hindexed(static_cast<int>(count), lengths.data(), addresses.data(), part.type,
                             &drawn.type);
  else
    MPI_Type_indexed(static_cast<int>(count), lengths.data(), places.data(), part.type,
                     &drawn.type);
  drawn.words = call(is_in_bytes ? "hindexed" : "indexed", part, list(lengths), list(places));
  return drawn;
}

DrawnType Drawing::equal_blocks(const DrawnType& part, bool is_in_bytes) {
  const auto count = static_cast<std::size_t>(number(0, 4));
  const auto length = static_cast<int>(number(0, 3));
  const auto places = is_in_bytes ? ints(count, -80, 80) : ints(count, -5, 9);
  const std::vector<MPI_Aint> addresses(places.begin(), places.end());
  DrawnType drawn;
  if (is_in_bytes)
    MPI_Type_create_hindexed_block(static_cast<int>(count), length, addresses.data(), part.type,
                                   &drawn.type);
  else
    MPI_Type_create_indexed_block(static_cast<int>(count), length, places.data(), part.type,
                                  &drawn.type);
  drawn.words =
      call(is_in_bytes ? "hindexed_block" : "indexed_block", part, text(length), list(places));
  return drawn;
}

DrawnType Drawing::subarray(const DrawnType& part) {
  const auto dimensions = static_cast<std::size_t>(number(1, 3));
  const auto sizes = ints(dimensions, 1, 4);
  std::vector<int> lengths, starts;
  for (const int size : sizes) {
    lengths.push_back(static_cast<int>(number(1, size)));
    starts.push_back(static_cast<int>(number(0, size - lengths.back())));
  }
  const bool is_c = number(0, 1) == 0;
  DrawnType drawn;
  MPI_Type_create_subarray(static_cast<int>(dimensions), sizes.data(), lengths.data(),
                           starts.data(), is_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part.type,
                           &drawn.type);
  drawn.words = call(is_c ? "subarray of C" : "subarray of Fortran", part, list(sizes),
                     list(lengths), list(starts));
  return drawn;
}

DrawnType Drawing::darray(const DrawnType& part) {
  const auto dimensions = static_cast<std::size_t>(number(1, 2));
  const auto sizes = ints(dimensions, 1, 6);
  const auto processes = ints(dimensions, 1, 2);
  int members = 1;
  std::vector<int> kinds, arguments;
  for (std::size_t at = 0; at < dimensions; ++at) {
    members *= processes[at];
    const bool is_cyclic = number(0, 1) == 0;
    kinds.push_back(is_cyclic ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK);
    arguments.push_back(is_cyclic ? static_cast<int>(number(1, 3)) : MPI_DISTRIBUTE_DFLT_DARG);
  }
  const auto rank = static_cast<int>(number(0, members - 1));
  const bool is_c = number(0, 1) == 0;
  DrawnType drawn;
  MPI_Type_create_darray(members, rank, static_cast<int>(dimensions), sizes.data(), kinds.data(),
                         arguments.data(), processes.data(), is_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                         part.type, &drawn.type);
  drawn.words = call(is_c ? "darray of C" : "darray of Fortran", part, text(rank), list(sizes),
                     list(kinds), list(arguments), list(processes));
  return drawn;
}

DrawnType Drawing::structure(unsigned levels) {
  const auto count = static_cast<std::size_t>(number(0, 4));
  const auto lengths = ints(count, 0, 3);
  const auto places = ints(count, -100, 200);
  const std::vector<MPI_Aint> addresses(places.begin(), places.end());
  std::vector<DrawnType> parts;
  std::vector<MPI_Datatype> types;
  DrawnType drawn;
  drawn.words = "struct(" + list(lengths) + ", " + list(places);
  for (std::size_t at = 0; at < count; ++at) {
    // Now and then the same type again.
    const bool is_new = at == 0 || number(0, 3) != 0;
    if (is_new) parts.push_back(made(levels - 1));
    // Open MPI 4.1 takes a struct for contiguous when parts without data are all that makes it
    // longer than its data.
    while (!has_data(parts.back().type)) {
      free_type(parts.back());
      parts.back() = made(levels - 1);
    }
    const DrawnType& part = parts.back();
    types.push_back(part.type);
    drawn.words += ", " + part.words;
    if (lengths[at] == 0 || !has_data(part.type)) continue;
    for (MPI_Datatype leaf : part.leaves)
      if (std::find(drawn.leaves.begin(), drawn.leaves.end(), leaf) == drawn.leaves.end())
        drawn.leaves.push_back(leaf);
  }
  drawn.words += ")";
  MPI_Type_create_struct(static_cast<int>(count), lengths.data(), addresses.data(), types.data(),
                         &drawn.type);
  for (DrawnType& part : parts) free_type(part);
  return drawn;
}

}  // namespace photon::mpi::test
