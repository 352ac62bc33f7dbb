// The calls of RVMA, each on those of a mailbox. The cookie of a posted buffer is its notification
// pointer.
#include <rvma.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "compat/rvma_rank.hpp"
#include "sync/published.hpp"

using photon::rvma::carried_max;
using photon::rvma::rank_context;
using photon::rvma::told;
using photon::rvma::Waits;
using photon::rvma::waits;
using photon::rvma::wrong;

static_assert(sizeof(RVMA_Notification) == 64 && alignof(RVMA_Notification) == 64);
static_assert(offsetof(RVMA_Notification, buffer) == offsetof(ph_mailbox_pointer, address));
static_assert(offsetof(RVMA_Notification, length) == offsetof(ph_mailbox_pointer, size_bytes));
static_assert(int{RVMA_OK} == PH_OK && int{RVMA_AGAIN} == PH_AGAIN &&
              int{RVMA_TIMEOUT} == PH_TIMEOUT);

namespace {

constexpr std::size_t kPointerBytes = 64;

RVMA_Status without_rank() noexcept {
  return wrong(PH_ERR_STATE,
               "there is no context for RVMA: RVMA_Init() was not called, or RVMA_Finalize() was");
}

// Runs `call(context)`, whose status is Photon's. No exception crosses the boundary.
template <class Call>
RVMA_Status with_rank(Call call) noexcept {
  ph_context* const context = rank_context();
  if (context == nullptr) return without_rank();
  try {
    return call(context);
  } catch (const std::bad_alloc&) {
    return wrong(PH_ERR_MEMORY, "out of memory");
  }
}

std::uint64_t address_of(const void* virtual_addr) noexcept {
  return reinterpret_cast<std::uint64_t>(virtual_addr);
}

void tell_key(ph_context* context, ph_mailbox box, std::int32_t* key) noexcept {
  if (key == nullptr) return;
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  static_cast<void>(ph_mailbox_epoch(context, box, &epoch, &incarnation));
  *key = static_cast<std::int32_t>(incarnation);
}

// The epochs that are retained, newest first, for `use(events)`.
template <class Use>
RVMA_Status with_retained(ph_context* context, ph_mailbox box, Use use) {
  std::array<ph_mailbox_event, RVMA_RETAINED> few;
  std::size_t count = 0;
  ph_status status = ph_mailbox_retained(context, box, few.data(), few.size(), &count);
  if (status != PH_OK) return told(context, status);
  if (count <= few.size()) return use(std::span(few).first(count));
  std::vector<ph_mailbox_event> many(count);
  status = ph_mailbox_retained(context, box, many.data(), many.size(), &count);
  if (status != PH_OK) return told(context, status);
  return use(std::span(many).first(std::min(count, many.size())));
}

// Epochs that are retained in memory that is to be used again are given up.
RVMA_Status give_up(ph_context* context, ph_mailbox box, std::span<const std::byte> memory) {
  return with_retained(context, box, [&](std::span<const ph_mailbox_event> events) {
    for (const ph_mailbox_event& event : events) {
      const auto* const data = static_cast<const std::byte*>(event.data);
      const bool begins_here = data >= memory.data() && data < memory.data() + memory.size();
      const bool reaches_here = data < memory.data() && data + event.posted_bytes > memory.data();
      if (begins_here || reaches_here)
        static_cast<void>(ph_mailbox_release(context, box, event.epoch));
    }
    return RVMA_Status{RVMA_OK};
  });
}

// Sets a pointer that other threads may be looking at.
void set(ph_mailbox_pointer& pointer, const ph_mailbox_pointer& value) noexcept {
  photon::sync::publish_to_user(pointer.size_bytes, value.size_bytes, pointer.address,
                                value.address);
}

RVMA_Status put(const char* words, addr_in* dest_addr, ph_mailbox_put_args args, bool appends) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    if (dest_addr == nullptr || static_cast<std::int64_t>(args.size_bytes) < 0)
      return wrong(PH_ERR_ARGUMENT, words);
    if (args.request == nullptr && args.size_bytes > carried_max())
      return wrong(PH_ERR_ARGUMENT,
                   "RVMA_Put: more than PHOTON_MAILBOX_CARRIED_MAX bytes are for RVMA_Put_with() "
                   "and a request");
    args.size = sizeof args;
    args.local = {&args.address, sizeof args.address};  // for a NACK
    args.flags = args.request == nullptr ? PH_NO_LCE : 0;
    return told(context, appends ? ph_mailbox_append(context, dest_addr->rank, &args)
                                 : ph_mailbox_put(context, dest_addr->rank, &args));
  });
}

