// What a transport will tell the engine in its next poll: collected while sockets, completions and
// the side channel are read, since the engine may call anything when it is told.
//
//   add() --> waiting -- tell() --> told, but for what its peer's state says need not be any more
//
// Invariant: what is added while the engine is told waits for the next tell(); of the end of a peer
// the engine hears once, and nothing of a peer that it has released but what became of its own
// fragments.
// Owner: the transport, under its lock. Peers outlive what is said of them.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/network/network_peer.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

// Plain words: each message is several.
struct News {
  enum class Kind : std::uint8_t { link, activity, fragment, done, gone } kind = Kind::link;
  NetworkPeer* peer = nullptr;  // but for done
  std::uint64_t token = 0;      // done
  std::uint32_t imm = 0;        // fragment
  ph_status status = PH_OK;     // done
};

class NewsQueue {
 public:
  enum class Order : std::uint8_t {
    as_it_came,
    // What lies in rings has been seen by then, and fragments may have told of themselves before it
    // came.
    links_and_fragments_first,
  };
  explicit NewsQueue(Order order) noexcept : order_(order) {}

  void add(const News& news) { waiting_.push_back(news); }
  // All of these, which are none afterwards.
  void take(std::vector<News>& others);
  bool is_empty() const noexcept { return waiting_.empty(); }
  // Whether a peer's end is to be told: the bootstrap may know more of it.
  bool has_gone() const noexcept;
  // Not again from within.
  void tell(Sink& sink);

 private:
  static bool is_early(const News& one) noexcept {
    return one.kind == News::Kind::link || one.kind == News::Kind::fragment;
  }
  static void tell(const News& one, Sink& sink);

  const Order order_;
  std::vector<News> waiting_;
  std::vector<News> telling_;
};

}  // namespace photon::transport::network
