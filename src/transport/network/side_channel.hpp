// A transport's end of the side channel: when it is looked at, and how its descriptor ends sleeps.
//
//   whole -- next() fails --> broken: nothing is looked for any more, and its descriptor, which may
//                             be readable for ever, is not waited for
//
// It is looked at when there is a reason to, else by the clock: more often for a while after a
// question of ours. Its descriptor may end sleeps for nothing, for what others of this process do
// with the same bootstrap. After some such ends in a row it is left out of a sleep, which the clock
// ends then.
// Owner: the transport, under its lock; sleep_on() and slept() are the sleeper's, without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "boot/boot.hpp"
#include "sync/hint.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

class SideChannel {
 public:
  explicit SideChannel(boot::Boot& boot) : boot_(boot), fd_(boot.poll_fd()) {}

  // As the bootstrap's: false says that the rank is gone. An answer is looked for soon.
  base::Result<bool> send(Rank to, std::span<const std::byte> bytes);
  // The question of a first contact is out: its answer is waited for.
  void asked(std::int64_t now_ns) noexcept { asked_ns_ = now_ns; }
  void look_soon() noexcept { is_due_.set(1); }
  bool is_broken() const noexcept { return is_broken_.get() != 0; }
  bool is_idle() const { return boot_.idle(); }

  // Whether it is time for a look, which then has to follow. By the clock it is after `patience`
  // times as long as usual.
  bool is_due(std::int64_t now_ns, unsigned patience = 1) noexcept;
  // A look is begin_look(), then next() until it brings nothing. An error: it is broken.
  void begin_look() noexcept;
  base::Result<std::optional<boot::Message>> next();

  struct Wait {
    int fd = -1;  // -1: none
    std::int64_t limit_us = -1;
  };
  // What a sleep of at most `limit_us` (< 0: no limit) waits for because of it, and how long then.
  Wait sleep_on(std::int64_t limit_us) noexcept;
  // The sleep was ended by its descriptor.
  void slept() noexcept;

 private:
  using Flag = sync::Hint<Policy, std::uint32_t>;

  boot::Boot& boot_;
  const int fd_;
  Flag is_due_;
  Flag is_broken_;
  Flag ends_;  // of sleeps by its descriptor, since the last message
  std::int64_t looked_ns_ = 0;
  std::int64_t asked_ns_ = 0;
  unsigned left_ = 0;  // messages of this look
};

}  // namespace photon::transport::network
