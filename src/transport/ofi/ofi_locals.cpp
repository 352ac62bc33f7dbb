// Our own memory that fragments are read from and written to, where the provider wants it
// registered (FI_MR_LOCAL). What is registered when, and for how long, is the engine's business.
#include <unistd.h>

#include <new>

#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

std::uint64_t OfiTransport::local_granule() const noexcept {
  const auto& traits = parts_.fabric->traits();
  if (!traits.has_rma_endpoints || !traits.registers_own) return 0;
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

base::Result<std::uint64_t> OfiTransport::register_local(std::span<const std::byte> memory,
                                                         bool is_written) noexcept {
  const network::Entered entered(lock_);
  const auto use = is_written ? Fabric::Use::destinations : Fabric::Use::sources;
  auto shown = parts_.fabric->show({const_cast<std::byte*>(memory.data()), memory.size()}, use);
  if (!shown) return shown;
  try {
    locals_.insert(*shown);
  } catch (const std::bad_alloc&) {
    parts_.fabric->hide(*shown);
    return base::Error{PH_ERR_MEMORY, 0, "ofi: no memory for a registration", PH_ANY_RANK};
  }
  return shown;
}

void OfiTransport::unregister_local(std::uint64_t handle) noexcept {
  const network::Entered entered(lock_);
  if (locals_.erase(handle) != 0) parts_.fabric->hide(handle);
}

}  // namespace photon::transport::ofi
