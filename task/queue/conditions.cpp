#include "task/queue/conditions.hpp"

#include <algorithm>

namespace photon::task {

std::uint64_t Conditions::add(Condition condition, const Call& call) {
  const auto number = static_cast<std::size_t>(condition);
  const std::uint64_t name = (names_ + 1) * kConditions + number;
  lists_[number].entries.push_back({name, call});
  ++lists_[number].alive;
  ++names_;
  return name;
}

bool Conditions::cancel(std::uint64_t name) noexcept {
  List& list = lists_[name % kConditions];
  const auto entry = std::ranges::find(list.entries, name, &Entry::name);
  if (entry == list.entries.end() || entry->call.function == nullptr) return false;
  --list.alive;
  entry->call.function = nullptr;
  if (list.raising == 0) list.entries.erase(entry);
  return true;
}

void Conditions::raise(Condition condition, ph_task_pe* pe) noexcept {
  List& list = lists_[static_cast<std::size_t>(condition)];
  ++list.raising;
  const std::size_t count = list.entries.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Call call = list.entries[i].call;  // the list may grow meanwhile
    if (call.function != nullptr) call.function(pe, call.user);
  }
  if (--list.raising == 0)
    std::erase_if(list.entries, [](const Entry& entry) { return entry.call.function == nullptr; });
}

}  // namespace photon::task
