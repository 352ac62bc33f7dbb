// Echo: validate what only the ABI can get wrong, then call the service.
#include <photon/echo.h>
#include <sched.h>

#include "api/handle.hpp"
#include "service/echo/echo.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_lane;
using photon::api::in_service;
using photon::service::echo::Echo;
using photon::wire::Owner;

extern "C" {

ph_status ph_echo(ph_context* context, ph_rank rank, uint64_t value) {
  return in_service<Echo, Ends::posted>(
      context, Owner::echo, [&](Echo& echo, auto&, auto&) { return echo.ask(rank, value); });
}

ph_status ph_echo_body(ph_context* context, ph_rank rank, ph_const_block body, uint64_t value) {
  if (body.data == nullptr || body.size_bytes == 0)
    return bad_argument(context, "echo_body: the body is null or has no bytes");
  return in_service<Echo, Ends::posted>(context, Owner::echo, [&](Echo& echo, auto&, auto&) {
    const std::span bytes(static_cast<const std::byte*>(body.data), body.size_bytes);
    return echo.ask_body(rank, bytes, value);
  });
}

ph_status ph_echo_answer(ph_context* context, ph_echo_result* result) {
  if (result == nullptr) return bad_argument(context, "echo_answer: the result is null");
  bool yield = false;
  const ph_status status =
      in_service<Echo>(context, Owner::echo, [&](Echo& echo, auto& engine, auto&) {
        if (echo.take(*result)) return PH_OK;
        if (!engine.quick_turn()) engine.serve();
        const bool found = echo.take(*result);
        yield = engine.tested(found);
        return found ? PH_OK : PH_AGAIN;
      });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

ph_status ph_echo_wait(ph_context* context, ph_echo_result* result, int64_t timeout_us) {
  if (result == nullptr) return bad_argument(context, "echo_wait: the result is null");
  return in_service<Echo>(context, Owner::echo, [&](Echo& echo, auto& engine, auto& guard) {
    const ph_status status = engine.wait_for(
        guard, [&echo] { return echo.has_answer(); }, timeout_us);
    if (status == PH_OK && !echo.take(*result)) return PH_AGAIN;
    return status;
  });
}

ph_status ph_echo_listen(ph_context* context, ph_echo_handler handler, void* user) {
  return in_service<Echo>(context, Owner::echo, [&](Echo& echo, auto&, auto&) {
    echo.listen(handler, user);
    return PH_OK;
  });
}

ph_status ph_echo_tell(ph_context* context, ph_rank rank, uint64_t value) {
  return in_service<Echo, Ends::posted>(
      context, Owner::echo, [&](Echo& echo, auto&, auto&) { return echo.tell(rank, value); });
}

uint64_t ph_echo_sum(ph_const_block body) {
  photon::service::echo::Sum sum;
  sum.add({static_cast<const std::byte*>(body.data), body.size_bytes});
  return sum.value();
}

}  // extern "C"
