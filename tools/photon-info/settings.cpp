#include <fmt/format.h>

#include "findings.hpp"

namespace photon_info {

std::string version_text() {
  const std::uint32_t version = ph_version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::vector<Setting> find_settings(const ph_context* context) {
  std::vector<Setting> settings;
  for (std::size_t index = 0;; ++index) {
    ph_setting row = {};
    row.size = sizeof row;
    if (ph_setting_at(context, index, &row) != PH_OK) return settings;
    settings.push_back({row.name, row.environment, row.value, row.origin, row.help});
  }
}

}  // namespace photon_info
