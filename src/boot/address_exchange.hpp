// How the ranks of a caller's bootstrap introduce themselves to each other, by its allgather alone:
//
//   endpoint infos --> hosts -- all on one --> introduced
//                        |---- on several --> addresses --> introduced
//
// Invariants: all ranks of a job take the same way, since all see the same hosts; a rank that
// cannot go on takes part in the round first, so that nobody waits for it. Two ranks are on one
// host if and only if one socket has answered both: what endpoint infos say is a claim until then.
// Owner: CallbackBoot (functions only).
#pragma once

#include <photon/context.h>

#include <functional>
#include <vector>

#include "boot/endpoint_info.hpp"
#include "boot/net_address.hpp"

namespace photon::boot {

base::Error callback_failed(const char* name, int status);

// By rank. PH_ERR_BOOTSTRAP: another version of the library, or data that is mixed up.
base::Result<std::vector<EndpointInfo>> exchange_infos(const ph_bootstrap& bootstrap,
                                                       const EndpointInfo& own);

// By rank, the lowest rank whose socket answered it: its host.
base::Result<std::vector<Rank>> exchange_hosts(const ph_bootstrap& bootstrap,
                                               const std::vector<EndpointInfo>& endpoint_infos);

// By rank, where its side channel listens. PH_ERR_BOOTSTRAP names a rank that has none.
base::Result<std::vector<Addresses>> exchange_addresses(const ph_bootstrap& bootstrap,
                                                        const base::Result<Addresses>& own);

}  // namespace photon::boot
