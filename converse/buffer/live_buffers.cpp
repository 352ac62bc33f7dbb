#include "converse/buffer/live_buffers.hpp"

#include <new>
#include <utility>

namespace photon::converse {

namespace {

std::uint32_t deregistration_of(const BufferMaking& making) noexcept {
  return making.deregistration == CMK_BUFFER_DEREG ? PH_TASK_DEREG : PH_TASK_NODEREG;
}

bool is_same(const ph_task_descriptor& one, const ph_task_descriptor& other) noexcept {
  return one.pe == other.pe && one.slot == other.slot && one.generation == other.generation;
}

void check_making(Pe& pe, const char* call, const BufferMaking& making) noexcept {
  if (making.size_bytes >> 62 != 0)
    refuse(call, "a buffer of %lld bytes", static_cast<long long>(making.size_bytes));
  if (making.registration > CMK_BUFFER_NOREG)
    refuse(call,
           "there is no mode %u of registration: CMK_BUFFER_REG to CMK_BUFFER_NOREG are 0 to 3",
           making.registration);
  if (making.deregistration != CMK_BUFFER_DEREG && making.deregistration != CMK_BUFFER_NODEREG)
    refuse(call,
           "there is no mode %u of deregistration: CMK_BUFFER_DEREG is 4, CMK_BUFFER_NODEREG 5",
           making.deregistration);
  if (making.handler >= 0 && static_cast<std::size_t>(making.handler) >= pe.handlers.size())
    refuse(call, "there is no handler %d: %zu are registered", making.handler, pe.handlers.size());
}

}  // namespace

Live& LiveBuffers::take_place(const char* call) noexcept {
  if (!free_.empty()) {
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return *places_[place];
  }
  try {
    if (free_.capacity() == places_.size()) free_.reserve(places_.size() * 2 + 16);
    Live& live = *places_.emplace_back(std::make_unique<Live>());
    live.place = static_cast<std::uint32_t>(places_.size() - 1);
    return live;
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for buffer %zu", places_.size());
  }
}

Live& LiveBuffers::make(Pe& pe, const char* call, const BufferMaking& making,
                        std::uint32_t number) noexcept {
  check_making(pe, call, making);
  Live& live = take_place(call);
  ph_task_buffer_args args{};
  args.size = sizeof args;
  args.address = const_cast<void*>(making.ptr);
  args.size_bytes = making.size_bytes;
  args.registration = making.registration;
  args.deregistration = deregistration_of(making);
  args.source_done = number;
  args.destination_done = number;
  args.user = &live;
  ph_status status = ph_task_buffer_make(pe.task, &args, &live.buffer);
  if (status == PH_ERR_NOT_FOUND && making.registration == CMK_BUFFER_PREREG) {
    args.registration = PH_TASK_REG;  // memory of CmiAlloc() may be of the heap
    status = ph_task_buffer_make(pe.task, &args, &live.buffer);
  }
  require(pe, call, status);
  live.ptr = making.ptr;
  live.size_bytes = making.size_bytes;
  live.function = making.function;
  live.handler = making.handler;
  live.ends_by_itself = making.deregistration == CMK_BUFFER_DEREG;
  return live;
}

void LiveBuffers::end(Pe& pe, const char* call, Live& live) noexcept {
  require(pe, call, ph_task_buffer_free(pe.task, live.buffer));
  take_back(pe, call, live);
}

void LiveBuffers::end_if_unused(Pe& pe, const char* call, Live& live) noexcept {
  const ph_status status = ph_task_buffer_free(pe.task, live.buffer);
  if (status == PH_ERR_STATE) return;  // the done of that one ends it
  require(pe, call, status);
  take_back(pe, call, live);
}

void LiveBuffers::take_back(Pe& pe, const char* call, Live& live) noexcept {
  live.buffer = 0;
  live.heard.clear();
  for (ph_task_message* ack : std::exchange(live.held, {}))
    require(pe, call, ph_task_send(pe.task, pe.place.pe, ack));
  free_.push_back(live.place);
}

void LiveBuffers::describe(Pe& pe, const char* call, const Live& live, LayerInfo& info) noexcept {
  info = {};
  require(pe, call, ph_task_buffer_describe(pe.task, live.buffer, &info.descriptor));
  info.buffer = live.buffer;
  info.place = live.place;
}

Pending& LiveBuffers::add_pending(const char* call, Live& live, const Pending& pending) noexcept {
  Pending* one = free_pendings_;
  if (one != nullptr)
    free_pendings_ = one->next;
  else
    try {
      one = &pendings_.emplace_back();
    } catch (const std::bad_alloc&) {
      refuse(call, "no memory for operation %zu", pendings_.size());
    }
  *one = pending;
  one->next = nullptr;
  Pending** last = &live.pending;
  while (*last != nullptr) last = &(*last)->next;
  *last = one;
  return *one;
}

Pending* LiveBuffers::take_pending(Live& live, const ph_task_descriptor& other) noexcept {
  for (Pending** one = &live.pending; *one != nullptr; one = &(*one)->next)
    if (is_same((*one)->other, other)) {
      Pending* const found = *one;
      *one = found->next;
      return found;
    }
  return nullptr;
}

void LiveBuffers::free_pending(Pending& pending) noexcept {
  pending.next = free_pendings_;
  free_pendings_ = &pending;
}

}  // namespace photon::converse
