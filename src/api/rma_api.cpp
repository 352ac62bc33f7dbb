// Put, get, probe, wait: validate what only the ABI can get wrong, then call the engine.
#include <photon/rma.h>
#include <sched.h>

#include "api/handle.hpp"
#include "api/post_fast.hpp"
#include "engine/fast_path.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_lane;
using photon::api::in_lane_of_other;
using photon::api::post_fast;

namespace {

// Long ids are collected on the stack, so fewer at a time.
constexpr size_t kHandlerBatch = 64;
constexpr size_t kLongIdBatch = 16;

// By a thread whose lane it is not. No fast path takes such a query, for it knows no such kind.
ph_status probe_visiting(ph_context* context, photon::engine::CompletionSink& sink) {
  sink.query.kinds &= ~std::uint32_t{PH_VISIT};
  return in_lane_of_other(context, [&](auto& engine, auto&) { return engine.probe(sink); });
}

// is_fresh: the fast path was not tried.
ph_status probe_in_lane(ph_context* context, photon::engine::CompletionSink& sink,
                        bool is_fresh = false) {
  if ((sink.query.kinds & PH_VISIT) != 0) return probe_visiting(context, sink);
  bool yield = false;
  const ph_status status = in_lane(context, [&](auto& engine, auto&) {
    if (is_fresh && (engine.try_probe(sink.query, sink) ||
                     engine.serve_asked(sink) != photon::engine::Engine::Served::no))
      return PH_OK;
    const ph_status result = engine.probe(sink);
    yield = sink.count == 0 && engine.should_yield();
    return result;
  });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

// User code that a fast path has made due.
[[gnu::noinline]] ph_status run_what_is_due(ph_context* context) noexcept {
  return in_lane(context, [](auto&, auto&) { return PH_OK; });
}

// The rest of ph_probe(), with what its fast path has taken.
[[gnu::noinline]] ph_status probe_slowly(ph_context* context, photon::engine::CompletionSink sink,
                                         size_t* count) noexcept {
  const ph_status status = probe_in_lane(context, sink);
  *count = sink.count;
  return status;
}

// All of ph_probe(), without the bias. Who shares a lane takes the fast path, too.
[[gnu::noinline]] ph_status probe_by_word(ph_context* context, photon::engine::CompletionSink sink,
                                          size_t* count) noexcept {
  const ph_status status = probe_in_lane(context, sink, true);
  *count = sink.count;
  return status;
}

// All of ph_probe_u64(), without the bias or after its fast path gave up.
[[gnu::noinline]] ph_u64_completion probe_one_slowly(ph_context* context, ph_rank peer,
                                                     uint32_t kinds) noexcept {
  ph_u64_completion result{0, PH_ANY_RANK, 0, 0, PH_ERR_STATE};
  if (context == nullptr) return result;
  if (context->config.max_cid_size > sizeof(uint64_t)) {
    const auto refuse = [](auto& engine, auto&) {
      return engine.fail(PH_ERR_ID_SIZE, PH_ANY_RANK,
                         "probe_u64: ids may be longer than 8 bytes (max_cid_size); use ph_probe");
    };
    const bool visits = (kinds & PH_VISIT) != 0;
    result.status =
        static_cast<int16_t>(visits ? in_lane_of_other(context, refuse) : in_lane(context, refuse));
    return result;
  }
  ph_completion found{};
  photon::engine::CompletionSink sink{{peer, kinds, nullptr}, &found, 1};
  result.status = static_cast<int16_t>(probe_in_lane(context, sink, true));
  if (sink.count == 0) return result;
  return {found.id, found.peer, static_cast<uint8_t>(found.kind),
          static_cast<uint8_t>(found.id_size_bytes), static_cast<int16_t>(found.status)};
}

// ph_probe_u64() in a lane that this thread has by its bias. Apart, so that one which finds a LOCAL
// completion needs no stack frame.
[[gnu::noinline]] ph_u64_completion probe_one(ph_context* context, ph_rank peer,
                                              uint32_t kinds) noexcept {
  photon::engine::SingleSink sink{{peer, kinds, nullptr}};
  auto& engine = *context->engine;
  const bool done = engine.take_streamed(sink) || engine.try_probe(sink.query, sink);
  context->lane->leave_biased();
  if (done) [[likely]]
    return sink.found;
  return probe_one_slowly(context, peer, kinds);
}

[[gnu::noinline]] ph_status put_u64_in_lane(ph_context* context, ph_rank rank,
                                            ph_const_block source, ph_target target,
                                            ph_u64_ids ids) noexcept {
  using Fast = photon::engine::Engine::Fast;
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
    const Fast fast = engine.try_put_u64(rank, source, target, ids);  // by the lock's word
    if (fast == Fast::no) return engine.put_u64(rank, source, target, ids);
    if (fast == Fast::tell) engine.finish_put(rank);
    return PH_OK;
  });
}

