// One line of text per status code. Owner: none (static storage).
#pragma once

#include <photon/types.h>

namespace photon::base {

// Never null; "unknown status" for numbers that are no status. An int, because a C caller may hold
// any number in a ph_status.
const char* status_text(int status) noexcept;

}  // namespace photon::base
