#include "task/buffer/turns.hpp"

#include <cstring>

#include "task/buffer/dones.hpp"
#include "task/buffer/issue.hpp"
#include "task/buffer/new_registration.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

namespace {

// The body of a message that asks.
struct Reversal {
  ph_task_descriptor asker;
  ph_task_descriptor asked;
  std::uint32_t slot;  // of the asker's operation
  std::uint32_t generation;
  Verb verb;  // of the asker
  std::uint8_t zero[7];
};

Message* make_turn(Buffers& buffers, const Operation& operation, const EndName& name) noexcept {
  Message* message = buffers.pe.pool().alloc(sizeof(Reversal));
  if (message == nullptr) return nullptr;
  const Reversal turn{.asker = operation.own,
                      .asked = operation.other,
                      .slot = name.slot,
                      .generation = name.generation,
                      .verb = operation.verb,
                      .zero = {}};
  std::memcpy(body_of(*message), &turn, sizeof turn);
  return message;
}

// Over without a done of the other side.
void end_asked(Buffers& buffers, const EndName& name, ph_status status) noexcept {
  Message* record = buffers.underway.end(name);
  Operation& operation = operation_of(*record);
  operation.status = status;
  operation.moved_bytes = 0;
  tell_own(buffers, *record);
}

bool is_asked(const Pe& pe, const Message& message, const Reversal& turn) noexcept {
  const std::uint32_t pes = pe.shared().pes_of_job();
  return is_sound(turn.asker, pes) && turn.asker.pe == message.source && turn.asker.key != 0 &&
         is_sound(turn.asked, pes) && turn.asked.pe == pe.number() && turn.slot < kMostSlots &&
         turn.generation <= kMostGeneration && (turn.verb == Verb::get || turn.verb == Verb::put);
}

// The buffer that is meant; null: it is gone, or was never so.
Handle* asked_of(Buffers& buffers, const ph_task_descriptor& asked) noexcept {
  Handle* own = buffers.handles.find(asked.slot, asked.generation);
  if (own == nullptr || own->size_bytes != asked.size_bytes ||
      reinterpret_cast<std::uintptr_t>(own->address) != asked.address)
    return nullptr;
  return own;
}

// The operation of the asker, as an id names it there.
EndName asked_for(const Buffers& buffers, const Reversal& turn) noexcept {
  return {.slot = turn.slot,
          .generation = turn.generation,
          .rank = static_cast<std::uint8_t>(turn.asker.pe % buffers.pe.shared().pes),
          .says = EndName::Says::turned};
}

// Whether the reverse operation can be issued.
ph_status check(const Handle* own, const Reversal& turn) noexcept {
  if (own == nullptr || own->is_cut) return PH_ERR_KEY;
  if (own->when_registered == PH_TASK_NOREG) return PH_ERR_ACCESS;
  if (turn.verb == Verb::get) {
    if (own->is_landing) return PH_ERR_STATE;
    return turn.asker.size_bytes < own->size_bytes ? PH_ERR_RANGE : PH_OK;
  }
  if (own->is_in_use()) return PH_ERR_STATE;
  return own->size_bytes < turn.asker.size_bytes ? PH_ERR_RANGE : PH_OK;
}

// Both sides hear of it, if the own one is there. The message that asked becomes the done of who
// asked, so that this one never lacks memory; where it leaves at once, its block serves the other.
void refuse(Buffers& buffers, const Reversal& turn, Message& message, ph_status status) noexcept {
  Pe& pe = buffers.pe;
  const std::uint32_t pes = pe.shared().pes;
  const std::uint32_t asker = turn.asker.pe;
  const std::uint64_t id = id_of(asked_for(buffers, turn));
  ++pe.machine().flow(asker / pes).sent;
  write_told(message, {.id = id, .moved_bytes = 0, .status = status, .zero = 0});
  send_told(buffers, asker, message);
  if (asked_of(buffers, turn.asked) == nullptr) return;
  const std::uint32_t side = turn.verb == Verb::get ? PH_TASK_SOURCE : PH_TASK_DESTINATION;
  pe.balance().created += 1;
  Message& made = must_make_told(
      buffers, {.id = id_of(turn.asked, side, pes), .moved_bytes = 0, .status = status, .zero = 0});
  tell_near(buffers, pe.rank(), made, asker);
}

// The reverse operation. Not PH_OK: nothing has happened.
ph_status reverse(Buffers& buffers, const Reversal& turn) noexcept {
  Handle* own = asked_of(buffers, turn.asked);
  if (const ph_status status = check(own, turn); status != PH_OK) return status;
  const Verb verb = turn.verb == Verb::get ? Verb::put : Verb::get;
  Message* record = make_record(buffers, {verb, *own, turn.asker});
  if (record == nullptr) return PH_ERR_MEMORY;
  Operation& operation = operation_of(*record);
  operation.remote = id_of(asked_for(buffers, turn));
  operation.is_told_apart = false;  // the asker knows how many bytes there are
  operation.is_begun_here = false;
  if (issue(buffers, *own, *record)) return PH_OK;
  buffers.pe.pool().free(*record);
  return PH_ERR_MEMORY;
}

}  // namespace

ph_status ask(Buffers& buffers, Handle& own, Message& record) noexcept {
  Operation& operation = operation_of(record);
  NewRegistration registration(buffers, own);
  if (const ph_status status = registration.take(); status != PH_OK) return status;
  operation.own.key = own.registration.key;
  EndName name{};
  if (!buffers.underway.add(record, EndName::Says::turned, name)) return PH_ERR_MEMORY;
  operation.local = id_of(name);
  Message* message = make_turn(buffers, operation, name);
  ph_status status = PH_ERR_MEMORY;
  if (message != nullptr)
    status = send_of_kind(buffers.pe, Kind::turn, operation.other.pe, *message);
  if (status != PH_OK && !is_lost(status)) {
    static_cast<void>(buffers.underway.take(name));
    if (message != nullptr) buffers.pe.pool().free(*message);
    return status;
  }
  registration.stay();
  hold(own, operation.verb);
  buffers.pe.balance().created += 1;  // the own done, whoever ends the operation
  ++buffers.turned;
  if (status == PH_OK) {
    buffers.awaited.add(operation.other_process);
    buffers.watch();
  } else {
    end_asked(buffers, name, status);
  }
  return PH_OK;
}

bool run_turn(Pe& pe, Message& message) noexcept {
  Buffers& buffers = buffers_of(pe);
  Reversal turn{};
  if (message.size_bytes == sizeof turn) std::memcpy(&turn, body_of(message), sizeof turn);
  if (!is_asked(pe, message, turn)) return drop_message(pe, message);  // a peer has made it up
  const ph_status status = reverse(buffers, turn);
  if (status == PH_OK) return drop_message(pe, message);
  refuse(buffers, turn, message, status);
  return false;
}

void end_asked_of(Buffers& buffers, std::uint32_t process, ph_status status) noexcept {
  buffers.underway.each(EndName::Says::turned, [&](const EndName& name, Message& record) {
    if (operation_of(record).other_process != process) return;
    buffers.awaited.remove(process);
    end_asked(buffers, name, status);
  });
}

}  // namespace photon::task
