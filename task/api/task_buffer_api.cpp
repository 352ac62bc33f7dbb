// Buffers: made, described, read and written, freed.
#include <cinttypes>

#include "task/api/checks.hpp"
#include "task/buffer/operations.hpp"
#include "task/buffer/spread.hpp"

using photon::task::Buffers;
using photon::task::buffers_of;
using photon::task::Handle;
using photon::task::is_here;
using photon::task::of;
using photon::task::Pe;
using photon::task::Verb;
using photon::task::Verdict;

namespace {

// Null: the error was told.
Handle* find(Pe& pe, const char* call, ph_task_buffer buffer) noexcept {
  Handle* handle = buffers_of(pe).handles.find(buffer);
  if (handle == nullptr)
    pe.fail(PH_ERR_NOT_FOUND,
            "%s: there is no buffer 0x%" PRIx64 " at PE %u: it was freed, or made by another PE",
            call, buffer, pe.number());
  return handle;
}

ph_status in_use(Pe& pe, const char* call) noexcept {
  return pe.fail(PH_ERR_STATE,
                 "%s: an operation on the buffer that was issued here is not over: wait for its "
                 "done",
                 call);
}

bool is_handler(Pe& pe, std::uint32_t number) noexcept {
  return number == PH_TASK_NO_HANDLER || number < pe.handlers().size();
}

ph_status check(Pe& pe, const ph_task_buffer_args& args) noexcept {
  if (args.registration > PH_TASK_NOREG || args.deregistration > PH_TASK_NODEREG)
    return pe.fail(PH_ERR_ARGUMENT, "ph_task_buffer_make: there is no mode %u, %u",
                   args.registration, args.deregistration);
  if (!is_handler(pe, args.source_done) || !is_handler(pe, args.destination_done))
    return pe.fail(PH_ERR_ARGUMENT,
                   "ph_task_buffer_make: a done-handler is not registered: call "
                   "ph_task_register() before, or give PH_TASK_NO_HANDLER");
  if (args.size_bytes >> 62 != 0)
    return pe.fail(PH_ERR_RANGE, "ph_task_buffer_make: %" PRIu64 " bytes are more than 2^62",
                   args.size_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(args.address);
  if (args.size_bytes != 0 && (address == 0 || address + args.size_bytes < address))
    return pe.fail(PH_ERR_ARGUMENT,
                   "ph_task_buffer_make: the memory is null, or ends behind the last address");
  return PH_OK;
}

bool has_own_registration(const Handle& handle) noexcept {
  return handle.when_registered == PH_TASK_REG || handle.when_registered == PH_TASK_UNREG;
}

ph_status has_none(Pe& pe, const char* call) noexcept {
  return pe.fail(PH_ERR_ACCESS,
                 "%s: a buffer of PH_TASK_PREREG or PH_TASK_NOREG has no registration of its own",
                 call);
}

// PH_TASK_PREREG: what holds it must stay as long as it does.
ph_status find_registration(Buffers& buffers, const char* call, Handle& handle) noexcept {
  const ph_status status = buffers.registrations.find(buffers.lane(), handle.address,
                                                      handle.size_bytes, handle.registration);
  if (status != PH_OK)
    return buffers.pe.fail(status,
                           "%s: no registration holds the %" PRIu64
                           " bytes at %p: take memory of ph_alloc(), or PH_TASK_REG",
                           call, handle.size_bytes, static_cast<void*>(handle.address));
  if (!photon::task::is_of_buffer(buffers, handle.registration.key)) return PH_OK;
  handle.registration = {};
  return buffers.pe.fail(PH_ERR_NOT_FOUND,
                         "%s: what holds the %" PRIu64
                         " bytes at %p is the registration of another buffer of this PE, which "
                         "gives it back: take PH_TASK_REG",
                         call, handle.size_bytes, static_cast<void*>(handle.address));
}

// Registers what has bytes and is not registered.
ph_status enroll(Buffers& buffers, const char* call, Handle& handle) noexcept {
  if (handle.size_bytes == 0 || handle.registration.key != 0) return PH_OK;
  if (handle.when_registered == PH_TASK_PREREG) return find_registration(buffers, call, handle);
  const ph_status status = buffers.registrations.take(buffers.lane(), handle.address,
                                                      handle.size_bytes, handle.registration);
  if (status == PH_OK) return status;
  return buffers.pe.fail(status, "%s: %" PRIu64 " bytes cannot be registered: %s", call,
                         handle.size_bytes, ph_status_text(status));
}

ph_status operate(ph_task_pe* pe, Verb verb, ph_task_buffer buffer,
                  const ph_task_descriptor* other) noexcept {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  const char* call = verb == Verb::get ? "ph_task_get" : "ph_task_put";
  if (!is_here(one, call)) return PH_ERR_STATE;
  Handle* own = find(one, call, buffer);
  if (own == nullptr) return PH_ERR_NOT_FOUND;
  if (other == nullptr) return one.fail(PH_ERR_ARGUMENT, "%s: descriptor is null", call);
  Buffers& buffers = buffers_of(one);
  const Verdict verdict = photon::task::check(buffers, verb, *own, *other);
  if (verdict.status != PH_OK)
    return one.fail(verdict.status,
                    "%s: %s (own buffer of %" PRIu64 " bytes, the other one of PE %u, %" PRIu64
                    " bytes)",
                    call, verdict.words, own->size_bytes, other->pe, other->size_bytes);
  const ph_status status = photon::task::begin(buffers, verb, *own, *other);
  if (status == PH_OK) [[likely]]
    return status;
  return one.fail(status, "%s: nothing was done: %s", call, ph_status_text(status));
}

}  // namespace

ph_status ph_task_buffer_make(ph_task_pe* pe, const ph_task_buffer_args* args,
                              ph_task_buffer* buffer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_buffer_make")) return PH_ERR_STATE;
  if (buffer == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_buffer_make: buffer is null");
  *buffer = 0;
  if (args == nullptr || args->size != sizeof *args)
    return one.fail(PH_ERR_ARGUMENT,
                    "ph_task_buffer_make: args is null, or its size is not that of the struct");
  if (const ph_status status = check(one, *args); status != PH_OK) return status;
  Buffers& buffers = buffers_of(one);
  Handle* handle = buffers.handles.make();
  if (handle == nullptr)
    return one.fail(PH_ERR_MEMORY, "ph_task_buffer_make: no memory, or too many buffers");
  handle->address = static_cast<std::byte*>(args->address);
  handle->size_bytes = args->size_bytes;
  handle->user = args->user;
  handle->source_done = args->source_done;
  handle->destination_done = args->destination_done;
  handle->when_registered = static_cast<std::uint8_t>(args->registration);
  handle->when_given_back = static_cast<std::uint8_t>(args->deregistration);
  if (args->registration == PH_TASK_REG || args->registration == PH_TASK_PREREG)
    if (const ph_status status = enroll(buffers, "ph_task_buffer_make", *handle); status != PH_OK) {
      buffers.handles.free(*handle);
      return status;
    }
  if (args->registration != PH_TASK_NOREG) buffers.handles.show(*handle);
  *buffer = handle->name();
  return PH_OK;
}

ph_status ph_task_buffer_free(ph_task_pe* pe, ph_task_buffer buffer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_buffer_free")) return PH_ERR_STATE;
  Handle* handle = find(of(pe), "ph_task_buffer_free", buffer);
  if (handle == nullptr) return PH_ERR_NOT_FOUND;
  if (handle->is_in_use()) return in_use(of(pe), "ph_task_buffer_free");
  Buffers& buffers = buffers_of(of(pe));
  buffers.registrations.give(buffers.lane(), handle->registration);
  buffers.handles.free(*handle);
  return PH_OK;
}

ph_status ph_task_buffer_describe(ph_task_pe* pe, ph_task_buffer buffer,
                                  ph_task_descriptor* descriptor) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_buffer_describe")) return PH_ERR_STATE;
  Handle* handle = find(one, "ph_task_buffer_describe", buffer);
  if (handle == nullptr) return PH_ERR_NOT_FOUND;
  if (descriptor == nullptr)
    return one.fail(PH_ERR_ARGUMENT, "ph_task_buffer_describe: descriptor is null");
  if (handle->when_registered == PH_TASK_REG && !handle->is_cut)
    if (const ph_status status = enroll(buffers_of(one), "ph_task_buffer_describe", *handle);
        status != PH_OK)
      return status;
  *descriptor = photon::task::descriptor_of(one, *handle);
  // What an operation of this PE has registered goes with its done. Without a key peers ask for it.
  const bool is_for_now =
      handle->when_registered == PH_TASK_UNREG && handle->when_given_back == PH_TASK_DEREG;
  if (is_for_now) descriptor->key = 0;
  return PH_OK;
}

ph_status ph_task_buffer_deregister(ph_task_pe* pe, ph_task_buffer buffer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_buffer_deregister")) return PH_ERR_STATE;
  Handle* handle = find(one, "ph_task_buffer_deregister", buffer);
  if (handle == nullptr) return PH_ERR_NOT_FOUND;
  if (!has_own_registration(*handle)) return has_none(one, "ph_task_buffer_deregister");
  if (handle->is_in_use()) return in_use(one, "ph_task_buffer_deregister");
  if (handle->is_cut)
    return one.fail(PH_ERR_STATE, "ph_task_buffer_deregister: the buffer is deregistered already");
  Buffers& buffers = buffers_of(one);
  buffers.handles.hide(*handle);
  buffers.registrations.give(buffers.lane(), handle->registration);
  handle->is_cut = true;
  return PH_OK;
}

ph_status ph_task_buffer_register(ph_task_pe* pe, ph_task_buffer buffer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_buffer_register")) return PH_ERR_STATE;
  Handle* handle = find(one, "ph_task_buffer_register", buffer);
  if (handle == nullptr) return PH_ERR_NOT_FOUND;
  if (!has_own_registration(*handle)) return has_none(one, "ph_task_buffer_register");
  Buffers& buffers = buffers_of(one);
  if (const ph_status status = enroll(buffers, "ph_task_buffer_register", *handle); status != PH_OK)
    return status;
  if (handle->is_cut) buffers.handles.show(*handle);
  handle->is_cut = false;
  return PH_OK;
}

ph_status ph_task_get(ph_task_pe* pe, ph_task_buffer destination,
                      const ph_task_descriptor* source) {
  return operate(pe, Verb::get, destination, source);
}

ph_status ph_task_put(ph_task_pe* pe, ph_task_buffer source,
                      const ph_task_descriptor* destination) {
  return operate(pe, Verb::put, source, destination);
}

ph_status ph_task_buffer_broadcast(ph_task_pe* pe, ph_task_buffer source, uint32_t handler,
                                   uint64_t word) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  const char* call = "ph_task_buffer_broadcast";
  if (!is_here(one, call)) return PH_ERR_STATE;
  Handle* own = find(one, call, source);
  if (own == nullptr) return PH_ERR_NOT_FOUND;
  if (handler >= one.handlers().size())
    return one.fail(PH_ERR_ARGUMENT,
                    "%s: handler %u is not registered: register it on all PEs in the same order",
                    call, handler);
  const Verdict verdict = photon::task::check_own(Verb::put, *own);
  if (verdict.status != PH_OK) return one.fail(verdict.status, "%s: %s", call, verdict.words);
  const ph_status status = photon::task::spread(buffers_of(one), *own, handler, word);
  if (status == PH_OK) return status;
  return one.fail(status, "%s: nothing was done: %s", call, ph_status_text(status));
}

