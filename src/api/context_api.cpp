// Creating, finalizing and asking a context.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "api/lanes.hpp"
#include "api/open_transport.hpp"
#include "api/service_table.hpp"
#include "base/finally.hpp"
#include "base/resource_limits.hpp"
#include "boot/lane_demux.hpp"
#include "engine/event_source.hpp"
#include "engine/peer_view.hpp"
#include "service/coll/choosing.hpp"
#include "system/random.hpp"

namespace photon::api {

void fill_error(const base::Error& from, ph_error& to) noexcept {
  to.status = from.status;
  to.native_errno = from.native_errno;
  to.rank = from.rank;
  std::snprintf(to.text, sizeof to.text, "%s", from.what.c_str());
}

ph_status refused(ph_context& context, ph_status status) noexcept {
  if (status != PH_ERR_STATE) return status;  // a fork's child: ph_last_error() knows the words
  engine::LaneGuard guard(*context.lane, engine::LaneGuard::Kind::closed_too);
  if (guard.status() != PH_OK) return guard.status();
  try {
    context.last_error = {PH_ERR_STATE, 0,
                          context.is_lane()
                              ? "the lane was closed: it takes no call any more"
                              : "the context was finalized: it takes no call any more; destroy it",
                          PH_ANY_RANK};
    if (context.engine != nullptr) context.engine->fail(context.last_error);
  } catch (const std::bad_alloc&) {
  }
  return status;
}

void finish_call(engine::Engine& engine, engine::LaneGuard& guard, ph_status status,
                 Ends ends) noexcept {
  try {
    if (status >= PH_OK) engine.count_call();  // a turn could change the words of an error
  } catch (const std::bad_alloc&) {
  }
  if (ends == Ends::posted) return engine.leave_user_code();
  try {
    engine.run_user_code(guard);
  } catch (const std::bad_alloc&) {
  }
}

base::Result<std::unique_ptr<ph_context>> assemble(engine::Engine::Parts parts) {
  auto lane = engine::Lane::create(sync::register_heavy_barrier());
  if (!lane) return lane.error();
  if (!(*lane)->wiped_by_fork())
    PHOTON_LOG(base::Log(parts.config.log, parts.boot->rank()), info,
               "madvise(MADV_WIPEONFORK) is refused here: each call asks for its process instead, "
               "which takes some 50 ns more");
  auto context = std::make_unique<ph_context>();
  context->config = parts.config;
  // A lane has its context's; a simulation may have others.
  if (parts.memory == nullptr && parts.services.empty()) parts.services = services();
  context->lane = std::move(*lane);
  context->engine = std::make_unique<engine::Engine>(std::move(parts));
  context->rank = context->engine->rank();
  context->size = context->engine->size();
  return context;
}

base::Result<std::unique_ptr<ph_context>> create_over(const base::Config& settings,
                                                      std::unique_ptr<boot::Boot> real) {
  auto boot = boot::LaneDemux::front(std::move(real));
  if (!boot) return boot.error();
  auto transport = open_transport(settings, **boot);
  if (!transport) return transport.error();
  std::uint64_t seed = 0;
  if (!system::fill_random(std::as_writable_bytes(std::span(&seed, 1))))
    return base::system_error("create: random bytes for the keys of regions");
  auto made =
      assemble({settings, std::move(*boot), std::move(*transport), engine::seeded_keys(seed)});
  if (!made || settings.progress_thread == base::Switch::off) return made;
  (*made)->progress = start_progress(**made);
  if ((*made)->progress != nullptr) (*made)->progress->begin();
  return made;
}

base::Result<base::Config> checked_settings(const ph_config* config) {
  static constexpr ph_config kDefault{sizeof(ph_config), nullptr, nullptr, 0};
  if (config == nullptr) config = &kDefault;
  if (config->size != sizeof(ph_config))
    return wrong_argument("create: config->size is not sizeof(ph_config); set it");
  if (config->options_count != 0 && config->options == nullptr)
    return wrong_argument("create: options is null but options_count is not 0");
  for (size_t i = 0; i < config->options_count; ++i)
    if (config->options[i].name == nullptr || config->options[i].value == nullptr)
      return wrong_argument("create: an option's name or value is null");
  auto settings = base::load_config({config->options, config->options_count});
  if (!settings) return settings;
  if (const auto choices = service::coll::choices_of(*settings); !choices) return choices.error();
  return settings;
}

namespace {

std::string out_of_memory() noexcept {
  try {
    return "create: out of memory" + base::memory_advice(ENOMEM, base::memory_limit_bytes());
  } catch (const std::bad_alloc&) {
    return "out of memory";  // short enough to need none
  }
}

}  // namespace

ph_status hand_over(const Make& make, ph_context** context, ph_error* error) noexcept {
  base::Error why{PH_ERR_MEMORY, 0, "create: out of memory", PH_ANY_RANK};
  try {
    auto made = context == nullptr ? Made(wrong_argument("create: context is null")) : make();
    if (made) {
      *context = made->release();
      if (error != nullptr) *error = ph_error{};
      return PH_OK;
    }
    why = made.error();
  } catch (const std::bad_alloc&) {
    why.what = out_of_memory();
  }
  if (context != nullptr) *context = nullptr;
  if (error != nullptr) fill_error(why, *error);
  return why.status;
}

namespace {

base::Result<std::unique_ptr<ph_context>> create(const ph_config* config) {
  auto settings = checked_settings(config);
  if (!settings) return settings.error();
  auto boot = boot::open(config == nullptr ? nullptr : config->bootstrap, *settings);
  if (!boot) return boot.error();
  return create_over(*settings, std::move(*boot));
}

// In a forked child: descriptors and sockets are the parent's business, and so is the thread.
void leave_to_parent(ph_context& handle) noexcept {
  static_cast<void>(handle.engine.release());
  static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(handle.progress)));
}

