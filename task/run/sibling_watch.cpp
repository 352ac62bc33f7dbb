#include "task/run/sibling_watch.hpp"

#include "task/run/pe.hpp"

namespace photon::task {

void SiblingWatch::visit(const Pe& own, const std::vector<Pe*>& all) noexcept {
  for (Pe* sibling : all) {
    if (sibling == &own) continue;
    const std::uint64_t looks = sibling->looks();
    const bool is_busy = looks_[sibling->rank()] == looks && !sibling->rests();
    looks_[sibling->rank()] = looks;
    for (unsigned i = 0; is_busy && i < kVisits && sibling->machine().visit(); ++i) continue;
  }
}

}  // namespace photon::task
