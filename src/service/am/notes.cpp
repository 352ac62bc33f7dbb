#include "service/am/notes.hpp"

#include <utility>

namespace photon::service::am {

Note Teller::promised(std::uint64_t promise, bool is_beyond) noexcept {
  ++promises_;
  if (is_beyond) budget_.take(Note::kPromiseBytes);
  return {Note::Kind::promise, is_beyond, promise};
}

void Teller::end(Rank rank, const Note& note, ph_status status, const char* why) noexcept {
  if (note.kind == Note::Kind::promise) {
    if (note.is_counted) budget_.give(Note::kPromiseBytes);
    --promises_;
    port_.complete(note.value, status, why);
    port_.release(note.value);
    return;
  }
  if (status == PH_OK) return;
  if (is_closing_) return port_.note_unheard(rank, status, why);
  port_.report_late(rank, note.kind == Note::Kind::id ? note.value : 0, status, why);
}

void Notes::settle(Rank rank, std::uint64_t known, Teller& teller) noexcept {
  while (!notes_.empty() && notes_.front().number < known) {
    const Note note = notes_.front().note;
    notes_.pop();
    teller.end(rank, note, PH_OK);
  }
}

std::uint64_t Notes::place_of(std::uint64_t number) const noexcept {
  std::uint64_t low = notes_.begin();
  std::uint64_t high = notes_.end();
  while (low != high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (notes_.at(middle).number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low != notes_.end() && notes_.at(low).number == number ? low : kNone;
}

Note Notes::find(std::uint64_t number) const noexcept {
  const std::uint64_t place = place_of(number);
  return place == kNone ? Note{} : notes_.at(place).note;
}

Note Notes::take(std::uint64_t number) noexcept {
  const std::uint64_t place = place_of(number);
  return place == kNone ? Note{} : std::exchange(notes_.at(place).note, Note{});
}

void Notes::close(Rank rank, Teller& teller) noexcept {
  for (std::uint64_t place = notes_.begin(); place != notes_.end(); ++place) {
    Note& note = notes_.at(place).note;
    if (note.kind == Note::Kind::promise)
      teller.end(rank, std::exchange(note, Note{}), PH_ERR_DEPARTED);
  }
}

void Notes::lose(Rank rank, ph_status why, bool tells_ids, Teller& teller) noexcept {
  while (!notes_.empty()) {
    const Note note = notes_.front().note;
    notes_.pop();
    if (note.is_told_of_loss() && (note.kind == Note::Kind::promise || tells_ids))
      teller.end(rank, note, why, "am_send: the target was lost before its handler was through");
  }
}

}  // namespace photon::service::am
