// Makes the call of the C API that an operation stands for.
// Owner: the runner, one a rank. Threads: one.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstddef>
#include <vector>

#include "simtest/oracle.hpp"

namespace photon::simtest {

// What a rank shows to all for the whole run. What it lends is looked up when it is used.
struct Shown {
  ph_region window;
  ph_region inner;
  ph_region library;
  ph_region words;
};

// Where a vectored operation goes.
struct Places {
  std::byte* own;
  ph_target at;             // of its first byte
  std::uint64_t inner_key;  // of the inner region, if it may be used; 0: not
};

class Poster {
 public:
  explicit Poster(std::uint32_t ranks) : shown_(ranks) {}

  std::vector<Shown>& shown() noexcept { return shown_; }  // by rank

  // One attempt; the oracle was told.
  ph_status call(ph_context* context, Operation& op, Oracle& oracle);

 private:
  ph_target place(const Operation& op, Oracle& oracle) const;
  ph_status put(ph_context* context, Operation& op, ph_target target);
  ph_status get(ph_context* context, Operation& op, ph_target source);
  ph_status change(ph_context* context, Operation& op, ph_target target);
  // poster_vectored.cpp
  template <class Args>
  Args arguments(Operation& op);
  ph_status list(ph_context* context, Operation& op, Oracle& oracle);
  ph_status strided(ph_context* context, Operation& op, const ph_target& target);

  std::vector<Shown> shown_;
  std::array<std::byte, PH_MAX_ID_BYTES + 1> local_id_{};
  std::array<std::byte, PH_MAX_ID_BYTES + 1> remote_id_{};
};

}  // namespace photon::simtest
