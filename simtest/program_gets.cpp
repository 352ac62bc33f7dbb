// Gets from mailboxes: put into a program that has all else of mailboxes, from draws of their own.
#include "simtest/mail_box.hpp"
#include "simtest/program_generator.hpp"

namespace photon::simtest {

// In one answer, in several, or out of range.
Step Generator::mailbox_get() {
  const std::uint64_t carried = option_of(program_, "mailbox_carried_max");
  const std::array<std::uint64_t, 9> sizes = {0,   1,       8,           24,         33,
                                              200, carried, carried + 1, 3 * carried};
  Step step;
  step.verb = Verb::mail_get;
  step.operand = gets_.up_to(kMailAddressesCount - 1);
  step.peer = static_cast<ph_rank>(gets_.up_to(program_.ranks - 1));
  step.size_bytes = std::min<std::uint64_t>(sizes[gets_.up_to(sizes.size() - 1)], 5000);
  step.offset = gets_.up_to(gets_.up_to(7) == 0 ? 2 * program_.mail_bytes : 64);
  step.requested = gets_.up_to(2) == 0;
  step.order = 1;
  step.fetches = gets_.up_to(3) != 0;
  if (!step.requested && gets_.up_to(4) == 0) step.flags |= PH_NO_LCE;
  if (gets_.up_to(3) == 0) step.local_id_bytes = id_max_;
  step.compare = gets_.up_to(3) == 0 ? 1 + gets_.up_to(4) : 0;
  step.kinds = gets_.up_to(7) == 0 ? 1 : 0;
  const std::uint64_t lanes = program_.lanes.size() + 1;
  step.lane = static_cast<std::uint32_t>(gets_.up_to(3) == 0 ? gets_.up_to(lanes - 1)
                                                             : (step.peer + step.operand) % lanes);
  return step;
}

// In half of the programs with mailboxes; a third of the steered ones is for reading.
void Generator::add_gets() {
  if (gets_.up_to(1) == 0) return;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    auto& steps = program_.steps[rank];
    for (Step& step : steps)
      if (step.verb == Verb::mail_open && step.order == PH_MAILBOX_STEERED && gets_.up_to(2) == 0)
        step.flags |= PH_MAILBOX_READ;
    const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
    for (std::uint64_t left = gets_.up_to(steps.size() / 8 + 8); left > 0; --left) {
      const Step step = mailbox_get();
      const std::uint64_t at = gets_.up_to(steps.size() - (leaves ? 1 : 0));
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
  }
}

}  // namespace photon::simtest
