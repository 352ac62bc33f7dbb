#include "task/run/sends.hpp"

#include <cstring>
#include <new>

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
  pe.count_created(1);
  push_to(pe, rank, message);
}

// Words that lie in the body of a message: those of its copy, which is there until its turn.
const void* words_in_copy(const void* words, Message& message, Message& copy) noexcept {
  const std::uintptr_t at =
      reinterpret_cast<std::uintptr_t>(words) - reinterpret_cast<std::uintptr_t>(body_of(message));
  return at < message.size_bytes ? body_of(copy) + at : words;
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
  push_to(pe, rank, message);
  pe.count_created(kind == Kind::wave ? 0 : 1);
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
  pe.count_created(1);
  end_single(pe, given, *message, true);
  return PH_OK;
}

ph_status send_node(Pe& pe, std::uint32_t process, Message& given) noexcept {
  Message* message = single(pe, given);
  if (message == nullptr) return PH_ERR_MEMORY;
  address(pe, pe.number(), kAnyPe, *message);
  if (process != pe.shared().process) return send_far(pe, process, given, *message);
  pe.count_created(1);
  pe.push_node(*message);
  end_single(pe, given, *message, true);
  return PH_OK;
}

}  // namespace photon::task
