// The end of a registration before that of its memory. An owner may read registered memory until
// its key is taken back: for an answer to a get, say, that the kernel has already copied
// (docs/data-paths.md, "An answer that comes too late is stale"). The memory of a rank's function
// ends with the function, and the rank answers its peers until ph_finalize() has returned.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>

namespace photon::test {

// Declared behind the memory. Every use of the key has ended where this one ends.
class TakenBack {
 public:
  TakenBack(ph_context* context, const ph_region& region) noexcept
      : context_(context), key_(region.key) {}
  ~TakenBack() { EXPECT_EQ(ph_unregister(context_, key_), PH_OK); }
  TakenBack(const TakenBack&) = delete;
  TakenBack& operator=(const TakenBack&) = delete;

 private:
  ph_context* context_;
  std::uint64_t key_;
};

}  // namespace photon::test
