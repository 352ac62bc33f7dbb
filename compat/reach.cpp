#include "compat/reach.hpp"

#include <string_view>

namespace photon::classic {

ph_status reach(ph_context* context, ph_rank rank) noexcept {
  ph_path path{};
  path.size = sizeof path;
  if (const ph_status status = ph_path_to(context, rank, &path); status != PH_OK) return status;
  const std::string_view state = path.state;
  if (state == "departed") return PH_ERR_DEPARTED;
  if (state == "dead") return PH_ERR_PEER;
  if (state != "unknown") return PH_OK;
  ph_put_args nothing{};
  nothing.size = sizeof nothing;
  nothing.flags = PH_NO_LCE | PH_NO_RCE;
  const ph_status status = ph_put(context, rank, &nothing);
  return status < 0 ? status : PH_OK;
}

}  // namespace photon::classic
