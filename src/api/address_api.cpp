// Joining by addresses, and handing them over.
#include <cstring>

#include "api/handle.hpp"
#include "boot/address_boot.hpp"

namespace photon::api {

namespace {

base::Result<std::unique_ptr<ph_context>> join(const ph_job* job, const ph_config* config) {
  if (job == nullptr) return wrong_argument("join: job is null");
  if (job->size != sizeof(ph_job))
    return wrong_argument("join: job->size is not sizeof(ph_job); set it");
  if (job->secret == nullptr) return wrong_argument("join: the job's secret is null");
  auto settings = checked_settings(config);
  if (!settings) return settings.error();
  if (config != nullptr && config->bootstrap != nullptr)
    return wrong_argument("join: the config has a bootstrap as well; it is one or the other");
  auto boot =
      boot::AddressBoot::open({job->rank,
                               job->ranks_count,
                               {static_cast<const std::byte*>(job->secret), job->secret_bytes}},
                              *settings);
  if (!boot) return boot.error();
  return create_over(*settings, std::move(*boot));
}

}  // namespace

}  // namespace photon::api

using photon::api::in_lane;

extern "C" {

ph_status ph_context_join(const ph_job* job, const ph_config* config, ph_context** context,
                          ph_error* error) {
  return photon::api::hand_over([&] { return photon::api::join(job, config); }, context, error);
}

ph_status ph_address(ph_context* context, void* address, size_t capacity_bytes,
                     size_t* size_bytes) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (address == nullptr || size_bytes == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "address: a pointer is null");
    const auto own = engine.boot().address();
    if (!own) return engine.fail(own.error());
    *size_bytes = own->size();
    if (capacity_bytes < own->size())
      return engine.fail(PH_ERR_RANGE, PH_ANY_RANK,
                         "address: it has " + std::to_string(own->size()) +
                             " bytes, with room for " + std::to_string(capacity_bytes) +
                             "; PH_MAX_ADDRESS_BYTES are enough");
    std::memcpy(address, own->data(), own->size());
    return PH_OK;
  });
}

ph_status ph_connect(ph_context* context, const void* address, size_t size_bytes, ph_rank* rank) {
  return in_lane(context, [&](auto& engine, auto&) {
    if (address == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "connect: the address is null");
    const auto found = engine.boot().connect({static_cast<const std::byte*>(address), size_bytes});
    if (!found) return engine.fail(found.error());
    if (rank != nullptr) *rank = *found;
    return PH_OK;
  });
}

}  // extern "C"
