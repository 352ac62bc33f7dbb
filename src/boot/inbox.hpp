// Messages that arrived and were not asked for yet, with a descriptor that is readable meanwhile.
// Invariant: fd() is readable exactly while the inbox is not empty or is set readable.
// Owner: one Boot, one thread.
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
  // There is news that is no message: an error that receive() has to tell.
  void set_readable(bool on);

 private:
  explicit Inbox(base::UniqueFd event) : event_(std::move(event)) {}

  void update();

  base::UniqueFd event_;
  bool is_set_readable_ = false;
  bool readable_ = false;
  std::deque<Message> messages_;
};

}  // namespace photon::boot
