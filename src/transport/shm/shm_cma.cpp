#include "transport/shm/shm_cma.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/readable.hpp"
#include "base/unique_fd.hpp"

namespace photon::transport::shm {

namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

struct Transfer {
  pid_t pid;
  std::byte* local;
  std::uint64_t remote;
  std::size_t size_bytes;
};

std::string errno_text(int number) { return std::generic_category().message(number); }

// 0, or the errno of what stopped it. The kernel may stop in between; then the rest is tried.
int transfer(Call call, Transfer what) noexcept {
  while (what.size_bytes > 0) {
    const iovec local = {what.local, what.size_bytes};
    const iovec remote = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(what.remote)),
                          what.size_bytes};
    const ssize_t done = call(what.pid, &local, 1, &remote, 1, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return EFAULT;
    what.local += done;
    what.remote += static_cast<std::uint64_t>(done);
    what.size_bytes -= static_cast<std::size_t>(done);
  }
  return 0;
}

// Yama's setting, or 0 where there is none.
int yama_scope() {
  const base::UniqueFd fd(::open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC));
  char digit = '0';
  if (!fd || ::read(fd.get(), &digit, 1) != 1) return 0;
  return digit - '0';
}

}  // namespace

// A call and the errno of what stopped it; 0: nothing did.
struct Cma::Failed {
  const char* name;
  std::size_t size_bytes;
  int number;
  bool is_own;  // own memory, not the peer's
};

void Cma::probe(const Offer& peer) {
  if (state_ != State::untried) return;
  pid_ = static_cast<pid_t>(peer.pid);
  Nonce found{};
  const int failed =
      transfer(::process_vm_readv, {pid_, found.data(), peer.nonce_address, found.size()});
  // The peer has its nonce mapped: whose memory lacks it is not the peer.
  if (failed == EFAULT || (failed == 0 && found != peer.nonce)) {
    return refuse("process " + std::to_string(pid_) +
                  " is somebody else here: the peer lives in another pid namespace");
  }
  if (failed != 0) return refuse(errno_text(failed));
  state_ = State::works;
  reason_ = "tried and works";
}

void Cma::refuse(std::string why) {
  state_ = State::refused;
  reason_ = std::move(why);
}

base::Result<> Cma::read(std::uint64_t address, std::span<std::byte> destination) {
  const Transfer what = {pid_, destination.data(), address, destination.size()};
  const int failed = transfer(::process_vm_readv, what);
  return settle({"process_vm_readv", what.size_bytes, failed,
                 failed == EFAULT && !base::is_writable(destination)});
}

base::Result<> Cma::write(std::uint64_t address, std::span<const std::byte> source) {
  // An iovec has no const; process_vm_writev only reads from the local side.
  const Transfer what = {pid_, const_cast<std::byte*>(source.data()), address, source.size()};
  const int failed = transfer(::process_vm_writev, what);
  return settle({"process_vm_writev", what.size_bytes, failed,
                 failed == EFAULT && !base::is_readable(source)});
}

base::Result<> Cma::settle(const Failed& what) {
  const bool is_short = what.number == ENOMEM && ++short_count_ < kMostShort;
  if (what.number != ENOMEM) short_count_ = 0;
  if (what.number == 0) return {};
  std::string text = std::string(what.name) + " of " + std::to_string(what.size_bytes) +
                     " bytes with process " + std::to_string(pid_) + ": " + errno_text(what.number);
  const bool is_fault = what.number == EFAULT;
  if (!is_fault && !is_short) refuse("they worked, and then were refused: " + text);
  if (is_fault)
    text += what.is_own ? ": own memory was unmapped or protected"
                        : ": memory of that process was unmapped or protected";
  const ph_status status = !is_fault ? PH_AGAIN : what.is_own ? PH_ERR_ARGUMENT : PH_ERR_ACCESS;
  return base::Error{.status = status, .native_errno = what.number, .what = text};
}

base::Result<> allow_cma() {
  if (yama_scope() == 1) static_cast<void>(::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));
  std::byte here{1};
  std::byte there{2};
  const int failed =
      transfer(::process_vm_readv,
               {::getpid(), &here, reinterpret_cast<std::uintptr_t>(&there), sizeof here});
  if (failed == 0 && here == there) return {};
  return base::Error{.status = PH_ERR_CONFIG,
                     .native_errno = failed,
                     .what =
                         "copies between processes (setting shm_cma) are forbidden here: "
                         "process_vm_readv: " +
                         errno_text(failed)};
}

}  // namespace photon::transport::shm
