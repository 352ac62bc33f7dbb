// Active messages: put into a program that is complete without them, from draws of their own.
#include "simtest/am_model.hpp"
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kAmsInOneOf = 3;  // programs
constexpr std::uint64_t kAmsAtOnce = 60;  // more than there are slots
constexpr std::uint32_t kAmHops = 3;      // of handlers that send on
constexpr std::uint64_t kAmName = 8;      // bytes of a message's number

}  // namespace

// Few slots and small queues, so that messages wait.
void Generator::draw_am_options() {
  const auto one_of = [this](std::initializer_list<std::uint64_t> values) {
    return values.begin()[ams_.up_to(values.size() - 1)];
  };
  option("am_slots", one_of({4, 4, 8, 16}));
  option("am_queue_bytes", one_of({65'536, 65'536, 1 << 20}));
  option("am_record_max", one_of({48, 192, 1024}));
  option("am_carried_max", one_of({1024, 4096, 32'768}));
  option("am_aggregate_bytes", one_of({256, 1024}));
}

// Around each limit where another way is taken.
std::uint64_t Generator::am_size() {
  const std::uint64_t carried = option_of(program_, "am_carried_max");
  const std::array<std::uint64_t, 14> sizes = {
      0,           1,          7,
      8,           40,         47,
      48,          49,         option_of(program_, "am_record_max") + 1,
      1024,        chunk_ - 1, chunk_ + 1,
      carried - 1, carried};
  return std::min(carried, sizes[ams_.up_to(sizes.size() - 1)]);
}

Step Generator::am_message(std::uint32_t hops) {
  Step step;
  step.verb = ams_.up_to(2) == 0 ? Verb::am_small : Verb::am_send;
  step.peer = static_cast<ph_rank>(ams_.up_to(program_.ranks - 1));
  step.operand = ams_.up_to(9) == 0 ? 1 + ams_.up_to(kAmsAtOnce) : 1;
  step.local_id_bytes = 0;
  step.kinds = 0;
  const bool is_small = step.verb == Verb::am_small;
  step.size_bytes = is_small ? ams_.up_to(PH_AM_SMALL_BYTES) : am_size();
  if (!is_small) draw_am_args(step);
  // What can be refused has a number in it, and, where errors without an id can be of something
  // else, a local id.
  const bool has_name =
      step.size_bytes >= kAmName || step.row_bytes >= kAmName || step.compare != 0;
  const bool is_told_by_id = step.local_id_bytes != 0 && (step.flags & PH_AM_MAY_WAIT) == 0;
  const bool may_fail = has_name && (is_told_by_id || !program_.mailboxes);
  if (may_fail && ams_.up_to(2) == 0) step.offset = 1 + ams_.up_to(kAmIds.size() - 2);
  if (ams_.up_to(2) == 0) step.kinds = static_cast<std::uint32_t>(ams_.up_to(kAmDoings - 1));
  const auto doing = static_cast<AmDoing>(step.kinds);
  if (!may_fail && (doing == AmDoing::fails || doing == AmDoing::says_more)) step.kinds = 0;
  if (ams_.up_to(3) == 0) step.time_ns = ams_.up_to(3000);
  step.own_gap_bytes = am_size();  // of its reply
  if (ams_.up_to(1) == 0) return step;
  const Step act = am_act(hops);
  program_.acts.push_back(act);
  step.order = program_.acts.size();
  return step;
}

void Generator::draw_am_args(Step& step) {
  constexpr std::array<std::uint64_t, 8> kHeaders = {0, 0, 0, 5, 8, 40, 100, PH_AM_HEADER_BYTES};
  step.row_bytes = kHeaders[ams_.up_to(kHeaders.size() - 1)];
  step.compare = ams_.up_to(1);
  step.fetches = ams_.up_to(3) == 0;  // a list
  if (ams_.up_to(1) == 0) step.flags |= PH_NO_LCE;
  if (ams_.up_to(3) == 0) step.flags |= std::uint32_t{PH_DELIVERED};
  if (ams_.up_to(2) == 0) step.flags |= PH_AM_REPLY;
  if (ams_.up_to(3) == 0) step.flags |= PH_AM_MAY_WAIT;
  if ((step.flags & PH_NO_LCE) == 0 || ams_.up_to(1) == 0) step.local_id_bytes = 8;
  if (ams_.up_to(39) != 0) return;
  constexpr std::array<Fault, 3> kFaults = {Fault::id_too_long, Fault::null_memory,
                                            Fault::unknown_flag};
  step.fault = kFaults[ams_.up_to(kFaults.size() - 1)];
  step.size_bytes = std::max<std::uint64_t>(1, step.size_bytes);
}

// The act of a handler is one call, or a message whose handler acts, too.
Step Generator::am_act(std::uint32_t hops) {
  if (hops != 0 && ams_.up_to(1) == 0) {
    Step step = am_message(hops - 1);
    step.operand = 1;
    return step;
  }
  constexpr std::array<Verb, 5> kVerbs = {Verb::notify, Verb::put_u64, Verb::get_u64, Verb::probe,
                                          Verb::fence};
  Step step;
  step.verb = kVerbs[ams_.up_to(kVerbs.size() - 1)];
  step.peer = static_cast<ph_rank>(ams_.up_to(program_.ranks - 1));
  step.query_peer = PH_ANY_RANK;
  if (step.verb == Verb::notify) step.flags = PH_NO_LCE;
  if (step.verb != Verb::put_u64 && step.verb != Verb::get_u64) return step;
  step.size_bytes = ams_.up_to(128);
  if (step.verb == Verb::get_u64) {
    step.area = Area::library;
    step.offset = ams_.up_to(kLibraryBytes - step.size_bytes);
    return step;
  }
  step.offset = next_free_[step.peer];
  next_free_[step.peer] += step.size_bytes + 1 + ams_.up_to(8);
  return step;
}

Step Generator::am_step() {
  constexpr std::array<Verb, 16> kVerbs = {
      Verb::am_send,    Verb::am_send,    Verb::am_send,       Verb::am_send,
      Verb::am_send,    Verb::am_send,    Verb::am_send,       Verb::am_send,
      Verb::am_poll,    Verb::am_poll,    Verb::am_poll,       Verb::am_register,
      Verb::am_quiesce, Verb::am_quiesce, Verb::am_unregister, Verb::am_begin};
  const Verb verb = kVerbs[ams_.up_to(kVerbs.size() - 1)];
  Step step;
  if (verb == Verb::am_send) {
    step = am_message(kAmHops);
    if (ams_.up_to(39) == 0 && step.fault == Fault::none) step.peer = program_.ranks;
    step.requested = ams_.up_to(3) != 0;
  } else {
    step.verb = verb;
    step.offset = 1 + ams_.up_to(kAmNeverId - 2);
    if (verb == Verb::am_quiesce) step.time_ns = 1000 * ams_.up_to(50);
  }
  step.lane = static_cast<std::uint32_t>(ams_.up_to(program_.lanes.size()));
  return step;
}

// The steps never follow the one by which a rank leaves.
void Generator::add_ams(Ams choice) {
  const bool is_drawn = ams_.up_to(kAmsInOneOf - 1) == 0;
  if (choice == Ams::none || (choice == Ams::drawn && !is_drawn)) return;
  program_.ams = true;
  draw_am_options();
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    auto& steps = program_.steps[rank];
    const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
    for (std::uint64_t left = ams_.up_to(steps.size() / 4 + 8); left > 0; --left) {
      const Step step = am_step();
      const std::uint64_t at = ams_.up_to(steps.size() - (leaves ? 1 : 0));
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
  }
  if (choice == Ams::landing) add_landings();
}

}  // namespace photon::simtest
