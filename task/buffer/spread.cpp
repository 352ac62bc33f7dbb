#include "task/buffer/spread.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "task/buffer/issue.hpp"
#include "task/buffer/new_registration.hpp"
#include "task/run/route.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

namespace {

// The processes that have not answered, of a record that feeds.
std::uint32_t* pending_of(Operation& operation) noexcept {
  return reinterpret_cast<std::uint32_t*>(body_of(*operation.pending));
}

Route route_of(const Buffers& buffers, const ph_task_offer& offer) noexcept {
  const Shared& shared = buffers.pe.shared();
  return {offer.root_pe / shared.pes, shared.processes};
}

Children below(const Buffers& buffers, const ph_task_offer& offer) noexcept {
  const Route route = route_of(buffers, offer);
  return route.children_of(*route.place_of(buffers.pe.shared().process));
}

// To the PE of the same rank.
ph_status send_offer(Buffers& buffers, const ph_task_offer& offer, std::uint32_t process) noexcept {
  Pe& pe = buffers.pe;
  Message* message = pe.pool().alloc(sizeof offer);
  if (message == nullptr)
    Machine::die("PE %u has no memory to offer a buffer: send less at a time", pe.number());
  std::memcpy(body_of(*message), &offer, sizeof offer);
  const std::uint32_t to = process * pe.shared().pes + pe.rank();
  const ph_status status = send_of_kind(pe, Kind::spread, to, *message);
  if (status != PH_OK && !is_lost(status)) pe.pool().free(*message);
  return status;
}

// Those of a process that is lost are served in its place.
void serve(Buffers& buffers, Operation& operation, const ph_task_offer& offer,
           const Children& children) noexcept {
  const Route route = route_of(buffers, offer);
  for (std::uint32_t i = 0; i < children.count; ++i) {
    const std::uint64_t place = children.first + i;
    const std::uint32_t process = route.at(place);
    if (send_offer(buffers, offer, process) == PH_OK) {
      pending_of(operation)[operation.pending_count++] = process;
      buffers.awaited.add(process);
    } else {
      serve(buffers, operation, offer, route.children_of(place));
    }
  }
}

// That process is not waited for any more. False: it was not.
bool answered(Buffers& buffers, Operation& operation, std::uint32_t process) noexcept {
  const std::span<std::uint32_t> pending{pending_of(operation), operation.pending_count};
  const auto found = std::ranges::find(pending, process);
  if (found == pending.end()) return false;
  *found = pending.back();
  --operation.pending_count;
  buffers.awaited.remove(process);
  return true;
}

// The record stands under way as one that feeds. False: no memory.
bool feed(Buffers& buffers, Message& record) noexcept {
  Operation& operation = operation_of(record);
  Pool& pool = buffers.pe.pool();
  operation.pending = pool.alloc(sizeof(std::uint32_t) * buffers.pe.shared().processes);
  if (operation.pending == nullptr) return false;
  EndName name{};
  if (!buffers.underway.add(record, EndName::Says::fed, name)) {
    pool.free(*operation.pending);
    return false;
  }
  name.rank = static_cast<std::uint8_t>(buffers.pe.rank());
  operation.local = id_of(name);
  operation.feeds = Feeds::feeding;
  buffers.pe.balance().created += 1;  // the done that comes when all below have read
  ph_task_offer offer = operation.offer;
  offer.source = operation.own;
  offer.above = operation.local;
  serve(buffers, operation, offer, below(buffers, operation.offer));
  buffers.watch();
  return true;
}

// All below have read: the process above hears of it, and the program.
bool complete(Buffers& buffers, Message& record) noexcept {
  Operation& operation = operation_of(record);
  buffers.pe.pool().free(*operation.pending);
  const std::uint64_t moved_bytes = operation.below == PH_OK ? operation.moved_bytes : 0;
  if (operation.verb == Verb::get) {  // its own bytes are there, whatever became of those below
    tell_far(
        buffers, operation.other.pe,
        {.id = operation.remote, .moved_bytes = moved_bytes, .status = operation.below, .zero = 0});
  } else {
    operation.status = operation.below;
    operation.moved_bytes = moved_bytes;
  }
  return run_own(buffers, record);
}

}  // namespace