[[gnu::noinline]] ph_status notify_in_lane(ph_context* context, ph_rank rank,
                                           uint64_t remote) noexcept {
  using Fast = photon::engine::Engine::Fast;
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
    const Fast fast = engine.try_notify(rank, remote);
    if (fast == Fast::no) return engine.notify(rank, remote);
    if (fast == Fast::tell) engine.finish_put(rank);
    return PH_OK;
  });
}

}  // namespace

extern "C" {

ph_status ph_put(ph_context* context, ph_rank rank, const ph_put_args* args) {
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
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
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) {
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
  photon::engine::CompletionSink sink{query, completions, capacity};
  if (context == nullptr || !context->lane->try_enter()) [[unlikely]]
    return probe_by_word(context, sink, count);
  using Served = photon::engine::Engine::Served;
  const Served done =
      context->engine->try_probe(query, sink) ? Served::yes : context->engine->serve_asked(sink);
  context->lane->leave_biased();
  *count = sink.count;
  if (done == Served::yes) [[likely]]
    return PH_OK;
  return done == Served::run ? run_what_is_due(context) : probe_slowly(context, sink, count);
}

ph_u64_completion ph_probe_u64(ph_context* context, ph_rank peer, uint32_t kinds) {
  photon::engine::SingleSink sink{{peer, kinds, nullptr}};
  if (context == nullptr || !context->lane->try_enter()) [[unlikely]]
    return probe_one_slowly(context, peer, kinds);
  if (!context->engine->pop_local(sink)) return probe_one(context, peer, kinds);
  photon::transport::Policy::light_barrier();
  context->lane->leave_biased();
  return sink.found;
}

int ph_take_local_u64(ph_context* context, ph_rank peer, uint64_t* id) {
  if (context == nullptr || !context->lane->try_enter()) [[unlikely]]
    return 0;
  const bool taken = context->engine->pop_local(peer, *id);
  photon::transport::Policy::light_barrier();  // registers: what leaving needs is not kept before
  context->lane->leave_biased();
  return taken ? 1 : 0;
}

ph_status ph_outstanding(ph_context* context, ph_rank rank, uint64_t* count) {
  if (count == nullptr) return bad_argument(context, "outstanding: count is null");
  *count = 0;
  return in_lane<Ends::posted>(
      context, [&](auto& engine, auto&) { return engine.outstanding(rank, *count); });
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
  photon::engine::CompletionSink sink{query, completions, long_ids ? kLongIdBatch : kHandlerBatch};
  const ph_status status = probe_in_lane(context, sink);
  // Outside the lane: a handler may post and probe.
  for (size_t i = 0; i < sink.count; ++i) handler(user, &completions[i]);
  if (count != nullptr) *count = sink.count;
  return status;
}

ph_status ph_wait(ph_context* context, ph_query query, int64_t timeout_us) {
  return in_lane(context,
                 [&](auto& engine, auto& guard) { return engine.wait(guard, query, timeout_us); });
}

ph_status ph_fence(ph_context* context, ph_rank rank) {
  return in_lane<Ends::posted>(context, [&](auto& engine, auto&) { return engine.fence(rank); });
}

ph_status ph_flush(ph_context* context, ph_rank rank, int64_t timeout_us) {
  return in_lane(context,
                 [&](auto& engine, auto& guard) { return engine.flush(guard, rank, timeout_us); });
}

}  // extern "C"
