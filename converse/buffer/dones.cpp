#include "converse/buffer/dones.hpp"

#include "converse/buffer/acks.hpp"

namespace photon::converse {

namespace {

static_assert(sizeof(CmiNcpyDone) <= sizeof(ph_task_done));

// Who hears of it; the buffer may have ended.
struct Hearer {
  const void* ptr;
  CmiHandler function;
  int handler;
};

[[noreturn]] void refuse_done(const Pe& pe, const Live& live, const ph_task_done& done) noexcept {
  const bool is_source = done.side == PH_TASK_SOURCE;
  if (done.status == PH_ERR_KEY)
    refuse("CmiNcpyBuffer", "the buffer of PE %u that one of PE %u is %s has ended: %s",
           done.other_pe, pe.place.pe, is_source ? "written to" : "read from", kEndedWords);
  refuse("CmiNcpyBuffer", "%llu of %llu bytes were moved %s PE %u: %s",
         static_cast<unsigned long long>(done.moved_bytes),
         static_cast<unsigned long long>(live.size_bytes), is_source ? "to" : "from", done.other_pe,
         ph_status_text(done.status));
}

// The message is the program's, or gone.
void tell(Pe& pe, const Hearer& hearer, const ph_task_done& done,
          ph_task_message* message) noexcept {
  if (hearer.function == nullptr && hearer.handler < 0) {
    require(pe, "CmiNcpyBuffer", ph_task_free(pe.task, message));
    return;
  }
  CmiNcpyDone told{};
  told.ptr = hearer.ptr;
  told.size = done.moved_bytes;
  told.pe = static_cast<int>(done.other_pe);
  told.isSource = done.side == PH_TASK_SOURCE ? 1 : 0;
  ph_task_set_handler(message, pe.dispatch);
  void* const body = message_of(message);
  std::memcpy(body, &told, sizeof told);
  header_of(body) = {};
  if (hearer.function != nullptr) {
    run_lent(pe, hearer.function, body);
    return;
  }
  header_of(body).handler = static_cast<std::uint32_t>(hearer.handler);
  run_message(pe, body);
}

}  // namespace

void run_buffer_done(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  if (pe.is_leaving) return require(pe, "ConverseExit", ph_task_free(pe.task, message));
  ph_task_done done;
  std::memcpy(&done, message_of(message), sizeof done);
  Live& live = *static_cast<Live*>(done.user);
  if (done.status != PH_OK) refuse_done(pe, live, done);
  LiveBuffers& buffers = buffers_of(pe).live;
  const ncpyAckMode side = done.side == PH_TASK_SOURCE ? CMK_SRC_ACK : CMK_DEST_ACK;
  const Hearer hearer{live.ptr, live.function, live.handler};
  Pending* pending = nullptr;
  if (done.is_own != 0) {
    --live.own_operations;
    pending = buffers.take_pending(live, done.other);
  }
  if (live.ends_by_itself && live.own_operations == 0) buffers.end(pe, "CmiNcpyBuffer", live);
  if (pending != nullptr) send_other_ack(pe, *pending, side);
  tell(pe, hearer, done, message);
  if (pending == nullptr) return;
  const Pending over = *pending;
  buffers.free_pending(*pending);
  run_own_ack(pe, over, side);
}

}  // namespace photon::converse
