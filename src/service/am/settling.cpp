#include "service/am/settling.hpp"

#include <new>
#include <utility>

namespace photon::service::am {

void Settling::settle_due() {
  its_.loans.give_back(its_.port);
  const std::span<Arrived> all = its_.inbox.running();
  for (; settled_ < its_.runner.done(); ++settled_) {
    Arrived& entry = all[settled_];
    if (entry.was_plain()) [[likely]]
      its_.answers.note_handled(entry.from, false);
    else
      settle_one(entry);
  }
  if (settled_ == all.size()) {
    its_.inbox.clear_running();
    its_.runner.begin_anew();
    settled_ = 0;
  }
  its_.answers.end_batch();
}

// The refusal goes first, which may find no memory: nothing has changed then.
void Settling::settle_one(Arrived& entry) {
  if (entry.status != PH_OK && entry.pull == nullptr)
    its_.answers.say_refused(entry.from, entry.word.id, entry.number, entry.status,
                             entry.items_wrong);
  end(entry);
}

void Settling::end(Arrived& entry) noexcept {
  const Word& word = entry.word;
  if (word.has(kWantsReply) && entry.pull == nullptr)
    its_.answers.note_reply_over(entry.from, entry.was_replied);
  if (word.has(kIsReply)) {
    its_.arriving.note_reply_over(entry.from);
    its_.sender.note_reply_handled(entry.from);
  }
  if (entry.items != 0) its_.gates.beside_handled += entry.items - 1;
  its_.answers.note_handled(entry.from, word.has(kTellsHandled) && entry.pull == nullptr);
  its_.inbox.release(entry);
  if (entry.pull != nullptr) end_pulled(entry);
}

// What a pull says at its end it says without memory of ours.
void Settling::end_pulled(Arrived& entry) noexcept {
  Pull& pull = *std::exchange(entry.pull, nullptr);
  pull.was_replied = entry.was_replied;
  if (entry.status == PH_OK && pull.node_pulls != nullptr)
    its_.pulls.begin(pull);
  else
    its_.pulls.end(pull, entry.status);
}

// Only who asked hears of it: it is as with ids that nobody probes.
void Settling::drop(Arrived& entry) noexcept {
  const bool is_told = entry.word.has(kTellsHandled) || entry.pull != nullptr;
  entry.status = is_told ? PH_ERR_DEPARTED : PH_OK;
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
  its_.loans.give_all_back(its_.port);
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
