// What a message looks like in memory (docs/tasks.md, "The life of a message"):
//
//   Chunk, 32 bytes | Message, 32 bytes | body, from a multiple of 64 on
//
// A program holds the address of the Message, which it does not interpret; the chunk in front of it
// is hidden from it. The wire word stands directly in front of the body, so that both travel as one
// span. An embedded message lies in the body of another one; its references are those of that one.
// Owner: the pool whose block it is; a Message of its holder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/policy.hpp"
#include "sync/share_count.hpp"

namespace photon::task {

// What a block is now. The values are unlikely in other memory. A token is of no pool: it lies in
// its thread (task/thread/thread.hpp).
enum class Mark : std::uint32_t {
  free = 0x66726565,
  live = 0x6c697665,
  embedded = 0x696e7369,
  token = 0x746f6b65
};

struct Chunk {
  std::uint64_t room_bytes;  // of the body; embedded: how far the enclosing message is before
  const void* priority;      // the words of one of more than 64 bits, while it is queued
  Mark mark;
  sync::ShareCount<sync::HardwarePolicy> references;
  std::uint16_t home;  // rank of the PE in its process
  std::uint8_t size_class;
  std::uint8_t is_queued;  // it was given away: a queue, or the network, holds it
  std::uint32_t reserved;
};
static_assert(sizeof(Chunk) == 32);

// What a message is for. All but the first are the library's own, and name no handler.
enum class Kind : std::uint8_t {
  program,
  relay,  // it is passed on to many (task/run/relay.hpp)
  token,  // a thread runs on
  wave,   // it asks for counts, or answers; not counted itself
  part,   // of a reduction
  done,   // an operation on a buffer is over
  turn,   // the other side is to issue an operation
  group,  // who belongs to a group
  many,   // several messages in one
  exit,   // all runs of its PE are to end; its siblings get copies where it arrives
  abort,  // the process is to end; met where it arrives, in no queue
  spread  // a buffer is offered
};
inline constexpr std::size_t kKinds = 12;

// The only 8 bytes of a message, beside its body, that travel.
struct WireWord {
  std::uint32_t handler;
  std::uint8_t target;  // rank in its process, or kAnyPe
  std::uint8_t source;
  Kind kind;
  std::uint8_t zero;
};
static_assert(sizeof(WireWord) == 8);
inline constexpr std::uint8_t kAnyPe = 255;

struct Message {
  std::uint64_t link;        // the next one of whatever queue holds it
  std::uint64_t size_bytes;  // of the body
  std::uint32_t target;      // numbers of PEs
  std::uint32_t source;
  WireWord wire;
};
static_assert(sizeof(Message) == 32);
inline constexpr std::size_t kFrontBytes = sizeof(Chunk) + sizeof(Message);
inline constexpr std::size_t kLineBytes = 64;
static_assert(kFrontBytes == kLineBytes);

inline Chunk& chunk_of(Message& message) noexcept {
  return *(reinterpret_cast<Chunk*>(&message) - 1);
}
inline const Chunk& chunk_of(const Message& message) noexcept {
  return *(reinterpret_cast<const Chunk*>(&message) - 1);
}
inline Message& message_of(Chunk& chunk) noexcept {
  return *reinterpret_cast<Message*>(&chunk + 1);
}
inline std::byte* body_of(Message& message) noexcept {
  return reinterpret_cast<std::byte*>(&message + 1);
}

// Of ph_task_alloc(), and in no queue, as far as its marks tell.
inline bool is_held(const Message& message) noexcept {
  const Chunk& chunk = chunk_of(message);
  return (chunk.mark == Mark::live || chunk.mark == Mark::embedded) && chunk.is_queued == 0;
}

// The one whose references count: itself, unless it is embedded.
inline Message& enclosing(Message& message) noexcept {
  const Chunk& chunk = chunk_of(message);
  if (chunk.mark != Mark::embedded) return message;
  return *reinterpret_cast<Message*>(reinterpret_cast<std::byte*>(&message) - chunk.room_bytes);
}

// Links of messages as their addresses, for queues.
inline std::uint64_t name_of(const Message* message) noexcept {
  return reinterpret_cast<std::uintptr_t>(message);
}
inline Message* named(std::uint64_t name) noexcept {
  return reinterpret_cast<Message*>(static_cast<std::uintptr_t>(name));
}
struct MessageLinks {
  static void set(std::uint64_t name, std::uint64_t link) noexcept { named(name)->link = link; }
  static std::uint64_t get(std::uint64_t name) noexcept { return named(name)->link; }
};

}  // namespace photon::task
