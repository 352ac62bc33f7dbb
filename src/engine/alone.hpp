// PH_ALONE: puts and gets whose bytes need nobody at the target. Which way they have, and what
// becomes of one that has lost its way.
//
//   call: a way for all bytes --> accepted, direct or posted -- the way goes --> failed
//         none yet, for the two have not met --> PH_AGAIN     none --> PH_ERR_NOT_FOUND
//
// Invariant: no byte of such an operation stands in a record or in the bulk ring.
// Owner: the call, in the lane of the engine.
#pragma once

#include "engine/parts/operation.hpp"
#include "engine/parts/peer.hpp"

namespace photon::engine {

class Engine;

class Alone {
 public:
  explicit Alone(Engine& engine) noexcept : engine_(engine) {}

  // Whether such a call can be accepted; else why not, and nothing was done.
  ph_status check(const char* call, Peer& peer, const TargetRange& there);
  ph_status check(const Vectored& what, Peer& peer, const Layout& layout);
  // How its bytes go; direct also where the way has just gone, which the first piece finds out.
  static Request::Kind kind_of(transport::Reach::Kind way) noexcept {
    return way == transport::Reach::Kind::posted ? Request::Kind::posted : Request::Kind::direct;
  }
  // A small source that its caller may use again when the call returns, though it has to wait.
  void keep_source(Request& request);
  // The next piece did not go by our own copy. False: it shall be tried again.
  bool has_lost_way(Peer& peer, const Request& request) noexcept;
  void give_up(Request& request);

 private:
  ph_status judge(const char* call, Peer& peer, transport::Reach::Kind way, std::uint64_t bytes);
  bool is_way(const Peer& peer, transport::Reach::Kind way) const noexcept;

  Engine& engine_;
};

}  // namespace photon::engine
