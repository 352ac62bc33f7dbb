#include "compat/brought.hpp"

#include <cstring>

#include "compat/meeting.hpp"

namespace photon::classic {

photon_buffer_t describe_brought(const Session& session, const Meeting& meeting,
                                 photon_rid rid) noexcept {
  const ph_buffer& met = meeting.buffer();
  return {reinterpret_cast<std::uintptr_t>(met.data), met.size_bytes, {0, rid ^ session.nonce()}};
}

std::shared_ptr<Meeting> find_brought(Session& session, int proc, const photon_buffer_t& buffer) {
  const auto request = session.requests().find(buffer.priv.key1 ^ session.nonce());
  const bool is_it = request && request->meeting != nullptr &&
                     request->peer == static_cast<ph_rank>(proc) &&
                     request->meeting->buffer().data != nullptr;
  return is_it ? request->meeting : nullptr;
}

Said BroughtPieces::read(Session& session, int proc, const photon_buffer_t& buffer,
                         ph_block destination) {
  const auto meeting = find_brought(session, proc, buffer);
  if (meeting == nullptr) return Said(kNotBrought);
  if (destination.data == nullptr) return Said("the place for the bytes is null");
  if (destination.size_bytes > meeting->buffer().size_bytes)
    return Said("the bytes leave the small buffer that was met");
  const std::size_t before = bytes_.size();
  bytes_.resize(before + destination.size_bytes);
  const ph_status status =
      meeting->read(buffer.addr, {bytes_.data() + before, destination.size_bytes});
  if (status == PH_ERR_RANGE) return Said("the bytes leave the small buffer that was met");
  if (status != PH_OK) return Said("the small buffer that was met is finished");
  pieces_.push_back(destination);
  return PHOTON_OK;
}

void BroughtPieces::hand_out() const noexcept {
  const std::byte* from = bytes_.data();
  for (const ph_block& piece : pieces_) {
    std::memcpy(piece.data, from, piece.size_bytes);
    from += piece.size_bytes;
  }
}

}  // namespace photon::classic
