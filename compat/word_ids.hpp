// Local ids of just 8 bytes that were given by their address: the context shows them as it shows a
// plain u64, but a callback shall get them as bytes.
// Invariant: each value stands here as often as it was given and not yet probed.
// Owner: the session. Any thread. Nobody pays for it who gives no such ids: one load.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "sync/hint.hpp"

namespace photon::classic {

class WordIds {
 public:
  // Before the operation is posted: its completion may be probed at once.
  void add(std::uint64_t value) {
    const std::scoped_lock lock(mutex_);
    ++counts_[value];
    any_.set(1);
  }

  bool any() const noexcept { return any_.get() != 0; }

  // Was it given by its address? Then it is not expected any more.
  bool take(std::uint64_t value) noexcept {
    if (!any()) return false;
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find(value);
    if (found == counts_.end()) return false;
    if (--found->second == 0) counts_.erase(found);
    if (counts_.empty()) any_.set(0);
    return true;
  }

 private:
  // A completion is seen after its id was added, by way of the context's lock: so is this, if it is
  // looked at after the completion was taken. (Before: Session::is_plain().)
  sync::Hint<sync::HardwarePolicy, std::uint32_t> any_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;  // under it
};

}  // namespace photon::classic
