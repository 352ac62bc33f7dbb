// Tells what this process may use of the kernel: the system calls of start-up and contact, each
// tried on something of our own, and the limits.
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "findings.hpp"

namespace photon_info {
namespace {

// Closed when it goes out of sight; -1: the call that was to make it was refused.
class Fd {
 public:
  explicit Fd(long fd) noexcept : fd_(static_cast<int>(fd)) {}
  ~Fd() {
    const int before = errno;  // of the call that is judged
    if (fd_ >= 0) ::close(fd_);
    errno = before;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

class Pair {
 public:
  explicit Pair(int kind) noexcept {
    if (::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, ends_) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pair() {
    const int before = errno;
    for (const int end : ends_)
      if (end >= 0) ::close(end);
    errno = before;
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  [[nodiscard]] int one() const noexcept { return ends_[0]; }
  [[nodiscard]] int other() const noexcept { return ends_[1]; }
  [[nodiscard]] bool is_open() const noexcept { return ends_[0] >= 0; }

 private:
  int ends_[2];
};

constexpr unsigned kSealing = MFD_CLOEXEC | MFD_ALLOW_SEALING;
constexpr std::size_t kPage = 4096;

// Each is true where the call is allowed, and where what it needs is not there to try it on; false,
// and errno.
bool try_memfd() { return Fd(::memfd_create("photon-info", kSealing)).is_open(); }

bool try_on_memfd(bool (*on)(int)) {
  const Fd memory(::memfd_create("photon-info", kSealing));
  return !memory.is_open() || on(memory.get());
}

bool try_ftruncate() {
  // To no bytes: more of them than RLIMIT_FSIZE allows would end us by a signal.
  return try_on_memfd([](int fd) { return ::ftruncate(fd, 0) == 0; });
}
bool try_add_seals() {
  return try_on_memfd([](int fd) { return ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0; });
}
bool try_get_seals() {
  return try_on_memfd([](int fd) { return ::fcntl(fd, F_GET_SEALS) >= 0; });
}
bool try_shared_map() {
  return try_on_memfd([](int fd) {
    void* at = ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return false;
    return ::munmap(at, kPage) == 0;
  });
}

bool try_wipe_on_fork() {
  void* at = ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return true;
  const bool allowed = ::madvise(at, kPage, MADV_WIPEONFORK) == 0;
  const int why = errno;
  ::munmap(at, kPage);
  errno = why;
  return allowed;
}

bool try_membarrier() { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0U, 0) >= 0; }
bool try_pidfd_open() { return Fd(::syscall(SYS_pidfd_open, ::getpid(), 0)).is_open(); }

bool try_copy(ssize_t (*copy)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                              unsigned long)) {
  char from = 0;
  char to = 0;
  const iovec mine{&to, 1};
  const iovec theirs{&from, 1};
  return copy(::getpid(), &mine, 1, &theirs, 1, 0) == 1;
}
bool try_readv() { return try_copy(&::process_vm_readv); }
bool try_writev() { return try_copy(&::process_vm_writev); }

bool try_eventfd() { return Fd(::eventfd(0, EFD_CLOEXEC)).is_open(); }
bool try_epoll() { return Fd(::epoll_create1(EPOLL_CLOEXEC)).is_open(); }
bool try_epoll_ctl() {
  const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  const Pair watched(SOCK_STREAM);
  epoll_event event{};
  return !epoll.is_open() || !watched.is_open() ||
         ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, watched.one(), &event) == 0;
}
bool try_ppoll() {
  const timespec at_once{};
  return ::ppoll(nullptr, 0, &at_once, nullptr) == 0;
}
bool try_timerfd() { return Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)).is_open(); }
bool try_signalfd() {
  sigset_t none;
  sigemptyset(&none);
  return Fd(::signalfd(-1, &none, SFD_CLOEXEC)).is_open();
}
bool try_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  for (const int end : ends) ::close(end);
  return true;
}
bool try_socketpair() { return Pair(SOCK_SEQPACKET).is_open(); }
bool try_unix() { return Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)).is_open(); }
bool try_inet() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)).is_open(); }
bool try_netlink() { return Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)).is_open(); }
bool try_bind() {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr of_any_name{};
  of_any_name.sa_family = AF_UNIX;
  return !socket.is_open() || ::bind(socket.get(), &of_any_name, sizeof(sa_family_t)) == 0;
}
bool try_getsockopt() {
  const Pair pair(SOCK_STREAM);
  int value = 0;
  socklen_t bytes = sizeof value;
  return !pair.is_open() || ::getsockopt(pair.one(), SOL_SOCKET, SO_DOMAIN, &value, &bytes) == 0;
}

