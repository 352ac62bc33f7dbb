// Takes the launcher's descriptor, once. Owner: none, functions only.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

// The descriptor named by the text, ours alone from now on and close-on-exec.
// PH_ERR_BOOTSTRAP: not a number, not open, not a launcher's socket, or taken before.
base::Result<base::UniqueFd> claim_launch_fd(std::string_view fd_text);

}  // namespace photon::boot
