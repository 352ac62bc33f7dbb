// What travels on a connection of the side channel once both sides have proved themselves: messages
// one way, and a bye either way.
//
//   SideFrameWriter: queued -- the socket takes it --> sent
//                    (whole messages wait, the first may be partly sent)
//   SideFrameReader: head -- 8 bytes --> body -- its bytes --> message, bye;  garbage: for good
//
// Owner: TcpSideChannel. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <type_traits>
#include <vector>

#include "boot/packet.hpp"

namespace photon::boot {

enum class SideFrameKind : std::uint32_t { message = 1, bye = 2 };

struct SideFrameHead {
  SideFrameKind kind = SideFrameKind::message;
  std::uint32_t size_bytes = 0;  // of what follows
};
static_assert(sizeof(SideFrameHead) == 8 &&
              std::has_unique_object_representations_v<SideFrameHead>);

class SideFrameWriter {
 public:
  bool empty() const { return waiting_.empty(); }
  // False: as many wait as may, nothing was kept. A bye is always kept.
  bool push(SideFrameKind kind, std::span<const std::byte> body);
  // taken: nothing waits any more. full: the rest waits for the socket. gone: all dropped.
  Sent flush(int socket);

 private:
  std::deque<std::vector<std::byte>> waiting_;
  std::size_t sent_bytes_ = 0;  // of the first
};

class SideFrameReader {
 public:
  enum class Step : std::uint8_t {
    waits,    // for more bytes
    message,  // body() is it, until the next call
    bye,      // the other side left in order
    ended,    // the connection has, without a bye
    garbage,  // no rank of this library sends that
  };

  Step next(int socket);
  std::span<const std::byte> body() const { return body_; }

 private:
  Step fill(int socket, std::span<std::byte> room);

  SideFrameHead head_;
  std::vector<std::byte> body_;
  std::size_t filled_ = 0;  // of the head, then of the body
  bool has_head_ = false;
};

}  // namespace photon::boot
