// Spans that the user fills before he sends them: in the bulk ring of their target where it has
// room, else in memory of this rank (docs/active-messages.md, "Prepare, commit, cancel").
//
//   none -- open() --> open -- it is committed: its message goes, or is copied --> none
//                      open -- cancelled, the lane closes --> none
//
// Invariants: one of a rank is open at a time, so a stale slot is told by its token. What is open
// stays writable whatever becomes of its rank.
// Owner: the sender, under the lane's lock; what a span holds is written by anybody without it.
#pragma once

#include <photon/am.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "service/am/carrying.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class Prepared {
 public:
  explicit Prepared(Port& port) : port_(port), open_(port.size()) {}

  // That rank was met. `may_reserve`: nothing waits for it, so that the span may stand in its ring.
  // PH_AGAIN: one is open. Throws bad_alloc, and nothing was done.
  ph_status open(Rank to, std::uint64_t least, std::uint64_t most, bool may_reserve,
                 ph_am_slot& slot);
  bool is_open(const ph_am_slot& slot) const noexcept;
  // Of one that is open: what the user holds is a copy that he may have changed.
  std::byte* data_of(const ph_am_slot& slot) const noexcept { return open_[slot.rank].span.data(); }
  std::uint64_t size_of(const ph_am_slot& slot) const noexcept {
    return open_[slot.rank].span.size();
  }
  // Says the message whose payload stands at the beginning of the span. PH_AGAIN: nothing was sent,
  // for the span is not in the ring, or the ring's lines are used up.
  ph_status say(const ph_am_slot& slot, const Draft& draft);
  void close(Rank rank) noexcept;
  // All of them; the close of the lane says of which rank one was open.
  void close_all() noexcept;
  std::uint64_t held() const noexcept { return held_; }

 private:
  static constexpr std::uint64_t kAlign = 64;

  struct Open {
    std::span<std::byte> span;
    std::uint64_t token = 0;           // 0: none
    std::unique_ptr<std::byte[]> own;  // or null
    bool is_reserved = false;          // it stands in the ring
  };

  ph_status reserve(Rank to, std::uint64_t least, std::uint64_t most, std::span<std::byte>& span);

  Port& port_;
  std::vector<Open> open_;  // by rank
  std::uint64_t last_token_ = 0;
  std::uint64_t held_ = 0;
};

}  // namespace photon::service::am
