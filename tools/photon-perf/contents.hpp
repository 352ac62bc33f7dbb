// What messages carry, and how their receiver proves that it read all bytes of this message.
//
//   same    one pattern that nobody touches between two messages; sums are compared at the end
//   fresh   the owner of a source rewrites it before each message, whose number is in every word;
//           the sum of each message is compared at once
//
// Owner: a run of a program on one side (a value).
#pragma once

#include <cstddef>
#include <cstdint>

#include "checksum.hpp"
#include "limits.hpp"

namespace photon::perf {

// Throws Failure if the sum of `messages` messages, all the same, is not what the peer sent.
void expect_checksum(const Buffers& buffers, std::uint64_t sum, std::uint64_t messages);

class Contents {
 public:
  // `index`: of this side in its team. Messages are numbered from 1 in each direction.
  Contents(const Buffers& buffers, std::uint32_t index) noexcept
      : buffers_(&buffers), index_(index) {}

  bool is_fresh() const noexcept { return buffers_->is_fresh; }
  // Is rewriting long enough to be taken out of a latency by the clock? Below this the clock would
  // cost as much, and a source is rewritten as a part of its message, ours like the limit's.
  bool is_timed_apart() const noexcept { return is_fresh() && buffers_->size_bytes >= 1024; }

  // The owner of `source`, before it sends message `number` or lets it be read.
  void write(std::byte* source, std::uint64_t number) const noexcept {
    if (is_fresh()) rewrite(source, number);
  }
  // The receiver: read all of message `number`. Throws Failure if it is another one's.
  void read(const std::byte* data, std::uint64_t number) {
    take(checksum_of(data, buffers_->size_bytes), number);
  }
  // The same of bytes that were summed already.
  void take(std::uint64_t sum, std::uint64_t number) {
    if (is_fresh()) return expect(sum, number);
    sum_ += sum;
  }
  // When all of them were read. Throws Failure.
  void expect_all(std::uint64_t messages) const {
    if (!is_fresh()) expect_checksum(*buffers_, sum_, messages);
  }

 private:
  void rewrite(std::byte* source, std::uint64_t number) const noexcept;
  void expect(std::uint64_t sum, std::uint64_t number) const;

  const Buffers* buffers_;
  std::uint32_t index_;
  std::uint64_t sum_ = 0;
};

}  // namespace photon::perf
