#include "interop/mpi/window/reach.hpp"

#include <photon/rma.h>

#include <algorithm>

namespace photon::mpi {

Outcome describe(Job& job, std::int64_t count, MPI_Datatype type, Elements& elements) noexcept {
  if (count < 0) return {MPI_ERR_COUNT, "a negative count"};
  elements.layout = job.types().find(type);
  elements.count = static_cast<std::size_t>(count);
  std::size_t bytes = 0;
  if (elements.layout != nullptr) [[likely]]
    return __builtin_mul_overflow(elements.layout->size_bytes, elements.count, &bytes)
               ? Outcome{MPI_ERR_COUNT, "a count of more bytes than there are addresses"}
               : Outcome{};
  return {MPI_ERR_TYPE, "a datatype that is null, not committed, or cannot be described"};
}

Outcome find(Window& window, const Spot& spot, Area& area) noexcept {
  if (spot.rank < 0 || static_cast<std::uint32_t>(spot.rank) >= window.size())
    return {MPI_ERR_RANK, "no member of the window has that rank"};
  if (const Outcome outcome = describe(window.job(), spot.count, spot.type, area.elements);
      !outcome.is_good())
    return outcome;
  area.target = &window.target(static_cast<std::uint32_t>(spot.rank));
  if (area.elements.bytes() == 0) return {};
  const Target& target = *area.target;
  const Layout& layout = *area.elements.layout;
  std::int64_t span = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  if (spot.displacement < 0) return {MPI_ERR_DISP, "a negative displacement"};
  if (__builtin_mul_overflow(spot.displacement, target.unit, &area.offset) ||
      __builtin_mul_overflow(spot.count - 1, layout.extent, &span) ||
      __builtin_add_overflow(area.offset, layout.first, &begin) ||
      __builtin_add_overflow(begin, layout.true_extent, &end) ||
      __builtin_add_overflow(begin, std::min<std::int64_t>(span, 0), &low) ||
      __builtin_add_overflow(end, std::max<std::int64_t>(span, 0), &high) || low < 0 ||
      static_cast<std::uint64_t>(high) > target.size_bytes)
    return {MPI_ERR_RMA_RANGE, "an operation that leaves the memory of its target"};
  return {};
}

namespace {

// Operations that are under way make room as the library is served.
template <class Post>
bool finish(Job& job, Post post) noexcept {
  ph_request request = PH_REQUEST_NONE;
  ph_status status = post(request);
  while (status == PH_AGAIN) {
    job.serve();
    status = post(request);
  }
  return status == PH_OK && ph_wait_request(job.context(), &request, nullptr, PH_FOREVER) == PH_OK;
}

}  // namespace

bool read_copied(Job& job, const Target& target, std::int64_t offset, void* to,
                 std::size_t bytes) noexcept {
  ph_get_args get{};
  get.size = sizeof get;
  get.destination = to;
  get.size_bytes = bytes;
  get.source = {target.region.address + static_cast<std::uint64_t>(offset), target.region.key};
  get.flags = PH_ALONE | PH_NO_RCE;
  return finish(job, [&](ph_request& request) {
    get.request = &request;
    return ph_get(job.context(), target.rank, &get);
  });
}

bool write_copied(Job& job, const Target& target, std::int64_t offset, const void* from,
                  std::size_t bytes) noexcept {
  ph_put_args put{};
  put.size = sizeof put;
  put.source = from;
  put.size_bytes = bytes;
  put.target = {target.region.address + static_cast<std::uint64_t>(offset), target.region.key};
  put.flags = PH_ALONE | PH_NO_RCE | PH_DELIVERED;
  return finish(job, [&](ph_request& request) {
    put.request = &request;
    return ph_put(job.context(), target.rank, &put);
  });
}

}  // namespace photon::mpi
