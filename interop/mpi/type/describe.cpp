#include "interop/mpi/type/describe.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "interop/mpi/type/contents.hpp"
#include "interop/mpi/type/layout_builder.hpp"
#include "interop/mpi/type/packed_offsets.hpp"

namespace photon::mpi {

namespace {

using Numbers = std::span<const std::int64_t>;

// Which of how many processes.
struct Share {
  std::int64_t process;
  std::int64_t processes;
};

constexpr unsigned kMostLevels = 4096;
constexpr Refused kOtherNumbers{"MPI says something else of it than its constructor takes"};

constexpr std::size_t kMostTypes = std::size_t{1} << 20;

struct Work {
  const Predefined& predefined;
  std::size_t types_left = kMostTypes;
};

Layout describe_level(Work& work, MPI_Datatype type, unsigned levels);

std::int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  if (real().Type_get_extent(type, &lower, &extent) != MPI_SUCCESS)
    throw Refused{"MPI does not say its extent"};
  return extent;
}

// The numbers of a constructor, which has so many.
Numbers exactly(std::size_t count, Numbers numbers) {
  if (numbers.size() != count) throw kOtherNumbers;
  return numbers;
}

// The first of them says of how many blocks the others speak.
std::size_t blocks_of(Numbers numbers, std::size_t for_each, std::size_t others) {
  if (numbers.empty() || numbers[0] < 0) throw kOtherNumbers;
  const auto blocks = static_cast<std::size_t>(numbers[0]);
  exactly(1 + others + blocks * for_each, numbers);
  return blocks;
}

// count, blocklength, stride in bytes.
void place_strided(LayoutBuilder& builder, const Layout& part, Numbers numbers,
                   std::int64_t stride) {
  LayoutBuilder block;
  block.place(part, 0, numbers[1]);
  builder.place(block.finish(stride), 0, numbers[0]);
}

// count, blocklengths, displacements in that unit.
void place_blocks(LayoutBuilder& builder, const Layout& part, Numbers numbers, std::int64_t unit) {
  const std::size_t blocks = blocks_of(numbers, 2, 0);
  for (std::size_t block = 0; block < blocks; ++block)
    builder.place(part, numbers[1 + blocks + block] * unit, numbers[1 + block]);
}

// count, blocklength, displacements in that unit.
void place_equal_blocks(LayoutBuilder& builder, const Layout& part, Numbers numbers,
                        std::int64_t unit) {
  const std::size_t blocks = blocks_of(numbers, 1, 1);
  for (std::size_t block = 0; block < blocks; ++block)
    builder.place(part, numbers[2 + block] * unit, numbers[1]);
}

// dimensions, sizes, subsizes, starts, order. Each dimension is a block of those that lie closer.
void place_subarray(LayoutBuilder& builder, const Layout& part, Numbers numbers) {
  const std::size_t dimensions = blocks_of(numbers, 3, 1);
  if (dimensions == 0) throw kOtherNumbers;
  const bool is_c = numbers.back() == MPI_ORDER_C;
  Layout inner = part;
  for (std::size_t nearness = 0; nearness < dimensions; ++nearness) {
    const std::size_t at = 1 + (is_c ? dimensions - 1 - nearness : nearness);
    LayoutBuilder dimension;
    dimension.place(inner, numbers[at + 2 * dimensions] * inner.extent, numbers[at + dimensions]);
    inner = dimension.finish(inner.extent * numbers[at]);
  }
  builder.place(inner, 0, 1);
}

// One dimension of a distributed array: the blocks of one process.
Layout distributed(const Layout& inner, std::int64_t size, std::int64_t block, Share share) {
  if (block <= 0 || share.processes <= 0) throw kOtherNumbers;
  LayoutBuilder dimension;
  for (std::int64_t start = share.process * block; start < size; start += block * share.processes)
    dimension.place(inner, start * inner.extent, std::min(block, size - start));
  return dimension.finish(inner.extent * size);
}

// processes, rank, dimensions, sizes, distributions, their arguments, processes, order.
void place_darray(LayoutBuilder& builder, const Layout& part, Numbers numbers) {
  if (numbers.size() < 3 || numbers[2] <= 0) throw kOtherNumbers;
  const auto dimensions = static_cast<std::size_t>(numbers[2]);
  exactly(4 + 4 * dimensions, numbers);
  const Numbers sizes = numbers.subspan(3, dimensions);
  const Numbers kinds = numbers.subspan(3 + dimensions, dimensions);
  const Numbers arguments = numbers.subspan(3 + 2 * dimensions, dimensions);
  const Numbers processes = numbers.subspan(3 + 3 * dimensions, dimensions);
  // The grid of processes is in C's order whatever that of the array is.
  std::vector<std::int64_t> places(dimensions);
  std::int64_t rank = numbers[1];
  for (std::size_t at = dimensions; at-- > 0;) {
    if (processes[at] <= 0) throw kOtherNumbers;
    places[at] = rank % processes[at];
    rank /= processes[at];
  }
  Layout inner = part;
  for (std::size_t nearness = 0; nearness < dimensions; ++nearness) {
    const std::size_t at = numbers.back() == MPI_ORDER_C ? dimensions - 1 - nearness : nearness;
    std::int64_t block = arguments[at];
    if (kinds[at] == MPI_DISTRIBUTE_NONE)
      block = sizes[at];
    else if (block == MPI_DISTRIBUTE_DFLT_DARG)
      block =
          kinds[at] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[at] + processes[at] - 1) / processes[at];
    inner = distributed(inner, sizes[at], block, {places[at], processes[at]});
  }
  builder.place(inner, 0, 1);
}

