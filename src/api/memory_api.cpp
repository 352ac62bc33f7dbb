// Registration and allocation.
#include <photon/memory.h>

#include "api/lanes.hpp"

using photon::api::in_lane;

namespace {

ph_region range_of(const void* base, size_t size_bytes) noexcept {
  return {reinterpret_cast<uint64_t>(base), size_bytes, 0};
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

}  // extern "C"
