// Settings, versions and status texts: what can be asked at any time.
#include <cstdio>

#include "api/handle.hpp"
#include "base/config.hpp"
#include "base/status.hpp"

extern "C" {

uint32_t ph_version(void) { return PHOTON_VERSION_NUMBER; }

const char* ph_status_text(ph_status status) { return photon::base::status_text(status); }

ph_status ph_setting_at(const ph_context* context, size_t index, ph_setting* setting) {
  if (setting == nullptr || setting->size != sizeof(ph_setting)) return PH_ERR_ARGUMENT;
  const auto fields = photon::base::fields();
  if (index >= fields.size()) return PH_ERR_NOT_FOUND;
  try {
    photon::base::Config config;
    if (context != nullptr) {
      config = context->config;
    } else {
      auto read = photon::base::read_config({});
      if (!read) return read.error().status;
      config = *read;
    }
    const auto& field = fields[index];
    setting->name = field.name;
    setting->environment = field.environment;
    setting->help = field.help;
    setting->origin = photon::base::origin_text(config.origins[index]);
    std::snprintf(setting->value, sizeof setting->value, "%s",
                  photon::base::value_text(config, field).c_str());
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
  return PH_OK;
}

}  // extern "C"
