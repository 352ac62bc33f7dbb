#include "boot/inbox.hpp"

#include <sys/eventfd.h>

namespace photon::boot {

base::Result<Inbox> Inbox::create() {
  base::UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return base::system_error("eventfd for messages between ranks");
  return Inbox(std::move(event));
}

void Inbox::push(Message message) {
  if (messages_.empty()) (void)::eventfd_write(event_.get(), 1);
  messages_.push_back(std::move(message));
}

std::optional<Message> Inbox::pop() {
  if (messages_.empty()) return std::nullopt;
  std::optional<Message> first(std::move(messages_.front()));
  messages_.pop_front();
  if (messages_.empty()) {
    eventfd_t count;
    (void)::eventfd_read(event_.get(), &count);
  }
  return first;
}

}  // namespace photon::boot
