// Test, wait, cancel: validate what only the ABI can get wrong, then call the engine.
#include <photon/request.h>
#include <sched.h>

#include "api/handle.hpp"

using photon::api::bad_argument;
using photon::api::in_lane;

namespace {

// User code that a fast path has made due, or has found.
[[gnu::noinline]] void run_in_lane(ph_context* context) noexcept {
  static_cast<void>(in_lane(context, [](auto&, auto&) { return PH_OK; }));
}

}  // namespace

extern "C" {

ph_status ph_test(ph_context* context, ph_request* request, ph_result* result) {
  if (request == nullptr) return bad_argument(context, "test: request is null");
  ph_result unwanted;
  bool yield = false;
  const ph_status status = in_lane(context, [&](auto& engine, auto&) {
    const ph_status tested = engine.test(*request, result == nullptr ? unwanted : *result);
    yield = tested == PH_AGAIN && engine.should_yield();
    return tested;
  });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

ph_status ph_wait_request(ph_context* context, ph_request* request, ph_result* result,
                          int64_t timeout_us) {
  if (request == nullptr) return bad_argument(context, "wait_request: request is null");
  ph_result unwanted;
  ph_result& found = result == nullptr ? unwanted : *result;
  if (context != nullptr && timeout_us != 0 && context->lane->try_enter()) {
    ph_status status = PH_OK;
    const bool done = context->engine->try_wait_one(*request, found, status);
    const bool owes = context->engine->owes_services();
    context->lane->leave_biased();
    if (done && owes) [[unlikely]]
      run_in_lane(context);
    if (done) return status;
  }
  return in_lane(context, [&](auto& engine, auto& guard) {
    return engine.wait_one(guard, *request, found, timeout_us);
  });
}

ph_status ph_wait_any(ph_context* context, ph_request_list list, ph_result* result,
                      int64_t timeout_us) {
  if (result == nullptr || (list.items == nullptr && list.count != 0))
    return bad_argument(context, "wait_any: result is null, or a list with a count has no items");
  return in_lane(context, [&](auto& engine, auto& guard) {
    photon::engine::RequestSweep sweep{list, result, 1};
    const ph_status status = engine.wait_some(guard, sweep, timeout_us);
    return status == PH_OK ? result->status : status;
  });
}

ph_status ph_wait_some(ph_context* context, ph_request_list list, ph_result* results, size_t* done,
                       int64_t timeout_us) {
  if (done != nullptr) *done = 0;
  if (done == nullptr || ((list.items == nullptr || results == nullptr) && list.count != 0))
    return bad_argument(
        context, "wait_some: done is null, or a list with a count has no items or no results");
  return in_lane(context, [&](auto& engine, auto& guard) {
    photon::engine::RequestSweep sweep{list, results, list.count};
    const ph_status status = engine.wait_some(guard, sweep, timeout_us);
    *done = sweep.done;
    return status;
  });
}

ph_status ph_cancel(ph_context* context, ph_request* request, ph_outcome* outcome) {
  if (request == nullptr || outcome == nullptr)
    return bad_argument(context, "cancel: request or outcome is null");
  return in_lane<photon::api::Ends::posted>(
      context, [&](auto& engine, auto&) { return engine.cancel(*request, *outcome); });
}

}  // extern "C"
