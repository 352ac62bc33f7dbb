#include "boot/inbox.hpp"

#include <sys/eventfd.h>

namespace photon::boot {

base::Result<Inbox> Inbox::create() {
  base::UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return base::system_error("eventfd for messages between ranks");
  return Inbox(std::move(event));
}

void Inbox::push(Message message) {
  messages_.push_back(std::move(message));
  update();
}

std::optional<Message> Inbox::pop() {
  if (messages_.empty()) return std::nullopt;
  std::optional<Message> first(std::move(messages_.front()));
  messages_.pop_front();
  update();
  return first;
}

void Inbox::set_readable(bool on) {
  is_set_readable_ = on;
  update();
}

void Inbox::update() {
  const bool wanted = is_set_readable_ || !messages_.empty();
  if (wanted == readable_) return;
  readable_ = wanted;
  eventfd_t count;
  (void)(wanted ? ::eventfd_write(event_.get(), 1) : ::eventfd_read(event_.get(), &count));
}

}  // namespace photon::boot
