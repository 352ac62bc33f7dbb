// A channel is an order of operations of a team. Channel 0 is the order of its one-shot operations.
// Each prepared operation has a channel of its own: the order of its starts.
//
//   unknown -- a message for it comes --> ahead -- prepare() --> used -- free() --> gone
//   unknown -- prepare() --> used
//
// Prepared operations are numbered 1, 2, ... 2^32 - 1, 1, ...: a number names one of the last 2^31.
// Invariant: `used_` holds the channels from the oldest that is used to the youngest. So a program
// that prepares and frees without end keeps memory only for what it uses at the same time.
// Owner: a Team, under the lane's lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/coll/early.hpp"

namespace photon::service::coll {

struct Board;
struct Operation;

struct Channel {
  std::uint32_t begun = 0;        // operations begun so far; the sequence of the next one
  std::uint32_t declined = 0;     // of those, how many were refused since a member has left
  Operation* prepared = nullptr;  // the prepared operation; null in channel 0
  std::shared_ptr<Board> board;   // null: no operation went by lines yet
  bool is_freed = false;          // freed, but still in used_, for an older channel is used
  base::RingQueue<EarlyPool::List, 1> early;  // messages for sequences begun, begun + 1, ...
};

class Channels {
 public:
  Channels() = default;
  // As if so many operations had been prepared and freed before.
  explicit Channels(std::uint32_t before) noexcept : next_(before + 1), first_(before + 1) {}
  // A peer's messages name no channel that is further ahead of those prepared here.
  static constexpr std::uint64_t kMostAhead = 1U << 30;

  Channel& one_shot() noexcept { return one_shot_; }
  const Channel& one_shot() const noexcept { return one_shot_; }

  // The channel of that number. Null: it is gone, or nothing is known of it.
  Channel* find(std::uint32_t number) noexcept {
    if (number == 0) return &one_shot_;
    const std::uint64_t at = distance(first_, number);
    if (at < count()) return used_[skipped_ + at].is_freed ? nullptr : &used_[skipped_ + at];
    const auto found = ahead_.find(number);
    return found == ahead_.end() ? nullptr : &found->second;
  }
  const Channel* find(std::uint32_t number) const noexcept {
    return const_cast<Channels*>(this)->find(number);
  }
  bool is_gone(std::uint32_t number) const noexcept {
    if (number == 0) return false;
    const std::uint64_t at = distance(first_, number);
    return at < count() ? used_[skipped_ + at].is_freed : at >= kNumbers / 2;
  }
  std::size_t ahead_count() const noexcept { return ahead_.size(); }
  // How many operations were prepared after that one, which is used or gone.
  std::uint64_t age_of(std::uint32_t number) const noexcept { return distance(number, next_) - 1; }
  // As find(), but a channel that is not known yet is ahead from now on. Null: it is gone, or too
  // far ahead. Throws bad_alloc.
  Channel* reach(std::uint32_t number) {
    if (Channel* const found = find(number); found != nullptr) return found;
    if (is_gone(number) || distance(next_, number) >= kMostAhead) return nullptr;
    return &ahead_[number];
  }

  // Makes the channel of the next prepared operation, and returns its number. Throws bad_alloc
  // before anything is changed.
  std::uint32_t prepare() {
    const std::uint32_t number = next_;
    used_.emplace_back();
    if (const auto found = ahead_.find(number); found != ahead_.end()) {
      used_.back() = std::move(found->second);
      ahead_.erase(found);
    }
    next_ = after(next_);
    return number;
  }
  // Frees a channel that is used and that no message waits for.
  void free(std::uint32_t number) noexcept {
    used_[skipped_ + distance(first_, number)].is_freed = true;
    for (; count() != 0 && used_[skipped_].is_freed; ++skipped_) first_ = after(first_);
    if (2 * skipped_ < used_.size()) return;
    used_.erase(used_.begin(), used_.begin() + static_cast<std::ptrdiff_t>(skipped_));
    skipped_ = 0;
  }

  // Calls `use(number, channel)` for each channel that messages may wait for.
  template <class Use>
  void each(Use use) {
    use(0, one_shot_);
    std::uint32_t number = first_;
    for (std::uint64_t at = skipped_; at < used_.size(); ++at, number = after(number))
      use(number, used_[at]);
    for (auto& [ahead, channel] : ahead_) use(ahead, channel);
  }

 private:
  static constexpr std::uint64_t kNumbers = 0xffff'ffff;  // 1 to 2^32 - 1

  static constexpr std::uint32_t after(std::uint32_t number) noexcept {
    return number == kNumbers ? 1 : number + 1;
  }
  // How many steps of after() lead from one number to the other.
  static constexpr std::uint64_t distance(std::uint32_t from, std::uint32_t to) noexcept {
    return to >= from ? to - from : kNumbers - (from - to);
  }
  std::uint64_t count() const noexcept { return used_.size() - skipped_; }

  Channel one_shot_;
  std::uint32_t next_ = 1;   // the number that prepare() gives next
  std::uint32_t first_ = 1;  // the oldest number that is used; next_ if there is none
  std::vector<Channel> used_;
  std::uint64_t skipped_ = 0;               // so many at the beginning of used_ are gone
  std::map<std::uint32_t, Channel> ahead_;  // channels that this member has not prepared yet
};

}  // namespace photon::service::coll
