// Put, get, probe, wait: validate what only the ABI can get wrong, then call the engine.
#include <photon/rma.h>
#include <sched.h>

#include "api/handle.hpp"
#include "engine/fast_path.hpp"

using photon::api::in_lane;

namespace {

// Long ids are collected on the stack, so fewer at a time.
constexpr size_t kHandlerBatch = 64;
constexpr size_t kLongIdBatch = 16;

ph_status bad_argument(ph_context* context, const char* what) noexcept {
  return in_lane(context, [what](auto& engine, auto&) {
    return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, what);
  });
}

ph_status probe_in_lane(ph_context* context, photon::engine::Taker& taker) {
  bool yield = false;
  const ph_status status = in_lane(context, [&](auto& engine, auto&) {
    const ph_status result = engine.probe(taker);
    yield = taker.count == 0 && engine.should_yield();
    return result;
  });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

// The rest of ph_probe(), with what its fast path has taken.
[[gnu::noinline]] ph_status probe_slowly(ph_context* context, photon::engine::Taker taker,
                                         size_t* count) noexcept {
  const ph_status status = probe_in_lane(context, taker);
  *count = taker.count;
  return status;
}

// The rest of ph_put_u64() and ph_notify(), apart so that their fast path needs no stack frame.
[[gnu::noinline]] ph_status tell_and_leave(ph_context* context, ph_rank rank,
                                           photon::engine::Lane::Held held) noexcept {
  context->engine->finish_put(rank);
  context->lane->leave(held);
  return PH_OK;
}

[[gnu::noinline]] ph_status put_u64_in_lane(ph_context* context, ph_rank rank,
                                            ph_const_block source, ph_target target,
                                            ph_u64_ids ids) noexcept {
  return in_lane(context,
                 [&](auto& engine, auto&) { return engine.put_u64(rank, source, target, ids); });
}

[[gnu::noinline]] ph_status notify_in_lane(ph_context* context, ph_rank rank,
                                           uint64_t remote) noexcept {
  return in_lane(context, [&](auto& engine, auto&) { return engine.notify(rank, remote); });
}

// Try the fast path if this thread has the bias; else, and if it refuses, the general one.
template <class Try, class Rest>
[[gnu::always_inline]] inline ph_status post_fast(ph_context* context, ph_rank rank, Try attempt,
                                                  Rest rest) noexcept {
  using Fast = photon::engine::Engine::Fast;
  if (context != nullptr) [[likely]] {
    photon::engine::Lane::Held held{};
    if (context->lane->try_enter(held)) [[likely]] {
      const Fast fast = attempt(*context->engine);
      if (fast == Fast::done) [[likely]] {
        context->lane->leave_biased(held);
        return PH_OK;
      }
      if (fast == Fast::tell) return tell_and_leave(context, rank, held);
      context->lane->leave_biased(held);
    }
  }
  return rest();
}

}  // namespace

extern "C" {

ph_status ph_put(ph_context* context, ph_rank rank, const ph_put_args* args) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (args == nullptr || args->size != sizeof(ph_put_args))
      return engine.fail(PH_ERR_ARGUMENT, rank,
                         "put: args is null or args->size is not sizeof(ph_put_args)");
    return engine.put(rank, *args);
  });
}

ph_status ph_put_u64(ph_context* context, ph_rank rank, ph_const_block source, ph_target target,
                     ph_u64_ids ids) {
  return post_fast(
      context, rank, [&](auto& engine) { return engine.try_put_u64(rank, source, target, ids); },
      [&] { return put_u64_in_lane(context, rank, source, target, ids); });
}

ph_status ph_notify(ph_context* context, ph_rank rank, uint64_t remote) {
  return post_fast(
      context, rank, [&](auto& engine) { return engine.try_notify(rank, remote); },
      [&] { return notify_in_lane(context, rank, remote); });
}

ph_status ph_get(ph_context* context, ph_rank rank, const ph_get_args* args) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (args == nullptr || args->size != sizeof(ph_get_args))
      return engine.fail(PH_ERR_ARGUMENT, rank,
                         "get: args is null or args->size is not sizeof(ph_get_args)");
    return engine.get(rank, *args);
  });
}

ph_status ph_get_u64(ph_context* context, ph_rank rank, ph_block destination, ph_target source,
                     ph_u64_ids ids) {
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = destination.data;
  args.size_bytes = destination.size_bytes;
  args.source = source;
  args.local = {&ids.local, sizeof ids.local};
  args.remote = {&ids.remote, sizeof ids.remote};
  return ph_get(context, rank, &args);
}

ph_status ph_probe(ph_context* context, ph_query query, ph_completion* completions, size_t capacity,
                   size_t* count) {
  if (count != nullptr) *count = 0;
  if (count == nullptr || (completions == nullptr && capacity != 0))
    return bad_argument(context, "probe: count is null, or completions is null with a capacity");
  photon::engine::Taker taker{query, completions, capacity};
  photon::engine::Lane::Held held{};
  if (context != nullptr && context->lane->try_enter(held)) [[likely]] {
    const bool done = context->engine->try_probe(query, taker);
    context->lane->leave_biased(held);
    *count = taker.count;
    if (done) [[likely]]
      return PH_OK;
  }
  return probe_slowly(context, taker, count);
}

ph_status ph_probe_each(ph_context* context, ph_query query, ph_handler handler, void* user,
                        size_t* count) {
  if (count != nullptr) *count = 0;
  if (context == nullptr) return PH_ERR_STATE;
  if (handler == nullptr) return bad_argument(context, "probe_each: the handler is null");
  ph_completion completions[kHandlerBatch];
  std::byte ids[kLongIdBatch * PH_MAX_ID_BYTES];
  const bool long_ids = context->config.max_cid_size > sizeof(uint64_t);
  query.id_buffer = long_ids ? ids : nullptr;
  photon::engine::Taker taker{query, completions, long_ids ? kLongIdBatch : kHandlerBatch};
  const ph_status status = probe_in_lane(context, taker);
  // Outside the lane: a handler may post and probe.
  for (size_t i = 0; i < taker.count; ++i) handler(user, &completions[i]);
  if (count != nullptr) *count = taker.count;
  return status;
}

ph_status ph_wait(ph_context* context, ph_query query, int64_t timeout_us) {
  return in_lane(context,
                 [&](auto& engine, auto& guard) { return engine.wait(guard, query, timeout_us); });
}

ph_status ph_fence(ph_context* context, ph_rank rank) {
  return in_lane(context, [&](auto& engine, auto&) { return engine.fence(rank); });
}

ph_status ph_flush(ph_context* context, ph_rank rank, int64_t timeout_us) {
  return in_lane(context,
                 [&](auto& engine, auto& guard) { return engine.flush(guard, rank, timeout_us); });
}

}  // extern "C"
