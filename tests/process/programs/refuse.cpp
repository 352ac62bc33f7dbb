// refuse ERRNO CALL[,CALL...] PROGRAM ARGS...: runs the program where the kernel answers these
// system calls with that error (EPERM or ENOSYS), as a seccomp profile of a container does. CALL is
// a name below, with what it asks for in brackets where only that is refused. refuse --list: all.
// refuse --already: those that this machine refuses as it is, each by a call that can do nothing.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

constexpr int kWrongUsage = 99;
constexpr int kNoFilter = 98;
constexpr int kNoProgram = 97;

struct Call {
  std::string_view name;
  long number;
  int argument = -1;        // which one decides; -1: the call is refused whatever it asks for
  std::uint32_t bits = 0;   // of that argument, ...
  std::uint32_t value = 0;  // ... which are compared with this
};

constexpr std::uint32_t kAllBits = 0xffffffff;
constexpr std::uint32_t kSocketKind = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK

constexpr Call kCalls[] = {
    {"accept4", SYS_accept4},
    {"bind", SYS_bind},
    {"clone3", SYS_clone3},
    {"close_range", SYS_close_range},
    {"connect", SYS_connect},
    {"epoll_create1", SYS_epoll_create1},
    {"epoll_ctl", SYS_epoll_ctl},
    {"epoll_pwait2", SYS_epoll_pwait2},
    {"epoll_wait", SYS_epoll_wait},
    {"eventfd2", SYS_eventfd2},
    {"fallocate", SYS_fallocate},
    {"fcntl(F_ADD_SEALS)", SYS_fcntl, 1, kAllBits, F_ADD_SEALS},
    {"fcntl(F_GET_SEALS)", SYS_fcntl, 1, kAllBits, F_GET_SEALS},
    {"fcntl(F_SETFL)", SYS_fcntl, 1, kAllBits, F_SETFL},
    {"ftruncate", SYS_ftruncate},
    {"get_mempolicy", SYS_get_mempolicy},
    {"getpeername", SYS_getpeername},
    {"getrandom", SYS_getrandom},
    {"getsockname", SYS_getsockname},
    {"getsockopt", SYS_getsockopt},
    {"ioctl", SYS_ioctl},
    {"kcmp", SYS_kcmp},
    {"listen", SYS_listen},
    {"madvise", SYS_madvise},
    {"mbind", SYS_mbind},
    {"membarrier", SYS_membarrier},
    {"memfd_create", SYS_memfd_create},
    {"mincore", SYS_mincore},
    {"mlock", SYS_mlock},
    {"mmap(MAP_SHARED)", SYS_mmap, 3, MAP_SHARED | MAP_PRIVATE, MAP_SHARED},
    {"move_pages", SYS_move_pages},
    {"msync", SYS_msync},
    {"pidfd_open", SYS_pidfd_open},
    {"pidfd_send_signal", SYS_pidfd_send_signal},
    {"pipe2", SYS_pipe2},
    {"ppoll", SYS_ppoll},
    {"prctl", SYS_prctl},
    {"prlimit64", SYS_prlimit64},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"ptrace", SYS_ptrace},
    {"recvmsg", SYS_recvmsg},
    {"rseq", SYS_rseq},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sched_yield", SYS_sched_yield},
    {"sendfile", SYS_sendfile},
    {"sendmsg", SYS_sendmsg},
    {"setpgid", SYS_setpgid},
    {"setsockopt", SYS_setsockopt},
    {"signalfd4", SYS_signalfd4},
    {"socket", SYS_socket},
    {"socket(AF_INET)", SYS_socket, 0, kAllBits, AF_INET},
    {"socket(AF_INET6)", SYS_socket, 0, kAllBits, AF_INET6},
    {"socket(AF_NETLINK)", SYS_socket, 0, kAllBits, AF_NETLINK},
    {"socket(AF_UNIX)", SYS_socket, 0, kAllBits, AF_UNIX},
    {"socketpair", SYS_socketpair},
    {"socketpair(SOCK_SEQPACKET)", SYS_socketpair, 1, kSocketKind, SOCK_SEQPACKET},
    {"timerfd_create", SYS_timerfd_create},
    {"timerfd_settime", SYS_timerfd_settime},
    {"userfaultfd", SYS_userfaultfd},
    {"waitid", SYS_waitid},
};

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter skip_unless(std::uint32_t value, std::size_t steps) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(steps));
}

void add(std::vector<sock_filter>& filter, const Call& call, std::uint32_t error) {
  const sock_filter refusal = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  filter.push_back(load(offsetof(seccomp_data, nr)));
  const auto number = static_cast<std::uint32_t>(call.number);
  if (call.argument < 0) {
    filter.insert(filter.end(), {skip_unless(number, 1), refusal});
    return;
  }
  const std::size_t at = offsetof(seccomp_data, args) + sizeof(std::uint64_t) * call.argument;
  const sock_filter mask = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, call.bits);
  filter.insert(filter.end(),
                {skip_unless(number, 4), load(at), mask, skip_unless(call.value, 1), refusal});
}

// Appends what refuses the calls of a list that commas separate; false: one has no name here.
bool add_all(std::vector<sock_filter>& filter, std::string_view list, std::uint32_t error) {
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    const auto* call =
        std::ranges::find_if(kCalls, [&](const Call& each) { return each.name == name; });
    if (call == std::end(kCalls)) {
      std::fprintf(stderr, "refuse: no system call %.*s in the list; see refuse --list\n",
                   static_cast<int>(name.size()), name.data());
      return false;
    }
    add(filter, *call, error);
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return true;
}

int list_all() {
  for (const Call& call : kCalls) std::printf("%s\n", call.name.data());
  return 0;
}

// Of arguments that no call takes; but the one that decides is as the call's name says.
bool is_refused(const Call& call) {
  long arguments[] = {-1, -1, -1, -1, -1, -1};
  if (call.argument >= 0)
    arguments[call.argument] =
        (arguments[call.argument] & ~static_cast<long>(call.bits)) | static_cast<long>(call.value);
  const long answer = ::syscall(call.number, arguments[0], arguments[1], arguments[2], arguments[3],
                                arguments[4], arguments[5]);
  return answer < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

int list_refused() {
  for (const Call& call : kCalls)
    if (is_refused(call)) std::printf("%s\n", call.name.data());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") return list_all();
  if (argc == 2 && std::string_view(argv[1]) == "--already") return list_refused();
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (argc < 4 || (word != "EPERM" && word != "ENOSYS")) {
    std::fprintf(stderr, "refuse: EPERM or ENOSYS, system calls, then a program\n");
    return kWrongUsage;
  }
  std::vector<sock_filter> filter;
  if (!add_all(filter, argv[2], word == "EPERM" ? EPERM : ENOSYS)) return kWrongUsage;
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    std::perror("refuse: seccomp");
    return kNoFilter;
  }
  ::execvp(argv[3], argv + 3);
  std::perror(argv[3]);
  return kNoProgram;
}
