// Registration and allocation.
#include <photon/map.h>
#include <photon/memory.h>

#include <string>

#include "api/lanes.hpp"
#include "engine/peer_view.hpp"

using photon::api::in_lane;
using photon::engine::PeerView;

namespace {

ph_region range_of(const void* base, size_t size_bytes) noexcept {
  return {reinterpret_cast<uint64_t>(base), size_bytes, 0};
}

// The links of the context's own lane tell who has let go of what was freed.
void give_back_freed(ph_context& home) noexcept {
  photon::engine::LaneGuard guard(*home.lane, photon::engine::LaneGuard::Kind::visit);
  if (guard.status() == PH_OK && home.engine != nullptr) PeerView(*home.engine).give_back_freed();
}

ph_status not_a_lane(photon::engine::Engine& engine, const char* call) {
  return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                     std::string(call) + ": this is a lane; name its context");
}

}  // namespace

extern "C" {

ph_status ph_register(ph_context* context, void* base, size_t size_bytes, uint32_t access,
                      ph_region* region) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (region == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "register: region is null");
    return engine.add_region(range_of(base, size_bytes), access, *region);
  });
}

ph_status ph_unregister(ph_context* context, uint64_t key) {
  return photon::api::take_back(
      context, [&](auto& engine, auto& removal) { return engine.begin_removal(key, removal); });
}

ph_status ph_revoke(ph_context* context, uint64_t key) {
  return photon::api::take_back(context, [&](auto& engine, auto& removal) {
    removal.is_sure = true;
    removal.call = "revoke";
    return engine.begin_removal(key, removal);
  });
}

ph_status ph_find_region(ph_context* context, const void* base, size_t size_bytes,
                         ph_region* region) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (region == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "find_region: region is null");
    return engine.find_region(range_of(base, size_bytes), *region);
  });
}

ph_status ph_alloc(ph_context* context, size_t size_bytes, ph_region* region) {
  bool has_freed = false;
  if (context != nullptr && context->is_lane())
    static_cast<void>(in_lane(context, [&](auto& engine, auto&) {
      has_freed = PeerView(engine).has_freed();
      return PH_OK;
    }));
  if (has_freed) give_back_freed(*context->home);
  return in_lane(context, [&](auto& engine, auto&) {
    if (region == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "alloc: region is null");
    return engine.allocate(size_bytes, *region);
  });
}

ph_status ph_free(ph_context* context, void* base) {
  return photon::api::take_back(
      context, [&](auto& engine, auto& removal) { return engine.begin_freeing(base, removal); });
}

ph_status ph_map(ph_context* context, ph_rank rank, const ph_region* region, void** local) {
  if (local != nullptr) *local = nullptr;
  return in_lane(context, [&](auto& engine, auto&) {
    if (context->is_lane()) return not_a_lane(engine, "map");
    if (region == nullptr || local == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, rank, "map: region or local is null");
    return PeerView(engine).map(rank, *region, *local);
  });
}

ph_status ph_unmap(ph_context* context, void* local) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (context->is_lane()) return not_a_lane(engine, "unmap");
    return PeerView(engine).unmap(local);
  });
}

}  // extern "C"