// A message of the current epoch, whoever's window it is.
ph_mailbox_put_args message(const void* source, std::int64_t size, const void* virtual_addr) {
  ph_mailbox_put_args args{};
  args.address = address_of(virtual_addr);
  args.source = source;
  args.size_bytes = static_cast<std::uint64_t>(size);
  args.epoch = PH_ANY_EPOCH;
  return args;
}

// Checks the arguments of a window's opening: null if they are right, else the words of the error.
const char* fault_of(std::int64_t threshold, const RVMA_Win_options& options) {
  constexpr std::uint32_t kFlags = RVMA_MANAGED | RVMA_REFUSE_EARLY | RVMA_CATCH_ALL | RVMA_READ;
  if (threshold < 0) return "RVMA_Init_window: the threshold is negative";
  if (options.size != sizeof options)
    return "RVMA_Init_window_with: options->size is not sizeof(RVMA_Win_options)";
  if ((options.flags & ~kFlags) != 0) return "RVMA_Init_window_with: unknown flags";
  return nullptr;
}

std::uint32_t flags_of(std::uint32_t flags) noexcept {
  std::uint32_t result = 0;
  if ((flags & RVMA_REFUSE_EARLY) != 0) result |= PH_MAILBOX_REFUSE_EARLY;
  if ((flags & RVMA_CATCH_ALL) != 0) result |= PH_MAILBOX_CATCH_ALL;
  if ((flags & RVMA_READ) != 0) result |= PH_MAILBOX_READ;
  return result;
}

RVMA_Win open(ph_mailbox_args args, std::int32_t* key) {
  RVMA_Win win = RVMA_WIN_NULL;
  static_cast<void>(with_rank([&](ph_context* context) -> RVMA_Status {
    args.size = sizeof args;
    ph_mailbox box{};
    const ph_status status = ph_mailbox_open(context, &args, &box);
    if (status != PH_OK) return told(context, status);
    tell_key(context, box, key);
    win = box.bits;
    return RVMA_OK;
  }));
  return win;
}

}  // namespace

extern "C" {

RVMA_win RVMA_Init_window(void* virtual_addr, int32_t* key, int64_t epoch_threshold,
                          epoch_type type) {
  RVMA_Win_options options{};
  options.size = sizeof options;
  options.retained = RVMA_RETAINED;
  return RVMA_Init_window_with(virtual_addr, key, epoch_threshold, type, &options);
}

RVMA_win RVMA_Init_window_with(void* virtual_addr, int32_t* key, int64_t epoch_threshold,
                               epoch_type type, const RVMA_Win_options* options) {
  const char* const fault = options == nullptr ? "RVMA_Init_window_with: the options are null"
                                               : fault_of(epoch_threshold, *options);
  if (fault != nullptr) {
    static_cast<void>(wrong(PH_ERR_ARGUMENT, fault));
    return RVMA_WIN_NULL;
  }
  ph_mailbox_args args{};
  args.address = address_of(virtual_addr);
  args.threshold = static_cast<std::uint64_t>(epoch_threshold);
  args.unit = static_cast<ph_mailbox_unit>(type);
  args.placing = (options->flags & RVMA_MANAGED) != 0 ? PH_MAILBOX_MANAGED : PH_MAILBOX_STEERED;
  args.flags = flags_of(options->flags);
  args.source = options->source == nullptr ? PH_ANY_RANK : options->source->rank;
  args.retained = options->retained;
  return open(args, key);
}

RVMA_Status RVMA_Post_buffer(void* buffer, int64_t size, void** notification_ptr, RVMA_Win win) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    if (buffer == nullptr || size < 1 || notification_ptr == nullptr)
      return wrong(PH_ERR_ARGUMENT,
                   "RVMA_Post_buffer: the buffer or notification_ptr is null, or it has no bytes");
    if (reinterpret_cast<std::uintptr_t>(notification_ptr) % kPointerBytes != 0)
      return wrong(PH_ERR_ARGUMENT,
                   "RVMA_Post_buffer: notification_ptr is not at a multiple of 64 bytes");
    waits().take_events(context, win, Waits::Taking::unless_led);
    const auto bytes = static_cast<std::uint64_t>(size);
    const std::span memory(static_cast<const std::byte*>(buffer), bytes);
    auto* const pointer = reinterpret_cast<ph_mailbox_pointer*>(notification_ptr);
    const ph_mailbox_pointer before = *pointer;
    set(*pointer, {});  // before the library may write to it
    const ph_mailbox_buffer args{sizeof args, buffer, bytes, 0, pointer, address_of(pointer)};
    ph_status status = ph_mailbox_post(context, {win}, &args);
    if (status == PH_ERR_STATE) {  // it may be epochs in this memory that stand in the way
      const RVMA_Status given_up = give_up(context, {win}, memory);
      status = given_up == RVMA_OK ? ph_mailbox_post(context, {win}, &args)
                                   : static_cast<ph_status>(given_up);
    }
    if (status != PH_OK) set(*pointer, before);
    return told(context, status);
  });
}