ph_status spread(Buffers& buffers, Handle& own, std::uint32_t handler,
                 std::uint64_t word) noexcept {
  Pe& pe = buffers.pe;
  NewRegistration registration(buffers, own);
  if (own.size_bytes != 0)
    if (const ph_status status = registration.take(); status != PH_OK) return status;
  // The other side is many; it is shown as an empty descriptor of the own PE.
  ph_task_descriptor none{};
  none.pe = pe.number();
  Message* record = make_record(buffers, {Verb::put, own, none});
  if (record == nullptr) return PH_ERR_MEMORY;
  Operation& operation = operation_of(*record);
  operation.is_told_apart = false;
  operation.offer.word = word;
  operation.offer.root_pe = pe.number();
  operation.offer.handler = handler;
  if (!feed(buffers, *record)) {
    pe.pool().free(*record);
    return PH_ERR_MEMORY;
  }
  registration.stay();
  hold(own, Verb::put);
  ++buffers.operations;
  if (operation.pending_count == 0) {
    static_cast<void>(buffers.underway.end(name_of_id(operation.local)));
    operation.feeds = Feeds::fed;
    tell_own(buffers, *record);
  }
  return PH_OK;
}

bool is_offer(const Buffers& buffers, const ph_task_offer& offer) noexcept {
  const Shared& shared = buffers.pe.shared();
  const EndName above = name_of_id(offer.above);
  return is_sound(offer.source, shared.pes_of_job()) && offer.root_pe < shared.pes_of_job() &&
         offer.source.pe / shared.pes != shared.process &&
         offer.root_pe / shared.pes != shared.process && above.says == EndName::Says::fed &&
         above.rank < shared.pes && (offer.source.key != 0 || offer.source.size_bytes == 0);
}

ph_status land(Buffers& buffers, Handle& own, const ph_task_offer& offer) noexcept {
  const bool feeds = below(buffers, offer).count != 0;
  NewRegistration registration(buffers, own);
  if (feeds && own.size_bytes != 0)
    if (const ph_status status = registration.take(); status != PH_OK) return status;
  Message* record = make_record(buffers, {Verb::get, own, offer.source});
  if (record == nullptr) return PH_ERR_MEMORY;
  Operation& operation = operation_of(*record);
  operation.own.size_bytes = operation.moved_bytes;  // what is fed from it
  operation.remote = offer.above;
  operation.offer = offer;
  operation.feeds = Feeds::landing;
  operation.is_told_apart = feeds;
  if (!issue(buffers, own, *record)) {
    buffers.pe.pool().free(*record);
    return PH_ERR_MEMORY;
  }
  registration.stay();
  ++buffers.operations;
  return PH_OK;
}

bool run_offer(Pe& pe, Message& message) noexcept {
  ph_task_offer offer{};
  if (message.size_bytes == sizeof offer) std::memcpy(&offer, body_of(message), sizeof offer);
  if (!is_offer(buffers_of(pe), offer) || offer.source.pe != message.source)
    return drop_message(pe, message);  // a peer has made it up
  message.wire.handler = offer.handler;
  message.wire.kind = Kind::program;
  pe.perform(message);
  return true;
}

bool run_landed(Buffers& buffers, Message& record) noexcept {
  Operation& operation = operation_of(record);
  if (operation.feeds == Feeds::fed) return complete(buffers, record);
  if (operation.status != PH_OK || !operation.is_told_apart) return run_own(buffers, record);
  if (!feed(buffers, record))
    Machine::die("PE %u has no memory to offer a buffer: send less at a time", buffers.pe.number());
  if (operation.pending_count != 0) return false;
  static_cast<void>(buffers.underway.take(name_of_id(operation.local)));
  buffers.pe.balance().processed += 1;  // that done; the landing is counted by the loop
  return complete(buffers, record);
}

bool run_fed(Buffers& buffers, const EndName& name, const Told& told, Message& message) noexcept {
  Message* record = buffers.underway.find(name);
  const std::uint32_t process = message.source / buffers.pe.shared().pes;
  if (record == nullptr || !answered(buffers, operation_of(*record), process)) {
    ++buffers.stale_dones;
    return drop_message(buffers.pe, message);
  }
  Operation& operation = operation_of(*record);
  if (operation.below == PH_OK) operation.below = status_of(told);
  buffers.pe.pool().free(message);
  if (operation.pending_count != 0) return false;
  static_cast<void>(buffers.underway.take(name));
  buffers.pe.balance().processed += 1;  // the own done; the answer is counted by the loop
  return complete(buffers, *record);
}

void end_fed_by(Buffers& buffers, std::uint32_t process) noexcept {
  buffers.underway.each(EndName::Says::fed, [&](const EndName& name, Message& record) {
    if (!answered(buffers, operation_of(record), process)) return;
    if (operation_of(record).pending_count != 0) return;
    static_cast<void>(buffers.underway.end(name));
    operation_of(record).feeds = Feeds::fed;
    tell_own(buffers, record);
  });
}

}  // namespace photon::task
