// Large messages to mailboxes: put into a program that has all else of mailboxes, from draws of
// their own. Their receiver reads them, which takes time, so that owners often take a buffer back
// while a message lands in it.
#include "simtest/mail_box.hpp"
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kMostLargeBytes = 9000;

bool is_message(const Step& step) noexcept {
  return step.verb == Verb::mail_put || step.verb == Verb::mail_append ||
         step.verb == Verb::mail_put_u64;
}

}  // namespace

// Its bytes are read in one piece, in several, or in more than the bulk ring holds. Sizes seldom
// repeat: the sum of those that were counted tells which ones were.
void Generator::enlarge(Step& step) {
  const std::uint64_t carried = option_of(program_, "mailbox_carried_max");
  const std::uint64_t bulk = option_of(program_, "bulk_bytes");
  const std::array<std::uint64_t, 5> sizes = {carried + 1, carried + 200, chunk_ + 1, bulk / 4 + 1,
                                              bulk + 1};
  const std::uint64_t size =
      std::min(sizes[offers_.up_to(sizes.size() - 1)], kMostLargeBytes) + offers_.up_to(700);
  step.size_bytes = std::max(size, carried + 1);
  step.order = 1 + (offers_.up_to(3) == 0 ? offers_.up_to(2) : 0);
  step.flags = 0;
  if (step.peer >= program_.ranks || step.verb == Verb::mail_append) return;
  std::uint64_t& next = next_mail_[step.peer * kMailAddressesCount + step.operand];
  step.offset = next;
  next += step.order * step.size_bytes + offers_.up_to(3);
}

// A buffer comes back early, or its mailbox closes; its memory is posted again before anything else
// happens.
void Generator::take_back_at_once(ph_rank rank) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  const std::uint64_t address = offers_.up_to(kMailAddressesCount - 1);
  const auto lane = static_cast<std::uint32_t>((rank + address) % (program_.lanes.size() + 1));
  std::vector<Step> all;
  const auto call = [&](Verb verb, std::uint64_t order) {
    Step step;
    step.verb = verb;
    step.operand = address;
    step.lane = lane;
    step.order = order;
    step.kinds = 0;
    all.push_back(step);
  };
  call(Verb::mail_take, 0);
  const std::uint64_t how = offers_.up_to(7);
  if (how == 0) {
    call(Verb::mail_close, 0);
    all.push_back(mailbox_open_again(address, lane));
  } else if (how == 1) {
    call(Verb::mail_rewind, 0);
  } else {
    call(Verb::mail_advance, 0);
  }
  for (std::uint64_t left = 1 + offers_.up_to(2); left > 0; --left) call(Verb::mail_take, 0);
  for (std::uint64_t slot = 0; slot < kMailSlots; ++slot) {
    if (offers_.up_to(2) != 0) call(Verb::mail_post, slot);
    if (offers_.up_to(3) == 0) call(Verb::mail_advance, 0);
  }
  const std::uint64_t at = offers_.up_to(steps.size() - (leaves ? 1 : 0));
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), all.begin(), all.end());
}

Step Generator::mailbox_open_again(std::uint64_t address, std::uint32_t lane) {
  Step step;
  step.verb = Verb::mail_open;
  step.operand = address;
  step.lane = lane;
  step.order = address == 1 ? PH_MAILBOX_MANAGED : PH_MAILBOX_STEERED;
  step.row_bytes = PH_MAILBOX_OPERATIONS;
  step.compare = 1 + offers_.up_to(3);
  step.query_peer = PH_ANY_RANK;
  step.capacity = static_cast<std::uint32_t>(offers_.up_to(2));
  return step;
}

// In three of four of the programs with mailboxes.
void Generator::add_offers() {
  if (offers_.up_to(3) == 0) return;
  constexpr std::array<std::uint64_t, 4> kCarried = {64, 64, 300, 2000};
  const std::uint64_t carried = kCarried[offers_.up_to(kCarried.size() - 1)];
  for (auto& [name, value] : program_.options)
    if (name == "mailbox_carried_max") value = std::to_string(carried);
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    for (Step& step : program_.steps[rank]) {
      if (step.verb == Verb::mail_post && step.size_bytes != 0 && offers_.up_to(1) == 0)
        step.size_bytes = 0;
      if (!is_message(step)) continue;
      const bool can_be_large = step.verb != Verb::mail_put_u64 && step.offset >= kMailSharedBytes;
      if (step.verb == Verb::mail_put_u64) step.size_bytes = std::min(step.size_bytes, carried);
      if (step.size_bytes > carried) step.flags &= ~std::uint32_t{PH_NO_LCE};
      const bool is_append = step.verb == Verb::mail_append && step.offset == 0;
      if ((can_be_large || is_append) && offers_.up_to(2) == 0) enlarge(step);
    }
    for (std::uint64_t left = offers_.up_to(program_.steps[rank].size() / 16 + 3); left > 0; --left)
      take_back_at_once(rank);
  }
}

}  // namespace photon::simtest
