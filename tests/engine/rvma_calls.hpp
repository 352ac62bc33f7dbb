// What the tests of RVMA's calls share: ranks that are threads, windows, and the calls again until
// there is room. Owner: none.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>
#include <rvma.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test::rvma_calls {

inline void* const kWindow = reinterpret_cast<void*>(0x11ff0011);
inline void* const kOther = reinterpret_cast<void*>(0x11ff0031);

inline std::vector<Setting> grounds() {
  std::vector<Setting> chosen;
  for (const Setting& one : all_settings()) {
    const std::string name = one.name;
    if (name == "shm" || name == "shm_no_cma" || name == "sim" || name == "sim_srd" ||
        name == "tcp" || name == "mixed" || name == "ofi")
      chosen.push_back(one);
  }
  return chosen;
}

// A job each of whose threads is a rank of RVMA.
class RvmaOver : public OverSettings {
 protected:
  static void run(std::uint32_t ranks_count, const ThreadJob::Body& body) {
    ThreadJob job(ranks_count, options());
    job.run([&](ph_context* context, ph_rank rank) {
      ASSERT_EQ(RVMA_Use(context), RVMA_OK);
      body(context, rank);
      ASSERT_EQ(RVMA_Use(nullptr), RVMA_OK);
    });
  }
};

inline RVMA_Win opened(std::int64_t threshold = 0, epoch_type type = EPOCH_BYTES,
                       void* at = kWindow) {
  const RVMA_Win win = RVMA_Init_window(at, nullptr, threshold, type);
  EXPECT_NE(win, RVMA_Win{RVMA_WIN_NULL}) << RVMA_Error();
  return win;
}

inline RVMA_Win opened_managed(std::int64_t threshold, epoch_type type) {
  const RVMA_Win_options options{sizeof options, nullptr, RVMA_MANAGED, 4};
  const RVMA_Win win = RVMA_Init_window_with(kWindow, nullptr, threshold, type, &options);
  EXPECT_NE(win, RVMA_Win{RVMA_WIN_NULL}) << RVMA_Error();
  return win;
}

template <class Range>
RVMA_Status post(RVMA_Win win, Range& memory, RVMA_Notification& told) {
  const std::span bytes = std::as_writable_bytes(std::span(memory));
  return RVMA_Post_buffer(bytes.data(), static_cast<std::int64_t>(bytes.size()), &told.buffer, win);
}

// The call again, with progress in between, until it is not RVMA_AGAIN.
template <class Call>
RVMA_Status insist(Call call) {
  void* nothing = nullptr;
  for (;;) {
    const RVMA_Status status = call();
    if (status != RVMA_AGAIN) return status;
    static_cast<void>(RVMA_Test(&nothing));
    std::this_thread::yield();
  }
}

inline RVMA_Status put(ph_rank to, std::uint64_t value, std::uint64_t offset = 0,
                       void* at = kWindow) {
  addr_in there{to};
  return insist([&] { return RVMA_Put_offset(&value, sizeof value, &there, at, offset); });
}

// The address that comes to stand at the pointer, which is polled.
inline void* polled(RVMA_Notification& told) {
  for (;;) {
    if (void* const there = RVMA_Test(&told.buffer); there != nullptr) return there;
    std::this_thread::yield();
  }
}

}  // namespace photon::test::rvma_calls
