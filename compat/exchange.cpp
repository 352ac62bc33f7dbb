#include "compat/exchange.hpp"

#include <climits>

#include "compat/session.hpp"
#include "compat/warn.hpp"

namespace photon::classic {

int Exchange::gather(void* user, const void* mine, void* all, std::size_t size_bytes) {
  if (size_bytes > INT_MAX) return -1;
  const auto& callbacks = static_cast<const Exchange*>(user)->callbacks_;
  // The classic signature has no const; its callbacks only read `mine`.
  return callbacks.allgather(nullptr, const_cast<void*>(mine), all, static_cast<int>(size_bytes));
}

int Exchange::meet(void* user) {
  return static_cast<const Exchange*>(user)->callbacks_.barrier(nullptr);
}

bool Exchange::choose(const photon_config_t& config) {
  switch (config.meta_exch) {
    case PHOTON_EXCH_EXTERNAL: return choose_external(config);
    default: return true;
  }
}

bool Exchange::choose_external(const photon_config_t& config) {
  if (config.exch.allgather == nullptr || config.exch.barrier == nullptr) {
    warn("photon_init", "PHOTON_EXCH_EXTERNAL needs both exch.allgather and exch.barrier");
    return false;
  }
  if (config.nproc < 1 || config.address < 0 || config.address >= config.nproc) {
    warn("photon_init", "address is no rank of a job of nproc");
    return false;
  }
  callbacks_ = config.exch;
  bootstrap_ = {this, static_cast<ph_rank>(config.address),
                static_cast<std::uint32_t>(config.nproc), &gather, &meet};
  given_ = true;
  return true;
}

void Exchange::tell(const Session& session, photon_config_t& config) const noexcept {
  if (config.meta_exch == PHOTON_EXCH_EXTERNAL) return;
  config.address = static_cast<int>(session.rank());
  config.nproc = static_cast<int>(session.size());
}

}  // namespace photon::classic
