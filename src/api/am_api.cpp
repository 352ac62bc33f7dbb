// Active messages: validate what only the ABI can get wrong, then call the service.
#include <photon/am.h>
#include <sched.h>

#include "api/handle.hpp"
#include "api/post_fast.hpp"
#include "engine/quick_run.hpp"
#include "service/am/am.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_lane;
using photon::api::in_lane_of_other;
using photon::api::in_service;
using photon::api::post_fast;
using photon::engine::Engine;
using photon::engine::LaneGuard;
using photon::engine::QuickRun;
using photon::service::am::Am;
using photon::service::am::HandlerNode;

namespace {

constexpr auto kAmOwner = photon::wire::Owner::am;
constexpr unsigned kMostAlone = 64;  // messages of one poll that are run one by one

// A rank that has handled messages has said so: that is heard before one is copied or refused for
// want of slots. What else it has sent becomes due, and runs in a call that makes progress.
void hear_of_slots(const Am& am, Engine& engine, ph_rank rank) noexcept {
  if (am.lacks_slots(rank)) engine.hear(rank);
}

[[gnu::always_inline]] inline Engine::Fast as_fast(photon::service::Written said) noexcept {
  using photon::service::Written;
  if (said == Written::done) [[likely]]
    return Engine::Fast::done;
  return said == Written::no ? Engine::Fast::no : Engine::Fast::tell;
}

// The general way, apart so that the fast path needs no stack frame.
[[gnu::noinline]] ph_status send_small_in_lane(ph_context* context, ph_rank rank, uint32_t id,
                                               ph_const_block bytes) noexcept {
  return in_service<Am, Ends::posted>(context, kAmOwner, [&](Am& am, auto& engine, auto&) {
    context->am = &am;
    hear_of_slots(am, engine, rank);
    return am.send_small(rank, id, bytes);
  });
}

[[gnu::noinline]] ph_status send_in_lane(ph_context* context, ph_rank rank,
                                         const ph_am_args& args) noexcept {
  return in_service<Am, Ends::posted>(context, kAmOwner, [&](Am& am, auto& engine, auto&) {
    context->am = &am;
    hear_of_slots(am, engine, rank);
    return am.send(rank, args);
  });
}

bool is_whole(const ph_am_args* args) noexcept {
  return args != nullptr && args->size == sizeof(ph_am_args);
}

// Messages that each are all that is due. run: some were, and the lane may be lost to us.
[[gnu::always_inline]] inline QuickRun::Found run_alone(Engine& engine, Am& am,
                                                        LaneGuard& guard) noexcept {
  QuickRun quick(engine, kAmOwner);
  const QuickRun::Found found = quick.take(am);
  if (found != QuickRun::Found::run) return found;
  for (unsigned count = 1;; ++count) {
    guard.release();
    am.run_alone();
    guard.retake();
    if (guard.status() != PH_OK) [[unlikely]]
      return found;  // a fork's child: nothing here is ours
    quick.end(am);
    if (!guard.still_open()) [[unlikely]]
      return found;
    if (count == kMostAlone || !quick.take_next(am)) return found;
  }
}

// A general turn: what only the lane's own thread keeps (how its polls fare, whether it yields) is
// left alone.
ph_status visit(ph_context* context) noexcept {
  return in_lane_of_other(context, [&](auto& engine, auto& guard) {
    if (context->am == nullptr) context->am = static_cast<Am*>(engine.service(kAmOwner));
    const Am& am = *context->am;
    const std::uint64_t before = am.handlers_run();
    engine.serve();
    if (engine.owes_services()) engine.run_user_code(guard);
    if (!guard.still_open()) return guard.status();
    engine.push_out();
    return am.handlers_run() != before ? PH_OK : PH_AGAIN;
  });
}

}  // namespace

extern "C" {

ph_status ph_am_register(ph_context* context, uint32_t id, ph_am_handler handler, void* user) {
  if (handler == nullptr) return bad_argument(context, "am_register: the handler is null");
  if (id > PH_AM_MAX_ID) return bad_argument(context, "am_register: the id is over 65535");
  return in_service<Am, Ends::posted>(context, kAmOwner, [&](Am& am, auto&, auto&) {
    am.belong_to(context);
    return am.enroll(id, handler, user);
  });
}

ph_status ph_am_unregister(ph_context* context, uint32_t id) {
  if (id > PH_AM_MAX_ID) return bad_argument(context, "am_unregister: the id is over 65535");
  return in_service<Am>(context, kAmOwner, [&](Am& am, auto& engine, auto& guard) {
    const HandlerNode* node = nullptr;
    if (const ph_status status = am.dismiss(id, node); status != PH_OK) return status;
    return engine.wait_for(
        guard, [&] { return am.is_dismissed(node); }, PH_FOREVER);
  });
}

ph_status ph_am_send_small(ph_context* context, ph_rank rank, uint32_t id, ph_const_block bytes) {
  return post_fast(
      context, rank,
      [&](Engine& engine) {
        const bool may_go = context->am != nullptr && !engine.wants_turns();
        return may_go ? as_fast(context->am->send_now(rank, id, bytes)) : Engine::Fast::no;
      },
      [&] { return send_small_in_lane(context, rank, id, bytes); });
}

ph_status ph_am_send(ph_context* context, ph_rank rank, const ph_am_args* args) {
  if (!is_whole(args))
    return bad_argument(context, "am_send: args is null, or args->size is not sizeof(ph_am_args)");
  return post_fast(
      context, rank,
      [&](Engine& engine) {
        const bool may_go = context->am != nullptr && !engine.wants_turns();
        return may_go ? as_fast(context->am->send_now(rank, *args)) : Engine::Fast::no;
      },
      [&] { return send_in_lane(context, rank, *args); });
}

ph_status ph_am_reply(const ph_am_message* message, const ph_am_args* args) {
  if (message == nullptr) return PH_ERR_ARGUMENT;  // there is no context that could say so
  if (!is_whole(args))
    return bad_argument(message->context,
                        "am_reply: args is null, or args->size is not sizeof(ph_am_args)");
  return in_service<Am, Ends::posted>(
      message->context, kAmOwner, [&](Am& am, auto&, auto&) { return am.reply(message, *args); });
}

ph_status ph_am_poll(ph_context* context, uint32_t flags) {
  if (flags == PH_AM_VISIT) return visit(context);
  if (flags != 0) return bad_argument(context, "am_poll: flags must be 0 or PH_AM_VISIT");
  bool yield = false;
  const ph_status status = in_lane(context, [&](auto& engine, auto& guard) {
    if (context->am == nullptr) [[unlikely]]
      context->am = static_cast<Am*>(engine.service(kAmOwner));
    Am& am = *context->am;
    const std::uint64_t before = am.handlers_run();
    const auto found = run_alone(engine, am, guard);
    if (found == QuickRun::Found::nothing) {
      yield = engine.tested(false);
      return PH_AGAIN;
    }
    if (guard.status() != PH_OK) [[unlikely]]
      return guard.status();
    if (found == QuickRun::Found::no && !engine.quick_turn()) engine.serve();
    if (engine.owes_services()) {
      engine.run_user_code(guard);
      if (!guard.still_open()) return guard.status();
    }
    engine.push_out();
    const bool has_run = am.handlers_run() != before;
    yield = engine.tested(has_run);
    return has_run ? PH_OK : PH_AGAIN;
  });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

}  // extern "C"
