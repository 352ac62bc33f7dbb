// A message inside another one: it stood behind a front of 64 bytes in the body of the other, which
// becomes its chunk and its header.
//
//   body of the enclosing message:  front, 64 bytes | body of the original
//                               --> Chunk | Message | body of the original
//
// Invariant: the embedded message counts its references in the enclosing one, which is freed with
// the last of them.
// Owner: whoever had the enclosing message; it is not touched from then on.
#pragma once

#include <cstdint>
#include <new>

#include "task/pool/layout.hpp"

namespace photon::task {

// The enclosing body has at least kFrontBytes, of which nothing is needed any more.
inline Message& embed(Message& enclosing, std::uint32_t handler, std::uint32_t source) noexcept {
  const std::uint64_t size_bytes = enclosing.size_bytes - kFrontBytes;
  Chunk& chunk = *new (body_of(enclosing)) Chunk;
  Message& message = *new (&chunk + 1) Message{};
  chunk.room_bytes = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&message) -
                                                reinterpret_cast<std::byte*>(&enclosing));
  chunk.priority = nullptr;
  chunk.mark = Mark::embedded;
  chunk.references.start(1);
  chunk.home = 0;
  chunk.size_class = 0;
  chunk.is_queued = 0;
  chunk.reserved = 0;
  message = {.link = 0, .size_bytes = size_bytes, .target = 0, .source = source, .wire = {}};
  message.wire.handler = handler;
  return message;
}

}  // namespace photon::task
