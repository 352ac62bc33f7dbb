// What the sender does with spans that its user fills: the calls behind ph_am_prepare() and its
// like (service/am/am_sender.hpp).
#include <algorithm>
#include <string>

#include "base/finally.hpp"
#include "service/am/am_sender.hpp"

namespace photon::service::am {

// An open aggregate goes first: later the ring is shut.
ph_status Sender::prepare(Rank to, std::uint64_t least, std::uint64_t most, ph_am_slot& slot) {
  slot.data = nullptr;
  const std::uint64_t limit = port_.config().am_carried_max;
  if (least == 0 || least > most || least > limit)
    return port_.fail(PH_ERR_ARGUMENT, to,
                      "am_prepare of " + std::to_string(least) + " to " + std::to_string(most) +
                          " bytes: at least 1, at most " + std::to_string(limit) +
                          " (PHOTON_AM_CARRIED_MAX)");
  if (is_closing_) return port_.fail(PH_ERR_STATE, to, "am_prepare: the lane is being closed");
  if (const ph_status status = port_.contact(to); status != PH_OK) return status;
  To& of = outbox_.use(to);
  aggregates_.send(of);
  if (of.lost != PH_OK) return port_.contact(to);
  return prepared_.open(to, least, std::min(most, limit), of.queue.empty(), slot);
}

ph_status Sender::not_open(const ph_am_slot& slot, const char* call) {
  return port_.fail(
      PH_ERR_STATE, slot.rank,
      std::string(call) + ": the slot was committed or cancelled before, or was never given");
}

// Where memory runs out, for the words of an error too, the call says so, and the slot is closed.
ph_status Sender::commit(const ph_am_slot& slot, const Commit& what, Asker asker) {
  ph_status status = PH_ERR_MEMORY;
  const base::Finally closed([&]() noexcept {
    const bool stays = status == PH_AGAIN || status == PH_ERR_ARGUMENT;
    if (!stays && prepared_.is_open(slot)) prepared_.close(slot.rank);
  });
  status = check_commit(slot, what);
  if (status == PH_OK) status = commit_checked(slot, what, asker);
  return status;
}

ph_status Sender::check_commit(const ph_am_slot& slot, const Commit& what) {
  const bool has_wrong_header = what.header.size_bytes > PH_AM_HEADER_BYTES ||
                                (what.header.data == nullptr && what.header.size_bytes != 0);
  if (what.id > PH_AM_MAX_ID || has_wrong_header)
    return port_.fail(PH_ERR_ARGUMENT, slot.rank,
                      "am_commit of message " + std::to_string(what.id) +
                          ": the id may be up to 65535, the header up to 4096 bytes, and not null");
  if (!prepared_.is_open(slot)) return not_open(slot, "am_commit");
  if (what.size_bytes > prepared_.size_of(slot))
    return port_.fail(PH_ERR_ARGUMENT, slot.rank,
                      "am_commit of " + std::to_string(what.size_bytes) + " bytes: the span has " +
                          std::to_string(prepared_.size_of(slot)));
  return PH_OK;
}

ph_status Sender::commit_checked(const ph_am_slot& slot, const Commit& what, Asker asker) {
  const ph_const_block payload{prepared_.data_of(slot), what.size_bytes};
  Checked checked;
  Draft& draft = checked.draft;
  draft.payload = {&payload, 1};
  draft.payload_bytes = what.size_bytes;
  draft.header = {static_cast<const std::byte*>(what.header.data), what.header.size_bytes};
  draft.head.word.id = static_cast<std::uint16_t>(what.id);
  draft.head.word.header_bytes = static_cast<std::uint16_t>(what.header.size_bytes);
  checked.end.rank = slot.rank;
  checked.end.flags = PH_NO_LCE;
  return commit_open(slot, checked, asker);
}

// Where it stands, or else as any other message: a copy. What was collected since goes first.
ph_status Sender::commit_open(const ph_am_slot& slot, Checked& what, Asker asker) {
  if (const ph_status status = port_.contact(slot.rank); status != PH_OK) return status;
  To& to = outbox_.use(slot.rank);
  aggregates_.send(to);
  Draft& draft = what.draft;
  choose_way(draft, 0);  // a record would be a copy as well
  if (draft.head.way == Way::line || !outbox_.may_go(to)) return post(what, asker);
  draft.head.word.handled = static_cast<std::uint16_t>(gate_of_[slot.rank].handled);
  const ph_status status = prepared_.say(slot, draft);
  if (status == PH_AGAIN) return post(what, asker);
  if (status != PH_OK) return status;
  outbox_.has_gone(to, draft.head, {});
  outbox_.set_gate(to);
  return PH_OK;
}

ph_status Sender::cancel(const ph_am_slot& slot) {
  if (!prepared_.is_open(slot)) return not_open(slot, "am_cancel");
  prepared_.close(slot.rank);
  return PH_OK;
}

}  // namespace photon::service::am
