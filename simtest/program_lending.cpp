// Rendezvous: put into a program that is complete without it, from draws of their own.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kLendingInOneOf = 3;  // programs
constexpr std::uint64_t kTags = 3;

}  // namespace

// Few sizes, so that looks for a certain one find it; around where the library takes another way.
std::uint64_t Generator::loan_size() {
  const std::array<std::uint64_t, 7> sizes = {0,    8,          packed_max_, packed_max_ + 1,
                                              1000, 2 * chunk_, 20'000};
  return sizes[lending_.up_to(sizes.size() - 1)];
}

Step Generator::announcement(ph_rank rank) {
  Step step;
  step.verb = Verb::announce;
  step.peer = static_cast<ph_rank>(lending_.up_to(program_.ranks - 1));
  if (step.peer == rank && lending_.up_to(3) != 0) step.peer = (rank + 1) % program_.ranks;
  step.kinds = static_cast<std::uint32_t>(1 + lending_.up_to(2));
  step.operand = lending_.up_to(kTags - 1);
  step.size_bytes = loan_size();
  // One of no bytes has no place that tells it from another, and may be called back.
  if (step.kinds == PH_RECV_BUFFER) step.size_bytes = std::max<std::uint64_t>(1, step.size_bytes);
  step.requested = lending_.up_to(3) != 0;
  return step;
}

Step Generator::about_loan() {
  constexpr std::array<Verb, 8> kVerbs = {Verb::take,     Verb::take,     Verb::take,
                                          Verb::transfer, Verb::transfer, Verb::transfer,
                                          Verb::finish,   Verb::recall};
  Step step;
  step.verb = kVerbs[lending_.up_to(kVerbs.size() - 1)];
  step.offset = lending_.up_to(15);
  if (step.verb == Verb::take) {
    step.kinds = static_cast<std::uint32_t>(1 + lending_.up_to(2));
    step.query_peer = PH_ANY_RANK;
    if (lending_.up_to(1) == 0)
      step.query_peer = static_cast<ph_rank>(lending_.up_to(program_.ranks - 1));
    step.operand = lending_.up_to(1) == 0 ? PH_ANY_TAG : lending_.up_to(kTags - 1);
    step.compare = lending_.up_to(3) != 0 ? PH_ANY_SIZE : loan_size();
    if (lending_.up_to(1) == 0) step.time_ns = 1000 * lending_.up_to(30);
  }
  if (step.verb == Verb::transfer) {
    step.size_bytes = lending_.up_to(3) == 0 ? 20'000 : 1 + lending_.up_to(2 * packed_max_ + 64);
    for (const std::uint32_t flag :
         {PH_NO_LCE, PH_NO_RCE, PH_DELIVERED, PH_NOTICE_ACCEPTED, PH_ORDER_NONE})
      if (lending_.up_to(3) == 0) step.flags |= flag;
    step.requested = lending_.up_to(1) == 0;
  }
  return step;
}

void Generator::add_lending() {
  if (lending_.up_to(kLendingInOneOf - 1) != 0) return;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    const std::uint64_t places = program_.steps[rank].size() / 6 + 2;
    for (std::uint64_t left = lending_.up_to(places); left > 0; --left) {
      add_lending_at(rank, announcement(rank));
      for (std::uint64_t others = lending_.up_to(5); others > 0; --others)
        add_lending_at(rank, about_loan());
    }
  }
}

// Not behind a bye.
void Generator::add_lending_at(ph_rank rank, const Step& step) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  const std::uint64_t at = lending_.up_to(steps.size() - (leaves ? 1 : 0));
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
}

}  // namespace photon::simtest
