// How many operations were over, so that an ack waits for the done of its own operation: dones of
// the side that has begun nothing say neither which operation it was nor whether it has an ack.
//
//   the PE that begins: its own done --> OverCounts adds one for the other buffer; the ack that it
//                       sends has the sum
//   the other PE:       a done --> HeardCounts of the buffer adds one for that PE
//                       an ack --> held while the buffer has heard less than the ack says
//
// Dones of one PE come in the order in which its operations end, plain ones too. OverCounts has
// room for so many buffers; where two share a place the sum begins anew, and acks then wait for
// less: they may be early, and are never late for good. Threads: those of the PE that has them.
#pragma once

#include <photon/task_buffer.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace photon::converse {

class OverCounts {
 public:
  void add(const ph_task_descriptor& other) noexcept {
    Entry& entry = entry_of(other);
    if (!is_of(entry, other)) entry = {other.pe, other.slot, other.generation, 0};
    ++entry.count;
  }
  std::uint32_t of(const ph_task_descriptor& other) noexcept {
    const Entry& entry = entry_of(other);
    return is_of(entry, other) ? entry.count : 0;
  }

 private:
  static constexpr std::uint32_t kEntries = 512;
  struct Entry {
    std::uint32_t pe, slot, generation, count;
  };
  static bool is_of(const Entry& entry, const ph_task_descriptor& other) noexcept {
    return entry.pe == other.pe && entry.slot == other.slot && entry.generation == other.generation;
  }
  Entry& entry_of(const ph_task_descriptor& other) noexcept {
    return entries_[(other.slot + other.pe * 37) % kEntries];
  }

  std::array<Entry, kEntries> entries_{};
};

class HeardCounts {
 public:
  // Throws std::bad_alloc.
  void add(std::uint32_t pe) {
    const auto at = place_of(pe);
    if (at != counts_.end() && at->pe == pe)
      ++at->count;
    else
      counts_.insert(at, {pe, 1});
  }
  bool has(std::uint32_t pe, std::uint32_t count) noexcept {
    const auto at = place_of(pe);
    const std::uint32_t heard = at != counts_.end() && at->pe == pe ? at->count : 0;
    return static_cast<std::int32_t>(heard - count) >= 0;  // both go round
  }
  void clear() noexcept { counts_.clear(); }

 private:
  struct Heard {
    std::uint32_t pe, count;
  };
  std::vector<Heard>::iterator place_of(std::uint32_t pe) noexcept {
    return std::lower_bound(counts_.begin(), counts_.end(), pe,
                            [](const Heard& one, std::uint32_t number) { return one.pe < number; });
  }

  std::vector<Heard> counts_;  // by PE
};

}  // namespace photon::converse
