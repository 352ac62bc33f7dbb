#include "task/buffer/turns.hpp"

#include <cstring>

#include "task/buffer/dones.hpp"
#include "task/buffer/issue.hpp"

namespace photon::task {

namespace {

// The body of a message that asks.
struct Turn {
  ph_task_descriptor asker;
  ph_task_descriptor asked;
  std::uint32_t slot;  // of the asker's operation
  std::uint32_t generation;
  Verb verb;  // of the asker
  std::uint8_t zero[7];
};

Message* make_turn(Buffers& buffers, const Operation& operation, const EndName& name) noexcept {
  Pe& pe = buffers.pe;
  Message* message = pe.pool().alloc(sizeof(Turn));
  if (message == nullptr) return nullptr;
  const Turn turn{.asker = operation.own,
                  .asked = operation.other,
                  .slot = name.slot,
                  .generation = name.generation,
                  .verb = operation.verb,
                  .zero = {}};
  std::memcpy(body_of(*message), &turn, sizeof turn);
  message->source = pe.number();
  message->target = operation.other.pe;
  message->wire = {.handler = 0,
                   .target = static_cast<std::uint8_t>(operation.other.pe % pe.shared().pes),
                   .source = static_cast<std::uint8_t>(pe.rank()),
                   .kind = Kind::turn,
                   .zero = 0};
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

bool is_asked(const Pe& pe, const Message& message, const Turn& turn) noexcept {
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

// Whether the reverse operation can be issued.
ph_status check(const Handle* own, const Turn& turn) noexcept {
  if (own == nullptr || own->is_cut) return PH_ERR_KEY;
  if (own->when_registered == PH_TASK_NOREG) return PH_ERR_ACCESS;
  if (turn.verb == Verb::get) {
    if (own->is_landing) return PH_ERR_STATE;
    return turn.asker.size_bytes < own->size_bytes ? PH_ERR_RANGE : PH_OK;
  }
  if (own->is_in_use()) return PH_ERR_STATE;
  return own->size_bytes < turn.asker.size_bytes ? PH_ERR_RANGE : PH_OK;
}

// Both sides hear of it, if the own one is there.
void refuse(Buffers& buffers, Handle* own, const Turn& turn, ph_status status) noexcept {
  Pe& pe = buffers.pe;
  const std::uint32_t pes = pe.shared().pes;
  const std::uint32_t asker = turn.asker.pe;
  const EndName name{.slot = turn.slot,
                     .generation = turn.generation,
                     .rank = static_cast<std::uint8_t>(asker % pes),
                     .says = EndName::Says::turned};
  ++pe.machine().flow(asker / pes).sent;
  tell_far(buffers, asker, {.id = id_of(name), .moved_bytes = 0, .status = status, .zero = 0});
  if (own == nullptr) return;
  const std::uint32_t side = turn.verb == Verb::get ? PH_TASK_SOURCE : PH_TASK_DESTINATION;
  pe.balance().created += 1;
  const std::uint64_t id = id_of(turn.asked, side, pes);
  Message& made =
      must_make_told(buffers, {.id = id, .moved_bytes = 0, .status = status, .zero = 0});
  tell_near(buffers, pe.rank(), made, asker);
}

}  // namespace

ph_status ask(Buffers& buffers, Handle& own, Message& record) noexcept {
  Operation& operation = operation_of(record);
  if (own.registration.key == 0) {
    const ph_status status =
        buffers.registrations.take(buffers.lane(), own.address, own.size_bytes, own.registration);
    if (status != PH_OK) return status;
    operation.own.key = own.registration.key;
  }
  EndName name{};
  if (!buffers.underway.add(record, EndName::Says::turned, name)) return PH_ERR_MEMORY;
  operation.local = id_of(name);
  Message* message = make_turn(buffers, operation, name);
  ph_status status = PH_ERR_MEMORY;
  if (message != nullptr) status = buffers.pe.machine().send(*message, operation.other_process);
  if (status != PH_OK && !is_lost(status)) {
    static_cast<void>(buffers.underway.take(name));
    if (message != nullptr) buffers.pe.pool().free(*message);
    return status;
  }
  hold(own, operation.verb);
  buffers.pe.balance().created += 1;  // the own done, whoever ends the operation
  ++buffers.turned;
  if (status == PH_OK)
    buffers.watch();
  else
    end_asked(buffers, name, status);
  return PH_OK;
}

bool run_turn(Pe& pe, Message& message) noexcept {
  Buffers& buffers = buffers_of(pe);
  Turn turn{};
  if (message.size_bytes == sizeof turn) std::memcpy(&turn, body_of(message), sizeof turn);
  const bool is_one = is_asked(pe, message, turn);
  static_cast<void>(drop_message(pe, message));
  if (!is_one) return false;  // a peer has made it up
  Handle* own = asked_of(buffers, turn.asked);
  const ph_status status = check(own, turn);
  if (status != PH_OK) {
    refuse(buffers, own, turn, status);
    return false;
  }
  const Verb verb = turn.verb == Verb::get ? Verb::put : Verb::get;
  Message* record = make_record(buffers, {verb, *own, turn.asker});
  if (record == nullptr) {
    refuse(buffers, own, turn, PH_ERR_MEMORY);
    return false;
  }
  Operation& operation = operation_of(*record);
  operation.remote =
      id_of(EndName{.slot = turn.slot,
                    .generation = turn.generation,
                    .rank = static_cast<std::uint8_t>(turn.asker.pe % pe.shared().pes),
                    .says = EndName::Says::turned});
  operation.is_told_apart = false;  // the asker knows how many bytes there are
  operation.is_begun_here = false;
  if (issue(buffers, *own, *record)) return false;
  pe.pool().free(*record);
  refuse(buffers, own, turn, PH_ERR_MEMORY);
  return false;
}

// libphoton reads what a process has sent to its end before it says that it is lost. So what has
// come of it is found by the look that follows, and one that finds nothing ends the operation.
bool end_lost(Buffers& buffers, bool found) noexcept {
  const EndName name = buffers.underway.next(EndName::Says::turned, buffers.looked_slot);
  buffers.looked_slot = name.slot;
  Operation& operation = operation_of(*buffers.underway.find(name));
  ph_contact_state state = PH_PEER_UNKNOWN;
  static_cast<void>(ph_peer_state(buffers.lane(), operation.other_process, &state));
  if (state != PH_PEER_DEAD && state != PH_PEER_DEPARTED) return false;
  if (operation.is_lost && !found) {
    end_asked(buffers, name, state == PH_PEER_DEAD ? PH_ERR_PEER : PH_ERR_DEPARTED);
    return true;
  }
  operation.is_lost = true;
  return false;
}

}  // namespace photon::task