ph_status not_for_lanes(engine::Engine& engine, const char* call) {
  return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                     std::string(call) + ": this is a lane; name its context");
}

// What a collective does meanwhile.
boot::Serve serving(engine::Engine& engine, engine::LaneGuard& guard) {
  engine.hold_lane(true);
  return {[&engine] { return engine.serve(); },
          [&engine, &guard] { return engine::EventSource(engine).rest_on(guard); }};
}

void stop_serving(engine::Engine& engine) {
  engine::EventSource(engine).end_rest();
  engine.hold_lane(false);
}

}  // namespace

}  // namespace photon::api

using photon::api::in_lane;

extern "C" {

ph_status ph_context_create(const ph_config* config, ph_context** context, ph_error* error) {
  return photon::api::hand_over([config] { return photon::api::create(config); }, context, error);
}

ph_status ph_finalize(ph_context* context) {
  if (context == nullptr) return PH_ERR_STATE;
  bool is_in_handler = false;
  try {
    is_in_handler = photon::api::is_in_handler(*context);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
  const ph_status entered = in_lane<photon::api::Ends::posted>(context, [&](auto& engine, auto&) {
    if (is_in_handler)
      return engine.fail(PH_ERR_STATE, PH_ANY_RANK,
                         "finalize: called from a handler; let it return first");
    return context->is_lane() ? photon::api::not_for_lanes(engine, "finalize") : PH_OK;
  });
  if (entered != PH_OK) return entered;
  try {
    return photon::api::finish_all(*context);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
}

void ph_context_destroy(ph_context* context) {
  if (context == nullptr) return;
  if (context->is_lane()) return static_cast<void>(ph_lane_close(context));
  if (context->lane->forked()) {
    for (const auto& lane : context->lanes) photon::api::leave_to_parent(*lane);
    photon::api::leave_to_parent(*context);
  }
  context->progress.reset();
  context->lanes.clear();
  delete context;
}

ph_rank ph_rank_of(const ph_context* context) {
  return context == nullptr ? PH_ANY_RANK : context->rank;
}

uint32_t ph_size_of(const ph_context* context) { return context == nullptr ? 0 : context->size; }

ph_status ph_allgather(ph_context* context, const void* mine, void* all, size_t size_bytes) {
  constexpr size_t kMostBytes = 64 << 10;
  if (context == nullptr) return PH_ERR_STATE;
  return in_lane(context, [&](auto& engine, auto& guard) {
    if (context->is_lane()) return photon::api::not_for_lanes(engine, "allgather");
    if (size_bytes == 0 || size_bytes > kMostBytes || mine == nullptr || all == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                         "allgather: needs buffers, and 1 to 65536 bytes a rank");
    if (const ph_status status = engine.check_wait(); status != PH_OK) return status;
    const photon::base::Finally over([&] { photon::api::stop_serving(engine); });
    auto done = engine.boot().allgather({static_cast<const std::byte*>(mine), size_bytes},
                                        {static_cast<std::byte*>(all), size_bytes * context->size},
                                        photon::api::serving(engine, guard));
    return done ? PH_OK : engine.fail(done.error());
  });
}

ph_status ph_barrier(ph_context* context) {
  return in_lane(context, [&](auto& engine, auto& guard) {
    if (context->is_lane()) return photon::api::not_for_lanes(engine, "barrier");
    if (const ph_status status = engine.check_wait(); status != PH_OK) return status;
    const photon::base::Finally over([&] { photon::api::stop_serving(engine); });
    auto done = engine.boot().barrier(photon::api::serving(engine, guard));
    return done ? PH_OK : engine.fail(done.error());
  });
}

void ph_last_error(const ph_context* context, ph_error* error) {
  if (error == nullptr) return;
  *error = ph_error{};
  error->rank = PH_ANY_RANK;
  if (context == nullptr) return;
  if (context->lane->forked()) {
    const photon::base::Error forked{
        PH_ERR_FORKED, 0,
        "the context belongs to the parent process of this fork; create one of your own",
        PH_ANY_RANK};
    return photon::api::fill_error(forked, *error);
  }
  photon::engine::LaneGuard guard(*context->lane, photon::engine::LaneGuard::Kind::closed_too);
  if (guard.status() != PH_OK) return;
  photon::api::fill_error(
      context->engine != nullptr ? context->engine->last_error() : context->last_error, *error);
}

ph_status ph_path_to(ph_context* context, ph_rank rank, ph_path* path) {
  return in_lane<photon::api::Ends::posted>(context, [&](auto& engine, auto&) {
    if (path == nullptr || path->size != sizeof(ph_path))
      return engine.fail(PH_ERR_ARGUMENT, rank,
                         "path_to: path is null or path->size is not sizeof(ph_path)");
    return engine.describe(rank, *path);
  });
}

ph_status ph_contact(ph_context* context, ph_rank rank) {
  return in_lane<photon::api::Ends::posted>(context, [rank](auto& engine, auto&) {
    return photon::engine::PeerView(engine).contact(rank);
  });
}

ph_status ph_peer_state(ph_context* context, ph_rank rank, ph_contact_state* state) {
  return in_lane<photon::api::Ends::posted>(context, [&](auto& engine, auto&) {
    if (state == nullptr) return engine.fail(PH_ERR_ARGUMENT, rank, "peer_state: state is null");
    return photon::engine::PeerView(engine).state(rank, *state);
  });
}

}  // extern "C"
