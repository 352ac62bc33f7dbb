#include "service/am/am_pull_answers.hpp"

#include <new>

namespace photon::service::am {

void PullAnswers::pull_read(const Pull& pull) noexcept {
  try {
    answers_.say_read(pull.from, pull.words.token);
  } catch (const std::bad_alloc&) {
    port_.cut_off(pull.from, "");  // words would need memory, too
  }
}

// A reply that was wanted may have been sent by any of its handlers until now.
void PullAnswers::pull_over(const Pull& pull) noexcept {
  const bool wants_reply = pull.word.has(kWantsReply);
  const bool was_replied = pull.was_replied;
  const Rank from = pull.from;
  try {
    answers_.say_done(from, pull.words.token, pull.status);
  } catch (const std::bad_alloc&) {
    port_.cut_off(from, "");
  }
  if (!wants_reply) return;
  answers_.note_reply_over(from, was_replied);
  port_.wants_turn();  // which says that there is none, if nothing does before
}

}  // namespace photon::service::am
