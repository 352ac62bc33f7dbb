#include "task/buffer/issue.hpp"

#include <new>

#include "task/buffer/dones.hpp"

namespace photon::task {

namespace {

bool is_for_later(ph_status status) noexcept {
  return status == PH_AGAIN || status == PH_ERR_MEMORY;
}

ph_status post(Buffers& buffers, const Operation& operation) noexcept {
  return operation.verb == Verb::get ? issue_get(buffers.lane(), operation)
                                     : issue_put(buffers.lane(), operation);
}

// It is under way no more. The other side has heard of it by the remote id, or does so here.
void end(Buffers& buffers, Message& record, ph_status status) noexcept {
  Operation& operation = operation_of(record);
  operation.status = status;
  if (status != PH_OK) operation.moved_bytes = 0;
  const bool is_to_feed = operation.feeds == Feeds::landing;  // the other side hears when all have
  const bool is_to_tell =
      status == PH_OK ? operation.is_told_apart && !is_to_feed : !is_lost(status);
  if (is_to_tell)
    tell_far(buffers, operation.other.pe,
             {.id = operation.remote,
              .moved_bytes = operation.moved_bytes,
              .status = status,
              .zero = 0});
  --buffers.pe.machine().rdma().issued;
  tell_own(buffers, record);
}

// False: there is no room.
bool go(Buffers& buffers, Message& record) noexcept {
  const ph_status status = post(buffers, operation_of(record));
  if (is_for_later(status)) return false;
  if (status == PH_OK) return true;
  static_cast<void>(buffers.underway.end(name_of_id(operation_of(record).local)));
  end(buffers, record, status);
  return true;
}

}  // namespace

Message* make_record(Buffers& buffers, const BothEnds& ends) noexcept {
  Pe& pe = buffers.pe;
  Message* record = pe.pool().alloc(sizeof(Operation));
  if (record == nullptr) return nullptr;
  const bool is_get = ends.verb == Verb::get;
  const std::uint32_t pes = pe.shared().pes;
  new (body_of(*record))
      Operation{.own = descriptor_of(pe, ends.own),
                .other = ends.other,
                .buffer = ends.own.name(),
                .moved_bytes = is_get ? ends.other.size_bytes : ends.own.size_bytes,
                .local = 0,
                .remote = id_of(ends.other, is_get ? PH_TASK_SOURCE : PH_TASK_DESTINATION, pes),
                .other_process = ends.other.pe / pes,
                .status = PH_OK,
                .verb = ends.verb,
                .is_told_apart = !is_get && ends.other.size_bytes != ends.own.size_bytes,
                .is_begun_here = true,
                .feeds = Feeds::none,
                .below = PH_OK,
                .pending_count = 0,
                .pending = nullptr,
                .offer = {}};
  return record;
}

void hold(Handle& handle, Verb verb) noexcept {
  if (verb == Verb::get)
    handle.is_landing = true;
  else
    ++handle.reads;
}

bool issue(Buffers& buffers, Handle& own, Message& record) noexcept {
  Operation& operation = operation_of(record);
  EndName name{};
  if (!buffers.underway.add(record, EndName::Says::issued, name)) return false;
  operation.local = id_of(name);
  hold(own, operation.verb);
  Pe& pe = buffers.pe;
  pe.balance().created += 1;
  ++pe.machine().flow(operation.other_process).sent;
  ++pe.machine().rdma().issued;
  Waiting& waiting = buffers.waiting;
  if (waiting.any_for(operation.other_process) || !go(buffers, record)) {
    waiting.append(operation.other_process, record);
    buffers.watch();
  }
  return true;
}

void end_issued(Buffers& buffers, const ph_u64_completion& completion) noexcept {
  const EndName name = name_of_id(completion.id);
  if (name.says != EndName::Says::issued) return;
  Message* record = buffers.underway.end(name);
  // A second end tells that a notice was lost with its peer: nobody is left to hear of it.
  if (record != nullptr) end(buffers, *record, static_cast<ph_status>(completion.status));
}

bool issue_waiting(Buffers& buffers) noexcept {
  return buffers.waiting.go_on([&](Message& record) { return go(buffers, record); });
}

}  // namespace photon::task
