#include "service/rendezvous/announcements.hpp"

#include "wire/record.hpp"

namespace photon::service::rendezvous {

namespace {

using State = Announcements::Entry::State;

constexpr std::size_t kFirstBuckets = 64;

bool is_same(const ph_buffer& a, const ph_buffer& b) noexcept {
  return a.token == b.token && a.rank == b.rank && a.kind == b.kind && a.tag == b.tag &&
         a.size_bytes == b.size_bytes && a.target.address == b.target.address &&
         a.target.key == b.target.key && a.data == b.data;
}

}  // namespace

Announcements::Announcements() : blocks_(wire::kMaxPackedBytes) {}

bool Announcements::fits(const ph_buffer& buffer, const ph_match& match) noexcept {
  return buffer.kind == match.kind && (match.rank == PH_ANY_RANK || match.rank == buffer.rank) &&
         (match.tag == PH_ANY_TAG || match.tag == buffer.tag) &&
         (match.size_bytes == PH_ANY_SIZE || match.size_bytes == buffer.size_bytes);
}

// Tags of a program are often consecutive, or differ in high bits only: all bits count.
std::size_t Announcements::bucket_of(ph_buffer_kind kind, ph_rank rank,
                                     std::uint64_t tag) const noexcept {
  std::uint64_t mixed = tag ^ (std::uint64_t{rank} << 32 | static_cast<std::uint64_t>(kind) << 62);
  mixed = (mixed ^ mixed >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(mixed >> 32) & (buckets_.size() - 1);
}

Announcements::List& Announcements::bucket(const ph_buffer& buffer) noexcept {
  return buckets_[bucket_of(buffer.kind, buffer.rank, buffer.tag)];
}

void Announcements::push(List& list, Member links, std::uint32_t index) noexcept {
  entries_[index].*links = {list.tail, kNone};
  (list.tail == kNone ? list.head : (entries_[list.tail].*links).after) = index;
  list.tail = index;
}

void Announcements::unlink(List& list, Member links, std::uint32_t index) noexcept {
  const Entry::Links at = entries_[index].*links;
  (at.before == kNone ? list.head : (entries_[at.before].*links).after) = at.after;
  (at.after == kNone ? list.tail : (entries_[at.after].*links).before) = at.before;
}

// So that one is free, and release() does not allocate.
void Announcements::make_room() {
  if (!free_.empty()) return;
  const std::size_t count = entries_.size();
  if (count == entries_.capacity()) entries_.reserve(count == 0 ? kFirstBuckets : 2 * count);
  free_.reserve(entries_.capacity());
  if (buckets_.size() < entries_.capacity()) rehash(entries_.capacity());
  entries_.emplace_back();
  free_.push_back(static_cast<std::uint32_t>(count));
}

// In order of arrival, which each kind's list has kept.
void Announcements::rehash(std::size_t buckets_count) {
  std::size_t count = kFirstBuckets;
  while (count < buckets_count) count *= 2;
  std::vector<List> fresh(count);
  buckets_.swap(fresh);
  for (const List& kind : kinds_)
    for (std::uint32_t i = kind.head; i != kNone; i = entries_[i].of_kind.after)
      push(bucket(entries_[i].buffer), &Entry::of_bucket, i);
}

std::uint32_t Announcements::add(const ph_buffer& buffer, std::uint64_t owner_token,
                                 std::uint32_t block) {
  make_room();
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Entry& entry = entries_[index];
  entry.buffer = buffer;
  entry.owner_token = owner_token;
  entry.block = block;
  entry.state = State::waiting;
  if (++entry.generation == 0) ++entry.generation;
  entry.buffer.token = std::uint64_t{entry.generation} << 32 | index;
  if (block != kNone) entry.buffer.data = blocks_.at(block);
  push(kinds_[buffer.kind], &Entry::of_kind, index);
  push(bucket(entry.buffer), &Entry::of_bucket, index);
  ++arrivals_;
  return index;
}

std::uint32_t Announcements::find(const ph_match& match) const noexcept {
  if (buckets_.empty()) return kNone;
  const bool is_exact = match.rank != PH_ANY_RANK && match.tag != PH_ANY_TAG;
  const List& list =
      is_exact ? buckets_[bucket_of(match.kind, match.rank, match.tag)] : kinds_[match.kind];
  const Member links = is_exact ? &Entry::of_bucket : &Entry::of_kind;
  for (std::uint32_t i = list.head; i != kNone; i = (entries_[i].*links).after)
    if (fits(entries_[i].buffer, match)) return i;
  return kNone;
}

std::uint32_t Announcements::find_named(const ph_match& match,
                                        std::uint64_t owner_token) const noexcept {
  if (buckets_.empty()) return kNone;
  std::uint32_t i = buckets_[bucket_of(match.kind, match.rank, match.tag)].head;
  while (i != kNone &&
         (entries_[i].owner_token != owner_token || entries_[i].buffer.rank != match.rank))
    i = entries_[i].of_bucket.after;
  return i;
}

std::uint32_t Announcements::find_taken(const ph_buffer& buffer) const noexcept {
  const auto index = static_cast<std::uint32_t>(buffer.token);
  if (buffer.token == 0 || index >= entries_.size()) return kNone;
  const Entry& entry = entries_[index];
  return entry.state == State::taken && is_same(entry.buffer, buffer) ? index : kNone;
}

const ph_buffer& Announcements::take(std::uint32_t index) noexcept {
  withdraw(index);
  entries_[index].state = State::taken;
  return entries_[index].buffer;
}

void Announcements::withdraw(std::uint32_t index) noexcept {
  const ph_buffer& buffer = entries_[index].buffer;
  unlink(kinds_[buffer.kind], &Entry::of_kind, index);
  unlink(bucket(buffer), &Entry::of_bucket, index);
}

void Announcements::release(std::uint32_t index) noexcept {
  Entry& entry = entries_[index];
  if (entry.state == State::waiting) withdraw(index);
  if (entry.block != kNone) blocks_.give(entry.block);
  entry.state = State::free;
  free_.push_back(index);
}

void Announcements::forget(ph_rank rank) noexcept {
  for (List& kind : kinds_)
    for (std::uint32_t i = kind.head; i != kNone;) {
      const std::uint32_t next = entries_[i].of_kind.after;
      const ph_buffer& buffer = entries_[i].buffer;
      const bool is_whole =
          buffer.kind == PH_SEND_BUFFER && (buffer.data != nullptr || buffer.size_bytes == 0);
      if (buffer.rank == rank && !is_whole) release(i);
      i = next;
    }
}

}  // namespace photon::service::rendezvous
