// Copies between processes by the kernel (process_vm_readv, process_vm_writev): no help of the
// peer is needed, where system policy allows it.
//
//   untried -- probe() --> works -- a call is refused later --> refused (with the reason)
//                     \--> refused (with the reason)
//
// What is refused later, for whatever reason (a sandbox that this process has entered, a setting of
// the system, a peer that lets nobody look at it any more), is not tried again. Two answers say
// nothing of that: a bad address, and memory that is short for once.
//
// Invariant: whether it works was found out by a real transfer that met the peer's nonce, so a pid
// that means somebody else in our pid namespace is never written to.
// Owner: the transport's entry for that peer; under the engine's lane lock.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/config.hpp"
#include "base/result.hpp"
#include "transport/shm/shm_offer.hpp"

namespace photon::transport::shm {

class Cma {
 public:
  enum class State : std::uint8_t { untried, works, refused };

  // Reads the nonce once; afterwards state() and reason() are settled.
  void probe(const Offer& peer);
  void refuse(std::string why);

  State state() const noexcept { return state_; }
  const std::string& reason() const noexcept { return reason_; }

  // All bytes or an error: PH_ERR_ARGUMENT (own memory was unmapped or protected), PH_ERR_ACCESS
  // (the peer's), PH_AGAIN: the kernel would not, and state() says whether it will again. Some
  // bytes may have been copied. Never blocks for the peer.
  base::Result<> read(std::uint64_t address, std::span<std::byte> destination);
  base::Result<> write(std::uint64_t address, std::span<const std::byte> source);

 private:
  struct Failed;
  base::Result<> settle(const Failed& what);

  static constexpr unsigned kMostShort = 8;  // calls in a row that found no memory, then it lasts

  pid_t pid_ = 0;
  unsigned short_count_ = 0;
  State state_ = State::untried;
  std::string reason_;
};

// Lets other processes of this user reach our memory where Yama forbids it by default, and tries
// the calls on ourselves. Error: this process cannot use them at all.
base::Result<> allow_cma();

}  // namespace photon::transport::shm
