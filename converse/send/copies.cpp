#include "converse/send/copies.hpp"

#include <cstring>

namespace photon::converse {

namespace {

// A message that is sent with another size than it was made with, as programs do that use the
// front of a large one.
ph_task_message* front_of(Pe& pe, const char* call, CmiInt8 size, void* message,
                          std::uint32_t to) noexcept {
  ph_task_message* const whole = task_of(message);
  require(pe, call, ph_task_retain(pe.task, whole));  // is it one?
  if (static_cast<std::uint64_t>(size) > ph_task_size(whole))
    refuse(call, "%lld bytes are to be sent of a message that CmiAlloc() made with %llu",
           static_cast<long long>(size), static_cast<unsigned long long>(ph_task_size(whole)));
  ph_task_message* const front = sent_copy(pe, call, size, message, to);
  require(pe, call, ph_task_free(pe.task, whole));
  require(pe, call, ph_task_free(pe.task, whole));
  return front;
}

}  // namespace

ph_task_message* sent_copy(Pe& pe, const char* call, CmiInt8 size, const void* message,
                           std::uint32_t to) noexcept {
  check_message(call, size, message);
  void* const copy = allocate(pe, call, size);
  std::memcpy(copy, message, static_cast<std::size_t>(size));
  mark_sent(pe, header_of(copy));
  ph_task_set_handler(task_of(copy), to);
  return task_of(copy);
}

ph_task_message* given(Pe& pe, const char* call, CmiInt8 size, void* message,
                       std::uint32_t to) noexcept {
  check_message(call, size, message);
  forget_lent(pe, message);
  ph_task_message* const whole = task_of(message);
  if (ph_task_size(whole) != static_cast<std::uint64_t>(size)) [[unlikely]]
    return front_of(pe, call, size, message, to);
  mark_sent(pe, header_of(message));
  ph_task_set_handler(whole, to);
  return whole;
}

}  // namespace photon::converse
