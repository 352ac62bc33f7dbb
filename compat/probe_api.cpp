// photon_probe_completion().
#include <cstddef>
#include <memory>

#include "compat/entry.hpp"

using photon::classic::current;
using photon::classic::Session;
using photon::classic::status_of;

namespace {

// Bytes of a thread's latest long id, which *comp points to until its next probe.
[[maybe_unused]] std::byte* long_id_room() {
  static thread_local std::unique_ptr<std::byte[]> room;
  if (room == nullptr) room = std::make_unique<std::byte[]>(PH_MAX_ID_BYTES);
  return room.get();
}

photon_cid id_of(const ph_completion& found) noexcept {
  photon_cid id{};
  if (found.long_id == nullptr) {
    id.u64 = found.id;
    return id;
  }
  id.data = const_cast<void*>(found.long_id);
  id.size = found.id_size_bytes;
  return id;
}

// A peer's id reaches a callback as bytes, whatever its size.
void call_back(void (*cb)(photon_cid), ph_completion& found) {
  photon_cid id = id_of(found);
  if (found.kind == PH_REMOTE && found.long_id == nullptr) {
    id.data = &found.id;
    id.size = found.id_size_bytes;
  }
  cb(id);
}

}  // namespace

extern "C" {

int photon_probe_completion(int proc, int* flag, int* remaining, photon_cid* comp, int* src,
                            void (*cb)(photon_cid), int flags) {
  if (flag != nullptr) *flag = 0;
  Session* session = current();
  if (session == nullptr) return PHOTON_ERROR_NOINIT;
  ph_query query{static_cast<ph_rank>(proc), static_cast<std::uint32_t>(flags) & PH_EITHER,
                 nullptr};
  ph_completion found;
  std::size_t count = 0;
  const ph_status status = ph_probe(session->context(), query, &found, 1, &count);
  if (remaining != nullptr) *remaining = count != 0 ? static_cast<int>(found.outstanding) : 0;
  if (count == 0) {
    if (comp != nullptr) *comp = {};
    return status_of(status);
  }
  if (flag != nullptr) *flag = 1;
  if (src != nullptr) *src = found.kind == PH_REMOTE ? static_cast<int>(found.peer) : proc;
  if (comp != nullptr) *comp = id_of(found);
  if (cb != nullptr) call_back(cb, found);
  return found.status == PH_OK ? PHOTON_OK : PHOTON_ERROR;
}

}  // extern "C"
