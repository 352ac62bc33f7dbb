// Answers to gets that are over: the owner of the memory was asked, the kernel copied the bytes
// before it answered, and the request is gone. What still comes is dropped.
//
//   expected -- data ... the last of it, or a refusal --> forgotten
//
// Invariant: those, and the gets that wait for their answers, are no more together than an owner
// lets itself be asked. Owner: a Peer, under the lane's lock.
#pragma once

#include <cstdint>

#include "base/ring_queue.hpp"

namespace photon::engine {

class StaleAnswers {
 public:
  bool empty() const noexcept { return expected_.empty(); }
  std::uint64_t size() const noexcept { return expected_.size(); }
  // push() will not fail for as many in all. Throws bad_alloc.
  void make_room(std::uint64_t count) {
    if (count > size()) expected_.make_room(count - size());
  }
  // Of a get of so many bytes of which `done_bytes` have come.
  void push(std::uint64_t token, std::uint64_t size_bytes, std::uint64_t done_bytes) noexcept {
    expected_.push_unchecked({token, size_bytes, done_bytes});
  }
  void clear() noexcept { expected_.clear(); }

  // False: this was not to be expected.
  bool data(std::uint64_t token, std::uint64_t offset, std::uint64_t bytes) noexcept {
    const std::uint64_t at = find(token);
    if (at == expected_.end()) return false;
    Answer& answer = expected_.at(at);
    if (offset != answer.done_bytes || bytes > answer.size_bytes - offset) return false;
    answer.done_bytes += bytes;
    if (answer.done_bytes == answer.size_bytes) erase(at);
    return true;
  }
  bool refusal(std::uint64_t token) noexcept {
    const std::uint64_t at = find(token);
    if (at == expected_.end()) return false;
    erase(at);
    return true;
  }

 private:
  struct Answer {
    std::uint64_t token = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t done_bytes = 0;
  };

  // Data comes in the order of the questions; refusals may come before.
  std::uint64_t find(std::uint64_t token) const noexcept {
    std::uint64_t at = expected_.begin();
    while (at != expected_.end() && expected_.at(at).token != token) ++at;
    return at;
  }
  void erase(std::uint64_t at) noexcept {
    for (; at != expected_.begin(); --at) expected_.at(at) = expected_.at(at - 1);
    expected_.pop();
  }

  base::RingQueue<Answer> expected_;
};

}  // namespace photon::engine
