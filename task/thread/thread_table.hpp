// Threads by number. A number is given again with another generation, so that a handle or a token
// of a thread that is over names nobody.
//
//   place: free -- take() --> used -- give(): the generation grows --> free
//                                  -- give(), the generation would wrap --> never used again
//
// Invariant: generations begin at 1, so a handle of zeros names nobody. Owner: the PE.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace photon::task {

struct Thread;

class ThreadTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kLastGeneration = std::numeric_limits<std::uint32_t>::max();

  // A number, with its generation. Throws bad_alloc.
  std::uint32_t take() {
    if (free_ == kNone) {
      places_.push_back({nullptr, 1, kNone});
      return static_cast<std::uint32_t>(places_.size() - 1);
    }
    const std::uint32_t number = free_;
    free_ = places_[number].next;
    return number;
  }
  void set(std::uint32_t number, Thread* thread) noexcept {
    places_[number].thread = thread;
    ++used_;
  }
  // Of a number that was taken and not set, or was cleared.
  void give(std::uint32_t number) noexcept {
    Place& place = places_[number];
    if (place.thread != nullptr) --used_;
    place.thread = nullptr;
    if (place.generation++ == kLastGeneration) return;
    place.next = free_;
    free_ = number;
  }

  std::uint32_t generation(std::uint32_t number) const noexcept {
    return places_[number].generation;
  }
  // Null: it is over, or never was.
  Thread* find(std::uint32_t number, std::uint32_t generation) const noexcept {
    if (number >= places_.size() || places_[number].generation != generation) return nullptr;
    return places_[number].thread;
  }
  // Of a handle that names nobody: has it named somebody before?
  bool was(std::uint32_t number, std::uint32_t generation) const noexcept {
    if (number >= places_.size() || generation == 0) return false;
    const std::uint32_t now = places_[number].generation;
    return generation < now || now == 0;  // 0: it would have wrapped
  }
  Thread* at(std::uint32_t number) const noexcept { return places_[number].thread; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t used() const noexcept { return used_; }
  // For tests: as if a place had been used so often.
  void age(std::uint32_t number, std::uint32_t generation) noexcept {
    places_[number].generation = generation;
  }

 private:
  struct Place {
    Thread* thread;
    std::uint32_t generation;
    std::uint32_t next;  // of those that are free
  };

  std::vector<Place> places_;
  std::uint32_t free_ = kNone;
  std::uint32_t used_ = 0;
};

}  // namespace photon::task
