// A set of descriptors behind one pollable descriptor (epoll), each with a number of ours.
// Invariant: a descriptor is removed before it is closed. Owner: one Boot, one thread.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

struct Ready {
  std::uint64_t tag = 0;
  std::uint32_t events = 0;
};

class Watch {
 public:
  static base::Result<Watch> create();

  int fd() const { return epoll_.get(); }
  base::Result<> add(int fd, std::uint32_t events, std::uint64_t tag);
  base::Result<> change(int fd, std::uint32_t events, std::uint64_t tag);
  void remove(int fd);
  // What is ready now, at most 16; valid until the next call. Never blocks.
  std::span<const Ready> ready();

 private:
  explicit Watch(base::UniqueFd epoll) : epoll_(std::move(epoll)) {}
  base::Result<> control(int operation, int fd, std::uint32_t events, std::uint64_t tag);

  base::UniqueFd epoll_;
  std::array<Ready, 16> ready_{};
};

}  // namespace photon::boot