RVMA_Status RVMA_Close_Win(RVMA_Win win) {
  return with_rank([&](ph_context* context) {
    const ph_status status = ph_mailbox_close(context, {win});
    if (status == PH_OK) waits().take_events(context, win, Waits::Taking::always);
    return told(context, status);
  });
}

RVMA_Status RVMA_Win_inc_epoch(RVMA_Win win) {
  return with_rank(
      [&](ph_context* context) { return told(context, ph_mailbox_inc_epoch(context, {win})); });
}

int64_t RVMA_Win_get_epoch(RVMA_Win win) {
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  const RVMA_Status status = with_rank([&](ph_context* context) {
    return told(context, ph_mailbox_epoch(context, {win}, &epoch, &incarnation));
  });
  return status == RVMA_OK ? static_cast<std::int64_t>(epoch) : status;
}

int RVMA_Win_get_buf_ptrs(RVMA_Win win, void* notification_ptrs[], int count) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    if (count < 0 || (count > 0 && notification_ptrs == nullptr))
      return wrong(PH_ERR_ARGUMENT, "RVMA_Win_get_buf_ptrs: the array is null, or count negative");
    return with_retained(context, {win}, [&](std::span<const ph_mailbox_event> events) {
      int found = 0;
      for (; found < count && static_cast<std::size_t>(found) < events.size(); ++found)
        notification_ptrs[found] =
            reinterpret_cast<void*>(events[static_cast<std::size_t>(found)].cookie);
      return found;
    });
  });
}

RVMA_Status RVMA_Win_rewind(RVMA_Win win, int64_t epoch, int32_t* key) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    const ph_status status = ph_mailbox_rewind(context, {win}, static_cast<std::uint64_t>(epoch));
    if (status != PH_OK) return told(context, status);
    waits().take_events(context, win, Waits::Taking::unless_led);
    tell_key(context, {win}, key);
    return RVMA_OK;
  });
}

void* RVMA_Test(void** notification_ptr) {
  ph_context* const context = rank_context();
  if (context == nullptr || notification_ptr == nullptr) {
    static_cast<void>(context == nullptr
                          ? without_rank()
                          : wrong(PH_ERR_ARGUMENT, "RVMA_Test: notification_ptr is null"));
    return nullptr;
  }
  if (void* const there = photon::sync::follow_to_user(*notification_ptr); there != nullptr)
    return there;
  std::size_t count = 0;
  static_cast<void>(
      told(context, ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count)));
  return photon::sync::follow_to_user(*notification_ptr);
}

RVMA_Status RVMA_Wait(RVMA_Win win, void** notification_ptr, int64_t timeout_us) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    if (notification_ptr == nullptr)
      return wrong(PH_ERR_ARGUMENT, "RVMA_Wait: notification_ptr is null");
    return waits().wait(context, win, notification_ptr, timeout_us);
  });
}

