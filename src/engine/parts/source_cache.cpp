#include "engine/parts/source_cache.hpp"

#include <algorithm>
#include <utility>

namespace photon::engine {

namespace {

constexpr std::uint64_t kEntriesThatFit = 4;  // the largest ones

}  // namespace

SourceCache::SourceCache(transport::Transport& nic, const RegionBook& regions,
                         const base::Config& config)
    : nic_(nic),
      regions_(regions),
      granule_(nic.local_granule()),
      entries_max_(config.source_cache_entries),
      bytes_max_(config.source_cache_bytes),
      window_bytes_(granule_ == 0 ? 0 : std::max(granule_, down(bytes_max_ / kEntriesThatFit))),
      keeps_all_(config.source_cache == base::SourceCacheKeeps::all) {}

SourceCache::Pin SourceCache::pin(const Want& want) {
  if (const auto found = find(want.begin, want.end, want.is_written); found != kNone)
    return hit(found);
  const Span span = chosen(want);
  const std::uint64_t end = std::min(want.end, span.end);
  if (end != want.end)
    if (const auto found = find(want.begin, end, want.is_written); found != kNone)
      return hit(found);
  if (stuck_ && pins_ != 0) return {Outcome::wait, kNone};
  // Larger is better, but what is there decides.
  const Span wide = with_neighbours(span);
  const Span narrow{down(want.begin), std::min(span.end, up(want.fragment_end)), span.is_kept};
  std::uint32_t entry = kNone;
  Made made = Made::never;
  if (wide.begin != span.begin || wide.end != span.end) made = make(wide, want.is_written, entry);
  if (made != Made::yes) made = make(span, want.is_written, entry);
  if (made != Made::yes && narrow.end - narrow.begin < span.end - span.begin)
    made = make(narrow, want.is_written, entry);
  if (made == Made::full && pins_ != 0) {
    stuck_ = true;
    ++counts_.waits;
    return {Outcome::wait, kNone};
  }
  if (made != Made::yes) {
    ++counts_.refusals;
    return {Outcome::refused, kNone};
  }
  ++counts_.misses;
  ++entries_[entry].pins;
  ++pins_;
  drop_inside(entry);
  return {Outcome::pinned, entry};
}

bool SourceCache::unpin(std::uint32_t entry) noexcept {
  Entry& one = entries_[entry];
  --pins_;
  if (!one.is_kept) hide(entry);
  if (--one.pins != 0) return false;
  const bool was_stuck = std::exchange(stuck_, false);
  if (one.is_kept)
    enlist(entry);
  else
    drop(entry);
  return was_stuck;
}

std::uint32_t SourceCache::find(std::uint64_t begin, std::uint64_t end,
                                bool is_written) const noexcept {
  const std::uint32_t found = written_.find(begin, end);
  return found != kNone || is_written ? found : read_.find(begin, end);
}

SourceCache::Pin SourceCache::hit(std::uint32_t entry) noexcept {
  Entry& one = entries_[entry];
  if (one.pins == 0) delist(entry);
  ++one.pins;
  ++pins_;
  ++counts_.hits;
  return {Outcome::pinned, entry};
}

// All of the caller's registration around it, so that the next operation finds it; of a large one
// the part, counted from its beginning, in which the operation begins.
SourceCache::Span SourceCache::chosen(const Want& want) const noexcept {
  const auto region = regions_.find(want.begin, want.end - want.begin);
  if (!region) {
    const std::uint64_t begin = down(want.begin);
    return {begin, std::min(up(want.end), begin + window_bytes_), keeps_all_};
  }
  const std::uint64_t first = down(region->address);
  const std::uint64_t begin = first + (want.begin - first) / window_bytes_ * window_bytes_;
  return {begin, std::min(up(region->address + region->size_bytes), begin + window_bytes_), true};
}

// Where all is kept, ranges that overlap grow together instead of filling the cache.
SourceCache::Span SourceCache::with_neighbours(const Span& span) const noexcept {
  Span wide = span;
  if (!keeps_all_) return wide;
  for (const Entry& one : entries_) {
    if (!one.is_found || one.begin > span.end || one.end < span.begin) continue;
    const std::uint64_t begin = std::min(wide.begin, one.begin);
    const std::uint64_t end = std::max(wide.end, one.end);
    if (end - begin > window_bytes_) continue;
    wide.begin = begin;
    wide.end = end;
  }
  return wide;
}

SourceCache::Made SourceCache::make(const Span& span, bool is_written, std::uint32_t& made) {
  const std::uint64_t bytes = span.end - span.begin;
  if (!make_room(bytes)) return Made::full;
  if (free_.empty()) {
    if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 16);
    free_.reserve(entries_.capacity());  // drop() does not allocate
    entries_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(entries_.size() - 1));
  }
  const std::uint32_t entry = free_.back();
  (is_written ? written_ : read_).insert(entry, {span.begin, span.end, entry});
  free_.pop_back();
  for (;;) {
    const auto* begin = reinterpret_cast<const std::byte*>(span.begin);
    const auto handle = nic_.register_local({begin, bytes}, is_written);
    if (handle) {
      entries_[entry] = Entry{span.begin, span.end,   *handle,      0,    kNone,
                              kNone,      is_written, span.is_kept, true, true};
      ++entries_count_;
      bytes_ += bytes;
      made = entry;
      return Made::yes;
    }
    const bool is_full = handle.error().status == PH_ERR_MEMORY;
    if (is_full && evict()) continue;
    (is_written ? written_ : read_).remove(entry);
    free_.push_back(entry);
    return is_full ? Made::full : Made::never;
  }
}

