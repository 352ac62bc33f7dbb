// Messages to several PEs, several messages to one, and the end of the whole job.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "task/api/checks.hpp"
#include "task/run/exits.hpp"
#include "task/run/relay.hpp"
#include "task/run/sends.hpp"

using photon::task::chunk_of;
using photon::task::enclosing;
using photon::task::is_held;
using photon::task::is_here;
using photon::task::is_lost;
using photon::task::Kind;
using photon::task::Machine;
using photon::task::Message;
using photon::task::no_pe;
using photon::task::of;
using photon::task::Pe;
using photon::task::refuse;
using photon::task::told;

namespace {

bool is_alone(ph_task_message* message) noexcept {
  return chunk_of(enclosing(of(message))).references.is_single();
}

// Does a message stand twice? All are held. One that nobody else holds is marked meanwhile; others
// may be read elsewhere, so their addresses are compared, and nothing is written to them.
bool has_twice(std::span<ph_task_message* const> messages) noexcept {
  bool found = false;
  size_t seen = 0;
  for (; seen != messages.size() && !found; ++seen) {
    ph_task_message* const one = messages[seen];
    if (is_alone(one))
      found = std::exchange(chunk_of(of(one)).is_queued, uint8_t{1}) != 0;
    else
      found = std::ranges::count(messages.subspan(seen + 1), one) != 0;
  }
  for (ph_task_message* one : messages.first(seen))
    if (is_alone(one)) chunk_of(of(one)).is_queued = 0;
  return found;
}

// PH_OK: each is held, and none stands twice.
ph_status check_messages(Pe& pe, std::span<ph_task_message* const> messages) noexcept {
  for (const ph_task_message* message : messages)
    if (!is_held(message)) return refuse(pe, "ph_task_send_many", message);
  if (!has_twice(messages)) return PH_OK;
  return pe.fail(PH_ERR_STATE, "ph_task_send_many: a message stands twice: send a copy of it");
}

// PH_OK: the PEs exist.
ph_status check_list(Pe& pe, const char* call, const ph_task_list* list) noexcept {
  if (list == nullptr || list->size != sizeof *list || (list->pes == nullptr && list->count != 0))
    return pe.fail(PH_ERR_ARGUMENT,
                   "%s: list is null, or its size is not that of the struct, or it has a count and "
                   "no PEs",
                   call);
  if (list->count > pe.shared().pes_of_job())
    return pe.fail(PH_ERR_ARGUMENT, "%s: %zu PEs are listed, and the job has %u", call, list->count,
                   pe.shared().pes_of_job());
  for (size_t i = 0; i != list->count; ++i)
    if (list->pes[i] >= pe.shared().pes_of_job()) return no_pe(pe, call, list->pes[i]);
  return PH_OK;
}

ph_status stands_twice(Pe& pe, const char* call) noexcept {
  return pe.fail(PH_ERR_ARGUMENT, "%s: a PE stands twice in the list: name each once", call);
}

// What both calls have in common; then the message is given away.
ph_status check_message(Pe& pe, const char* call, const ph_task_message* message,
                        uint32_t flags) noexcept {
  if ((flags & ~PH_TASK_KEEP) != 0)
    return pe.fail(PH_ERR_ARGUMENT, "%s: unknown flags 0x%x", call, flags);
  if (!is_held(message)) return refuse(pe, call, message);
  return PH_OK;
}

ph_status end_send(Pe& pe, const char* call, Message& message, uint32_t flags,
                   ph_status status) noexcept {
  if (status == PH_OK && (flags & PH_TASK_KEEP) == 0) pe.pool().free(message);
  return told(pe, call, status);
}

// The sum of their bytes; none: a block is null and has bytes, or the sum wraps.
std::optional<uint64_t> size_of(const ph_const_block* blocks, size_t count) noexcept {
  if (blocks == nullptr && count != 0) return std::nullopt;
  uint64_t size_bytes = 0;
  for (size_t i = 0; i != count; ++i) {
    if (blocks[i].data == nullptr && blocks[i].size_bytes != 0) return std::nullopt;
    if (__builtin_add_overflow(size_bytes, blocks[i].size_bytes, &size_bytes)) return std::nullopt;
  }
  return size_bytes;
}

// Tells all other processes, and gives that a second to leave.
void tell_abort(Pe& pe, const char* text) noexcept {
  constexpr auto kMost = std::chrono::seconds(1);
  constexpr int64_t kSliceUs = 1000;
  constexpr int64_t kFlushUs = 100'000;
  const size_t bytes = strnlen(text, PH_TASK_ABORT_BYTES);
  Message* message = pe.pool().alloc(bytes);
  if (message == nullptr) return;
  std::memcpy(photon::task::body_of(*message), text, bytes);
  message->wire.source = message->wire.target = static_cast<uint8_t>(pe.rank());
  message->wire.kind = Kind::abort;
  for (uint32_t process = 0; process != pe.shared().processes; ++process)
    if (process != pe.shared().process)
      static_cast<void>(pe.machine().send_copy(message->wire, *message, process));
  const auto until = std::chrono::steady_clock::now() + kMost;
  while (pe.machine().has_waiting() && std::chrono::steady_clock::now() < until) {
    pe.machine().wait(kSliceUs);
    pe.machine().progress();
  }
  static_cast<void>(ph_flush(pe.machine().lane(), PH_ANY_RANK, kFlushUs));
}

}  // namespace

