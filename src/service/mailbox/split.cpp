// Messages that may be divided over buffers: the posted buffers are one stream of bytes.
//
//   message: came -- the posted buffers have room for all of it --> landed
//                 -- they have not --> kept, and what there is room for lands -- post() --> more of
//                    it lands -- all of it has --> over
//
// Invariant: a message is divided only where all of it lands at once or waits here, so none that
// has begun to land is refused for lack of room.
#include <algorithm>

#include "service/mailbox/byte_reader.hpp"
#include "service/mailbox/receiver.hpp"

namespace photon::service::mailbox {

// Nothing more is admitted: the threshold is reached, or what comes next goes on in the next.
bool Window::is_at_end(const Buffer& buffer) const noexcept {
  return buffer.admitted >= buffer.threshold ||
         (policy_.splits && buffer.filled == buffer.total_bytes());
}

std::uint64_t Window::room_from(std::uint64_t ahead) const noexcept {
  const Buffer& buffer = buffers_.at(buffers_.begin() + ahead);
  return buffer.is_full ? 0 : buffer.total_bytes() - buffer.filled;
}

Outcome Window::admit_all(const Mail& mail) const noexcept {
  if (const ph_status status = check(mail); status != PH_OK)
    return {Fate::refused, status, epoch_, nullptr};
  if (landing_ != 0) return {Fate::waits, PH_OK, epoch_, nullptr};
  std::uint64_t room = 0;
  for (std::uint64_t i = full_; i < buffers_.size() && room < mail.size_bytes; ++i)
    room += room_from(i);
  return room < mail.size_bytes ? without_buffer(epoch_) : Outcome{Fate::lands, PH_OK, epoch_};
}

Outcome Window::admit_part(Mail& mail, Owner& owner) noexcept {
  std::uint64_t ahead = full_;
  while (ahead < buffers_.size() && room_from(ahead) == 0) ++ahead;
  if (ahead < buffers_.size() && room_from(ahead) < mail.size_bytes) {
    mail.size_bytes = room_from(ahead);
    mail.goes_on = true;
  }
  return admit(mail, owner);
}

// The bytes of a message, or of a part of one, go to their places.
void Receiver::copy(const Outcome& outcome, std::uint64_t size_bytes, ByteReader& reader) noexcept {
  for (std::uint64_t done = 0; done < size_bytes;) {
    const std::span<std::byte> piece = outcome.piece(done, size_bytes - done);
    reader.read(piece);
    done += piece.size();
  }
}

// As much as there is room for: how many bytes, the last of them in `epoch`.
std::uint64_t Receiver::fill(Box& box, const Mail& mail, Parts parts,
                             std::uint64_t& epoch) noexcept {
  ByteReader reader(parts);
  std::uint64_t landed = 0;
  while (landed < mail.size_bytes) {
    Mail part = mail;
    part.size_bytes -= landed;
    const Outcome outcome = box.window->admit_part(part, *this);
    if (!outcome.is_admitted()) break;
    epoch = outcome.epoch;
    copy(outcome, part.size_bytes, reader);
    landed += part.size_bytes;
    box.window->landed(part, outcome, *this);
  }
  watch_linger(box);
  return landed;
}

// One that waits goes on. What has begun to land belongs to this incarnation.
Fate Receiver::place_rest(Box& box, Early& early, End& end) noexcept {
  end.status = box.window->admit_all(early.letter.mail).status;
  if (end.status != PH_OK) return Fate::refused;
  const std::span<const std::byte> rest[] = {
      std::span(early.bytes).last(early.letter.mail.size_bytes)};
  const std::uint64_t landed = fill(box, early.letter.mail, rest, end.epoch);
  if (landed != 0) early.letter.mail.incarnation = box.window->incarnation();
  early.letter.mail.size_bytes -= landed;
  return early.letter.mail.size_bytes == 0 ? Fate::lands : Fate::waits;
}

}  // namespace photon::service::mailbox
