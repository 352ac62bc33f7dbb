// The echo service: put into a program that is complete without it, from draws of their own.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kEchoesInOneOf = 3;  // programs
constexpr std::uint64_t kManyAtOnce = 150;   // more than a ring has lines

}  // namespace

// Sizes around the limits where a body is cut, and one that exceeds the bulk ring.
std::uint64_t Generator::body_size() {
  const std::uint64_t bulk = option_of(program_, "bulk_bytes");
  const std::array<std::uint64_t, 9> sizes = {
      1, 8, packed_max_ + 1, chunk_ - 1, chunk_, chunk_ + 1, 3 * chunk_ + 5, bulk + 1, 20'000};
  return sizes[echoes_.up_to(sizes.size() - 1)];
}

Step Generator::question() {
  Step step;
  step.verb = Verb::ask;
  step.operand = 1;
  if (echoes_.up_to(2) == 0) step.size_bytes = body_size();
  if (echoes_.up_to(9) == 0) step.operand = 1 + echoes_.up_to(kManyAtOnce);
  return step;
}

Step Generator::told() {
  Step step;
  step.verb = Verb::tell;
  step.operand = 1;
  if (echoes_.up_to(9) == 0) step.operand = 1 + echoes_.up_to(kManyAtOnce);
  if (echoes_.up_to(1) == 0) return step;
  program_.acts.push_back(echo_act());
  step.order = program_.acts.size();
  return step;
}

// The act of a handler is one call. Its range belongs to this act alone, which is done once at
// most.
Step Generator::echo_act() {
  constexpr std::array<Verb, 10> kVerbs = {Verb::notify, Verb::put_u64, Verb::get_u64, Verb::probe,
                                           Verb::wait,   Verb::fence,   Verb::ask,     Verb::ask,
                                           Verb::tell,   Verb::answer};
  Step step;
  step.verb = kVerbs[echoes_.up_to(kVerbs.size() - 1)];
  step.peer = static_cast<ph_rank>(echoes_.up_to(program_.ranks - 1));
  step.query_peer = PH_ANY_RANK;
  step.time_ns = 1000 * echoes_.up_to(5);
  step.operand = 1;
  if (step.verb == Verb::notify) step.flags = PH_NO_LCE;
  if (step.verb == Verb::ask && echoes_.up_to(2) == 0) step.size_bytes = body_size();
  if (step.verb != Verb::put_u64 && step.verb != Verb::get_u64) return step;
  step.size_bytes = echoes_.up_to(128);
  if (step.verb == Verb::get_u64) {
    step.area = Area::library;
    step.offset = echoes_.up_to(kLibraryBytes - step.size_bytes);
    return step;
  }
  step.offset = next_free_[step.peer];
  next_free_[step.peer] += step.size_bytes + 1 + echoes_.up_to(8);
  return step;
}

Step Generator::echo_step() {
  constexpr std::array<Verb, 12> kVerbs = {Verb::ask,    Verb::ask,    Verb::ask,    Verb::ask,
                                           Verb::tell,   Verb::tell,   Verb::tell,   Verb::answer,
                                           Verb::answer, Verb::answer, Verb::listen, Verb::hush};
  Step step;
  const Verb verb = kVerbs[echoes_.up_to(kVerbs.size() - 1)];
  if (verb == Verb::ask) step = question();
  if (verb == Verb::tell) step = told();
  step.verb = verb;
  step.peer = static_cast<ph_rank>(echoes_.up_to(program_.ranks - 1));
  step.requested = echoes_.up_to(3) != 0;
  step.capacity = static_cast<std::uint32_t>(1 + echoes_.up_to(kMostFound - 1));
  if (verb == Verb::answer && echoes_.up_to(1) == 0) step.time_ns = 1000 * echoes_.up_to(30);
  if (verb == Verb::listen) step.kinds = echoes_.up_to(2) == 0 ? 0 : 1;
  if (verb == Verb::hush) step.time_ns = echoes_.up_to(echoes_.up_to(3) == 0 ? 200'000 : 5000);
  const bool is_wrong = echoes_.up_to(39) == 0;
  if (is_wrong && (verb == Verb::ask || verb == Verb::tell)) step.peer = program_.ranks;
  return step;
}

// The steps never follow the one by which a rank leaves.
void Generator::add_echoes(Echoes choice) {
  const bool is_drawn = echoes_.up_to(kEchoesInOneOf - 1) == 0;
  if (choice == Echoes::none || (choice == Echoes::drawn && !is_drawn)) return;
  program_.echoes = true;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    auto& steps = program_.steps[rank];
    const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
    for (std::uint64_t left = echoes_.up_to(steps.size() / 4 + 4); left > 0; --left) {
      const Step step = echo_step();
      const std::uint64_t at = echoes_.up_to(steps.size() - (leaves ? 1 : 0));
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
  }
}

}  // namespace photon::simtest
