// Gets and puts of this PE, between a buffer of its own and one that an object names.
//
// An object whose buffer has ended by CMK_BUFFER_DEREG has all that a new one is made of, and gets
// one here; after deregisterMem() of a CMK_BUFFER_NODEREG one an operation is refused.
// Threads: that of the PE.
#pragma once

#include "converse/buffer/pe_buffers.hpp"

namespace photon::converse {

enum class NcpyVerb : std::uint8_t { get, put };

// Nobody but the done-handlers hears of it.
void begin_operation(Pe& pe, const char* call, NcpyVerb verb, Live& own,
                     const LayerInfo& other) noexcept;
// The ack handler as well. `is_lent`: the info is of copy_info().
void begin_with_acks(Pe& pe, const char* call, NcpyVerb verb, NcpyOperationInfo& info,
                     bool is_lent) noexcept;

}  // namespace photon::converse
