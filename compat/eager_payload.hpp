// Small send buffers whose bytes came along when they were announced, for calls that take keys:
// photon_get_buffer_remote() describes the copy that is here, and a get by that description reads
// it, as if it were the peer's memory.
// Owner: none; what is described belongs to its MatchedBuffer.
#pragma once

#include <photon.h>
#include <photon/memory.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compat/entry.hpp"

namespace photon::classic {

class MatchedBuffer;

// This describes the matched buffer that `rid` names. No registration has the key 0. The other key
// is ours, and of this session: another rank's, or a later session's, finds nothing by it.
photon_buffer_t describe_eager(const Session& session, const MatchedBuffer& matched,
                               photon_rid rid) noexcept;

// Does describe_eager() say it, of whom there are bytes to get? (Or it has no keys at all.)
inline bool is_eager(const photon_buffer_t& buffer, std::uint64_t size_bytes) noexcept {
  return buffer.priv.key0 == 0 && buffer.priv.key1 != 0 && size_bytes != 0;
}

// What it describes, as rank `proc`'s, or null.
std::shared_ptr<MatchedBuffer> find_eager(Session& session, int proc,
                                          const photon_buffer_t& buffer);
inline constexpr const char* kNotEager =
    "the keys are those of no registration, and of no small buffer that was met here";

// Pieces of such buffers, for a get of several: read before anything is posted, so that what is
// refused has changed nothing, and handed out once it was posted.
class EagerPayloads {
 public:
  // Throws bad_alloc.
  Said read(Session& session, int proc, const photon_buffer_t& buffer, ph_block destination);
  std::size_t size() const noexcept { return pieces_.size(); }
  void hand_out() const noexcept;

 private:
  std::vector<ph_block> pieces_;
  std::vector<std::byte> bytes_;  // of all, in their order
};

}  // namespace photon::classic
