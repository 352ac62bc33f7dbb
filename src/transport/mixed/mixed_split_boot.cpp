#include "transport/mixed/mixed_split_boot.hpp"

#include <sys/epoll.h>

#include <utility>

namespace photon::transport::mixed {

namespace {

constexpr int kMostSorted = 64;  // messages in one go

}  // namespace

base::Result<std::unique_ptr<SplitBoot>> SplitBoot::open(boot::Boot& real,
                                                         std::shared_ptr<Sides> sides) {
  auto near = Face::make(real);
  if (!near) return near.error();
  auto far = Face::make(real);
  if (!far) return far.error();
  return std::unique_ptr<SplitBoot>(
      new SplitBoot(real, std::move(sides), std::move(*near), std::move(*far)));
}

base::Result<SplitBoot::Face::Parts> SplitBoot::Face::make(const boot::Boot& real) {
  auto inbox = boot::Inbox::create();
  if (!inbox) return inbox.error();
  auto watch = boot::Watch::create();
  if (!watch) return watch.error();
  for (const int fd : {real.poll_fd(), inbox->fd()})
    if (fd >= 0)
      if (auto added = watch->add(fd, EPOLLIN, 0); !added) return added.error();
  return Parts{std::move(*inbox), std::move(*watch)};
}

base::Result<std::optional<boot::Message>> SplitBoot::Face::receive() {
  if (parts_.inbox.empty()) split_.sort(*this);
  if (auto message = parts_.inbox.pop()) return message;
  if (!failure_) return std::optional<boot::Message>{};
  const base::Error why = std::move(*failure_);
  failure_.reset();
  parts_.inbox.set_readable(false);
  return why;
}

void SplitBoot::Face::fail(const base::Error& why) {
  failure_ = why;
  parts_.inbox.set_readable(true);
}

// Up to a message for who asks. A rank that none has is the near side's to complain of.
void SplitBoot::sort(const Face& taker) {
  for (int i = 0; i < kMostSorted; ++i) {
    auto received = real_.receive();
    if (!received) {
      near_.fail(received.error());
      far_.fail(received.error());
      return;
    }
    if (!*received) return;
    Face& side = side_of((*received)->from);
    side.put(std::move(**received));
    if (&side == &taker) return;
  }
}

}  // namespace photon::transport::mixed
