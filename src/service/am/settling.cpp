#include "service/am/settling.hpp"

#include <new>

namespace photon::service::am {

void Settling::settle() {
  const std::span<Arrived> all = its_.inbox.running();
  for (; settled_ < its_.runner.done(); ++settled_) settle_one(all[settled_]);
  if (settled_ == all.size()) {
    its_.inbox.clear_running();
    its_.runner.begin_anew();
    settled_ = 0;
  }
  its_.answers.end_batch();
}

// The refusal goes first, which may find no memory: nothing has changed then.
void Settling::settle_one(Arrived& entry) {
  if (entry.status != PH_OK)
    its_.answers.say_refused(entry.from, entry.word.id, entry.number, entry.status,
                             entry.items_wrong);
  end(entry);
}

void Settling::end(Arrived& entry) noexcept {
  const Word& word = entry.word;
  if (word.has(kWantsReply)) its_.answers.note_reply_over(entry.from, entry.was_replied);
  if (word.has(kIsReply)) {
    its_.arriving.note_reply_over(entry.from);
    its_.sender.note_reply_handled(entry.from);
  }
  its_.answers.note_handled(entry.from, word.has(kTellsHandled));
  const bool is_lent = entry.where == Arrived::Bytes::lent;
  its_.inbox.release(entry);
  if (is_lent) its_.port.give_back(entry.from, entry.loan);
}

// Only who asked hears of it: it is as with ids that nobody probes.
void Settling::drop(Arrived& entry) noexcept {
  entry.status = entry.word.has(kTellsHandled) ? PH_ERR_DEPARTED : PH_OK;
  try {
    settle_one(entry);
  } catch (const std::bad_alloc&) {
    its_.port.cut_off(entry.from, "");  // words would need memory, too
    end(entry);
  }
}

void Settling::drop_all() noexcept {
  const std::span<Arrived> ran = its_.inbox.running();
  for (; settled_ < its_.runner.done(); ++settled_) {
    Arrived& entry = ran[settled_];
    try {
      settle_one(entry);
    } catch (const std::bad_alloc&) {
      its_.port.cut_off(entry.from, "");
      end(entry);
    }
  }
  for (; settled_ < ran.size(); ++settled_) drop(ran[settled_]);
  for (Arrived& entry : its_.inbox.waiting()) drop(entry);
  its_.inbox.clear_running();
  its_.inbox.clear_waiting();
  its_.runner.begin_anew();
  settled_ = 0;
  end_batch();
}

void Settling::end_batch() noexcept {
  try {
    its_.answers.end_batch();
  } catch (const std::bad_alloc&) {  // the next message that comes, or turn, says it
    its_.port.wants_turn();
  }
}

}  // namespace photon::service::am
