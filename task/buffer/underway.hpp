// The operations of one PE whose own done has not had its turn: those that it has issued, and those
// whose other side was asked to issue them. An id names one by slot and generation, so a forged or
// late one finds nothing; nor does a message that says of itself that it is such a record.
//
//   slot: free -- add() --> issued, turned, fed -- end() --> ended -- take() --> free
//              -- add() --> ended, by a copy      turned, fed -- take() --> free
//
// Owner: the PE. A record is the table's until it was taken.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "task/machine/rdma.hpp"
#include "task/pool/layout.hpp"

namespace photon::task {

class Underway {
 public:
  Underway() = default;
  Underway(const Underway&) = delete;
  Underway& operator=(const Underway&) = delete;

  // False: no memory, or 16 million are under way. `name` has its slot and generation.
  bool add(Message& record, EndName::Says says, EndName& name) noexcept;
  // The record of that name, or null.
  Message* find(const EndName& name) const noexcept;
  // The same, and the name is gone.
  Message* take(const EndName& name) noexcept;
  // The same, and from now on it is found as an ended one.
  Message* end(const EndName& name) noexcept;

  std::size_t count() const noexcept { return entries_.size() - free_.size(); }
  std::size_t count(EndName::Says says) const noexcept {
    return counts_[static_cast<std::size_t>(says)];
  }
  // All of that kind, with their names; the function may end or take its own.
  template <class Function>
  void each(EndName::Says says, Function function) noexcept {
    std::size_t left = count(says);
    for (std::uint32_t slot = 0; left != 0; ++slot) {
      const Entry entry = entries_[slot];
      if (entry.record == nullptr || entry.says != says) continue;
      --left;
      function(EndName{.slot = slot, .generation = entry.generation, .rank = 0, .says = says},
               *entry.record);
    }
  }
  // Takes all.
  template <class Function>
  void drain(Function function) noexcept {
    for (Entry& entry : entries_)
      if (entry.record != nullptr) function(*entry.record);
    entries_.clear();
    free_.clear();
    counts_ = {};
  }

 private:
  struct Entry {
    Message* record = nullptr;  // null: free
    std::uint32_t generation = 0;
    EndName::Says says = EndName::Says::none;
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;      // room for all
  std::array<std::size_t, 8> counts_{};  // by what they say
};

}  // namespace photon::task
