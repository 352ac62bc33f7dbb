#include "service/am/handlers.hpp"

#include <algorithm>
#include <utility>

namespace photon::service::am {

bool HandlerTable::add(std::uint32_t id, ph_am_handler handler, void* user) {
  auto& place = pages_[id / kPageIds];
  Page* page = place.get();
  if (page != nullptr && page->nodes[id % kPageIds] != nullptr) return false;
  auto node = std::make_unique<HandlerNode>(HandlerNode{handler, user});
  retired_.reserve(retired_.size() + shown_ + 1);
  if (page == nullptr) {
    owned_.reserve(owned_.size() + 1);
    owned_.push_back(std::make_unique<Page>());
    page = owned_.back().get();
    place.set(page);
  }
  page->nodes[id % kPageIds] = std::move(node);
  page->shown[id % kPageIds].set(page->nodes[id % kPageIds].get());
  ++shown_;
  return true;
}

const HandlerNode* HandlerTable::retire(std::uint32_t id, std::uint64_t runs) noexcept {
  Page* const page = pages_[id / kPageIds].get();
  if (page == nullptr || page->nodes[id % kPageIds] == nullptr) return nullptr;
  --shown_;
  page->shown[id % kPageIds].set(nullptr);
  retired_.push_back({std::move(page->nodes[id % kPageIds]), runs});
  return retired_.back().node.get();
}

bool HandlerTable::is_over(const HandlerNode* retired, std::uint64_t runs_over) noexcept {
  const auto one = std::find_if(retired_.begin(), retired_.end(),
                                [&](const Retired& it) { return it.node.get() == retired; });
  if (one == retired_.end()) return true;
  if (runs_over < one->runs || one->node->pulls != 0) return false;
  retired_.erase(one);
  return true;
}

}  // namespace photon::service::am
