// Who the ranks are, and a slow side channel that carries descriptors between ranks of one host.
// Invariant: messages between two ranks arrive in order, whole, or not at all (then `gone` says
// so). Owner: the Context; one thread at a time: lane_demux.hpp sees to that.
//
// Three kinds, chosen by open(): the launcher's socket (photonrun), the caller's callbacks with a
// datagram socket per rank in the abstract namespace and a TCP side channel between hosts, and a
// job of one rank. A fourth, with the same socket and side channel, by address_boot.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <photon/context.h>

#include "base/config.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "boot/net_address.hpp"
#include "boot/serve.hpp"

namespace photon::boot {

using Rank = ph_rank;
using Secret = std::array<std::byte, 32>;

inline constexpr std::size_t kMaxMessageBytes = 1024;
inline constexpr std::size_t kMaxMessageFds = 4;

struct Message {
  enum class Kind { data, gone };  // gone: the rank's process ended; nothing more will come
  Kind kind = Kind::data;
  Rank from = 0;
  std::vector<std::byte> bytes;
  std::vector<base::UniqueFd> fds;
  const char* why = "has ended";  // gone: what that rank did
  bool left = false;              // gone: from this lane only, in order
  bool is_by_network = false;     // the TcpSideChannel brought it
};

class Boot {
 public:
  virtual ~Boot() = default;
  Boot() = default;
  Boot(const Boot&) = delete;
  Boot& operator=(const Boot&) = delete;

  virtual Rank rank() const = 0;
  virtual std::uint32_t size() const = 0;
  virtual const Secret& secret() const = 0;
  // Ranks of this job on this host (for deciding whether a core is free).
  virtual std::uint32_t local_size() const = 0;
  // Whether it is known where that rank is: where addresses are handed around, some are not yet.
  virtual bool knows(Rank) const { return true; }
  // By which address that rank, of another host, and we have met, if the bootstrap knows.
  virtual std::optional<Address> met_at(Rank) const { return std::nullopt; }
  // Whether all ranks have known from the beginning who is on whose host.
  virtual bool knows_hosts() const { return true; }
  // The first rank of that rank's host, of another host than this one; nothing: it is not known.
  virtual std::optional<Rank> host_of(Rank) const { return std::nullopt; }
  // Whether send() can bring descriptors to that rank: not to another host.
  virtual bool passes_descriptors(Rank) const { return true; }

  // Sends bytes (<= kMaxMessageBytes) and duplicates of fds to a rank. Never blocks: true = taken
  // (queued inside if the socket is full); false = the rank is gone. PH_ERR_ARGUMENT, and nothing
  // else is changed: descriptors for a rank that none can be brought to.
  virtual base::Result<bool> send(Rank to, std::span<const std::byte> bytes,
                                  std::span<const int> fds) = 0;
  // The next message, or nothing. Never blocks. Also flushes what send() queued.
  virtual base::Result<std::optional<Message>> receive() = 0;
  // Nothing that send() queued is left.
  virtual bool idle() const = 0;
  // This rank leaves in order: to all who hear of its end, has_left() tells so. What was sent to it
  // and not received is lost. Afterwards only receive() and idle(), until nothing is queued.
  virtual base::Result<> leave() { return {}; }
  // This rank is about to be told an error about that one, which is lost: the launcher, if there is
  // one, hears so before the caller does, and does not take what the caller makes of it for the
  // first failure of the job. Never blocks; may be repeated.
  virtual void blame(Rank) {}
  // Whether a rank that is gone left in order, be it that receive() has still to tell it is gone.
  virtual bool has_left(Rank) const { return false; }
  // Readable when receive() may have something; -1 if there is none.
  virtual int poll_fd() const = 0;

  // Collective. `serve` is called again and again while waiting, at once where the turn before
  // moved something (it progresses the engine, whose data messages receive() must go on delivering:
  // serve() itself calls receive()). Between turns that move nothing it may rest (Serve::arm()).
  virtual base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                                   const Serve& serve) = 0;
  virtual base::Result<> barrier(const Serve& serve) = 0;
  // Whether collectives touch nothing that other calls do, so that these may run beside them.
  virtual bool collects_alone() const { return false; }

  // Where addresses are handed around: ours, and that of another rank. PH_ERR_STATE elsewhere.
  virtual base::Result<std::span<const std::byte>> address() const { return no_addresses(); }
  virtual base::Result<Rank> connect(std::span<const std::byte> /*address*/) {
    return no_addresses();
  }

  // The side channel of another lane of this rank; it may outlive this one. A number is used once.
  // May be called while another thread uses another lane's.
  virtual base::Result<std::unique_ptr<Boot>> open_lane(std::uint32_t /*number*/) {
    return base::Error{PH_ERR_STATE, 0, "this bootstrap has no lanes", PH_ANY_RANK};
  }

 private:
  static base::Error no_addresses() {
    return {PH_ERR_STATE, 0,
            "addresses are for contexts of ph_context_join(): here the bootstrap has introduced "
            "all ranks to each other",
            PH_ANY_RANK};
  }
};

// The caller's bootstrap if given, else the launcher's environment (PHOTON_LAUNCH_FD), else alone.
base::Result<std::unique_ptr<Boot>> open(const ph_bootstrap* bootstrap,
                                         const base::Config& config = {});

}  // namespace photon::boot