ph_status ph_task_land(ph_task_pe* pe, ph_task_buffer destination, const ph_task_offer* offer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_land")) return PH_ERR_STATE;
  Handle* own = find(one, "ph_task_land", destination);
  if (own == nullptr) return PH_ERR_NOT_FOUND;
  Buffers& buffers = buffers_of(one);
  if (offer == nullptr || !photon::task::is_offer(buffers, *offer))
    return one.fail(PH_ERR_ARGUMENT,
                    "ph_task_land: offer is null, or none can be so: take the one that came");
  const Verdict verdict = photon::task::check(buffers, Verb::get, *own, offer->source);
  if (verdict.status != PH_OK) return one.fail(verdict.status, "ph_task_land: %s", verdict.words);
  const ph_status status = photon::task::land(buffers, *own, *offer);
  if (status == PH_OK) return status;
  return one.fail(status, "ph_task_land: nothing was done: %s", ph_status_text(status));
}

ph_status ph_task_keep(ph_task_pe* pe, void* base, uint64_t size_bytes) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_keep")) return PH_ERR_STATE;
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  if (address == 0 || size_bytes == 0 || address + size_bytes < address)
    return of(pe).fail(PH_ERR_ARGUMENT,
                       "ph_task_keep: the range is null, has no bytes, or ends behind the last "
                       "address");
  if (buffers_of(of(pe)).registrations.keep(address, size_bytes)) return PH_OK;
  return of(pe).fail(PH_ERR_MEMORY, "ph_task_keep: no memory");
}

ph_status ph_task_unkeep(ph_task_pe* pe, void* base, uint64_t size_bytes) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_unkeep")) return PH_ERR_STATE;
  Buffers& buffers = buffers_of(of(pe));
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  if (buffers.registrations.unkeep(buffers.lane(), address, size_bytes)) return PH_OK;
  return of(pe).fail(PH_ERR_NOT_FOUND,
                     "ph_task_unkeep: the %" PRIu64
                     " bytes at %p were not declared by ph_task_keep(): name the same range",
                     size_bytes, base);
}
