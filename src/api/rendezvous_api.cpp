// Rendezvous: validate what only the ABI can get wrong, then make the call.
#include <photon/rendezvous.h>
#include <sched.h>

#include "api/handle.hpp"
#include "api/rendezvous_calls.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_lane;

extern "C" {

ph_status ph_announce(ph_context* context, ph_rank rank, const ph_announce_args* args) {
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
    if (args == nullptr || args->size != sizeof(ph_announce_args))
      return engine.fail(PH_ERR_ARGUMENT, rank,
                         "announce: args is null or args->size is not sizeof(ph_announce_args)");
    return photon::api::announce(engine, rank, *args);
  });
}

ph_status ph_test_buffer(ph_context* context, const ph_match* match, ph_buffer* buffer) {
  if (match == nullptr || buffer == nullptr)
    return bad_argument(context, "test_buffer: match or buffer is null");
  bool yield = false;
  const ph_status status = in_lane(context, [&](auto& engine, auto&) {
    const ph_status tested = photon::api::test_buffer(engine, *match, *buffer);
    yield = tested == PH_AGAIN && engine.should_yield();
    return tested;
  });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

ph_status ph_wait_buffer(ph_context* context, const ph_match* match, ph_buffer* buffer,
                         int64_t timeout_us) {
  if (match == nullptr || buffer == nullptr)
    return bad_argument(context, "wait_buffer: match or buffer is null");
  return in_lane(context, [&](auto& engine, auto& guard) {
    return photon::api::wait_buffer(engine, guard, *match, *buffer, timeout_us);
  });
}

ph_status ph_put_buffer(ph_context* context, const ph_buffer* buffer, uint64_t offset,
                        const ph_put_args* args) {
  if (buffer == nullptr || args == nullptr || args->size != sizeof(ph_put_args))
    return bad_argument(context,
                        "put_buffer: buffer or args is null, or args->size is not "
                        "sizeof(ph_put_args)");
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
    return photon::api::put_buffer(engine, *buffer, offset, *args);
  });
}

ph_status ph_get_buffer(ph_context* context, const ph_buffer* buffer, uint64_t offset,
                        const ph_get_args* args) {
  if (buffer == nullptr || args == nullptr || args->size != sizeof(ph_get_args))
    return bad_argument(context,
                        "get_buffer: buffer or args is null, or args->size is not "
                        "sizeof(ph_get_args)");
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
    return photon::api::get_buffer(engine, *buffer, offset, *args);
  });
}

ph_status ph_finish(ph_context* context, const ph_buffer* buffer) {
  if (buffer == nullptr) return bad_argument(context, "finish: buffer is null");
  return in_lane<Ends::posted>(
      context, [&](auto& engine, auto&) { return photon::api::finish(engine, *buffer); });
}

}  // extern "C"
