// What this rank has mapped of its peers' ph_alloc memory (docs/memory-model.md, "Mapped memory").
//
//   pointer: unmapped -- add() --> mapped, counted -- as many remove() --> unmapped
//
// Invariant: each pointer has an entry of its own in the hold table of the link to its owner, named
// as long as it is mapped and that link stands.
// Owner: the engine of the context's own lane, under its lock.
#pragma once

#include <photon/map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace photon::engine {

class Mappings {
 public:
  struct One {
    ph_rank rank = 0;
    std::size_t entry = 0;  // of the hold table
    std::uint64_t count = 0;
    std::shared_ptr<const void> memory;  // keeps what is mapped
  };

  One* find(void* local) noexcept {
    const auto found = mapped_.find(local);
    return found == mapped_.end() ? nullptr : &found->second;
  }
  // The lowest entry of that rank's table that no pointer has, or `most`.
  std::size_t free_entry(ph_rank rank, std::size_t most) const {
    std::vector<bool> used(most);
    for (const auto& [local, one] : mapped_)
      if (one.rank == rank) used[one.entry] = true;
    return static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
  }
  void add(void* local, One one) { mapped_.emplace(local, std::move(one)); }
  void remove(void* local) noexcept { mapped_.erase(local); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [local, one] : mapped_) visit(one);
  }
  void clear() noexcept { mapped_.clear(); }

 private:
  std::map<void*, One> mapped_;
};

}  // namespace photon::engine
