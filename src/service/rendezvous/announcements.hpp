// Buffers that peers have announced to this rank, until somebody here is done with them.
//
//   free -- add --> waiting -- take --> taken -- release --> free
//                      \-- release (cancelled, its owner is gone) --> free
//
// Invariants: a waiting entry stands in two FIFOs, that of its kind and that of the bucket of its
// kind, rank and tag, both in order of arrival; a taken one in none. The bucket makes an exact
// match fast whatever else waits; a match of any rank or any tag walks along its kind. Allocates
// only where there never were so many. Owner: the Engine, under the lane's lock.
#pragma once

#include <photon/rendezvous.h>

#include <cstdint>
#include <vector>

#include "base/block_pool.hpp"

namespace photon::service::rendezvous {

class Announcements {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  struct Entry {
    enum class State : std::uint8_t { free, waiting, taken };
    struct Links {
      std::uint32_t before = kNone;
      std::uint32_t after = kNone;
    };
    ph_buffer buffer{};
    std::uint64_t owner_token = 0;
    std::uint32_t block = kNone;  // with the bytes that came along
    std::uint32_t generation = 0;
    State state = State::free;
    Links of_kind;
    Links of_bucket;
  };

  Announcements();

  // The next add() does not allocate.
  void make_room();
  // Waiting from now on. `block` is the entry's, or kNone.
  std::uint32_t add(const ph_buffer& buffer, std::uint64_t owner_token, std::uint32_t block);
  // The oldest that matches, or kNone.
  std::uint32_t find(const ph_match& match) const noexcept;
  // The waiting one that its owner names so, or kNone.
  std::uint32_t find_named(const ph_match& match, std::uint64_t owner_token) const noexcept;
  // The taken one that was handed out as this, or kNone: of whatever else a caller may have.
  std::uint32_t find_taken(const ph_buffer& buffer) const noexcept;
  // What its taker gets.
  const ph_buffer& take(std::uint32_t index) noexcept;
  void release(std::uint32_t index) noexcept;
  // A rank is gone: what waits goes with it, but for what came whole.
  void forget(ph_rank rank) noexcept;

  const Entry& at(std::uint32_t index) const noexcept { return entries_[index]; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  std::uint64_t held() const noexcept { return entries_.size() - free_.size(); }
  std::uint64_t arrivals() const noexcept { return arrivals_; }  // that there ever were
  base::BlockPool& blocks() noexcept { return blocks_; }
  std::uint64_t blocks_used() const noexcept { return blocks_.used(); }

 private:
  struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };
  using Member = Entry::Links Entry::*;
  static constexpr std::size_t kKinds = 4;  // 0 is none

  static bool fits(const ph_buffer& buffer, const ph_match& match) noexcept;
  std::size_t bucket_of(ph_buffer_kind kind, ph_rank rank, std::uint64_t tag) const noexcept;
  List& bucket(const ph_buffer& buffer) noexcept;
  void push(List& list, Member links, std::uint32_t index) noexcept;
  void unlink(List& list, Member links, std::uint32_t index) noexcept;
  void withdraw(std::uint32_t index) noexcept;
  void rehash(std::size_t buckets_count);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<List> buckets_;  // a power of two, at least as many as entries
  List kinds_[kKinds];
  std::uint64_t arrivals_ = 0;
  base::BlockPool blocks_;
};

}  // namespace photon::service::rendezvous
