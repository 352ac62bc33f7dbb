#include "interop/mpi/type/layout_builder.hpp"

#include <algorithm>
#include <utility>

namespace photon::mpi {

namespace {

constexpr Refused kTooManyRuns{"it has more than 33,554,432 separate runs of bytes"};

}  // namespace

void LayoutBuilder::place(const Layout& part, std::int64_t offset, std::int64_t count) {
  if (count <= 0 || part.size_bytes == 0) return;
  meet(part);
  if (part.is_contiguous) {
    append({offset + part.first, part.size_bytes * static_cast<std::size_t>(count)});
    return;
  }
  // Of the runs of neighbours two at most are joined, and none if an element is one run.
  const std::size_t fewest = std::max<std::size_t>(part.runs.size() - 1, 1);
  if (static_cast<std::uint64_t>(count) > kMostRuns / fewest) throw kTooManyRuns;
  for (std::int64_t element = 0; element < count; ++element)
    for (const Run& run : part.runs)
      append({offset + element * part.extent + run.offset, run.bytes});
}

void LayoutBuilder::append(Run run) {
  if (run.bytes == 0) return;
  auto& runs = layout_.runs;
  layout_.size_bytes += run.bytes;
  if (!runs.empty() &&
      runs.back().offset + static_cast<std::int64_t>(runs.back().bytes) == run.offset) {
    runs.back().bytes += run.bytes;
    return;
  }
  if (runs.size() == kMostRuns) throw kTooManyRuns;
  runs.push_back(run);
}

void LayoutBuilder::meet(const Layout& part) noexcept {
  if (part.size_bytes == 0) return;
  if (has_met_ && part.basic != layout_.basic) {
    layout_.basic = Basic::none;
    layout_.element_bytes = layout_.element_extent = 0;
  } else if (!has_met_) {
    layout_.basic = part.basic;
    layout_.element_bytes = part.element_bytes;
    layout_.element_extent = part.element_extent;
  }
  has_met_ = true;
}

Layout LayoutBuilder::finish(std::int64_t extent) {
  layout_.extent = extent;
  layout_.is_contiguous =
      layout_.size_bytes == 0 ||
      (layout_.runs.size() == 1 && extent == static_cast<std::int64_t>(layout_.size_bytes));
  if (layout_.size_bytes == 0) {
    layout_.basic = Basic::none;
    layout_.element_bytes = layout_.element_extent = 0;
    return std::move(layout_);
  }
  std::int64_t first = layout_.runs.front().offset;
  std::int64_t behind = first;
  for (const Run& run : layout_.runs) {
    first = std::min(first, run.offset);
    behind = std::max(behind, run.offset + static_cast<std::int64_t>(run.bytes));
  }
  layout_.first = first;
  layout_.true_extent = behind - first;
  layout_.runs.shrink_to_fit();
  return std::move(layout_);
}

}  // namespace photon::mpi
