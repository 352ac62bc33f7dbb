// The services that every lane of this version has: the one place that knows their names.
// Owner: none.
#pragma once

#include <span>

#include "service/service.hpp"

namespace photon::api {

std::span<const service::Kind> services() noexcept;

}  // namespace photon::api
