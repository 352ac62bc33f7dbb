#include "interop/mpi/message/layouts.hpp"

#include <new>

namespace photon::mpi {

MPIX_Am_layout Layouts::create(const Layout& layout) noexcept {
  try {
    auto kept = std::make_unique<Kept>(layout);
    const MPIX_Am_layout handle = kept.get();
    const std::lock_guard guard(mutex_);
    all_.emplace(handle, std::move(kept));
    return handle;
  } catch (const std::bad_alloc&) {
    return MPIX_AM_LAYOUT_NULL;
  }
}

bool Layouts::free(MPIX_Am_layout handle) noexcept {
  const std::lock_guard guard(mutex_);
  return all_.erase(handle) != 0;
}

std::shared_ptr<const Layout> Layouts::find(MPIX_Am_layout handle) noexcept {
  const std::lock_guard guard(mutex_);
  const auto at = all_.find(handle);
  return at == all_.end() ? nullptr : at->second->layout;
}

}  // namespace photon::mpi
