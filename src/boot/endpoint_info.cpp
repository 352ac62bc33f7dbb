#include "boot/endpoint_info.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "system/random.hpp"

namespace photon::boot {
namespace {

// A small file of /proc; empty where there is none.
std::string read_small(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::array<char, 1024> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  return std::string(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
}

std::uint64_t namespace_number(const char* path) {
  struct stat status;
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

// A number of /proc/<pid>/stat (proc(5)); 0 if there is none. The second field may hold anything,
// ')' included, so that counting starts after the last one.
std::uint64_t stat_field(std::uint32_t pid, int number) {
  const std::string text = read_small("/proc/" + std::to_string(pid) + "/stat");
  std::size_t at = text.rfind(')');
  for (int field = 2; field < number && at != std::string::npos; ++field)
    at = text.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at, nullptr, 10);
}

std::uint64_t start_ticks(std::uint32_t pid) { return stat_field(pid, 22); }

std::array<char, 40> host_identity() {
  std::array<char, 40> host{};
  const std::string boot_id = read_small("/proc/sys/kernel/random/boot_id");
  if (!boot_id.empty()) {
    boot_id.copy(host.data(), 36);
  } else {
    (void)::gethostname(host.data(), host.size() - 1);
  }
  return host;
}

}  // namespace

base::Result<EndpointInfo> own_endpoint_info() {
  EndpointInfo endpoint_info;
  endpoint_info.host = host_identity();
  endpoint_info.network_namespace = namespace_number("/proc/thread-self/ns/net");
  endpoint_info.pid_namespace = namespace_number("/proc/self/ns/pid");
  endpoint_info.pid = static_cast<std::uint32_t>(::getpid());
  endpoint_info.uid = ::geteuid();
  endpoint_info.start_ticks = start_ticks(endpoint_info.pid);
  if (!system::fill_random(endpoint_info.nonce) || !system::fill_random(endpoint_info.name)) {
    return base::system_error("random bytes for the job's secret");
  }
  return endpoint_info;
}

bool says_same_host(const EndpointInfo& one, const EndpointInfo& other) {
  return one.host == other.host && one.network_namespace == other.network_namespace;
}

// In hexadecimal, so that /proc/net/unix shows it as it is.
DatagramName datagram_name(const EndpointInfo& endpoint_info) {
  std::string name("\0photon-", 8);  // a leading zero: no file, ends with its user
  for (const std::byte byte : endpoint_info.name) {
    constexpr std::string_view digits = "0123456789abcdef";
    name += digits[std::to_integer<unsigned>(byte >> 4)];
    name += digits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  DatagramName address;
  address.name.sun_family = AF_UNIX;
  name.copy(address.name.sun_path, name.size());
  address.size_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return address;
}

bool answers(const EndpointInfo& endpoint_info) {
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const DatagramName address = datagram_name(endpoint_info);
  return ::connect(socket.get(), address.get(), address.size_bytes) == 0;
}

bool is_exiting(std::uint32_t pid) {
  constexpr int kFlags = 9;
  constexpr std::uint64_t kExiting = 4;  // PF_EXITING
  return (stat_field(pid, kFlags) & kExiting) != 0;
}

Process watch_process(const EndpointInfo& own, const EndpointInfo& other) {
  const bool comparable =
      own.pid_namespace != 0 && own.pid_namespace == other.pid_namespace && own.host == other.host;
  if (!comparable || own.pid == other.pid) return {};
  Process process;
  process.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, other.pid, 0)));
  if (!process.pidfd) {
    process.state = errno == ESRCH ? Process::State::ended : Process::State::unknown;
    return process;
  }
  // The pid may have gone to somebody else between the exchange of endpoint infos and now.
  const std::uint64_t now = start_ticks(other.pid);
  const bool same = now == 0 || other.start_ticks == 0 || now == other.start_ticks;
  process.state = same ? Process::State::watched : Process::State::ended;
  return process;
}

}  // namespace photon::boot
