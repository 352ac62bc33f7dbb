// Sources of puts that their owner may use again at once, where cap.small_pwc_size asks for more
// than the context copies by itself (packed_max, 1 KiB at most): each is copied into a slot first.
//
//   slot: free -- a put is posted from it --> in use -- the last one is, and all puts to that rank
//   have landed (ph_flush) --> free
//
// Invariant: a slot is written only when nothing that was posted from it is under way. The slots
// outlive the context. Owner: the Session. Threads: any; one posts at a time.
#pragma once

#include <photon/rma.h>
#include <photon/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace photon::classic {

class Reusable {
 public:
  // Sources up to `by_context` bytes are copied there, those up to `asked` here.
  Reusable(std::uint32_t ranks_count, std::uint64_t by_context, std::uint64_t asked) noexcept
      : ranks_count_(ranks_count),
        by_context_(by_context),
        more_(asked > by_context ? asked - by_context : 0) {}

  bool covers(std::uint64_t size_bytes) const noexcept {
    return size_bytes - by_context_ - 1 < more_;
  }

  // Runs `post(copy)` with a copy of a source that it covers; what `post` refuses leaves the slot
  // free. Waits for the puts of a whole round now and then, with progress.
  template <class Post>
  ph_status post(ph_context* context, ph_rank rank, const void* source, std::uint64_t size_bytes,
                 Post post) {
    if (source == nullptr || rank >= ranks_count_) return post(source);
    const std::scoped_lock lock(mutex_);
    Round& round = rounds_[rank];
    if (const ph_status status = make_room(context, rank, round); status != PH_OK) return status;
    std::byte* copy = round.slots.get() + round.used * slot_bytes();
    std::memcpy(copy, source, size_bytes);
    const ph_status status = post(copy);
    if (status == PH_OK) ++round.used;
    return status;
  }

 private:
  struct Round {
    std::unique_ptr<std::byte[]> slots;
    std::uint64_t used = 0;
  };

  std::uint64_t slot_bytes() const noexcept { return by_context_ + more_; }
  std::uint64_t slots_count() const noexcept;
  ph_status make_room(ph_context* context, ph_rank rank, Round& round);

  const std::uint32_t ranks_count_;
  const std::uint64_t by_context_;
  const std::uint64_t more_;
  std::mutex mutex_;
  std::unordered_map<ph_rank, Round> rounds_;  // under it
};

}  // namespace photon::classic
