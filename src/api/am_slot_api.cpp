// Spans for payloads of active messages: validate what only the ABI can get wrong, then call the
// service.
#include <photon/am.h>

#include "api/handle.hpp"
#include "service/am/am.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_service;
using photon::service::am::Am;

namespace {

constexpr auto kSlotOwner = photon::wire::Owner::am;

}  // namespace

extern "C" {

ph_status ph_am_prepare(ph_context* context, ph_rank rank, uint64_t least, uint64_t most,
                        ph_am_slot* slot) {
  if (slot == nullptr) return bad_argument(context, "am_prepare: the slot is null");
  slot->context = context;
  slot->data = nullptr;
  return in_service<Am, Ends::posted>(context, kSlotOwner, [&](Am& am, auto&, auto&) {
    return am.prepare(rank, least, most, *slot);
  });
}

ph_status ph_am_commit(const ph_am_slot* slot, uint32_t id, ph_const_block header,
                       uint64_t size_bytes) {
  if (slot == nullptr) return PH_ERR_ARGUMENT;  // there is no context that could say so
  return in_service<Am, Ends::posted>(slot->context, kSlotOwner, [&](Am& am, auto&, auto&) {
    return am.commit(*slot, {id, header, size_bytes});
  });
}

ph_status ph_am_cancel(const ph_am_slot* slot) {
  if (slot == nullptr) return PH_ERR_ARGUMENT;
  return in_service<Am, Ends::posted>(slot->context, kSlotOwner,
                                      [&](Am& am, auto&, auto&) { return am.cancel(*slot); });
}

}  // extern "C"
