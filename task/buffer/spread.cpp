#include "task/buffer/spread.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "task/buffer/issue.hpp"
#include "task/run/route.hpp"

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
  message->source = pe.number();
  message->wire = {.handler = 0,
                   .target = static_cast<std::uint8_t>(pe.rank()),
                   .source = static_cast<std::uint8_t>(pe.rank()),
                   .kind = Kind::spread,
                   .zero = 0};
  const ph_status status = pe.machine().send(*message, process);
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
    if (send_offer(buffers, offer, process) == PH_OK)
      pending_of(operation)[operation.pending_count++] = process;
    else
      serve(buffers, operation, offer, route.children_of(place));
  }
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
  if (operation.verb == Verb::get)
    tell_far(buffers, operation.other.pe,
             {.id = operation.remote,
              .moved_bytes = operation.moved_bytes,
              .status = operation.below,
              .zero = 0});
  else
    operation.status = operation.below;
  return run_own(buffers, record);
}

}  // namespace

ph_status spread(Buffers& buffers, Handle& own, std::uint32_t handler,
                 std::uint64_t word) noexcept {
  Pe& pe = buffers.pe;
  if (own.registration.key == 0 && own.size_bytes != 0) {
    const ph_status status =
        buffers.registrations.take(buffers.lane(), own.address, own.size_bytes, own.registration);
    if (status != PH_OK) return status;
  }
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
  hold(own, Verb::put);
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
  if (feeds && own.registration.key == 0 && own.size_bytes != 0) {
    const ph_status status =
        buffers.registrations.take(buffers.lane(), own.address, own.size_bytes, own.registration);
    if (status != PH_OK) return status;
  }
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
  const std::span<std::uint32_t> pending =
      record == nullptr
          ? std::span<std::uint32_t>{}
          : std::span{pending_of(operation_of(*record)), operation_of(*record).pending_count};
  const auto found = std::ranges::find(pending, process);
  if (found == pending.end()) {
    ++buffers.stale_dones;
    return drop_message(buffers.pe, message);
  }
  Operation& operation = operation_of(*record);
  *found = pending.back();
  --operation.pending_count;
  if (operation.below == PH_OK) operation.below = status_of(told);
  buffers.pe.pool().free(message);
  if (operation.pending_count != 0) return false;
  static_cast<void>(buffers.underway.take(name));
  buffers.pe.balance().processed += 1;  // the own done; the answer is counted by the loop
  return complete(buffers, *record);
}

bool end_lost_feed(Buffers& buffers, bool found) noexcept {
  const EndName name = buffers.underway.next(EndName::Says::fed, buffers.looked_feed);
  buffers.looked_feed = name.slot;
  Message& record = *buffers.underway.find(name);
  Operation& operation = operation_of(record);
  const bool is_to_end = operation.is_lost && !found;
  operation.is_lost = false;
  std::uint32_t* pending = pending_of(operation);
  for (std::uint32_t i = 0; i < operation.pending_count;) {
    ph_contact_state state = PH_PEER_UNKNOWN;
    static_cast<void>(ph_peer_state(buffers.lane(), pending[i], &state));
    const bool is_lost_now = state == PH_PEER_DEAD || state == PH_PEER_DEPARTED;
    operation.is_lost |= is_lost_now;
    if (is_lost_now && is_to_end)
      pending[i] = pending[--operation.pending_count];
    else
      ++i;
  }
  if (operation.pending_count != 0) return false;
  static_cast<void>(buffers.underway.end(name));
  operation.feeds = Feeds::fed;
  tell_own(buffers, record);
  return true;
}

}  // namespace photon::task
