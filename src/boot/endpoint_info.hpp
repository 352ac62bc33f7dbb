// What a rank tells the others about itself through the caller's allgather: where its socket is
// and how to tell that its process ended. Plain data, checked by whoever receives it.
// Invariant: 128 bytes, the same on every rank of a job. Owner: CallbackBoot.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdint>

#include "boot/boot.hpp"

namespace photon::boot {

inline constexpr std::uint32_t kInfoMagic = 0x43424850;  // "PHBC"
inline constexpr std::uint32_t kInfoVersion = 3;

struct EndpointInfo {
  std::uint32_t magic = kInfoMagic;
  std::uint32_t version = kInfoVersion;
  std::array<char, 40> host{};          // the kernel's boot id, else the host's name
  std::uint64_t network_namespace = 0;  // abstract sockets live in one; 0: not known
  std::uint64_t pid_namespace = 0;      // pid means something in one; 0: not known
  std::uint64_t start_ticks = 0;        // with pid names a process for ever; 0: not known
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  Secret nonce{};                    // rank 0's is the job's secret
  std::array<std::byte, 16> name{};  // random; the socket's name is derived from it
};
static_assert(sizeof(EndpointInfo) == 128);

base::Result<EndpointInfo> own_endpoint_info();

// Same kernel, and same namespace of abstract sockets, as far as endpoint infos tell: copies of a
// virtual machine have the same ids, and are several hosts.
bool says_same_host(const EndpointInfo& one, const EndpointInfo& other);

// The address of a rank's socket for messages.
struct DatagramName {
  sockaddr_un name{};
  socklen_t size_bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};
DatagramName datagram_name(const EndpointInfo& endpoint_info);

// Whether that socket is here, in our kernel and namespace: nobody else can have its name, which is
// random. False as well where it is not allowed to us, or its process has ended.
bool answers(const EndpointInfo& endpoint_info);

// The process behind an endpoint info of the same pid namespace, unless it is ours or ended
// already.
struct Process {
  enum class State { watched, unknown, ended };
  State state = State::unknown;
  base::UniqueFd pidfd;  // readable when it ends
};
Process watch_process(const EndpointInfo& own, const EndpointInfo& other);

// Whether a process of our pid namespace has begun to end: it closes its descriptors some time
// before its pidfd says so. False also if there is none by that number any more.
bool is_exiting(std::uint32_t pid);

}  // namespace photon::boot