ph_status ph_task_send_many(ph_task_pe* pe, uint32_t to, ph_task_message* const* messages,
                            size_t count) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_send_many")) return PH_ERR_STATE;
  if (to >= one.shared().pes_of_job()) return no_pe(one, "ph_task_send_many", to);
  if (messages == nullptr || count == 0)
    return one.fail(PH_ERR_ARGUMENT, "ph_task_send_many: messages is null, or count is 0");
  if (const ph_status status = check_messages(one, {messages, count}); status != PH_OK)
    return status;
  return told(one, "ph_task_send_many",
              photon::task::send_many(
                  one, to, std::span(reinterpret_cast<Message* const*>(messages), count)));
}

ph_status ph_task_send_vector(ph_task_pe* pe, uint32_t to, uint32_t handler,
                              const ph_const_block* blocks, size_t count) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_send_vector")) return PH_ERR_STATE;
  if (to >= one.shared().pes_of_job()) return no_pe(one, "ph_task_send_vector", to);
  const std::optional<uint64_t> size_bytes = size_of(blocks, count);
  if (!size_bytes)
    return one.fail(PH_ERR_ARGUMENT,
                    "ph_task_send_vector: blocks, or one of them, is null and has bytes, or their "
                    "sum is too large");
  Message* message = one.pool().alloc(*size_bytes);
  if (message == nullptr)
    return one.fail(PH_ERR_MEMORY, "ph_task_send_vector: no memory for a body of %llu bytes",
                    static_cast<unsigned long long>(*size_bytes));
  message->wire.handler = handler;
  std::byte* at = photon::task::body_of(*message);
  for (size_t i = 0; i != count; ++i) {
    if (blocks[i].size_bytes != 0) std::memcpy(at, blocks[i].data, blocks[i].size_bytes);
    at += blocks[i].size_bytes;
  }
  const ph_status status = photon::task::send(one, to, *message);
  if (status != PH_OK && !is_lost(status)) one.pool().free(*message);
  return told(one, "ph_task_send_vector", status);
}

ph_status ph_task_send_list(ph_task_pe* pe, const ph_task_list* list, ph_task_message* message,
                            uint32_t flags) {
  constexpr const char* kCall = "ph_task_send_list";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  ph_status status = check_message(one, kCall, message, flags);
  if (status == PH_OK) status = check_list(one, kCall, list);
  if (status != PH_OK) return status;
  status = photon::task::send_list(one, {list->pes, list->count}, of(message));
  if (status == PH_ERR_ARGUMENT) return stands_twice(one, kCall);
  return end_send(one, kCall, of(message), flags, status);
}

ph_status ph_task_group(ph_task_pe* pe, const ph_task_list* list, uint32_t* group) {
  constexpr const char* kCall = "ph_task_group";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (group == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_group: group is null");
  if (const ph_status status = check_list(one, kCall, list); status != PH_OK) return status;
  if (one.groups().is_full())
    return one.fail(PH_ERR_MEMORY, "ph_task_group: a PE makes at most %u groups",
                    photon::task::Groups::kMostGroups);
  try {
    const photon::task::JobShape shape{one.shared().processes, one.shared().pes};
    const std::optional<uint32_t> number =
        one.groups().make({list->pes, list->count}, shape, one.number());
    if (!number) return stands_twice(one, kCall);
    *group = *number;
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "ph_task_group: no memory for %zu PEs", list->count);
  }
  return PH_OK;
}

ph_status ph_task_multicast(ph_task_pe* pe, uint32_t group, ph_task_message* message,
                            uint32_t flags) {
  constexpr const char* kCall = "ph_task_multicast";
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  ph_status status = check_message(one, kCall, message, flags);
  if (status != PH_OK) return status;
  status = photon::task::multicast(one, group, of(message));
  if (status == PH_ERR_NOT_FOUND)
    return one.fail(status, "ph_task_multicast: PE %u has made no group %u: call ph_task_group()",
                    one.number(), group);
  return end_send(one, kCall, of(message), flags, status);
}

ph_status ph_task_exit(ph_task_pe* pe, int32_t status) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_exit")) return PH_ERR_STATE;
  const ph_status sent = photon::task::send_exit(one, status);
  if (sent != PH_OK) return one.fail(sent, "ph_task_exit: no memory to tell the others");
  if (!one.exit_status()) one.exit_status() = status;
  one.stop();
  return PH_OK;
}

ph_status ph_task_exit_status(ph_task_pe* pe, int32_t* status) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_exit_status")) return PH_ERR_STATE;
  if (status == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_exit_status: status is null");
  if (!one.exit_status())
    return one.fail(PH_ERR_STATE, "ph_task_exit_status: nobody has called ph_task_exit() yet");
  *status = *one.exit_status();
  return PH_OK;
}

void ph_task_abort(ph_task_pe* pe, const char* text) {
  if (text == nullptr) text = "";
  if (pe == nullptr) Machine::die("the job was aborted: %.*s", PH_TASK_ABORT_BYTES, text);
  Pe& one = of(pe);
  if (one.is_here()) tell_abort(one, text);
  Machine::die("PE %u has aborted the job: %.*s", one.number(), PH_TASK_ABORT_BYTES, text);
}
