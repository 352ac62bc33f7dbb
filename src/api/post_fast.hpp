// What a call does whose fast path is worth trying first.
// Owner: none.
#pragma once

#include "api/handle.hpp"

namespace photon::api {

// The rest of what was posted, apart so that the fast path needs no stack frame.
[[gnu::noinline]] inline ph_status tell_and_leave(ph_context* context, ph_rank rank) noexcept {
  context->engine->finish_put(rank);
  context->lane->leave_biased();
  return PH_OK;
}

// Try the fast path if this thread has the bias; else, and if it refuses, the general one.
template <class Try, class Rest>
[[gnu::always_inline]] inline ph_status post_fast(ph_context* context, ph_rank rank, Try attempt,
                                                  Rest rest) noexcept {
  using Fast = engine::Engine::Fast;
  if (context != nullptr) [[likely]] {
    if (context->lane->try_enter()) [[likely]] {
      const Fast fast = attempt(*context->engine);
      if (fast == Fast::done) [[likely]] {
        context->lane->leave_biased();
        return PH_OK;
      }
      if (fast == Fast::tell) return tell_and_leave(context, rank);
      context->lane->leave_biased();
    }
  }
  return rest();
}

}  // namespace photon::api
