// Buffers that peers have announced: taking them, and saying that one is done with
// (docs/rendezvous.md).
//
//   waiting -- take --> taken -- finish --> given back: at once, or behind the transfers before it
#include <array>
#include <string>

#include "service/rendezvous/rendezvous.hpp"

namespace photon::service::rendezvous {

ph_status Rendezvous::check(const ph_match& match) {
  if (match.kind < PH_RECV_BUFFER || match.kind > PH_SEND_REQUEST)
    return port_.fail(
        PH_ERR_ARGUMENT, match.rank,
        "buffer: nothing of kind " + std::to_string(match.kind) + " is ever announced");
  if (match.rank == PH_ANY_RANK || match.rank < port_.size()) return PH_OK;
  return port_.fail(PH_ERR_RANK, match.rank,
                    "buffer: no rank " + std::to_string(match.rank) + " in a job of " +
                        std::to_string(port_.size()));
}

// A wish to send is over when it was taken.
bool Rendezvous::take(const ph_match& match, ph_buffer& buffer) {
  const std::uint32_t entry = announcements_.find(match);
  if (entry == Announcements::kNone) return false;
  buffer = announcements_.at(entry).buffer;
  if (buffer.kind == PH_SEND_REQUEST) {
    give_back(entry, PH_OK, false);
    buffer.token = 0;
  } else {
    announcements_.take(entry);
  }
  return true;
}

ph_status Rendezvous::broken(const ph_match& match) {
  if (match.rank == PH_ANY_RANK) return PH_OK;
  const ph_status status = port_.state(match.rank);
  if (status == PH_OK) return PH_OK;
  return port_.fail(
      status, match.rank,
      "buffer: rank " + std::to_string(match.rank) + " can announce nothing any more");
}

ph_status Rendezvous::check(const ph_buffer& buffer, const Access& access) {
  const auto [kind, offset, size_bytes] = access;
  if (announcements_.find_taken(buffer) == Announcements::kNone)
    return port_.fail(PH_ERR_NOT_FOUND, buffer.rank,
                      "buffer: it was not taken in this context, or is finished");
  if (buffer.kind != kind)
    return port_.fail(PH_ERR_ACCESS, buffer.rank,
                      kind == PH_RECV_BUFFER ? "put: this is a buffer to get from"
                                             : "get: this is a buffer to put into");
  if (offset <= buffer.size_bytes && size_bytes <= buffer.size_bytes - offset) return PH_OK;
  return port_.fail(PH_ERR_RANGE, buffer.rank,
                    std::to_string(size_bytes) + " bytes at offset " + std::to_string(offset) +
                        " leave a buffer of " + std::to_string(buffer.size_bytes) + " bytes");
}

ph_status Rendezvous::finish(const ph_buffer& buffer) {
  const std::uint32_t entry = announcements_.find_taken(buffer);
  if (entry == Announcements::kNone)
    return port_.fail(PH_ERR_NOT_FOUND, buffer.rank,
                      "finish: it was not taken in this context, or is finished already");
  // No transfers. (An empty receive buffer still says that what was put before it is there.)
  const bool is_done =
      buffer.kind == PH_SEND_BUFFER && (buffer.data != nullptr || buffer.size_bytes == 0);
  if (port_.state(buffer.rank) != PH_OK) {
    announcements_.release(entry);
    --unfinished_[buffer.rank];
    return is_done ? PH_OK : port_.contact(buffer.rank);
  }
  give_back(entry, PH_OK, !is_done);
  return PH_OK;
}

// Told to its owner, who is alive, unless memory runs out: then the entry stays as it is.
void Rendezvous::give_back(std::uint32_t entry, ph_status status, bool behind_all) {
  const Rank rank = announcements_.at(entry).buffer.rank;
  std::array<std::uint64_t, 2> words{announcements_.at(entry).owner_token,
                                     static_cast<std::uint64_t>(status)};
  if (port_.state(rank) == PH_OK) static_cast<void>(say(rank, Op::finished, words, behind_all));
  if (announcements_.at(entry).state == Announcements::Entry::State::free)
    return;  // it is lost now
  announcements_.release(entry);
  --unfinished_[rank];
}

}  // namespace photon::service::rendezvous
