// Quiescence of active messages: validate what only the ABI can get wrong, then call the service.
#include <photon/am.h>

#include "api/handle.hpp"
#include "base/finally.hpp"
#include "service/am/am.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_service;
using photon::service::am::Am;

namespace {

constexpr auto kQuietOwner = photon::wire::Owner::am;

}  // namespace

extern "C" {

ph_status ph_am_quiesce(ph_context* context, int64_t timeout_us) {
  return in_service<Am>(context, kQuietOwner, [&](Am& am, auto& engine, auto& guard) {
    if (const ph_status status = am.enter_quiesce(); status != PH_OK) return status;
    // Where the lane was closed meanwhile the service is not ours to look at.
    const photon::base::Finally left([&]() noexcept {
      if (guard.status() == PH_OK) am.waves().leave();
    });
    const ph_status status = engine.wait_for(
        guard, [&am] { return am.waves().has_end(); }, timeout_us);
    return status == PH_OK ? am.waves().take() : status;
  });
}

ph_status ph_am_quiesce_begin(ph_context* context, ph_request* request) {
  if (request == nullptr) return bad_argument(context, "am_quiesce_begin: the request is null");
  return in_service<Am, Ends::posted>(
      context, kQuietOwner, [&](Am& am, auto&, auto&) { return am.begin_quiesce(request); });
}

}  // extern "C"
