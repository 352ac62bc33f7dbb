// The operations of one PE for which its lane had no room: a list for each process, by the links of
// their records. So a process that takes nothing holds up what is for it, and nothing else.
//
//   record: append() --> waits, behind those for its process -- go(): room --> gone
// Invariant: what waits for a process was begun before whatever is begun for it from now on.
// Owner: the PE.
#pragma once

#include <cstdint>
#include <vector>

#include "task/pool/layout.hpp"

namespace photon::task {

class Waiting {
 public:
  // Throws bad_alloc.
  explicit Waiting(std::uint32_t processes) : lists_(processes) { busy_.reserve(processes); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  bool any() const noexcept { return !busy_.empty(); }
  bool any_for(std::uint32_t process) const noexcept { return lists_[process].first != nullptr; }

  void append(std::uint32_t process, Message& record) noexcept {
    record.link = 0;
    List& list = lists_[process];
    if (list.first == nullptr) {
      list.first = &record;
      busy_.push_back(process);
    } else {
      list.last->link = name_of(&record);
    }
    list.last = &record;
  }
  // Tries the first one of each list until go(record) is false. True: some went.
  template <class Function>
  bool go_on(Function go) noexcept {
    bool moved = false;
    for (std::size_t place = busy_.size(); place-- != 0;) {
      List& list = lists_[busy_[place]];
      while (list.first != nullptr) {
        Message* next = named(list.first->link);
        if (!go(*list.first)) break;  // its link is as it was
        list.first = next;
        moved = true;
      }
      if (list.first != nullptr) continue;
      busy_[place] = busy_.back();
      busy_.pop_back();
    }
    return moved;
  }

 private:
  struct List {
    Message* first = nullptr;
    Message* last = nullptr;
  };
  std::vector<List> lists_;          // by process
  std::vector<std::uint32_t> busy_;  // processes whose list is not empty; room for all
};

}  // namespace photon::task
