// One line of text per status code. Owner: none (static storage).
#pragma once

#include <photon/types.h>

namespace photon::base {

// Never null; "unknown status" for numbers that are no status.
const char* status_text(ph_status status) noexcept;

}  // namespace photon::base
