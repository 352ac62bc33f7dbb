// Two buffers in step: the pieces of memory that hold the same data in both, in the order of their
// type maps. Nothing is allocated.
//
//   a cursor: at data -- advance() over the last byte --> at the end, where bytes() is 0
//
// Invariants: a piece lies in one run of each buffer. walk_elements() never hands out a part of an
// element. Owner: the caller. Threads: one each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "interop/mpi/type/layout.hpp"

namespace photon::mpi {

// So many elements of a type, in a buffer.
struct Elements {
  const Layout* layout;
  std::size_t count;
  std::size_t bytes() const noexcept { return layout->size_bytes * count; }
};

class Cursor {
 public:
  explicit Cursor(Elements elements) noexcept {
    const Layout& layout = *elements.layout;
    if (elements.bytes() == 0) return;
    begin_ = next_ = layout.runs.data();
    end_ = begin_ + layout.runs.size();
    extent_ = layout.extent;
    left_ = layout.is_contiguous ? 1 : elements.count;
    take();
    if (layout.is_contiguous) bytes_ = elements.bytes();
  }

  // The next byte lies there, counted from the address of the buffer on.
  std::int64_t offset() const noexcept { return offset_; }
  // So many lie there one behind the other; 0 at the end.
  std::size_t bytes() const noexcept { return bytes_; }
  // The cursor moves on by at most bytes().
  void advance(std::size_t bytes) noexcept {
    offset_ += static_cast<std::int64_t>(bytes);
    bytes_ -= bytes;
    if (bytes_ == 0 && left_ != 0) take();
  }
  // Over several runs. False: it ends before.
  bool skip(std::size_t bytes) noexcept {
    while (bytes != 0) {
      const std::size_t step = std::min(bytes, bytes_);
      if (step == 0) return false;
      advance(step);
      bytes -= step;
    }
    return true;
  }

 private:
  void take() noexcept {
    offset_ = element_ + next_->offset;
    bytes_ = next_->bytes;
    if (++next_ != end_) return;
    next_ = begin_;
    element_ += extent_;
    --left_;
  }

  const Run* begin_ = nullptr;
  const Run* next_ = nullptr;  // behind the one that it is in
  const Run* end_ = nullptr;
  std::int64_t element_ = 0;  // the offset of the element that `next_` is of
  std::int64_t extent_ = 0;
  std::int64_t offset_ = 0;
  std::size_t bytes_ = 0;
  std::size_t left_ = 0;  // elements from `next_` on
};

// MPI_BOTTOM is null, and its offsets are addresses, so this is a sum of numbers.
inline std::byte* place_at(const void* buffer, std::int64_t offset) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(offset));
}

enum class Walked : std::uint8_t {
  whole,
  stopped,  // the visitor said so
  cut,      // an element lies in no one piece of both, or they have no basic type in common
};

namespace walk_detail {

// A visitor may return nothing, or whether it wants more.
template <class Visitor>
bool visit(Visitor& visitor, std::byte* origin, std::int64_t target, std::size_t amount) {
  if constexpr (std::is_void_v<decltype(visitor(origin, target, amount))>) {
    visitor(origin, target, amount);
    return true;
  } else {
    return visitor(origin, target, amount);
  }
}

// C's structs with holes: several at once if they lie one behind the other on both sides.
template <class Visitor>
Walked walk_structs(const void* buffer, Elements origin, Elements target, Visitor& visitor) {
  const std::size_t data = origin.layout->element_bytes;
  const auto memory = static_cast<std::int64_t>(origin.layout->element_extent);
  Cursor from(origin), to(target);
  while (from.bytes() != 0 && to.bytes() != 0) {
    const std::int64_t from_first = from.offset(), to_first = to.offset();
    std::int64_t count = 0;
    do {
      if (!from.skip(data) || !to.skip(data)) return Walked::cut;
      ++count;
    } while (from.bytes() != 0 && to.bytes() != 0 && from.offset() == from_first + count * memory &&
             to.offset() == to_first + count * memory);
    if (!visit(visitor, place_at(buffer, from_first), to_first, static_cast<std::size_t>(count)))
      return Walked::stopped;
  }
  return Walked::whole;
}

}  // namespace walk_detail

// visitor(address at the origin, offset at the target, bytes) for each piece. Before: both have
// equally many bytes.
template <class Visitor>
Walked walk(const void* buffer, Elements origin, Elements target, Visitor&& visitor) {
  if (origin.layout->is_contiguous && target.layout->is_contiguous) {
    const std::size_t bytes = origin.bytes();
    if (bytes == 0 || walk_detail::visit(visitor, place_at(buffer, origin.layout->first),
                                         target.layout->first, bytes))
      return Walked::whole;
    return Walked::stopped;
  }
  Cursor from(origin), to(target);
  while (from.bytes() != 0 && to.bytes() != 0) {
    const std::size_t bytes = std::min(from.bytes(), to.bytes());
    if (!walk_detail::visit(visitor, place_at(buffer, from.offset()), to.offset(), bytes))
      return Walked::stopped;
    from.advance(bytes);
    to.advance(bytes);
  }
  return Walked::whole;
}

// visitor(address at the origin, offset at the target, elements of the basic type) for each piece,
// whose elements lie one behind the other, `element_extent` bytes each. Those of pairs have holes
// in them, and behind the last of a buffer one may be missing: who writes them writes members
// alone. Before: both have equally many bytes. If an element is cut, what stood before it has been
// visited.
template <class Visitor>
Walked walk_elements(const void* buffer, Elements origin, Elements target, Visitor&& visitor) {
  if (origin.bytes() == 0) return Walked::whole;
  const Layout& layout = *origin.layout;
  if (layout.basic == Basic::none || layout.basic != target.layout->basic) return Walked::cut;
  if (layout.element_bytes != layout.element_extent)
    return walk_detail::walk_structs(buffer, origin, target, visitor);
  const std::size_t size = layout.element_bytes;
  bool is_cut = false;
  const Walked walked =
      walk(buffer, origin, target, [&](std::byte* from, std::int64_t to, std::size_t bytes) {
        is_cut = bytes % size != 0;
        return !is_cut && walk_detail::visit(visitor, from, to, bytes / size);
      });
  return is_cut ? Walked::cut : walked;
}

}  // namespace photon::mpi
