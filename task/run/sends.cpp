#include "task/run/sends.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "task/pool/embedded.hpp"

namespace photon::task {

namespace {

WireWord wire_of(const Pe& pe, std::uint32_t handler, std::uint32_t target) noexcept {
  return {.handler = handler,
          .target = static_cast<std::uint8_t>(target),
          .source = static_cast<std::uint8_t>(pe.rank()),
          .kind = Kind::program,
          .zero = 0};
}

// Who sends, and to whom. `target` is its rank in its process, or kAnyPe.
void address(const Pe& pe, std::uint32_t to, std::uint32_t target, Message& message) noexcept {
  message.target = to;
  message.source = pe.number();
  message.wire = wire_of(pe, message.wire.handler, target);
}

// Of this process. The message has one reference.
void push_to(Pe& pe, std::uint32_t rank, Message& message) noexcept {
  if (rank == pe.rank())
    pe.push_own(message);
  else
    pe.shared().all[rank]->push(message);
}

void send_near(Pe& pe, std::uint32_t rank, Message& message) noexcept {
  pe.balance().created += 1;
  push_to(pe, rank, message);
}

// Words that lie in the body of a message: those of its copy, which is there until its turn.
const void* words_in_copy(const void* words, Message& message, Message& copy) noexcept {
  const std::uintptr_t at =
      reinterpret_cast<std::uintptr_t>(words) - reinterpret_cast<std::uintptr_t>(body_of(message));
  return at < message.size_bytes ? body_of(copy) + at : words;
}

constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// All of them in one, each behind its front. Null: no memory.
Message* packed(Pe& pe, std::span<Message* const> messages) noexcept {
  std::uint64_t size_bytes = 0;
  for (const Message* message : messages) {
    size_bytes += kFrontBytes + padded(message->size_bytes);
    if (size_bytes > SizeClass::kMostBytes) return nullptr;
  }
  Message* all = pe.pool().alloc(size_bytes);
  if (all == nullptr) return nullptr;
  std::byte* at = body_of(*all);
  for (Message* message : messages) {
    const PartFront front{message->size_bytes, message->wire.handler, {}};
    std::memcpy(at, &front, sizeof front);
    std::memcpy(at + sizeof front, body_of(*message), message->size_bytes);
    const std::uint64_t used = sizeof front + message->size_bytes;
    std::memset(at + used, 0, padded(used) - used);
    at += padded(used);
  }
  return all;
}

// How many parts there are; 0: a peer has sent something else.
std::uint32_t parts_of(Message& message) noexcept {
  std::uint32_t parts = 0;
  std::uint64_t at = 0;
  while (at != message.size_bytes) {
    PartFront front{};
    if (message.size_bytes - at < sizeof front) return 0;
    std::memcpy(&front, body_of(message) + at, sizeof front);
    at += sizeof front;
    if (front.size_bytes > message.size_bytes - at ||
        padded(front.size_bytes) > message.size_bytes - at ||
        std::ranges::any_of(front.zero, [](std::uint8_t byte) { return byte != 0; }))
      return 0;
    at += padded(front.size_bytes);
    ++parts;
  }
  return parts;
}

// A message, or its copy, to another process.
ph_status send_far(Pe& pe, std::uint32_t process, Message& given, Message& message) noexcept {
  const ph_status status = pe.machine().send(message, process);
  // A lost process has freed what was sent, as PH_OK does.
  const bool is_given = status == PH_OK || is_lost(status);
  end_single(pe, given, message, is_given);
  return status;
}

}  // namespace

Message* copy_of(Pe& pe, const Message& message) noexcept {
  Message* copy = pe.pool().alloc(message.size_bytes);
  if (copy == nullptr) return nullptr;
  copy->target = message.target;
  copy->source = message.source;
  std::memcpy(&copy->wire, &message.wire, sizeof(WireWord) + message.size_bytes);
  return copy;
}

Message* single(Pe& pe, Message& message) noexcept {
  if (chunk_of(enclosing(message)).references.is_single()) return &message;
  return copy_of(pe, message);
}

void end_single(Pe& pe, Message& message, Message& one, bool is_given) noexcept {
  if (&one != &message) pe.pool().free(is_given ? message : one);
}

ph_status send(Pe& pe, std::uint32_t to, Message& given) noexcept {
  Message* message = single(pe, given);
  if (message == nullptr) return PH_ERR_MEMORY;
  const Shared& shared = pe.shared();
  address(pe, to, to % shared.pes, *message);
  const std::uint32_t rank = to - shared.process * shared.pes;  // large: of another process
  if (rank < shared.pes) {
    send_near(pe, rank, *message);
    end_single(pe, given, *message, true);
    return PH_OK;
  }
  return send_far(pe, to / shared.pes, given, *message);
}

ph_status send_copy(Pe& pe, std::uint32_t to, const Message& message) noexcept {
  const Shared& shared = pe.shared();
  const std::uint32_t rank = to - shared.process * shared.pes;
  if (rank < shared.pes) {
    Message* copy = copy_of(pe, message);
    if (copy == nullptr) return PH_ERR_MEMORY;
    address(pe, to, rank, *copy);
    send_near(pe, rank, *copy);
    return PH_OK;
  }
  const WireWord wire = wire_of(pe, message.wire.handler, to % shared.pes);
  return pe.machine().send_copy(wire, message, to / shared.pes);
}

ph_status send_of_kind(Pe& pe, Kind kind, std::uint32_t to, Message& message) noexcept {
  const Shared& shared = pe.shared();
  address(pe, to, to % shared.pes, message);
  message.wire.kind = kind;
  const std::uint32_t rank = to - shared.process * shared.pes;
  if (rank >= shared.pes) return pe.machine().send(message, to / shared.pes);
  pe.balance().created += kind == Kind::wave ? 0 : 1;  // before anybody can have processed it
  push_to(pe, rank, message);
  return PH_OK;
}

ph_status enqueue(Pe& pe, Message& given, const Turn& turn) noexcept {
  Message* message = single(pe, given);
  if (message == nullptr) return PH_ERR_MEMORY;
  Priority priority = turn.priority;
  if (message != &given) priority.words = words_in_copy(priority.words, given, *message);
  try {
    if (turn.is_of_process)
      pe.enqueue_node(*message, priority, turn.place);
    else
      pe.enqueue(*message, priority, turn.place);
  } catch (const std::bad_alloc&) {
    end_single(pe, given, *message, false);
    return PH_ERR_MEMORY;
  }
  pe.balance().created += 1;
  end_single(pe, given, *message, true);
  return PH_OK;
}

ph_status send_node(Pe& pe, std::uint32_t process, Message& given) noexcept {
  Message* message = single(pe, given);
  if (message == nullptr) return PH_ERR_MEMORY;
  address(pe, pe.number(), kAnyPe, *message);
  if (process != pe.shared().process) return send_far(pe, process, given, *message);
  pe.balance().created += 1;
  pe.push_node(*message);
  end_single(pe, given, *message, true);
  return PH_OK;
}

ph_status send_many(Pe& pe, std::uint32_t to, std::span<Message* const> messages) noexcept {
  const Shared& shared = pe.shared();
  const std::uint32_t rank = to - shared.process * shared.pes;
  const bool is_near = rank < shared.pes;
  const bool are_single = std::ranges::all_of(messages, [](Message* message) {
    return chunk_of(enclosing(*message)).references.is_single();
  });
  if (is_near && are_single) {
    for (Message* message : messages) {
      address(pe, to, rank, *message);
      send_near(pe, rank, *message);
    }
    return PH_OK;
  }
  Message* all = packed(pe, messages);
  if (all == nullptr) return PH_ERR_MEMORY;
  address(pe, to, to % shared.pes, *all);
  all->wire.kind = Kind::many;
  ph_status status = PH_OK;
  if (is_near)
    send_near(pe, rank, *all);
  else
    status = pe.machine().send(*all, to / shared.pes);
  const bool is_given = status == PH_OK || is_lost(status);
  if (!is_given) {
    pe.pool().free(*all);
    return status;
  }
  for (Message* message : messages) pe.pool().free(*message);
  return status;
}

bool take_many(Pe& pe, Message& message) noexcept {
  const std::uint32_t parts = parts_of(message);
  if (parts == 0) return drop_message(pe, message);
  chunk_of(message).references.start(parts);
  const std::uint64_t size_bytes = message.size_bytes;
  Message* first = nullptr;
  Message* last = nullptr;
  for (std::uint64_t at = 0; at != size_bytes;) {
    PartFront front{};
    std::memcpy(&front, body_of(message) + at, sizeof front);
    Message& part =
        embed(message, at, {front.size_bytes, front.handler, message.source, Kind::program});
    part.target = pe.number();
    chunk_of(part).is_queued = 1;
    if (first == nullptr)
      first = &part;
    else
      last->link = name_of(&part);
    last = &part;
    at += kFrontBytes + padded(front.size_bytes);
  }
  pe.balance().created += parts;
  pe.push_first(*first, *last);
  return false;
}

}  // namespace photon::task
