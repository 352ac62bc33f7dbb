// Providers of collective operations: validate what only the ABI can get wrong.
#include <photon/coll_provider.h>

#include "api/handle.hpp"
#include "service/coll/collectives.hpp"

extern "C" {

ph_status ph_coll_provider_register(ph_context* context, const ph_coll_provider* provider) {
  if (provider == nullptr || provider->size != sizeof(ph_coll_provider))
    return photon::api::bad_argument(context,
                                     "coll_provider_register: provider is null, or its size is not "
                                     "sizeof(ph_coll_provider)");
  return photon::api::in_service<photon::service::coll::Collectives>(
      context, photon::wire::Owner::coll,
      [&](auto& all, auto&, auto&) { return all.add_provider(context, *provider); });
}

}  // extern "C"
