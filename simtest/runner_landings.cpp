// Active messages of a program whose payload lands somewhere, and those that are prepared.
#include <algorithm>
#include <cstring>

#include "simtest/pattern.hpp"
#include "simtest/runner_job.hpp"

namespace photon::simtest {

// ---- landings

void Runner::name_landing(const Hearing& hearing, AmMessage& one, ph_am_landing& landing) {
  const AmPlace& place = one.step->place;
  if (one.way == AmMessage::Way::reply || oracle_.failed()) return;
  if (place.kind == AmPlace::Kind::in_place && !place.is_told && !one.is_pulled) return;
  Hearing& ending = am_hearings_.emplace_back(Hearing{*this, hearing.at, hearing.number, &one});
  ams_.land(one).name(landing, &Runner::on_am_part, &ending);
}

ph_status Runner::on_am_part(void* argument, const ph_am_message* message, const ph_am_part* part) {
  const Hearing& hearing = *static_cast<const Hearing*>(argument);
  return hearing.runner.hear_am_part(hearing, *message, *part);
}

ph_status Runner::hear_am_part(const Hearing& hearing, const ph_am_message& message,
                               const ph_am_part& part) {
  const ph_rank rank = hearing.at.rank;
  AmMessage& one = *hearing.message;
  const Visit visit(seats_[rank], hearing.at.lane);
  ams_.part_begun(hearing.at, one, message, part);
  if (oracle_.failed()) return PH_OK;
  if (seats_[rank].posting != 0 || message.context != context(rank)) {
    oracle_.report("handler", one.text() + " is told of a part in a call that posts, or with a " +
                                  "wrong context");
    return PH_OK;
  }
  const ph_status returned = in_am_handler(hearing, [&] {
    const bool has_to_reply = one.step->place.replies && part.is_last != 0 && !one.is_replied;
    if (has_to_reply && one.has(PH_AM_REPLY)) static_cast<void>(reply_am(rank, one, message));
    return one.landed->answer(part);
  });
  ams_.part_ended(hearing.at, one, part, returned);
  return returned;
}

// ---- prepared messages

// The span is filled when others have run; where there is no room to commit it and the step does
// not insist, it is cancelled.
void Runner::prepare_am(ph_rank rank, const Step& step) {
  ph_am_slot slot{};
  const std::uint64_t least = std::max<std::uint64_t>(1, step.size_bytes);
  const ph_status status =
      ph_am_prepare(context(rank), step.peer, least, least + step.far_gap_bytes, &slot);
  if (status == PH_AGAIN && slot.data == nullptr) return;
  if (!went_through(rank, "am_prepare", step.peer, status)) return;
  if (reinterpret_cast<std::uintptr_t>(slot.data) % 64 != 0 || slot.size_bytes < least ||
      slot.size_bytes > least + step.far_gap_bytes)
    return oracle_.report("bytes", "rank " + std::to_string(rank) + ": am_prepare gave " +
                                       std::to_string(slot.size_bytes) + " bytes at a wrong place");
  Pattern(Purpose::junk, least).fill({static_cast<std::byte*>(slot.data), slot.size_bytes});
  if (step.time_ns != 0) world_.pause(step.time_ns);
  if (step.is_cut_off && !misuse_slot(rank, step, slot)) return;
  ph_status ended = PH_AGAIN;
  if (!step.is_one_way) {
    const auto once = [&] { return commit_once(rank, step, slot); };
    ended = step.requested ? insist(rank, "a prepared message", once) : once();
  }
  if (oracle_.failed()) return;
  expect(rank, "am_cancel", ph_am_cancel(&slot), ended == PH_AGAIN ? PH_OK : PH_ERR_STATE);
  expect(rank, "a commit too many", ph_am_commit(&slot, kAmIds[0], {nullptr, 0}, 0), PH_ERR_STATE);
}

// What must be refused, and leaves the slot open. False: after a finding.
bool Runner::misuse_slot(ph_rank rank, const Step& step, const ph_am_slot& slot) {
  ph_am_slot other{};
  const ph_status second = ph_am_prepare(context(rank), step.peer, 1, 1, &other);
  if (second != PH_AGAIN && went_through(rank, "a second am_prepare", step.peer, second))
    oracle_.report("status", "rank " + std::to_string(rank) + ": am_prepare gave a second slot");
  expect(rank, "am_commit of too much",
         ph_am_commit(&slot, kAmIds[0], {nullptr, 0}, slot.size_bytes + 1), PH_ERR_ARGUMENT);
  expect(rank, "am_commit of a wrong id", ph_am_commit(&slot, PH_AM_MAX_ID + 1, {nullptr, 0}, 0),
         PH_ERR_ARGUMENT);
  return !oracle_.failed();
}

ph_status Runner::commit_once(ph_rank rank, const Step& step, const ph_am_slot& slot) {
  AmMessage& one = ams_.begin(here(rank), {AmMessage::Way::prepared, step.peer, &step, nullptr,
                                           quiets_.of(here(rank)).begun});
  if (!one.payload.empty()) std::memcpy(slot.data, one.payload.data(), one.payload.size());
  const Posting posting(seats_[rank]);
  const ph_status status =
      ph_am_commit(&slot, one.id, {one.header.data(), one.header.size()}, one.payload.size());
  check_named(rank, step.peer, status);
  if (status < PH_OK) note_error(rank);
  ams_.posted(one, status);
  return status;
}

}  // namespace photon::simtest
