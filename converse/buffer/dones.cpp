#include "converse/buffer/dones.hpp"

#include "converse/buffer/acks.hpp"

namespace photon::converse {

namespace {

static_assert(sizeof(CmiNcpyDone) <= sizeof(ph_task_done));

[[noreturn]] void refuse_done(Pe& pe, const Live& live, const ph_task_done& done) noexcept {
  if (done.status == PH_ERR_DEPARTED) require(pe, "CmiNcpyBuffer", done.status);
  const bool is_source = done.side == PH_TASK_SOURCE;
  if (done.status == PH_ERR_KEY)
    refuse("CmiNcpyBuffer", "the buffer of PE %u that one of PE %u is %s has ended: %s",
           done.other_pe, pe.place.pe, is_source ? "written to" : "read from", kEndedWords);
  refuse("CmiNcpyBuffer", "%llu of %llu bytes were moved %s PE %u: %s",
         static_cast<unsigned long long>(done.moved_bytes),
         static_cast<unsigned long long>(live.size_bytes), is_source ? "to" : "from", done.other_pe,
         ph_status_text(done.status));
}

// This is what the program hears; the buffer may have ended.
struct Telling {
  CmiNcpyDone done;
  CmiHandler function;
  int handler;
};

// The message is the program's, or gone. False: the program hears nothing.
bool tell(Pe& pe, const Telling& telling, ph_task_message* message) {
  if (telling.function == nullptr && telling.handler < 0) {
    require(pe, "CmiNcpyBuffer", ph_task_free(pe.task, message));
    return false;
  }
  ph_task_set_handler(message, pe.dispatch);
  void* const body = message_of(message);
  std::memcpy(body, &telling.done, sizeof telling.done);
  header_of(body) = {static_cast<std::uint32_t>(telling.handler), 0, 0};
  if (telling.function == nullptr) {
    take_message(pe, body);
    return true;
  }
  header_of(body).handler = 0;
  run_lent(pe, telling.function, body);
  return true;
}

}  // namespace

void run_buffer_done(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  if (pe.is_leaving) return require(pe, "ConverseExit", ph_task_free(pe.task, message));
  const ph_task_done& done = *static_cast<const ph_task_done*>(message_of(message));
  Live& live = *static_cast<Live*>(done.user);
  if (done.status != PH_OK) [[unlikely]]
    refuse_done(pe, live, done);
  const bool is_source = done.side == PH_TASK_SOURCE;
  const Telling telling{{{},
                         live.ptr,
                         static_cast<std::size_t>(done.moved_bytes),
                         static_cast<int>(done.other_pe),
                         is_source ? 1 : 0},
                        live.function,
                        live.handler};
  Pending* pending = nullptr;
  if (done.is_own != 0) {
    --live.own_operations;
    buffers_of(pe).over.add(done.other);
    if (live.pending != nullptr) pending = LiveBuffers::take_pending(live, done.other);
  } else {
    hear_done(pe, live, done.other_pe);
  }
  if (live.ends_by_itself && live.own_operations == 0)
    buffers_of(pe).live.end_if_unused(pe, "CmiNcpyBuffer", live);
  bool is_heard = false;
  if (pending == nullptr) {
    is_heard = tell(pe, telling, message);
  } else {
    const ncpyAckMode side = is_source ? CMK_SRC_ACK : CMK_DEST_ACK;
    const Pending over = *pending;
    buffers_of(pe).live.free_pending(*pending);
    send_other_ack(pe, over, side);
    is_heard = tell(pe, telling, message);
    is_heard = run_own_ack(pe, over, side) || is_heard;
  }
  if (!is_heard) ++pe.own_tasks;
}

}  // namespace photon::converse
