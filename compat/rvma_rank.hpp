// Whose the RVMA calls of a thread are, since the paper's calls name no context; and the threads
// that wait for a window's buffers.
//
//   process: none -- RVMA_Init() --> a rank -- RVMA_Finalize() --> none
//   thread:  the process's -- RVMA_Use(context) --> that one's -- RVMA_Use(null) --> the process's
//
// Owner: the process.
#pragma once

#include <photon/photon.h>
#include <rvma.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace photon::rvma {

// The context of the calling thread's calls; null before RVMA_Init().
ph_context* rank_context() noexcept;

// The setting mailbox_carried_max of that context.
std::uint64_t carried_max() noexcept;

// The words for an error of a call of this thread; the status is handed back. The context has those
// of its own latest error.
RVMA_Status wrong(ph_status status, const char* words) noexcept;
RVMA_Status told(ph_context* context, ph_status status) noexcept;

// Threads that wait for buffers of one window. The events of its mailbox are taken by one of them
// at a time, the leader, who tells the others; while there is one, nobody else takes events.
//
// Invariant: an event that was taken was followed by a notification of all that wait.
class Waits {
 public:
  // Waits until *notification_ptr is not null.
  RVMA_Status wait(ph_context* context, RVMA_Win win, void** notification_ptr,
                   std::int64_t timeout_us);
  // Takes what events there are, unless a leader does; `always`: in any case.
  enum class Taking : bool { unless_led, always };
  void take_events(ph_context* context, RVMA_Win win, Taking taking);

 private:
  using Clock = std::chrono::steady_clock;
  struct Led {
    ph_context* context = nullptr;
    RVMA_Win win = RVMA_WIN_NULL;
    bool operator==(const Led&) const = default;
  };

  bool is_led(const Led& led) const noexcept;
  ph_status lead(std::unique_lock<std::mutex>& lock, const Led& led, std::int64_t timeout_us);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Led> led_;  // under it
};

Waits& waits();  // throws bad_alloc

}  // namespace photon::rvma
