#include "compat/brought.hpp"

#include "compat/meeting.hpp"

namespace photon::classic {

photon_buffer_t describe_brought(const Meeting& meeting, photon_rid rid) noexcept {
  const ph_buffer& met = meeting.buffer();
  return {reinterpret_cast<std::uintptr_t>(met.data), met.size_bytes, {0, rid}};
}

Said read_brought(Session& session, int proc, const photon_buffer_t& buffer, ph_block destination) {
  const auto request = session.requests().find(buffer.priv.key1);
  const bool is_met = request && request->meeting != nullptr &&
                      request->peer == static_cast<ph_rank>(proc) &&
                      request->meeting->buffer().data != nullptr;
  if (!is_met)
    return Said("the keys are those of no registration, and of no small buffer that was met here");
  if (destination.data == nullptr && destination.size_bytes != 0)
    return Said("the place for the bytes is null");
  const ph_status status = request->meeting->read(buffer.addr, destination);
  if (status == PH_ERR_RANGE) return Said("the bytes leave the small buffer that was met");
  if (status != PH_OK) return Said("the small buffer that was met is finished");
  return PHOTON_OK;
}

}  // namespace photon::classic
