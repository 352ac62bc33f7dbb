// The registrations of one PE's buffers, and those that are kept for later ones (docs/tasks.md,
// "The life of a buffer").
//
//   none -- take(), nothing fits --> held -- give(), in a range that stays --> kept, idle
//                                         -- give(), elsewhere --> revoked
//   kept, idle -- take() of a part of it --> held
//              -- more than `kept_bytes` are kept, or no other one can be made, and it was used
//                 least recently --> revoked
//              -- unkeep(), forget() of its range --> revoked
//   held -- unkeep(), forget() --> held, and found by nobody -- give() --> revoked
//
// Invariant: only what lies in a range that the program has declared to stay is ever found again,
// so none is found whose memory was freed. Whoever gives one back knows that nothing is under way.
// Owner: the PE.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace photon::task {

struct Kept {
  std::uintptr_t base;
  std::uint64_t size_bytes;
  std::uint64_t key;
  std::uint32_t users;
  bool is_found;  // by later buffers
};

// What a buffer holds of a registration.
struct Registration {
  std::uint64_t key = 0;  // 0: none
  std::list<Kept>::iterator kept{};
  enum class Of : std::uint8_t { own, kept, others } of = Of::own;
};

class Registrations {
 public:
  explicit Registrations(std::uint64_t kept_bytes) noexcept : kept_limit_(kept_bytes) {}
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  // Where there is no room for one more, idle ones that are kept give way. Not PH_OK: as
  // ph_register(), and `held` has none.
  ph_status take(ph_context* lane, void* base, std::uint64_t size_bytes,
                 Registration& held) noexcept;
  // Whether the key may be of one that was made here for a buffer, and whether it is a kept one.
  bool may_have_made(std::uint64_t key) const noexcept { return made_[bucket_of(key)] != 0; }
  bool is_kept(std::uint64_t key) const noexcept;
  // Of memory that somebody else has registered.
  ph_status find(ph_context* lane, const void* base, std::uint64_t size_bytes,
                 Registration& held) noexcept;
  void give(ph_context* lane, Registration& held) noexcept;
  // All that is kept, and nobody knows what peers do: waits for them.
  void end(ph_context* lane) noexcept;

  // A range that stays. False: no memory.
  bool keep(std::uintptr_t base, std::uint64_t size_bytes) noexcept;
  // False: it was not declared so.
  bool unkeep(ph_context* lane, std::uintptr_t base, std::uint64_t size_bytes) noexcept;

  std::uint64_t hits() const noexcept { return hits_; }
  std::uint64_t misses() const noexcept { return misses_; }
  std::uint64_t evictions() const noexcept { return evictions_; }

 private:
  struct Range {
    std::uintptr_t base;
    std::uint64_t size_bytes;
    bool contains(std::uintptr_t other, std::uint64_t bytes) const noexcept {
      return other >= base && other - base <= size_bytes && bytes <= size_bytes - (other - base);
    }
    bool operator==(const Range&) const = default;
  };
  using Place = std::list<Kept>::iterator;

  bool stays(std::uintptr_t base, std::uint64_t size_bytes) const noexcept;
  bool take_kept(std::uintptr_t base, std::uint64_t size_bytes, Registration& held) noexcept;
  void add_kept(ph_context* lane, std::uintptr_t base, std::uint64_t size_bytes,
                Registration& held) noexcept;
  void forget(ph_context* lane, const Range& range) noexcept;
  void hide(Place place) noexcept;
  void drop(ph_context* lane, Place place) noexcept;
  bool drop_idle(ph_context* lane) noexcept;
  void evict(ph_context* lane) noexcept;
  static std::size_t bucket_of(std::uint64_t key) noexcept { return key % kBuckets; }

  static constexpr std::size_t kBuckets = 256;
  std::array<std::uint32_t, kBuckets> made_{};  // that were made here, by their keys
  std::vector<Range> ranges_;
  std::list<Kept> kept_;                     // the least recently used first
  std::map<std::uintptr_t, Place> by_base_;  // those that are found
  std::uint64_t kept_limit_;
  std::uint64_t kept_bytes_ = 0;  // of all in the list
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace photon::task
