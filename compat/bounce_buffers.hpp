// Sources of puts that their owner may use again at once, where cap.small_pwc_size asks for more
// than the context copies by itself (packed_max, 1 KiB at most): each is copied first.
//
//   copy -- a put is posted from it --> in use -- a round is full, and all puts to that rank have
//   landed (ph_flush) --> freed
//   a round is full, and its rank takes nothing for a tenth of a second --> the round is twice as
//   large, up to 64 MiB or 4096 copies; then a put is refused (PH_AGAIN) after two seconds
//
// Invariant: a copy lives while anything that was posted from it may be under way, and longer than
// the context if that ends first. Owner: the Session. Threads: any; to one rank one posts at a
// time, and waits at a time: a rank that takes nothing holds up who posts to it, and nobody else.
#pragma once

#include <photon/rma.h>
#include <photon/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace photon::classic {

class BounceBuffers {
 public:
  // Sources up to `by_context` bytes are copied there, those up to `asked` here.
  BounceBuffers(std::uint32_t ranks_count, std::uint64_t by_context, std::uint64_t asked) noexcept
      : ranks_count_(ranks_count),
        by_context_(by_context),
        more_(asked > by_context ? asked - by_context : 0) {}

  bool covers(std::uint64_t size_bytes) const noexcept {
    return size_bytes - by_context_ - 1 < more_;
  }

  // Runs `post(copy)` with a copy of a source that it covers. Once a round it waits for the puts
  // before it, with progress. PH_ERR_MEMORY: nothing was posted.
  template <class Post>
  ph_status post(ph_context* context, ph_rank rank, const void* source, std::uint64_t size_bytes,
                 Post post) try {
    if (source == nullptr || rank >= ranks_count_) return post(source);
    Round& round = round_of(rank);
    const std::scoped_lock lock(round.mutex);
    if (const ph_status status = make_room(context, rank, round); status != PH_OK) return status;
    auto copy = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
    std::memcpy(copy.get(), source, size_bytes);
    const ph_status status = post(copy.get());
    if (status != PH_OK) return status;
    round.copies.push_back(std::move(copy));  // there is room
    round.bytes += size_bytes;
    return PH_OK;
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }

 private:
  static constexpr std::size_t kCopies = 64;  // of a round
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 20;
  struct Round {
    std::mutex mutex;  // of:
    std::vector<std::unique_ptr<std::byte[]>> copies;
    std::uint64_t bytes = 0;
    std::size_t most_copies = kCopies;
    std::uint64_t most_bytes = kBytes;
  };

  // It stays where it is.
  Round& round_of(ph_rank rank) {
    const std::scoped_lock lock(mutex_);
    return rounds_[rank];
  }
  static ph_status make_room(ph_context* context, ph_rank rank, Round& round);

  const std::uint32_t ranks_count_;
  const std::uint64_t by_context_;
  const std::uint64_t more_;
  std::mutex mutex_;
  std::unordered_map<ph_rank, Round> rounds_;  // under it
};

}  // namespace photon::classic
