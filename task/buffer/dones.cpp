#include "task/buffer/dones.hpp"

#include <algorithm>
#include <cstring>

namespace photon::task {

namespace {

// A message for a done has room for what the program gets, so it becomes that.
Message* make_done(Buffers& buffers) noexcept {
  return buffers.pe.pool().alloc(sizeof(ph_task_done));
}

void dress(const Pe& pe, std::uint32_t to, DoneForm form, Message& message) noexcept {
  const std::uint32_t pes = pe.shared().pes;
  message.target = to;
  message.source = pe.number();
  message.wire = {.handler = form,
                  .target = static_cast<std::uint8_t>(to % pes),
                  .source = static_cast<std::uint8_t>(pe.rank()),
                  .kind = Kind::done,
                  .zero = 0};
}

[[noreturn]] void die_of_memory(const Pe& pe) noexcept {
  Machine::die(
      "PE %u has no memory to say that an operation on a buffer is over: send less at a "
      "time",
      pe.number());
}

// DEREG: before the handler, and when no other operation that was begun here needs it.
void give_back(Buffers& buffers, Handle& handle) noexcept {
  const bool is_own =
      handle.when_registered == PH_TASK_REG || handle.when_registered == PH_TASK_UNREG;
  if (is_own && handle.when_given_back == PH_TASK_DEREG && !handle.is_in_use())
    buffers.registrations.give(buffers.lane(), handle.registration);
}

// The message is the handler's, or over.
bool run_handler(Buffers& buffers, Handle& handle, const ph_task_done& done,
                 Message& given) noexcept {
  give_back(buffers, handle);
  Pe& pe = buffers.pe;
  const std::uint32_t number =
      done.side == PH_TASK_SOURCE ? handle.source_done : handle.destination_done;
  if (number == PH_TASK_NO_HANDLER) return drop_message(pe, given);
  Message* message = &given;
  const Chunk& chunk = chunk_of(given);
  if (chunk.mark != Mark::live || chunk.room_bytes < sizeof done) {  // it came from a peer
    message = make_done(buffers);
    if (message == nullptr) die_of_memory(pe);
    pe.pool().free(given);
  }
  message->size_bytes = sizeof done;
  message->target = pe.number();
  message->source = done.other_pe;
  message->wire = {.handler = number,
                   .target = static_cast<std::uint8_t>(pe.rank()),
                   .source = static_cast<std::uint8_t>(done.other_pe % pe.shared().pes),
                   .kind = Kind::program,
                   .zero = 0};
  std::memcpy(body_of(*message), &done, sizeof done);
  pe.perform(*message);
  return true;
}

}  // namespace

void write_told(Message& message, const Told& told) noexcept {
  message.size_bytes = sizeof told;
  std::memcpy(body_of(message), &told, sizeof told);
}

Message* make_told(Buffers& buffers, const Told& told) noexcept {
  Message* message = make_done(buffers);
  if (message != nullptr) write_told(*message, told);
  return message;
}

Message& must_make_told(Buffers& buffers, const Told& told) noexcept {
  Message* message = make_told(buffers, told);
  if (message == nullptr) die_of_memory(buffers.pe);
  return *message;
}

void tell_near(Buffers& buffers, std::uint32_t rank, Message& made,
               std::uint32_t other_pe) noexcept {
  Pe& pe = buffers.pe;
  dress(pe, pe.number() - pe.rank() + rank, kTold, made);
  made.source = other_pe;
  if (rank == pe.rank())
    pe.push_own(made);
  else
    pe.shared().all[rank]->push(made);
}

void send_told(Buffers& buffers, std::uint32_t to, Message& told) noexcept {
  Pe& pe = buffers.pe;
  dress(pe, to, kTold, told);
  const std::uint32_t process = to / pe.shared().pes;
  const ph_status status = pe.machine().send(told, process);
  if (status == PH_OK || is_lost(status)) return;
  pe.pool().free(told);
  ++pe.machine().flow(process).returned;
}

void tell_far(Buffers& buffers, std::uint32_t to, const Told& told) noexcept {
  send_told(buffers, to, must_make_told(buffers, told));
}

void tell_own(Buffers& buffers, Message& record) noexcept {
  dress(buffers.pe, buffers.pe.number(), kRecord, record);
  buffers.pe.push_own(record);
}

void pass_on(Buffers& buffers, ph_rank process, std::uint64_t id) noexcept {
  Pe& pe = buffers.pe;
  const EndName name = name_of_id(id);
  const bool is_known = name.says != EndName::Says::none && name.says < EndName::Says::issued;
  if (!is_known || name.rank >= pe.shared().pes) return;  // a peer has made it up
  Message& message =
      must_make_told(buffers, {.id = id, .moved_bytes = kAllBytes, .status = PH_OK, .zero = 0});
  tell_near(buffers, name.rank, message, process * pe.shared().pes + pe.rank());  // by its lane
}

ph_status status_of(const Told& told) noexcept {
  const bool is_known = told.status <= PH_OK && told.status >= PH_ERR_NO_BUFFER;
  return is_known ? static_cast<ph_status>(told.status) : PH_ERR_PROTOCOL;
}

bool run_own(Buffers& buffers, Message& record) noexcept {
  const Operation operation = operation_of(record);
  Handle* handle = buffers.handles.find(operation.buffer);
  if (handle == nullptr) return drop_message(buffers.pe, record);  // it is in use, so it is there
  const bool is_source = operation.verb == Verb::put;
  if (is_source)
    --handle->reads;
  else
    handle->is_landing = false;
  ph_task_done done{};
  done.buffer = operation.buffer;
  done.user = handle->user;
  done.moved_bytes = operation.moved_bytes;
  done.status = operation.status;
  done.side = is_source ? PH_TASK_SOURCE : PH_TASK_DESTINATION;
  done.other_pe = operation.other.pe;
  done.is_own = operation.is_begun_here ? 1 : 0;
  if (operation.is_begun_here) done.other = operation.other;
  return run_handler(buffers, *handle, done, record);
}

bool run_turned(Buffers& buffers, const EndName& name, const Told& told,
                Message& message) noexcept {
  Message* record = buffers.underway.find(name);
  if (record == nullptr || operation_of(*record).other.pe != message.source) {
    ++buffers.stale_dones;
    return drop_message(buffers.pe, message);
  }
  static_cast<void>(buffers.underway.take(name));
  Operation& operation = operation_of(*record);
  buffers.awaited.remove(operation.other_process);
  operation.status = status_of(told);
  if (operation.status != PH_OK) operation.moved_bytes = 0;
  buffers.pe.pool().free(message);
  buffers.pe.balance().processed += 1;  // the own done; what told of it is counted by the loop
  return run_own(buffers, *record);
}

bool run_told(Buffers& buffers, const EndName& name, const Told& told, Message& message) noexcept {
  Handle* handle = buffers.handles.find(name.slot, name.generation);
  if (handle == nullptr) {
    ++buffers.stale_dones;
    return drop_message(buffers.pe, message);
  }
  ph_task_done done{};
  done.buffer = handle->name();
  done.user = handle->user;
  done.moved_bytes = std::min(told.moved_bytes, handle->size_bytes);
  done.status = status_of(told);
  done.side = name.says == EndName::Says::read ? PH_TASK_SOURCE : PH_TASK_DESTINATION;
  done.other_pe = message.source;
  return run_handler(buffers, *handle, done, message);
}

}  // namespace photon::task
