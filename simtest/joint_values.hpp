// What a joint operation is given at one member, and what it must give: computed from the joint
// alone, by a loop over all members, apart from anything of the library.
// Owner: none. Threads: pure functions.
#pragma once

#include <photon/photon.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simtest/joint.hpp"

namespace photon::simtest {

// One doing of a joint by one member.
struct JointCall {
  const Joint* joint = nullptr;
  std::uint32_t size = 1;    // members
  std::uint32_t own = 0;     // the member's number
  std::uint64_t number = 0;  // of the start
};

// The buffers of a call; counts and offsets where the kind has them.
struct JointBuffers {
  std::vector<std::byte> in, out;
  std::vector<std::uint64_t> in_counts, in_offsets, out_counts, out_offsets;
};

std::uint32_t root_of(const JointCall& call) noexcept;
bool is_in_place(const JointCall& call) noexcept;
std::uint64_t element_bytes_of(Arithmetic arithmetic) noexcept;

// As they are at the beginning; what nothing is said of has the byte `background`.
JointBuffers buffers_of(const JointCall& call, std::byte background);
// `out`, and the counts of PH_COUNTS_FROM_SENDERS, as they must be at the end of what began so.
void apply(const JointCall& call, JointBuffers& buffers);
// The bytes of `out` of which the end says anything.
std::uint64_t told_bytes(const JointCall& call, const JointBuffers& buffers);

// Type, operation, function and flags.
void describe(const Joint& joint, const ph_fold& fold, ph_coll_args& args);
ph_fold fold_of(Arithmetic arithmetic) noexcept;

}  // namespace photon::simtest