// count, blocklengths, displacements; a type for each. One that stands there several times is
// described once, if MPI says that it is the same one: Open MPI hands out copies.
void place_struct(Work& work, LayoutBuilder& builder, const Contents& contents, unsigned levels) {
  const Numbers numbers(contents.numbers());
  const auto& types = contents.types();
  const std::size_t blocks = blocks_of(numbers, 2, 0);
  if (types.size() != blocks) throw kOtherNumbers;
  std::vector<std::pair<MPI_Datatype, Layout>> known;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (numbers[1 + block] == 0) continue;
    const Layout* part = nullptr;
    if (const auto* named = work.predefined.find(types[block]); named != nullptr)
      part = named->layout;
    for (std::size_t at = 0; at < known.size() && part == nullptr; ++at)
      if (known[at].first == types[block]) part = &known[at].second;
    if (part == nullptr) {
      known.emplace_back(types[block], describe_level(work, types[block], levels));
      part = &known.back().second;
    }
    builder.place(*part, numbers[1 + blocks + block], numbers[1 + block]);
  }
}

// Of constructors that have one type and are known here; false: it is another.
bool place_by_constructor(LayoutBuilder& builder, int combiner, const Layout& part,
                          Numbers numbers) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: builder.place(part, 0, 1); return true;
    case MPI_COMBINER_CONTIGUOUS: builder.place(part, 0, exactly(1, numbers)[0]); return true;
    case MPI_COMBINER_VECTOR:
      place_strided(builder, part, exactly(3, numbers), numbers[2] * part.extent);
      return true;
    case MPI_COMBINER_HVECTOR:
      place_strided(builder, part, exactly(3, numbers), numbers[2]);
      return true;
    case MPI_COMBINER_INDEXED: place_blocks(builder, part, numbers, part.extent); return true;
    case MPI_COMBINER_HINDEXED: place_blocks(builder, part, numbers, 1); return true;
    case MPI_COMBINER_INDEXED_BLOCK:
      place_equal_blocks(builder, part, numbers, part.extent);
      return true;
    case MPI_COMBINER_HINDEXED_BLOCK: place_equal_blocks(builder, part, numbers, 1); return true;
    case MPI_COMBINER_SUBARRAY: place_subarray(builder, part, numbers); return true;
    case MPI_COMBINER_DARRAY: place_darray(builder, part, numbers); return true;
    default: return false;
  }
}

Layout describe_level(Work& work, MPI_Datatype type, unsigned levels) {
  if (const auto* named = work.predefined.find(type); named != nullptr) {
    if (named->layout == nullptr) throw Refused{"it is no type"};
    return *named->layout;
  }
  if (levels == kMostLevels) throw Refused{"it is made of more than 4,096 types inside each other"};
  if (work.types_left == 0) throw Refused{"it is made of more than 1,048,576 types"};
  --work.types_left;
  const Contents contents(type);
  if (contents.combiner() == MPI_COMBINER_NAMED) return layout_of_unknown(type);
  if (contents.is_named()) return layout_of_f90(type, contents.combiner());
  LayoutBuilder builder;
  if (contents.combiner() == MPI_COMBINER_STRUCT) {
    place_struct(work, builder, contents, levels + 1);
    return builder.finish(extent_of(type));
  }
  std::vector<Layout> parts;
  for (MPI_Datatype part : contents.types())
    parts.push_back(describe_level(work, part, levels + 1));
  if (parts.size() == 1 &&
      place_by_constructor(builder, contents.combiner(), parts[0], contents.numbers()))
    return builder.finish(extent_of(type));
  for (const Layout& part : parts) builder.meet(part);
  append_packed(type, builder);
  return builder.finish(extent_of(type));
}

}  // namespace

Layout describe(MPI_Datatype type, const Predefined& predefined) {
  Work work{predefined};
  return describe_level(work, type, 0);
}

}  // namespace photon::mpi