bool SourceCache::make_room(std::uint64_t bytes) noexcept {
  while (entries_count_ >= entries_max_ || bytes_ + bytes > bytes_max_)
    if (!evict()) return false;
  return true;
}

// What the new entry can do as well needs no place of its own.
void SourceCache::drop_inside(std::uint32_t entry) noexcept {
  const Entry& made = entries_[entry];
  if (!made.is_kept) return;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const Entry& one = entries_[i];
    if (i != entry && one.is_live && one.pins == 0 && one.begin >= made.begin &&
        one.end <= made.end && (made.is_written || !one.is_written))
      drop(i);
  }
}

bool SourceCache::evict() noexcept {
  if (oldest_ == kNone) return false;
  ++counts_.evictions;
  drop(oldest_);
  return true;
}

void SourceCache::forget(std::uint64_t begin, std::uint64_t end) noexcept {
  if (entries_count_ == 0) return;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    Entry& one = entries_[i];
    if (!one.is_live || one.begin >= end || one.end <= begin) continue;
    if (one.pins == 0) {
      drop(i);
    } else {
      hide(i);
      one.is_kept = false;
    }
  }
}

void SourceCache::hide(std::uint32_t entry) noexcept {
  Entry& one = entries_[entry];
  if (!one.is_found) return;
  one.is_found = false;
  (one.is_written ? written_ : read_).remove(entry);
}

// It is not in use.
void SourceCache::drop(std::uint32_t entry) noexcept {
  Entry& one = entries_[entry];
  hide(entry);
  if (one.is_kept) delist(entry);
  nic_.unregister_local(one.handle);
  bytes_ -= one.end - one.begin;
  --entries_count_;
  one = Entry{};
  free_.push_back(entry);
  stuck_ = false;
}

void SourceCache::enlist(std::uint32_t entry) noexcept {
  Entry& one = entries_[entry];
  one.older = newest_;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = entry;
  newest_ = entry;
}

void SourceCache::delist(std::uint32_t entry) noexcept {
  Entry& one = entries_[entry];
  (one.older == kNone ? oldest_ : entries_[one.older].newer) = one.newer;
  (one.newer == kNone ? newest_ : entries_[one.newer].older) = one.older;
  one.older = one.newer = kNone;
}

}  // namespace photon::engine
