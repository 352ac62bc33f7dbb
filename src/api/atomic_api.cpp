// Atomics: validate what only the ABI can get wrong, then call the engine.
#include <photon/atomic.h>

#include "api/post_fast.hpp"

namespace {

[[gnu::noinline]] ph_status atomic_in_lane(ph_context* context, ph_rank rank,
                                           const ph_atomic_args* args) {
  return photon::api::in_lane<photon::api::Ends::posted>(context, [&](auto& engine, auto&) {
    if (args == nullptr || args->size != sizeof(ph_atomic_args))
      return engine.fail(PH_ERR_ARGUMENT, rank,
                         "atomic: args is null or args->size is not sizeof(ph_atomic_args)");
    return engine.atomic(rank, *args);
  });
}

}  // namespace

extern "C" {

ph_status ph_atomic(ph_context* context, ph_rank rank, const ph_atomic_args* args) {
  const auto in_general = [&] { return atomic_in_lane(context, rank, args); };
  if (args == nullptr || args->size != sizeof(ph_atomic_args)) return in_general();
  return photon::api::post_fast(
      context, rank, [&](auto& engine) { return engine.try_atomic(rank, *args); }, in_general);
}

}  // extern "C"
