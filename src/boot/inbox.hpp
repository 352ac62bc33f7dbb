// Messages that arrived and were not asked for yet, with a descriptor that is readable meanwhile.
// Invariant: fd() is readable exactly while the inbox is not empty. Owner: one Boot, one thread.
#pragma once

#include <deque>
#include <optional>

#include "boot/boot.hpp"

namespace photon::boot {

class Inbox {
 public:
  static base::Result<Inbox> create();

  bool empty() const { return messages_.empty(); }
  int fd() const { return event_.get(); }
  void push(Message message);
  std::optional<Message> pop();

 private:
  explicit Inbox(base::UniqueFd event) : event_(std::move(event)) {}

  base::UniqueFd event_;
  std::deque<Message> messages_;
};

}  // namespace photon::boot
