// Mailboxes: validate what only the ABI can get wrong, then call the service.
#include <photon/mailbox.h>
#include <sched.h>

#include <cstddef>
#include <cstring>

#include "api/handle.hpp"
#include "service/mailbox/mailboxes.hpp"

using photon::api::bad_argument;
using photon::api::Ends;
using photon::api::in_service;
using photon::service::mailbox::Mailboxes;
using photon::service::mailbox::Receiver;

namespace {

constexpr auto kMailboxOwner = photon::wire::Owner::mailbox;

// The struct that a caller has passed; null: nothing that can be read. Of one who was compiled when
// the struct ended with `last` a copy in `room`: what it does not have is zero.
template <class Args, class Last>
const Args* read_args(const Args* given, Last Args::*last, Args& room) noexcept {
  if (given == nullptr || given->size == sizeof(Args)) return given;
  const auto* const begin = reinterpret_cast<const std::byte*>(given);
  const auto* const end = reinterpret_cast<const std::byte*>(&(given->*last) + 1);
  const auto size = static_cast<std::size_t>(end - begin);
  if (given->size != (size + alignof(Args) - 1) / alignof(Args) * alignof(Args)) return nullptr;
  room = {};
  std::memcpy(&room, given, size);
  return &room;
}

// Runs `call(receiver)` in the context's lane: what makes no progress, and runs no handler.
template <class Call>
ph_status at_receiver(ph_context* context, Call call) noexcept {
  return in_service<Mailboxes, Ends::posted>(
      context, kMailboxOwner, [&](Mailboxes& all, auto&, auto&) { return call(all.receiver()); });
}

ph_status not_waited_for(photon::engine::Engine& engine) {
  return engine.port(kMailboxOwner)
      .fail(PH_ERR_STATE, PH_ANY_RANK,
            "mailbox_take: the handle names no mailbox of this lane, or its last event was taken");
}

ph_status put(ph_context* context, ph_rank rank, const ph_mailbox_put_args* args,
              bool appends) noexcept {
  if (args == nullptr || args->size != sizeof(ph_mailbox_put_args))
    return bad_argument(
        context, "mailbox_put: args is null, or args->size is not sizeof(ph_mailbox_put_args)");
  return in_service<Mailboxes, Ends::posted>(
      context, kMailboxOwner,
      [&](Mailboxes& all, auto&, auto&) { return all.sender().put(rank, *args, appends); });
}

}  // namespace

