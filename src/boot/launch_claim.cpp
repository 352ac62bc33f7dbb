#include "boot/launch_claim.hpp"

#include <fcntl.h>
#include <photon/launch.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "base/resource_limits.hpp"
#include "system/random.hpp"

namespace photon::boot {
namespace {

base::Error refuse(std::string_view fd_text, const char* why) {
  return {
      .status = PH_ERR_BOOTSTRAP,
      .what = std::string(PH_LAUNCH_FD_VARIABLE "=").append(fd_text.substr(0, 32)) + ": " + why};
}

constexpr const char* kTaken =
    "this process's place in the launcher's job is taken; one process is one rank of it: have "
    "only one context from the launcher's environment at a time (ph_finalize() gives the place "
    "back, ph_context_destroy() alone does not), and give others a ph_bootstrap";
constexpr std::string_view kClaimed("photon-claim-");

// Where a sandbox refuses the question the launcher's answer decides.
bool has_option(int fd, int option, int wanted) {
  int value = -1;
  socklen_t value_bytes = sizeof value;
  if (::getsockopt(fd, SOL_SOCKET, option, &value, &value_bytes) != 0)
    return base::is_call_refused(errno);
  return value == wanted;
}

// The kernel lets a socket be named once in its life, whoever holds it: the one test-and-set that
// two threads, two processes behind one wrapper, and a context made after another one was
// destroyed all share.
bool name_it(int fd, std::string_view prefix) {
  std::array<std::byte, 16> random{};
  if (!system::fill_random(random)) return false;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  char* const text = name.sun_path + 1;  // after the 0 of an abstract name
  std::memcpy(text, prefix.data(), prefix.size());
  std::memcpy(text + prefix.size(), random.data(), random.size());
  const auto name_bytes = offsetof(sockaddr_un, sun_path) + 1 + prefix.size() + random.size();
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&name), static_cast<socklen_t>(name_bytes)) ==
         0;
}

// What the name of the launcher's end begins with. A fork's child has another: it is not the rank.
std::string next_prefix() {
  const pid_t self = ::getpid();
  return std::string(PH_LAUNCH_NEXT_NAME) + std::to_string(self) + "-";
}

// A channel that an earlier context of this process has left here.
bool is_next_channel(int fd) {
  sockaddr_un peer{};
  socklen_t peer_bytes = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) != 0) return false;
  constexpr std::size_t kTextAt = offsetof(sockaddr_un, sun_path) + 1;
  if (peer.sun_family != AF_UNIX || peer_bytes < kTextAt || peer.sun_path[0] != 0) return false;
  const std::string_view text(peer.sun_path + 1,
                              std::min<std::size_t>(peer_bytes, sizeof peer) - kTextAt);
  return text.starts_with(next_prefix());
}

}  // namespace

base::Result<Claimed> claim_launch_fd(std::string_view fd_text) {
  int fd = -1;
  const char* const end = fd_text.data() + fd_text.size();
  const auto parsed = std::from_chars(fd_text.data(), end, fd);
  if (parsed.ec != std::errc{} || parsed.ptr != end || fd < 0) {
    return refuse(fd_text,
                  "not a descriptor number; start the program with photonrun, or unset it");
  }
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags < 0) {
    return refuse(
        fd_text,
        "that descriptor is not open: a context of this process had it before, the "
        "program was started by a rank (start it with its own photonrun, or unset it), or "
        "a wrapper closed it, as Python's subprocess does without close_fds=False");
  }
  // The first is inherited, thus not close-on-exec; with the flag it is ours already, or the number
  // went to something else after a context had closed it, unless that has left the next one there.
  const bool is_next = is_next_channel(fd);
  if ((flags & FD_CLOEXEC) && !is_next) return refuse(fd_text, kTaken);
  if (!has_option(fd, SO_DOMAIN, AF_UNIX) || !has_option(fd, SO_TYPE, SOCK_SEQPACKET)) {
    return refuse(fd_text,
                  "that descriptor is not a launcher's socket; unset it, or start the "
                  "program with photonrun");
  }
  // Where a sandbox lets nobody name a socket, FD_CLOEXEC alone tells that it is taken.
  if (!name_it(fd, kClaimed) && !base::is_call_refused(errno)) return refuse(fd_text, kTaken);
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return base::system_error("FD_CLOEXEC");
  return Claimed{base::UniqueFd(fd), is_next};
}

base::Result<NextChannel> make_next_channel(const base::UniqueFd& claimed) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
    return base::system_error("socketpair");
  NextChannel next{base::UniqueFd(ends[0]), base::UniqueFd(ends[1]), {}};
  constexpr int kAboveStandard = STDERR_FILENO + 1;
  next.moved.reset(::fcntl(claimed.get(), F_DUPFD_CLOEXEC, kAboveStandard));
  if (!next.moved) return base::system_error("F_DUPFD_CLOEXEC");
  if (!name_it(next.launchers.get(), next_prefix())) return base::system_error("bind");
  return next;
}

void put_in_place(base::UniqueFd& claimed, NextChannel& next) {
  // Both are open, so that this can fail by nothing but a number that another thread opens just
  // now.
  while (::dup3(next.here.get(), claimed.get(), O_CLOEXEC) < 0 &&
         (errno == EINTR || errno == EBUSY))
    continue;
  static_cast<void>(claimed.release());  // it is the next context's now
  claimed = std::move(next.moved);
  next.here.reset();
}

}  // namespace photon::boot
