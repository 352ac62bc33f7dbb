// Where the threads of a job meet: the bootstrap callbacks of a job whose ranks are threads.
//
// Invariant: a round ends when all ranks arrived, or when somebody broke the meeting; a broken
// meeting never blocks anybody again, so that one failing rank does not hang the others.
// Owner: ThreadJob; it outlives the threads.
#pragma once

#include <photon/photon.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace photon::test {

class MeetingPoint {
 public:
  explicit MeetingPoint(std::uint32_t ranks_count) : ranks_count_(ranks_count) {}

  // Everybody waits for everybody; false if the meeting was broken.
  bool meet() {
    std::unique_lock lock(mutex_);
    return wait_for_round(lock, arrive());
  }

  // The all-gather of ph_bootstrap: every rank gives size_bytes and gets those of all.
  bool gather(ph_rank rank, const void* mine, void* all, std::size_t size_bytes) {
    std::unique_lock lock(mutex_);
    blackboard_.resize(size_bytes * ranks_count_);
    if (size_bytes > 0) std::memcpy(blackboard_.data() + rank * size_bytes, mine, size_bytes);
    if (!wait_for_round(lock, arrive())) return false;
    if (size_bytes > 0) std::memcpy(all, blackboard_.data(), blackboard_.size());
    // Nobody may write the next round's contribution before all have read this one's.
    return wait_for_round(lock, arrive());
  }

  // The split form of meet(), for a rank that has to serve its peers meanwhile.
  std::uint64_t arrive_only() {
    const std::scoped_lock lock(mutex_);
    return arrive();
  }
  bool is_over(std::uint64_t round) {
    const std::scoped_lock lock(mutex_);
    return broken_ || round_ != round;
  }

  // Let everybody go, now and later.
  void break_up() {
    const std::scoped_lock lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

 private:
  std::uint64_t arrive() {
    const std::uint64_t round = round_;
    if (++arrived_count_ == ranks_count_) {
      arrived_count_ = 0;
      ++round_;
      changed_.notify_all();
    }
    return round;
  }

  bool wait_for_round(std::unique_lock<std::mutex>& lock, std::uint64_t round) {
    changed_.wait(lock, [&] { return broken_ || round_ != round; });
    return !broken_;
  }

  const std::uint32_t ranks_count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> blackboard_;
  std::uint64_t round_ = 0;
  std::uint32_t arrived_count_ = 0;
  bool broken_ = false;
};

}  // namespace photon::test