extern "C" {

ph_status ph_mailbox_open(ph_context* context, const ph_mailbox_args* args, ph_mailbox* box) {
  ph_mailbox_args room;
  args = read_args(args, &ph_mailbox_args::retained, room);
  if (args == nullptr || box == nullptr)
    return bad_argument(context,
                        "mailbox_open: args or box is null, or args->size is not "
                        "sizeof(ph_mailbox_args)");
  return at_receiver(context, [&](Receiver& receiver) { return receiver.open(*args, *box); });
}

ph_status ph_mailbox_post(ph_context* context, ph_mailbox box, const ph_mailbox_buffer* buffer) {
  ph_mailbox_buffer room;
  buffer = read_args(buffer, &ph_mailbox_buffer::cookie, room);
  if (buffer == nullptr)
    return bad_argument(context,
                        "mailbox_post: buffer is null, or buffer->size is not "
                        "sizeof(ph_mailbox_buffer)");
  return at_receiver(context, [&](Receiver& receiver) { return receiver.post(box, *buffer); });
}

ph_status ph_mailbox_take(ph_context* context, ph_mailbox box, ph_mailbox_event* event) {
  if (event == nullptr) return bad_argument(context, "mailbox_take: the event is null");
  bool yield = false;
  const ph_status status =
      in_service<Mailboxes>(context, kMailboxOwner, [&](Mailboxes& all, auto& engine, auto&) {
        Receiver& receiver = all.receiver();
        ph_status taken = receiver.take(box, *event);
        if (taken == PH_AGAIN) {
          if (!engine.quick_turn()) engine.serve();
          taken = receiver.take(box, *event);
          yield = engine.tested(taken == PH_OK);
        }
        return taken == PH_ERR_STATE ? not_waited_for(engine) : taken;
      });
  if (yield) ::sched_yield();  // more ranks than cores: the peer may need this one
  return status;
}

ph_status ph_mailbox_wait(ph_context* context, ph_mailbox box, ph_mailbox_event* event,
                          int64_t timeout_us) {
  if (event == nullptr) return bad_argument(context, "mailbox_wait: the event is null");
  return in_service<Mailboxes>(
      context, kMailboxOwner, [&](Mailboxes& all, auto& engine, auto& guard) {
        Receiver& receiver = all.receiver();
        const ph_status status = engine.wait_for(
            guard, [&] { return receiver.state(box) != PH_AGAIN; }, timeout_us);
        if (status != PH_OK) return status;
        const ph_status taken = receiver.take(box, *event);
        return taken == PH_ERR_STATE ? not_waited_for(engine) : taken;
      });
}

ph_status ph_mailbox_inc_epoch(ph_context* context, ph_mailbox box) {
  return at_receiver(context, [&](Receiver& receiver) { return receiver.inc_epoch(box); });
}

ph_status ph_mailbox_epoch(ph_context* context, ph_mailbox box, uint64_t* epoch,
                           uint32_t* incarnation) {
  if (epoch == nullptr || incarnation == nullptr)
    return bad_argument(context, "mailbox_epoch: epoch or incarnation is null");
  return at_receiver(context,
                     [&](Receiver& receiver) { return receiver.epoch(box, *epoch, *incarnation); });
}

ph_status ph_mailbox_release(ph_context* context, ph_mailbox box, uint64_t epoch) {
  return at_receiver(context, [&](Receiver& receiver) { return receiver.release(box, epoch); });
}

ph_status ph_mailbox_rewind(ph_context* context, ph_mailbox box, uint64_t epoch) {
  return at_receiver(context, [&](Receiver& receiver) { return receiver.rewind(box, epoch); });
}

ph_status ph_mailbox_retained(ph_context* context, ph_mailbox box, ph_mailbox_event* events,
                              size_t capacity, size_t* count) {
  if (count == nullptr || (events == nullptr && capacity != 0))
    return bad_argument(context, "mailbox_retained: events or count is null");
  return at_receiver(context, [&](Receiver& receiver) {
    return receiver.retained(box, {events, capacity}, *count);
  });
}

ph_status ph_mailbox_buf_ptrs(ph_context* context, ph_mailbox box, ph_mailbox_posted* buffers,
                              size_t capacity, size_t* count) {
  if (count == nullptr || (buffers == nullptr && capacity != 0))
    return bad_argument(context, "mailbox_buf_ptrs: buffers or count is null");
  return at_receiver(context, [&](Receiver& receiver) {
    return receiver.buf_ptrs(box, {buffers, capacity}, *count);
  });
}

ph_status ph_mailbox_ranges(ph_context* context, ph_mailbox box, uint64_t epoch,
                            ph_mailbox_range_list* list) {
  if (list == nullptr || (list->ranges == nullptr && list->capacity != 0))
    return bad_argument(context, "mailbox_ranges: the list or its ranges are null");
  return at_receiver(context, [&](Receiver& receiver) {
    return receiver.ranges(box, epoch, {list->ranges, list->capacity}, list->count);
  });
}

ph_status ph_mailbox_close(ph_context* context, ph_mailbox box) {
  return at_receiver(context, [&](Receiver& receiver) { return receiver.close(box); });
}

ph_status ph_mailbox_put(ph_context* context, ph_rank rank, const ph_mailbox_put_args* args) {
  return put(context, rank, args, false);
}

ph_status ph_mailbox_append(ph_context* context, ph_rank rank, const ph_mailbox_put_args* args) {
  return put(context, rank, args, true);
}

ph_status ph_mailbox_put_u64(ph_context* context, ph_rank rank, uint64_t address, uint64_t offset,
                             ph_const_block source) {
  return in_service<Mailboxes, Ends::posted>(
      context, kMailboxOwner, [&](Mailboxes& all, auto&, auto&) {
        return all.sender().put_u64(
            rank, address, offset,
            std::span(static_cast<const std::byte*>(source.data), source.size_bytes));
      });
}

ph_status ph_mailbox_withdraw(ph_context* context, ph_rank rank,
                              const ph_mailbox_withdraw_args* args) {
  if (args == nullptr || args->size != sizeof(ph_mailbox_withdraw_args))
    return bad_argument(context,
                        "mailbox_withdraw: args is null, or args->size is not "
                        "sizeof(ph_mailbox_withdraw_args)");
  return in_service<Mailboxes, Ends::posted>(
      context, kMailboxOwner,
      [&](Mailboxes& all, auto&, auto&) { return all.sender().withdraw(rank, *args); });
}

ph_status ph_mailbox_get(ph_context* context, ph_rank rank, const ph_mailbox_get_args* args) {
  if (args == nullptr || args->size != sizeof(ph_mailbox_get_args))
    return bad_argument(
        context, "mailbox_get: args is null, or args->size is not sizeof(ph_mailbox_get_args)");
  return in_service<Mailboxes, Ends::posted>(
      context, kMailboxOwner,
      [&](Mailboxes& all, auto&, auto&) { return all.reader().get(rank, *args); });
}

}  // extern "C"
