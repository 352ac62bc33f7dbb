// Whether a rank that is waited for can still say anything. Of one that was never spoken to nobody
// hears that it left or died: so who waits for it gets in touch first, and is then told.
// Owner: none.
#pragma once

#include <photon/photon.h>

namespace photon::classic {

// PH_OK: it can, for all that is known. PH_ERR_DEPARTED, PH_ERR_PEER and others: it cannot; what
// it has announced before may still be met. Sends no id; connects where that was not done yet.
ph_status reach(ph_context* context, ph_rank rank) noexcept;

}  // namespace photon::classic
