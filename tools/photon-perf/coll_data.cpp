#include "coll_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "failure.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kCollPageBytes = 4096;
constexpr std::uint64_t kPerStamp = 31;
constexpr std::uint64_t kPerSource = 17;
constexpr std::uint64_t kPerTarget = 5;

// Two lanes of the baseline, or four of it taken together: whatever the compiler makes of it.
typedef double FourDoubles __attribute__((vector_size(4 * sizeof(double))));

struct CollRamp {  // element i is first + i * step
  double first;
  double step;
};

void write_ramp(double* to, std::uint64_t count, CollRamp ramp) noexcept {
  FourDoubles four{ramp.first, ramp.first + ramp.step, ramp.first + 2 * ramp.step,
                   ramp.first + 3 * ramp.step};
  std::uint64_t i = 0;
  for (; i + 4 <= count; i += 4, four += 4 * ramp.step) std::memcpy(to + i, &four, sizeof four);
  for (; i < count; ++i) to[i] = ramp.first + static_cast<double>(i) * ramp.step;
}

// All of it is read, whatever it holds.
bool is_ramp(const double* from, std::uint64_t count, CollRamp ramp) noexcept {
  FourDoubles four{ramp.first, ramp.first + ramp.step, ramp.first + 2 * ramp.step,
                   ramp.first + 3 * ramp.step};
  FourDoubles found{};
  auto wrong = found != found;  // nothing yet
  std::uint64_t i = 0;
  for (; i + 4 <= count; i += 4, four += 4 * ramp.step) {
    std::memcpy(&found, from + i, sizeof found);
    wrong |= found != four;
  }
  bool is_right = (wrong[0] | wrong[1] | wrong[2] | wrong[3]) == 0;
  for (; i < count; ++i) is_right &= from[i] == ramp.first + static_cast<double>(i) * ramp.step;
  return is_right;
}

struct MemberRange {  // first <= s < last
  std::uint32_t first;
  std::uint32_t last;
};

MemberRange members_in_block(const CollKind& kind, std::uint32_t block, std::uint32_t member,
                             std::uint32_t members) noexcept {
  switch (kind.sources) {
    case CollSources::root: return {0, 1};
    case CollSources::block: return {block, block + 1};
    case CollSources::all: return {0, members};
    case CollSources::up_to_self: return {0, member + 1};
    case CollSources::before_self: return {0, member};
  }
  return {0, 0};
}

CollRamp sum_of(MemberRange sources, std::uint64_t stamp, std::uint32_t target) noexcept {
  std::uint64_t first = 0;
  for (auto source = sources.first; source < sources.last; ++source)
    first += stamp * kPerStamp + source * kPerSource + target * kPerTarget;
  return {static_cast<double>(first), static_cast<double>(sources.last - sources.first)};
}

std::size_t most_blocks_bytes(const CollData::Shape& shape, CollBuffer buffer,
                              std::uint32_t members) noexcept {
  return shape.size_bytes * (buffer.blocks == CollBlocks::each ? members : 1);
}

}  // namespace

CollMemory::CollMemory(Job& job, MemoryKind kind, std::size_t size_bytes) {
  if (kind == MemoryKind::alloc) {
    shared_.emplace(job, kind, size_bytes);
    return;
  }
  const auto pages = size_bytes / kCollPageBytes + 1;
  heap_.reset(static_cast<std::byte*>(std::aligned_alloc(kCollPageBytes, pages * kCollPageBytes)));
  if (!heap_) throw std::bad_alloc();
  std::memset(heap_.get(), 0, pages * kCollPageBytes);
}

void CollMemory::Free::operator()(std::byte* data) const noexcept { std::free(data); }

CollData::CollData(Job& job, const Shape& shape)
    : shape_(shape),
      member_(job.rank()),
      members_(job.size()),
      in_(job, shape.memory, most_blocks_bytes(shape, shape.kind->in, members_)),
      out_(job, shape.memory, most_blocks_bytes(shape, shape.kind->out, members_)),
      counts_(members_, count()) {}

double* CollData::in_for(std::uint32_t target) const noexcept {
  return kind().in.blocks == CollBlocks::each ? in() + target * count() : in();
}

double* CollData::out_of(std::uint32_t source) const noexcept {
  return kind().out.blocks == CollBlocks::each ? out() + source * count() : out();
}

void CollData::renew() noexcept {
  ++stamp_;
  const auto blocks = kind().in.blocks_at(member_, members_);
  for (std::uint32_t target = 0; target < blocks; ++target) {
    const auto first = stamp_ * kPerStamp + member_ * kPerSource + target * kPerTarget;
    write_ramp(in() + target * count(), count(), {static_cast<double>(first), 1});
  }
}

void CollData::check() const {
  const auto blocks = kind().out.blocks_at(member_, members_);
  const auto target = kind().in.blocks == CollBlocks::each ? member_ : 0;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const auto sources = members_in_block(kind(), block, member_, members_);
    if (is_ramp(out() + block * count(), count(), sum_of(sources, stamp_, target))) continue;
    throw Failure(fmt::format("{} of {} bytes: block {} of member {} is not what it must be",
                              kind().name, size_bytes(), block, member_));
  }
}

ph_coll_args CollData::args() const noexcept {
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = kind().kind;
  if (kind().kind == PH_COLL_BARRIER) return args;
  args.count = count();
  args.type = PH_DOUBLE;
  if (kind().folds()) args.op = PH_OP_ADD;
  if (kind().in.blocks_at(member_, members_) != 0) args.in = in();
  if (kind().out.blocks_at(member_, members_) != 0) args.out = out();
  if (kind().kind == PH_COLL_BCAST && member_ == 0) {  // sent from where others receive
    args.in = nullptr;
    args.out = in();
  }
  if (kind().kind == PH_COLL_EXSCAN) args.out = out();  // which stays as it is at member 0
  if (!kind().has_counts) return args;
  args.count = 0;
  args.in_counts = counts_.data();
  args.out_counts = const_cast<std::uint64_t*>(counts_.data());  // not written without its flag
  return args;
}

}  // namespace photon::perf
