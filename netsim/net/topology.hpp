// A topology: how routers and hosts are wired, and which port and VC a packet takes.
//
// route() is asked once for a packet, when it becomes the head of its input queue. It sees the
// lengths of this router's output queues and nothing of its neighbours. Invariant: route() is a
// function of its arguments, and what it writes is the packet's own routing state and the router's
// own random stream. Owner: the caller; a topology is never changed and may be shared by threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netsim/clock/random.hpp"
#include "netsim/clock/result.hpp"
#include "netsim/net/packet.hpp"

namespace photon::netsim {

inline constexpr std::uint32_t kCardBit = std::uint32_t{1} << 31;  // a peer that is a host's card

// Ports of all routers are numbered through: port p of router r is port_base[r] + p.
struct Wiring {
  std::uint32_t hosts = 0;
  std::vector<std::uint32_t> port_base{0};  // routers + 1 entries
  std::vector<std::uint32_t> peer;          // port: the port at the other end, or kCardBit | host
  std::vector<std::uint32_t> host_port;     // host: its router's port

  std::uint32_t routers() const { return static_cast<std::uint32_t>(port_base.size() - 1); }
  std::uint32_t ports() const { return port_base.back(); }
  void add_router(std::uint32_t ports);
  void connect(std::uint32_t port, std::uint32_t other);
  void attach(std::uint32_t host, std::uint32_t port);
};

struct OutputQueue : List {   // of packets
  std::uint32_t used = 0;     // flits, from grant to start of sending: the queue length
  std::uint32_t credits = 0;  // flits of room at the other side
  std::uint32_t wanted = 0;   // heads of input queues that are routed here
  std::uint32_t peak = 0;     // of used
};

// The output queues of one router.
class QueueView {
 public:
  QueueView(const OutputQueue* queues, std::uint32_t vcs, std::uint32_t room)
      : queues_(queues), vcs_(vcs), room_(room) {}
  std::uint32_t length(std::uint32_t port, std::uint32_t vc) const {
    return queues_[port * vcs_ + (vc < vcs_ ? vc : vcs_ - 1)].used;
  }
  std::uint32_t room() const { return room_; }  // of an empty queue

 private:
  const OutputQueue* queues_;
  std::uint32_t vcs_;
  std::uint32_t room_;
};

struct Here {
  std::uint32_t router;
  std::uint32_t port;  // the packet came by it
  std::uint32_t vc;
  QueueView queues;
  Random* random;
};

struct Hop {
  std::uint32_t port;
  std::uint32_t vc;
};

class Topology {
 public:
  virtual ~Topology() = default;
  virtual Wiring wire() const = 0;
  virtual Hop route(const Here& here, Packet& packet) const = 0;
  virtual std::uint32_t vcs() const = 0;
  virtual bool is_ordered() const = 0;  // packets of one pair of hosts stay in order
  // What kind of link a router's port sends on; of no meaning for the ports of hosts.
  virtual std::string link_class(std::uint32_t router, std::uint32_t port) const = 0;
};

struct TopologySettings {
  std::string topology = "router";
  std::string shape = "2";
  std::string routing = "static";
  std::uint32_t hosts_per_router = 1;
  std::uint32_t width = 1;
};

// The topology, or what is wrong with its settings.
Result<std::unique_ptr<Topology>> make_topology(const TopologySettings& settings);

}  // namespace photon::netsim
