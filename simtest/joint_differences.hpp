// Members that call another operation than the others, as if by mistake.
// Owner: none. Threads: pure functions.
#pragma once

#include <vector>

#include "simtest/joint_doing.hpp"

namespace photon::simtest {

// What this rank calls of a joint.
const Joint& called_by(ph_rank rank, const Joint& joint) noexcept;
// Whether members of a team of that size may call the one where others call the other one.
bool is_same_call(const Joint& one, const Joint& other, std::uint32_t size) noexcept;
// Whether some of a team call something else than others.
bool has_difference(const Joint& joint, const std::vector<ph_rank>& members) noexcept;
// Whether nobody can end it well before all have begun it.
bool needs_all(const Joint& joint) noexcept;

}  // namespace photon::simtest
