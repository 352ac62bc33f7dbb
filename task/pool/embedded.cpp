#include "task/pool/embedded.hpp"

#include <new>

namespace photon::task {

Message& embed(Message& enclosing, std::uint64_t offset_bytes, const PartHeader& header) noexcept {
  Chunk& chunk = *new (body_of(enclosing) + offset_bytes) Chunk;
  Message& message = *new (&chunk + 1) Message{};
  chunk.room_bytes = sizeof(Message) + offset_bytes + sizeof(Chunk);
  chunk.priority = nullptr;
  chunk.mark = Mark::embedded;
  chunk.references.start(1);
  chunk.home = 0;
  chunk.size_class = 0;
  chunk.is_queued = 0;
  chunk.reserved = 0;
  message = {
      .link = 0, .size_bytes = header.size_bytes, .target = 0, .source = header.source, .wire = {}};
  message.wire.handler = header.handler;
  message.wire.kind = header.kind;
  return message;
}

}  // namespace photon::task
