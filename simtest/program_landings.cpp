// Active messages whose payloads land somewhere, and prepared ones: put into a program that is
// complete without them, from draws of their own.
#include "simtest/am_model.hpp"
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kLargestPulled = 70'000;
constexpr std::uint64_t kFlood = 24;  // more than there are slots

}  // namespace

// What is carried, and what the target reads.
std::uint64_t Generator::landed_size() {
  const std::uint64_t carried = option_of(program_, "am_carried_max");
  const std::array<std::uint64_t, 12> sizes = {
      0,           8,           chunk_ - 1,  chunk_,      carried,     carried + 1,
      carried + 1, carried + 9, 2 * carried, 2 * carried, 3 * carried, kLargestPulled};
  return std::min(kLargestPulled, sizes[landings_.up_to(sizes.size() - 1)]);
}

// Only one with a local id may have an error.
AmPlace Generator::am_place(std::uint64_t size_bytes, bool may_fail) {
  using Kind = AmPlace::Kind;
  constexpr std::array<Kind, 10> kKinds = {Kind::buffer,  Kind::buffer,  Kind::blocks, Kind::blocks,
                                           Kind::cycle,   Kind::cycle,   Kind::drop,   Kind::small,
                                           Kind::doubled, Kind::in_place};
  AmPlace place;
  place.kind = kKinds[landings_.up_to(kKinds.size() - 1)];
  const bool is_pulled = size_bytes > option_of(program_, "am_carried_max");
  const bool is_wrong = place.kind == Kind::small || place.kind == Kind::doubled ||
                        (place.kind == Kind::in_place && is_pulled);
  if (is_wrong && !may_fail) place.kind = Kind::buffer;
  place.is_told = landings_.up_to(9) != 0;
  const std::array<std::uint64_t, 6> chunks = {
      0,    1 + size_bytes / 7, 1 + size_bytes / 3, std::max<std::uint64_t>(1, size_bytes),
      1000, size_bytes + 1};
  place.chunk_bytes = chunks[landings_.up_to(chunks.size() - 1)];
  if (place.kind == Kind::cycle) {
    if (place.chunk_bytes == 0) place.chunk_bytes = 1 + size_bytes / 2;
    place.places = 2 + landings_.up_to(4);
  }
  if (may_fail && place.is_told && landings_.up_to(5) == 0)
    place.fails_at = static_cast<std::uint32_t>(1 + landings_.up_to(3));
  return place;
}

Step Generator::landed_message(bool may_act) {
  constexpr std::array<std::uint64_t, 5> kHeaders = {0, 8, 8, 40, PH_AM_HEADER_BYTES};
  Step step;
  step.verb = Verb::am_send;
  step.peer = static_cast<ph_rank>(landings_.up_to(program_.ranks - 1));
  step.operand = 1;
  step.kinds = 0;
  step.size_bytes = landed_size();
  step.row_bytes = kHeaders[landings_.up_to(kHeaders.size() - 1)];
  const bool is_pulled = step.size_bytes > option_of(program_, "am_carried_max");
  step.compare = landings_.up_to(1);
  if (step.row_bytes < 8 && (is_pulled || step.size_bytes < 8)) step.compare = 1;  // its number
  step.fetches = landings_.up_to(2) == 0;
  if (landings_.up_to(3) == 0) step.flags |= PH_NO_LCE;
  if (landings_.up_to(3) == 0) step.flags |= std::uint32_t{PH_DELIVERED};
  if (landings_.up_to(2) == 0) step.flags |= PH_AM_REPLY;
  if (landings_.up_to(5) == 0) step.flags |= PH_AM_MAY_WAIT;
  const bool may_fail = (step.flags & PH_AM_MAY_WAIT) == 0;
  if (may_fail && landings_.up_to(5) == 0) step.offset = 1 + landings_.up_to(kAmIds.size() - 2);
  if (landings_.up_to(5) == 0) step.kinds = static_cast<std::uint32_t>(AmDoing::lingers);
  if (may_fail && landings_.up_to(9) == 0) step.kinds = static_cast<std::uint32_t>(AmDoing::fails);
  step.place = am_place(step.size_bytes, may_fail);
  if ((step.flags & PH_AM_REPLY) != 0 && landings_.up_to(1) == 0) {
    step.place.replies = step.place.is_told;
    step.kinds = static_cast<std::uint32_t>(AmDoing::keeps_silent);
  }
  if (landings_.up_to(3) == 0) step.time_ns = landings_.up_to(3000);
  step.own_gap_bytes = landings_.up_to(100);  // of its reply
  if (!may_act || landings_.up_to(2) != 0) return step;
  program_.acts.push_back(landed_message(false));
  step.order = program_.acts.size();
  return step;
}

Step Generator::prepared_message() {
  const std::uint64_t carried = option_of(program_, "am_carried_max");
  const std::array<std::uint64_t, 8> sizes = {0,      8,       49,          chunk_ - 1,
                                              chunk_, carried, carried / 2, 1024};
  Step step;
  step.verb = Verb::am_prepare;
  step.peer = static_cast<ph_rank>(landings_.up_to(program_.ranks - 1));
  step.size_bytes = std::min(carried, sizes[landings_.up_to(sizes.size() - 1)]);
  step.far_gap_bytes = landings_.up_to(carried);  // more than that is asked for
  step.row_bytes = landings_.up_to(1) == 0 ? 0 : 8 + landings_.up_to(100);
  step.flags = PH_NO_LCE;
  step.local_id_bytes = 0;
  step.operand = 1;
  step.kinds =
      static_cast<std::uint32_t>(landings_.up_to(3) == 0 ? AmDoing::lingers : AmDoing::returns);
  step.is_one_way = landings_.up_to(4) == 0;  // it is cancelled
  step.is_cut_off = landings_.up_to(2) == 0;  // calls that must be refused
  step.requested = landings_.up_to(3) != 0;
  if (landings_.up_to(1) == 0) step.time_ns = landings_.up_to(3000);
  return step;
}

// A flood of what goes by the bulk ring, while its handlers take their time.
Step Generator::landing_step() {
  const std::uint64_t kind = landings_.up_to(5);
  Step step = kind == 0 ? prepared_message() : landed_message(true);
  if (kind == 1) {
    step.size_bytes = std::min(option_of(program_, "am_carried_max"), chunk_ - landings_.up_to(20));
    step.operand = 1 + landings_.up_to(kFlood);
    step.place = {};
  }
  step.lane = static_cast<std::uint32_t>(landings_.up_to(program_.lanes.size()));
  if (kind != 0) step.requested = landings_.up_to(3) != 0;
  return step;
}

void Generator::add_landings() {
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    auto& steps = program_.steps[rank];
    const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
    for (std::uint64_t left = landings_.up_to(steps.size() / 8 + 6); left > 0; --left) {
      const Step step = landing_step();
      const std::uint64_t at = landings_.up_to(steps.size() - (leaves ? 1 : 0));
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
  }
}

}  // namespace photon::simtest
