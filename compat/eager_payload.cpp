#include "compat/eager_payload.hpp"

#include <cstring>

#include "compat/matched_buffer.hpp"

namespace photon::classic {

photon_buffer_t describe_eager(const Session& session, const MatchedBuffer& matched,
                               photon_rid rid) noexcept {
  const ph_buffer& met = matched.buffer();
  return {reinterpret_cast<std::uintptr_t>(met.data), met.size_bytes, {0, rid ^ session.nonce()}};
}

std::shared_ptr<MatchedBuffer> find_eager(Session& session, int proc,
                                          const photon_buffer_t& buffer) {
  const auto request = session.requests().find(buffer.priv.key1 ^ session.nonce());
  const bool is_it = request && request->matched != nullptr &&
                     request->peer == static_cast<ph_rank>(proc) &&
                     request->matched->buffer().data != nullptr;
  return is_it ? request->matched : nullptr;
}

Said EagerPayloads::read(Session& session, int proc, const photon_buffer_t& buffer,
                         ph_block destination) {
  const auto matched = find_eager(session, proc, buffer);
  if (matched == nullptr) return Said(kNotEager);
  if (destination.data == nullptr) return Said("the place for the bytes is null");
  if (destination.size_bytes > matched->buffer().size_bytes)
    return Said("the bytes leave the small buffer that was met");
  const std::size_t before = bytes_.size();
  bytes_.resize(before + destination.size_bytes);
  const ph_status status =
      matched->read(buffer.addr, {bytes_.data() + before, destination.size_bytes});
  if (status == PH_ERR_RANGE) return Said("the bytes leave the small buffer that was met");
  if (status != PH_OK) return Said("the small buffer that was met is finished");
  pieces_.push_back(destination);
  return PHOTON_OK;
}

void EagerPayloads::hand_out() const noexcept {
  const std::byte* from = bytes_.data();
  for (const ph_block& piece : pieces_) {
    std::memcpy(piece.data, from, piece.size_bytes);
    from += piece.size_bytes;
  }
}

}  // namespace photon::classic
