// What the transport asks of libfabric, and all that it knows of it: an endpoint that sends and
// receives messages, reliable and as a rule in the order of their sending per peer; others like it,
// where that one does not come to reach a peer; and an RMA endpoint, by which peers touch memory
// that we expose, and we theirs. fabric.cpp, fabric_endpoints.cpp, fabric_queue.cpp and
// fabric_rma_endpoint.cpp are what includes libfabric's headers; where the build has none,
// no_fabric.cpp stands in their place and says so when a fabric is to be opened.
//
//   an Operation: ours -- send(), receive(), write(), read_from() took it --> the provider's --
//                 read() --> ours
//
// Invariant: completions never outnumber the operations that the provider has, and these are never
// more than FabricWants says, which is the size of the completion queue: it cannot overrun.
// Owner: OfiTransport. Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace photon::transport::ofi {

// Stays at its place while it is the provider's, who may write into `provider`.
struct Operation {
  static constexpr std::uint32_t kReceive = 0xffff'ffff;
  std::array<void*, 8> provider{};
  std::uint32_t rank = kReceive;  // whom a send or a fragment goes to
  std::uint32_t index = 0;        // of its slot
  bool is_fragment = false;
  bool is_handshake = false;               // a message that is said again if it is lost
  std::uint8_t by = 0;                     // of a receive: the endpoint that has it, for the fabric
  std::optional<std::uint64_t> data = {};  // of a write: what its peer is told when it has landed
  std::uint8_t parts = 0;                  // for the fabric: of a write that it makes in parts,
  bool has_failed_part = false;            // those that are not over
};

// Our memory that messages and fragments are moved from or to.
struct Buffer {
  std::span<std::byte> bytes;
  std::uint64_t handle = 0;  // of the registration that contains it
};

struct Completion {
  Operation* operation = nullptr;          // null: none of ours
  std::size_t size_bytes = 0;              // received
  std::optional<std::uint64_t> data = {};  // a write of a peer's that bears it has landed
};

// How messages leave: to whom, and by which of our endpoints.
struct Route {
  std::uint64_t to = 0;  // insert()
  std::size_t by = 0;
};
inline constexpr std::size_t kMostEndpoints = 3;

struct FabricWants {
  std::string_view provider;  // "auto", or as libfabric names it
  std::string_view domain;    // "auto", or as libfabric names it
  bool is_one_host = false;   // all ranks of the job are here
  std::string_view met;       // addresses of this host by which others met it, or none
  std::size_t peers_count = 0;
  std::size_t sends_count = 0;      // under way at a time, at most
  std::size_t receives_count = 0;   // likewise
  std::size_t fragments_count = 0;  // likewise, by the RMA endpoint; 0: there will be none
  std::size_t told_count = 0;       // writes of peers that bear data and were not read yet, at most
  bool registers_all = false;       // our own memory, even where the provider takes any
};

// Memory of ours that peers may touch so; `access`: PH_ACCESS_...
struct Exposure {
  std::span<std::byte> memory;
  std::uint64_t key = 0;
  std::uint32_t access = 0;
};
// And as they name it.
struct Exposed {
  std::uint64_t handle = 0;
  std::uint64_t begin = 0;  // its first byte
  std::uint64_t key = 0;
};

// Memory of a peer: somewhere in what it has exposed.
struct Place {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

enum class Taken : std::uint8_t {
  yes,      // read() says when it is over
  over,     // it is over: the buffer is ours again, and read() says nothing
  full,     // not now
  no_way,   // there is no route now, as while a link is down; words() says it
  failed,   // nor ever; words() says why
  refused,  // a fragment: by our own side, which says nothing about the peer; words() says why
};

// An endpoint with connections of its own: what a peer refuses breaks the one it came over, and
// what else was under way on that fails with it (tcp;ofi_rxm: so do later fragments for some
// milliseconds). The messages of the fabric do not notice.
//
//   open -- it ends --> nothing of its fragments is the provider's, no peer touches our memory
//
// Only that ends what a peer is writing: tcp goes on with a write that has begun after its memory
// is concealed. It takes up to 150 ms there.
// Owner: OfiTransport; the Fabric outlives it. Threads: those of the Fabric.
class RmaEndpoint {
 public:
  virtual ~RmaEndpoint() = default;
  RmaEndpoint() = default;
  RmaEndpoint(const RmaEndpoint&) = delete;
  RmaEndpoint& operator=(const RmaEndpoint&) = delete;

