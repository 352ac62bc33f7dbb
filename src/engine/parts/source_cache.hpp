// This process's memory as the NIC knows it: what operations read from and write to is
// registered with the NIC first, and stays registered as long as that is sure to be right.
//
//   entry: free -- pin(), a miss --> in use -- the last unpin() --> kept, or given back and free
//          kept -- pin(), a hit --> in use    kept -- evicted, forgotten --> given back and free
//          in use -- forgotten --> in use, found by nobody any more
//
// A NIC keeps the pages that it was shown, whatever the program maps there later: who found an old
// entry for new pages would send bytes that nobody wrote. So an entry is kept only where somebody
// has promised that the pages stay: inside a registration of the caller's own (ph_register(),
// ph_alloc()), until that is taken back. Any other memory is registered for its operations alone,
// and such an entry is found by no other operation once one that used it has ended, for what it
// covered may be gone then (docs/posted-writes.md, "Memory that a NIC reads").
//
// Invariants: an entry that is in use is never given back; the bytes and the number of entries stay
// within the settings; what is found does not depend on addresses. Allocates on a miss only.
// Owner: the Engine, under the lane's lock; the transport and the book outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/config.hpp"
#include "engine/parts/range_index.hpp"
#include "engine/parts/region_book.hpp"
#include "transport/transport.hpp"

namespace photon::engine {

class SourceCache {
 public:
  static constexpr std::uint32_t kNone = RangeIndex::kNone;

  SourceCache(transport::Transport& nic, const RegionBook& regions, const base::Config& config);

  // Whether this transport wants handles at all. If not, nothing else here is called.
  bool is_needed() const noexcept { return granule_ != 0; }

  // What an operation has yet to read or write, and where its next fragment will end.
  struct Want {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t fragment_end = 0;
    bool is_written = false;
  };
  enum class Outcome : std::uint8_t {
    pinned,
    wait,    // entries in use fill the NIC or the cache: after the next unpin()
    refused  // and nobody is to be waited for
  };
  struct Pin {
    Outcome outcome = Outcome::refused;
    std::uint32_t entry = kNone;  // contains want.begin
  };
  // Throws bad_alloc, and then nothing is pinned.
  Pin pin(const Want& want);
  // True: who was told to wait should try again.
  bool unpin(std::uint32_t entry) noexcept;

  std::uint64_t handle_of(std::uint32_t entry) const noexcept { return entries_[entry].handle; }
  std::uint64_t end_of(std::uint32_t entry) const noexcept { return entries_[entry].end; }
  std::uint64_t begin_of(std::uint32_t entry) const noexcept { return entries_[entry].begin; }

  // The caller has taken back a registration of [begin, end): nothing there is sure any more.
  void forget(std::uint64_t begin, std::uint64_t end) noexcept;
  void clear() noexcept { forget(0, ~std::uint64_t{0}); }

  struct Counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;     // registered for it
    std::uint64_t waits = 0;      // there was no room but in what is in use
    std::uint64_t refusals = 0;   // not registered: the operation took another way
    std::uint64_t evictions = 0;  // given back to make room
  };
  const Counts& counts() const noexcept { return counts_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t entries() const noexcept { return entries_count_; }
  std::uint64_t pins() const noexcept { return pins_; }

 private:
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t handle = 0;
    std::uint32_t pins = 0;
    std::uint32_t older = kNone;  // kept and not in use: least recently used first
    std::uint32_t newer = kNone;
    bool is_written = false;
    bool is_kept = false;
    bool is_found = false;  // by pin()
    bool is_live = false;
  };
  struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_kept = false;
  };
  enum class Made : std::uint8_t { yes, full, never };

  std::uint64_t down(std::uint64_t address) const noexcept { return address & ~(granule_ - 1); }
  std::uint64_t up(std::uint64_t address) const noexcept { return down(address + granule_ - 1); }
  std::uint32_t find(std::uint64_t begin, std::uint64_t end, bool is_written) const noexcept;
  Pin hit(std::uint32_t entry) noexcept;
  Span chosen(const Want& want) const noexcept;
  Span with_neighbours(const Span& span) const noexcept;
  Made make(const Span& span, bool is_written, std::uint32_t& made);
  bool make_room(std::uint64_t bytes) noexcept;
  void drop_inside(std::uint32_t entry) noexcept;
  bool evict() noexcept;
  void hide(std::uint32_t entry) noexcept;
  void drop(std::uint32_t entry) noexcept;
  void enlist(std::uint32_t entry) noexcept;
  void delist(std::uint32_t entry) noexcept;

  transport::Transport& nic_;
  const RegionBook& regions_;
  const std::uint64_t granule_;
  const std::uint64_t entries_max_;
  const std::uint64_t bytes_max_;
  const std::uint64_t window_bytes_;  // of one entry at most: several must fit
  const bool keeps_all_;

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  RangeIndex read_;     // what the NIC may only read, by entry
  RangeIndex written_;  // what it may also write
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
  std::uint64_t entries_count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t pins_ = 0;
  bool stuck_ = false;  // there was no room, and nothing was given back since
  Counts counts_;
};

}  // namespace photon::engine
