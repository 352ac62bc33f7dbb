#include <photon/launch.h>

#include <cstdlib>

#include "boot/boot.hpp"
#include "boot/callback_boot.hpp"
#include "boot/launch_boot.hpp"
#include "boot/single_boot.hpp"

namespace photon::boot {

base::Result<std::unique_ptr<Boot>> open(const ph_bootstrap* bootstrap,
                                         const base::Config& config) {
  if (bootstrap) return CallbackBoot::open(*bootstrap, config);
  const char* const launch_fd = std::getenv(PH_LAUNCH_FD_VARIABLE);
  if (launch_fd && *launch_fd) return LaunchBoot::open(launch_fd);
  return SingleBoot::open();
}

}  // namespace photon::boot