  // What peers insert() to reach it; another one each time an RMA endpoint is opened.
  virtual std::span<const std::byte> address() const noexcept = 0;
  // Over when the bytes are in the peer's memory, to be seen by its processor. Never Taken::over.
  virtual Taken write(std::uint64_t to, const Buffer& source, const Place& place,
                      Operation& operation) noexcept = 0;
  virtual Taken read_from(std::uint64_t to, const Buffer& destination, const Place& place,
                          Operation& operation) noexcept = 0;
};

class Fabric {
 public:
  struct Traits {
    std::string provider;
    std::string domain;
    std::vector<std::string> other_domains;  // of the provider, that would do as well
    std::size_t most_bytes = 0;              // of one message
    std::size_t inject_bytes = 0;            // up to here a send is over when it is taken
    bool progresses_itself = false;
    bool keeps_order = true;         // of the messages to one peer
    const char* advice = nullptr;    // what the user should know; null: nothing
    bool has_rma_endpoints = false;  // memory can be exposed, and that of peers written and read
    bool registers_own = false;      // fragments need the handle of show() for our own memory
    std::size_t data_bytes = 0;      // of a write that its peer is told; 0: it is told nothing
    int wait_fd = -1;                // readable when read() may have something; -1: there is none
  };
  using Taken = ofi::Taken;
  enum class Got : std::uint8_t {
    some,    // what was asked for, or all that there was
    error,   // the first completion is none: failed() and words()
    broken,  // nothing ever comes any more; words()
  };
  enum class MayWait : std::uint8_t {
    yes,
    not_now,  // there is something to read()
    failed,   // nor ever: the descriptor says nothing; words()
  };
  virtual ~Fabric() = default;
  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  virtual const Traits& traits() const noexcept = 0;
  // Where peers reach us by that endpoint: bytes that mean something to the same provider only.
  virtual std::span<const std::byte> address(std::size_t by) const noexcept = 0;
  // One more than the first, with an address and connections of its own; they share what follows.
  // Receives are shared out among those that there are when they are posted. PH_ERR_STATE: by this
  // provider there cannot be another.
  virtual base::Result<> open_endpoint() = 0;
  virtual std::size_t endpoints_count() const noexcept = 0;
  // A peer, by its address(): what send() takes.
  virtual base::Result<std::uint64_t> insert(std::span<const std::byte> address) = 0;
  // What the memory of a Buffer needs, if the provider asks for it; 0 if not. PH_ERR_MEMORY: a
  // limit.
  enum class Use : std::uint8_t { messages, sources, destinations };
  virtual base::Result<std::uint64_t> show(std::span<std::byte> memory, Use use) = 0;
  virtual void hide(std::uint64_t handle) noexcept = 0;

  virtual Taken send(const Route& route, const Buffer& message, Operation& operation) noexcept = 0;
  virtual Taken receive(const Buffer& into, Operation& operation) noexcept = 0;
  // Where it has RMA endpoints. Peers that are told the key may touch the memory by that RMA
  // endpoint until conceal(), and what they have begun then until the RMA endpoint ends, which is
  // after conceal(). `key`: nobody can guess it; some providers choose another one.
  virtual base::Result<Exposed> expose(const Exposure& /*wanted*/, RmaEndpoint& /*by*/) {
    return no_rma_endpoints();
  }
  virtual void conceal(const Exposed& /*exposed*/) noexcept {}
  virtual base::Result<std::unique_ptr<RmaEndpoint>> open_rma_endpoint() {
    return no_rma_endpoints();
  }

  // How many completions were written; it also drives the provider, where that needs driving.
  virtual Got read(std::span<Completion> into, std::size_t& count) noexcept = 0;
  // Of the latest Got::error: null if the provider does not say which.
  virtual Operation* failed() const noexcept = 0;
  virtual std::string words() const = 0;
  // Right before waiting for wait_fd.
  virtual MayWait may_wait() noexcept = 0;
  // The endpoints end: nothing is the provider's any more, nothing else but hide() and conceal() is
  // called. RMA endpoints have ended before.
  virtual void stop() noexcept = 0;

 protected:
  static base::Error no_rma_endpoints() {
    return {PH_ERR_STATE, 0, "ofi: memory of peers cannot be reached by this provider"};
  }
};

// PH_ERR_CONFIG: this build has no libfabric.
base::Result<> has_fabric();

// PH_ERR_CONFIG says which providers there are and why none of them will do.
using OpenFabric = std::function<base::Result<std::unique_ptr<Fabric>>(const FabricWants& wants)>;
base::Result<std::unique_ptr<Fabric>> open_fabric(const FabricWants& wants);

// Room for one message that must be carried whole: a record of 48 lines and what stands before it.
inline constexpr std::size_t kLeastMessageBytes = 4096;

}  // namespace photon::transport::ofi
