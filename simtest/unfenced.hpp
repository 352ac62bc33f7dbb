// The fault `fence`: the services of a rank whose mailboxes take back a buffer, and give up what is
// being read into it, without telling the engine. So the read goes on, into memory that its owner
// has got back.
// Owner: none.
#pragma once

#include <span>

#include "service/service.hpp"

namespace photon::simtest {

std::span<const service::Kind> unfenced_services() noexcept;

}  // namespace photon::simtest
