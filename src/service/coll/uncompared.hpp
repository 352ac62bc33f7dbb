// The calls of this member that the member before it in the team has yet to be compared with: its
// digest (coll_check, providers) has not come. A member that needs nothing of the one before may be
// many operations ahead of it, or have freed the team, and others may wait in vain for what this
// comparison alone brings to light.
//
// Digests come in the order of the calls, but for those of operations that have failed: so what is
// looked for is at the front, or near. Invariant: at most kMost; the oldest is forgotten.
// Owner: a Team, under the lane's lock.
#pragma once

#include <cstdint>

#include "base/ring_queue.hpp"
#include "service/coll/words.hpp"

namespace photon::service::coll {

class Uncompared {
 public:
  static constexpr std::uint64_t kMost = 4096;

  bool empty() const noexcept { return calls_.empty(); }
  // Throws bad_alloc.
  void add(std::uint32_t channel, std::uint32_t sequence, const Described& call) {
    if (calls_.size() == kMost) drop_first();
    calls_.push({channel, sequence, false, call});
  }
  // False: that call is not there.
  bool find(std::uint32_t channel, std::uint32_t sequence, Described& call) const noexcept {
    const std::uint64_t at = place_of(channel, sequence);
    if (at != calls_.end()) call = calls_.at(at).call;
    return at != calls_.end();
  }
  // Takes it out, too.
  bool take(std::uint32_t channel, std::uint32_t sequence, Described& call) noexcept {
    const std::uint64_t at = place_of(channel, sequence);
    if (at == calls_.end()) return false;
    call = calls_.at(at).call;
    calls_.at(at).is_taken = true;
    if (at == calls_.begin()) drop_first();
    return true;
  }
  void drop(std::uint32_t channel, std::uint32_t sequence) noexcept {
    Described call;
    take(channel, sequence, call);
  }

 private:
  struct Call {
    std::uint32_t channel = 0;
    std::uint32_t sequence = 0;
    bool is_taken = false;
    Described call;
  };

  std::uint64_t place_of(std::uint32_t channel, std::uint32_t sequence) const noexcept {
    std::uint64_t at = calls_.begin();
    for (; at != calls_.end(); ++at) {
      const Call& one = calls_.at(at);
      if (!one.is_taken && one.sequence == sequence && one.channel == channel) break;
    }
    return at;
  }
  // And those behind it that were taken out before.
  void drop_first() noexcept {
    calls_.pop();
    while (!calls_.empty() && calls_.front().is_taken) calls_.pop();
    calls_.trim();
  }

  base::RingQueue<Call> calls_;
};

}  // namespace photon::service::coll
