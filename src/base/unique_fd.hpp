// The owner of a descriptor, as the layers above call it. Owner: none (a name).
#pragma once

#include "system/unique_fd.hpp"

namespace photon::base {

using system::UniqueFd;

}  // namespace photon::base
