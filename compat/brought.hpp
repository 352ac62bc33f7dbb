// Small send buffers whose bytes came along when they were announced, for calls that take keys:
// photon_get_buffer_remote() describes the copy that is here, and a get by that description reads
// it, as if it were the peer's memory.
// Owner: none; what is described belongs to its Meeting.
#pragma once

#include <photon.h>
#include <photon/memory.h>

#include "compat/entry.hpp"

namespace photon::classic {

class Meeting;

// Of the meeting that `rid` names. A key of 0 is none of a registration's; the other one is ours.
photon_buffer_t describe_brought(const Meeting& meeting, photon_rid rid) noexcept;

// Is it described by describe_brought()? (Or has it no keys at all; then reading it says so.)
inline bool is_brought(const photon_buffer_t& buffer) noexcept {
  return buffer.priv.key0 == 0 && buffer.priv.key1 != 0;
}

// Reads it now, from its address on, as rank `proc`'s. What is left to get are no bytes.
Said read_brought(Session& session, int proc, const photon_buffer_t& buffer, ph_block destination);

}  // namespace photon::classic
