// Completions as the questions take them: local ones are counted, remote ones handed on.
// Invariant: a completion with an error status ends the rank with a Failure.
// Owner: the question; one thread.
#pragma once

#include <array>

#include "failure.hpp"
#include "job.hpp"

namespace photon::perf {

class Inbox {
 public:
  static constexpr std::size_t kCapacity = 64;
  static constexpr std::size_t kTurnsBetweenChecks = 1 << 18;  // some ten milliseconds of probing

  explicit Inbox(const Job& job) noexcept : job_(&job) {}

  std::uint64_t locals() const noexcept { return locals_; }

  // One probe for at most `capacity` completions; every one goes to `take`. Their number.
  template <class Take>
  std::size_t poll_each(std::size_t capacity, Take take) {
    const auto count = probe_for(capacity);
    hand_on(count, take);
    return count;
  }

  // The same for remote completions only; local ones are just counted.
  template <class Take>
  std::size_t poll(Take take) {
    return poll_each(kCapacity, [&](const ph_completion& completion) {
      if (completion.kind == PH_REMOTE) take(completion);
    });
  }

  // The same by as many probes as it takes, each for one.
  template <class Take>
  void poll_one_by_one(Take take) {
    for (std::size_t i = 0; i <= kCapacity; ++i) {
      const auto found = ph_probe_u64(job_->context(), PH_ANY_RANK, PH_EITHER);
      if (found.status != PH_OK) job_->fail(static_cast<ph_status>(found.status), "probing");
      if (found.kind == 0) return;
      if (found.kind == PH_LOCAL)
        ++locals_;
      else
        take(found);
    }
  }

  // The id of the next remote completion, in protocols that never have two under way. The id alone:
  // a copy of the whole would read, wide, what was just written word by word. It looks for news
  // before it asks anything else: after a silence each branch between news and reply counts.
  std::uint64_t await_remote() {
    for (std::size_t turns = 1;; ++turns) {
      std::uint64_t id = 0;
      std::size_t seen = 0;
      if (const auto count = probe_for(kCapacity); count != 0) [[unlikely]] {
        hand_on(count, [&](const ph_completion& completion) {
          if (completion.kind != PH_REMOTE) return;
          id = completion.id;
          ++seen;
        });
        if (seen > 1) throw Failure("two remote ids arrived where the peer sends one at a time");
        if (seen != 0) return id;
      }
      if (turns % kTurnsBetweenChecks == 0) job_->check_peers();
    }
  }

  // Until `count` local completions were seen in all.
  void await_locals(std::uint64_t count) {
    while (locals_ < count) {
      poll([](const ph_completion&) { throw Failure("a remote id arrived out of turn"); });
    }
  }

  // Repeat `post` while the library says PH_AGAIN, giving it time in between.
  template <class Post, class Take>
  void post(Post call, const char* doing, Take take) {
    auto status = call();
    while (status == PH_AGAIN) {
      poll(take);
      status = call();
    }
    job_->check(status, doing);
  }
  template <class Post>
  void post(Post call, const char* doing) {
    post(call, doing,
         [](const ph_completion&) { throw Failure("a remote id arrived out of turn"); });
  }

 private:
  // For at most `capacity` completions, into ready_; their number.
  std::size_t probe_for(std::size_t capacity) {
    std::size_t count = 0;
    const ph_query query{PH_ANY_RANK, PH_EITHER, nullptr};
    const auto status = ph_probe(job_->context(), query, ready_.data(), capacity, &count);
    if (status != PH_OK) job_->fail(status, "probing");
    return count;
  }

  // The first `count` of ready_.
  template <class Take>
  void hand_on(std::size_t count, Take take) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& completion = ready_[i];
      if (completion.status != PH_OK) job_->fail(completion.status, "completing an operation");
      if (completion.kind == PH_LOCAL) ++locals_;
      take(completion);
    }
  }

  const Job* job_;
  std::array<ph_completion, kCapacity> ready_;
  std::uint64_t locals_ = 0;
};

}  // namespace photon::perf