// A message with a descriptor, there and taken.
bool try_message(bool is_receiver) {
  const Pair pair(SOCK_SEQPACKET);
  if (!pair.is_open()) return true;
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = pair.one();
  std::memcpy(CMSG_DATA(head), &passed, sizeof passed);
  if (!is_receiver) return ::sendmsg(pair.one(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
  message.msg_controllen = 0;
  return ::recvmsg(pair.other(), &message, MSG_DONTWAIT) >= 0 || errno == EAGAIN;
}
bool try_sendmsg() { return try_message(false); }
bool try_recvmsg() { return try_message(true); }

bool try_prctl() {
  int is_one = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &is_one) == 0;
}
bool try_getrandom() {
  char byte = 0;
  return ::getrandom(&byte, 1, GRND_NONBLOCK) == 1 || errno == EAGAIN;
}
bool try_getaffinity() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 || errno == EINVAL;  // more cores
}
bool try_getrlimit() {
  rlimit found{};
  return ::getrlimit(RLIMIT_NOFILE, &found) == 0;
}

struct Need {
  const char* name;
  bool (*is_allowed)();
  const char* without;
};

constexpr const char* kNoShm = "no shared memory: auto takes the network, transport shm fails";
constexpr const char* kNoRank = "no rank can start: allow it";
constexpr const char* kNoLauncher = "photonrun cannot start a rank: allow it";

constexpr Need kNeeds[] = {
    {"memfd_create", &try_memfd, kNoShm},
    {"ftruncate", &try_ftruncate, kNoShm},
    {"fcntl(F_ADD_SEALS)", &try_add_seals, kNoShm},
    {"fcntl(F_GET_SEALS)", &try_get_seals, kNoShm},
    {"mmap(MAP_SHARED)", &try_shared_map, kNoShm},
    {"process_vm_readv", &try_readv, "gets of malloc's memory go by the bulk ring"},
    {"process_vm_writev", &try_writev, "puts to malloc's memory go by the bulk ring"},
    {"membarrier", &try_membarrier, "a fence with each record, and each call takes a lock"},
    {"madvise(MADV_WIPEONFORK)", &try_wipe_on_fork, "each call asks which process it is in"},
    {"pidfd_open", &try_pidfd_open,
     "the end of a rank behind a wrapper is seen with the wrapper's"},
    {"eventfd2", &try_eventfd, kNoRank},
    {"epoll_create1", &try_epoll, kNoRank},
    {"epoll_ctl", &try_epoll_ctl, kNoRank},
    {"ppoll", &try_ppoll, "a sleep is measured in milliseconds"},
    {"timerfd_create", &try_timerfd, "a bootstrap of callbacks stays on one host"},
    {"sendmsg", &try_sendmsg, kNoRank},
    {"recvmsg", &try_recvmsg, kNoRank},
    {"socket(AF_UNIX)", &try_unix, "ranks of callbacks reach each other by the network alone"},
    {"socket(AF_INET)", &try_inet, "no transport tcp"},
    {"socket(AF_NETLINK)", &try_netlink, "no list of interfaces: name an address"},
    {"bind", &try_bind, "no transport tcp; a second context takes a rank's place unseen"},
    {"getsockopt", &try_getsockopt, "no transport tcp; PHOTON_LAUNCH_FD is not checked"},
    {"getrandom", &try_getrandom, "/dev/urandom instead"},
    {"sched_getaffinity", &try_getaffinity, "all cores are taken for ours"},
    {"socketpair", &try_socketpair, kNoLauncher},
    {"pipe2", &try_pipe, kNoLauncher},
    {"signalfd4", &try_signalfd, kNoLauncher},
    {"prctl", &try_prctl, "photonrun does not find all that ranks leave behind"},
    {"prlimit64", &try_getrlimit, "limits are not known"},
};

struct KnownLimit {
  const char* name;
  __rlimit_resource which;
  const char* needs;
};

constexpr KnownLimit kLimits[] = {
    {"RLIMIT_NOFILE", RLIMIT_NOFILE, "descriptors (ulimit -n): some 6, and 4 for each peer met"},
    {"RLIMIT_AS", RLIMIT_AS, "bytes of address space (ulimit -v): all peers' memory is mapped"},
    {"RLIMIT_DATA", RLIMIT_DATA, "bytes of private memory (ulimit -d)"},
    {"RLIMIT_FSIZE", RLIMIT_FSIZE, "bytes of a file (ulimit -f): less than photon-arena, no shm"},
    {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK, "bytes of locked memory (ulimit -l): NICs need it"},
    {"RLIMIT_NPROC", RLIMIT_NPROC, "processes and threads of the user (ulimit -u)"},
    {"RLIMIT_STACK", RLIMIT_STACK, "bytes of stack (ulimit -s), and so of each thread's"},
};

}  // namespace

std::vector<RefusedCall> find_refused_calls() {
  std::vector<RefusedCall> found;
  for (const Need& need : kNeeds) {
    errno = 0;
    if (need.is_allowed()) continue;
    found.push_back({need.name, std::strerror(errno), need.without});
  }
  return found;
}

std::vector<Limit> find_limits() {
  std::vector<Limit> found;
  for (const KnownLimit& one : kLimits) {
    rlimit limit{};
    if (::getrlimit(one.which, &limit) != 0) continue;
    std::optional<std::uint64_t> value;
    if (limit.rlim_cur != RLIM_INFINITY) value = limit.rlim_cur;
    found.push_back({one.name, value, one.needs});
  }
  return found;
}

}  // namespace photon_info