RVMA_Status RVMA_Put(void* send_buffer, int64_t size, addr_in* dest_addr, void* virtual_addr) {
  return RVMA_Put_offset(send_buffer, size, dest_addr, virtual_addr, 0);
}

RVMA_Status RVMA_Put_offset(void* send_buffer, int64_t size, addr_in* dest_addr, void* virtual_addr,
                            uint64_t offset) {
  ph_mailbox_put_args args = message(send_buffer, size, virtual_addr);
  args.offset = offset;
  return put("RVMA_Put: dest_addr is null, or the size negative", dest_addr, args, false);
}

RVMA_Status RVMA_Append(void* send_buffer, int64_t size, addr_in* dest_addr, void* virtual_addr) {
  return put("RVMA_Append: dest_addr is null, or the size negative", dest_addr,
             message(send_buffer, size, virtual_addr), true);
}

RVMA_Status RVMA_Put_with(addr_in* dest_addr, const RVMA_Put_args* args) {
  if (args == nullptr || args->size != sizeof *args || (args->epoch != nullptr && *args->epoch < 0))
    return wrong(PH_ERR_ARGUMENT,
                 "RVMA_Put_with: args is null, args->size is not sizeof(RVMA_Put_args), or the "
                 "epoch is negative");
  ph_mailbox_put_args message = ::message(args->send_buffer, args->size_bytes, args->virtual_addr);
  message.offset = args->offset;
  if (args->epoch != nullptr) message.epoch = static_cast<std::uint64_t>(*args->epoch);
  message.incarnation = static_cast<std::uint32_t>(args->key);
  message.request = args->request;
  return put("RVMA_Put_with: dest_addr is null, or the size negative", dest_addr, message,
             args->appends != 0);
}

RVMA_Status RVMA_Get(addr_in* source_addr, const RVMA_Get_args* args) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    if (source_addr == nullptr || args == nullptr || args->size != sizeof *args ||
        args->request == nullptr || args->size_bytes < 0 ||
        (args->epoch != nullptr && *args->epoch < 0))
      return wrong(PH_ERR_ARGUMENT,
                   "RVMA_Get: source_addr, args or the request is null, args->size is not "
                   "sizeof(RVMA_Get_args), or the size or the epoch is negative");
    ph_mailbox_get_args get{};
    get.size = sizeof get;
    get.address = address_of(args->virtual_addr);
    get.offset = args->offset;
    get.destination = args->receive_buffer;
    get.size_bytes = static_cast<std::uint64_t>(args->size_bytes);
    get.epoch = args->epoch == nullptr ? PH_ANY_EPOCH : static_cast<std::uint64_t>(*args->epoch);
    get.incarnation = static_cast<std::uint32_t>(args->key);
    get.request = args->request;
    return told(context, ph_mailbox_get(context, source_addr->rank, &get));
  });
}

RVMA_Status RVMA_Win_get_sender(RVMA_Win win, void** notification_ptr, addr_in* from,
                                void** virtual_addr) {
  return with_rank([&](ph_context* context) -> RVMA_Status {
    return with_retained(context, {win}, [&](std::span<const ph_mailbox_event> events) {
      for (const ph_mailbox_event& event : events) {
        if (event.cookie != address_of(notification_ptr) || event.from == PH_ANY_RANK) continue;
        if (from != nullptr) from->rank = event.from;
        if (virtual_addr != nullptr) *virtual_addr = reinterpret_cast<void*>(event.named);
        return RVMA_Status{RVMA_OK};
      }
      return wrong(PH_ERR_NOT_FOUND,
                   "RVMA_Win_get_sender: no retained epoch has that pointer, or it is empty");
    });
  });
}

RVMA_Status RVMA_Flush(addr_in* dest_addr, int64_t timeout_us) {
  return with_rank([&](ph_context* context) {
    const ph_rank rank = dest_addr == nullptr ? PH_ANY_RANK : dest_addr->rank;
    return told(context, ph_flush(context, rank, timeout_us < 0 ? PH_FOREVER : timeout_us));
  });
}

}  // extern "C"
