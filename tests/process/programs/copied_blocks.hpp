// Memory and streams of the program `copies`: memory that ends at pages which cannot be used, and
// streams of numbered blocks whose bytes and ends are looked at. The job has two ranks. A check
// that fails ends the process with words.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <set>

#include "pattern.hpp"
#include "rank_calls.hpp"

namespace photon::test {

inline constexpr std::uint64_t kReady = 1'000'000'000;  // ids beyond those of blocks
inline constexpr std::uint64_t kEnded = 2'000'000'000;  // and a number

// Bytes with a page on each side that cannot be used.
class Fenced {
 public:
  explicit Fenced(std::size_t size_bytes)
      : size_bytes_(size_bytes), middle_((size_bytes + kPage - 1) / kPage * kPage) {
    void* all = ::mmap(nullptr, middle_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::_Exit(4);
    all_ = static_cast<unsigned char*>(all);
    if (::mprotect(all_ + kPage, middle_, PROT_READ | PROT_WRITE) != 0) std::_Exit(4);
  }
  ~Fenced() { ::munmap(all_, middle_ + 2 * kPage); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  unsigned char* at_begin() { return all_ + kPage; }
  unsigned char* at_end() { return all_ + kPage + middle_ - size_bytes_; }
  void unmap() {
    if (::munmap(all_ + kPage, middle_) != 0) std::_Exit(4);
  }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t size_bytes_;
  std::size_t middle_;
  unsigned char* all_ = nullptr;
};

// Memory that peers write, of either kind.
class Shown {
 public:
  Shown(ph_context* context, bool is_allocated, std::size_t size_bytes)
      : ordinary_(is_allocated ? 0 : size_bytes) {
    require(context,
            is_allocated
                ? ph_alloc(context, size_bytes, &region_)
                : ph_register(context, ordinary_.data(), size_bytes, PH_ACCESS_ALL, &region_),
            "memory");
    ph_region all[2]{};
    require(context, ph_allgather(context, &region_, all, sizeof region_), "allgather");
    theirs_ = all[1 - ph_rank_of(context)];
  }
  unsigned char* data() { return reinterpret_cast<unsigned char*>(region_.address); }
  const ph_region& mine() const { return region_; }
  const ph_region& theirs() const { return theirs_; }

 private:
  std::vector<unsigned char> ordinary_;
  ph_region region_{};
  ph_region theirs_{};
};

// Both have met, so that each way is open.
inline void meet(ph_context* context) {
  const ph_rank other = 1 - ph_rank_of(context);
  require(context, ph_notify(context, other, kReady), "notify");
  if (next(context, other, PH_REMOTE).id != kReady) fail(context, "another id", PH_ERR_STATE);
  require(context, ph_barrier(context), "barrier");
}

inline void notify(ph_context* context, std::uint64_t id) {
  require(context, ph_notify(context, 1 - ph_rank_of(context), id), "notify");
}

inline void await_id(ph_context* context, std::uint64_t id) {
  const ph_completion one = next(context, 1 - ph_rank_of(context), PH_REMOTE);
  if (one.id != id) fail(context, "another id than the next one", PH_ERR_STATE);
}

inline void await_end(ph_context* context, std::uint64_t id, ph_status status) {
  const ph_completion one = next(context, 1 - ph_rank_of(context), PH_LOCAL);
  if (one.id != id || one.status != status) fail(context, "the end of an operation", one.status);
}

inline void expect(ph_context* context, bool is_good, const char* what) {
  if (!is_good) fail(context, what, PH_ERR_STATE);
}

inline void expect_pattern(ph_context* context, std::uint64_t seed, const void* data,
                           std::size_t bytes) {
  expect(context, Pattern(seed).first_difference(data, bytes) == bytes, "other bytes");
}

// Numbered blocks, which are put into slots of memory that is shown. Block n has Pattern(n) and the
// id n; the first `kept_count` slots are of one block each.
class Blocks {
 public:
  struct Slots {
    std::size_t size_bytes;
    std::size_t count;
    std::size_t kept_count = 0;
  };

  Blocks(ph_context* context, Shown& memory, const Slots& slots)
      : context_(context),
        memory_(memory),
        slots_(slots),
        sources_(slots.count, std::vector<unsigned char>(slots.size_bytes)) {}

  // The source must be free.
  ph_status put(std::uint64_t number, std::uint32_t flags = 0) {
    std::vector<unsigned char>& source = sources_[slot(number)];
    Pattern(number).fill(source.data(), source.size());
    ph_put_args put{};
    put.size = sizeof put;
    put.source = source.data();
    put.size_bytes = source.size();
    put.target = there(number);
    put.local = put.remote = {&number, sizeof number};
    put.flags = flags;
    return ph_put(context_, 1 - ph_rank_of(context_), &put);
  }
  ph_status get(std::uint64_t number) {
    std::vector<unsigned char>& landing = sources_[slot(number)];
    return ph_get_u64(context_, 1 - ph_rank_of(context_), {landing.data(), landing.size()},
                      there(number), {number, number});
  }
  void expect_whole(std::uint64_t number) {
    expect_pattern(context_, number, memory_.data() + slot(number) * slots_.size_bytes,
                   slots_.size_bytes);
  }

 private:
  std::size_t slot(std::uint64_t number) const {
    const std::size_t kept = slots_.kept_count;
    return number < kept ? number : kept + number % (slots_.count - kept);
  }
  ph_target there(std::uint64_t number) const {
    return ph_at(&memory_.theirs(), slot(number) * slots_.size_bytes);
  }

  ph_context* const context_;
  Shown& memory_;
  const Slots slots_;
  std::vector<std::vector<unsigned char>> sources_;
};

// How operations have ended, by number.
class Ends {
 public:
  Ends(ph_context* context, ph_status failure) : context_(context), failure_(failure) {}

  // Takes all completions that are there. An operation ends well once and fails once at most.
  void take() {
    ph_completion found[16];
    for (std::size_t count = 16; count == 16;) {
      require(context_, ph_probe(context_, {PH_ANY_RANK, PH_LOCAL, nullptr}, found, 16, &count),
              "probe");
      for (std::size_t i = 0; i < count; ++i) {
        if (found[i].status != PH_OK && found[i].status != failure_)
          fail(context_, "an operation ended otherwise", found[i].status);
        const bool is_new = (found[i].status == PH_OK ? good_ : failed_).insert(found[i].id).second;
        expect(context_, is_new, "an operation ended twice");
      }
    }
  }
  void await(std::uint64_t number) {
    for (take(); !has_ended(number); take())
      require(context_, ph_wait(context_, {PH_ANY_RANK, PH_LOCAL, nullptr}, kLongUs), "an end");
  }
  std::size_t failed() const { return failed_.size(); }
  bool has_ended(std::uint64_t number) const {
    return good_.count(number) + failed_.count(number) != 0;
  }

 private:
  ph_context* const context_;
  const ph_status failure_;
  std::set<std::uint64_t> good_, failed_;
};

// Posts again until the operation is accepted.
template <class Post>
ph_status insist(Ends& ended, Post post) {
  for (;;) {
    const ph_status status = post();
    if (status != PH_AGAIN) return status;
    ended.take();
  }
}

}  // namespace photon::test
