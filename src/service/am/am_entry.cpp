#include "service/am/am_entry.hpp"

#include <utility>

namespace photon::service::am {

std::unique_ptr<Entry> EntryPool::make(const Draft& draft) {
  auto entry = take();
  entry->head = draft.head;
  const bool is_line = draft.head.way == Way::line;
  entry->size_bytes = is_line ? draft.line_bytes() : draft.bytes();
  if (!is_line) entry->memory = std::make_unique_for_overwrite<std::byte[]>(entry->size_bytes);
  lay_out(draft, entry->data());
  return entry;
}

void EntryPool::give(std::unique_ptr<Entry> entry) noexcept {
  if (free_.size() >= most_) return;
  entry->memory.reset();
  entry->head = {};
  entry->note = {};
  entry->counted = 0;
  entry->token = 0;
  free_.push(std::move(entry));
}

std::unique_ptr<Entry> EntryList::take(std::uint64_t token) noexcept {
  Entry* before = nullptr;
  for (Entry* one = first_.get(); one != nullptr; before = one, one = one->next.get()) {
    if (one->token != token) continue;
    if (before == nullptr) return pop();
    std::unique_ptr<Entry> taken = std::move(before->next);
    before->next = std::move(taken->next);
    if (last_ == taken.get()) last_ = before;
    --size_;
    return taken;
  }
  return nullptr;
}

}  // namespace photon::service::am
