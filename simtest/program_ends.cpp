// Deaths, cuts and lost links: put into a program that is complete without them.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kEndsInOneOf = 8;  // programs

}  // namespace

// One rank at least neither leaves nor dies.
void Generator::draw_dying() {
  if (ends_.up_to(kEndsInOneOf - 1) != 0) return;
  std::vector<ph_rank> able;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank)
    if (shape_.leavers.empty() || !shape_.leavers[rank]) able.push_back(rank);
  const ph_rank survivor = able[ends_.up_to(able.size() - 1)];
  const auto first = static_cast<ph_rank>(ends_.up_to(program_.ranks - 2));
  shape_.dying.resize(program_.ranks);
  shape_.dying[first < survivor ? first : first + 1] = true;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank)
    if (rank != survivor && ends_.up_to(3) == 0) shape_.dying[rank] = true;
}

Step Generator::death() {
  constexpr std::array<std::uint64_t, 5> kUntilNs = {0, 300, 3000, 30'000, 200'000};
  constexpr std::array<std::uint64_t, 4> kNoticeNs = {0, 1000, 30'000, 2'000'000};
  Step step;
  step.verb = Verb::die;
  step.time_ns = ends_.up_to(kUntilNs[ends_.up_to(kUntilNs.size() - 1)]);
  step.notice_ns = kNoticeNs[ends_.up_to(kNoticeNs.size() - 1)];
  if (ends_.up_to(1) == 0) step.restart_ns = 1 + ends_.up_to(100'000);
  return step;
}

// Much shorter than finalize_timeout_ms: who is cut off is slow, not given up.
Step Generator::cut() {
  constexpr std::array<std::uint64_t, 3> kLongestNs = {3000, 100'000, 2'000'000};
  Step step;
  step.verb = Verb::cut;
  step.group = ends_.next();
  step.time_ns = ends_.up_to(kLongestNs[ends_.up_to(kLongestNs.size() - 1)]);
  return step;
}

// Nobody leaves or dies in the same program: who is lost to whom is enough to keep apart.
void Generator::draw_losses(const Choice& choice) {
  const bool is_drawn = losses_.up_to(kEndsInOneOf - 1) == 0 && choice.lanes != Lanes::all;
  if (choice.losses == Losses::none || !shape_.leavers.empty() || !shape_.dying.empty()) return;
  shape_.loses_links = choice.losses == Losses::all || is_drawn;
}

// Before the two have met, with traffic under way, or when most of it is over.
Step Generator::loss() {
  constexpr std::array<std::uint64_t, 5> kUntilNs = {0, 300, 3000, 30'000, 200'000};
  constexpr std::array<std::uint64_t, 4> kNoticeNs = {0, 1000, 30'000, 2'000'000};
  Step step;
  step.verb = Verb::lose_link;
  step.query_peer = static_cast<ph_rank>(losses_.up_to(program_.ranks - 1));
  const auto further = static_cast<ph_rank>(1 + losses_.up_to(program_.ranks - 2));
  step.peer = (step.query_peer + further) % program_.ranks;
  step.is_cut_off = losses_.up_to(2) == 0;
  step.is_one_way = losses_.up_to(2) == 0;
  step.time_ns = losses_.up_to(kUntilNs[losses_.up_to(kUntilNs.size() - 1)]);
  step.notice_ns = losses_.up_to(kNoticeNs[losses_.up_to(kNoticeNs.size() - 1)]);
  return step;
}

void Generator::add_losses() {
  if (!shape_.loses_links) return;
  for (std::uint64_t left = 1 + losses_.up_to(1); left > 0; --left) {
    const Step step = loss();
    auto& steps = program_.steps[step.query_peer];
    const bool is_early = losses_.up_to(2) == 0;
    const std::uint64_t at = losses_.up_to(steps.size());
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(is_early ? 0 : at), step);
  }
}

// Not behind a bye.
void Generator::add_somewhere(ph_rank rank, const Step& step) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  const std::uint64_t at = ends_.up_to(steps.size() - (leaves ? 1 : 0));
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
}

void Generator::add_ends() {
  if (!shape_.dying.empty()) {
    for (ph_rank rank = 0; rank < program_.ranks; ++rank)
      if (shape_.dying[rank]) add_somewhere(rank, death());
  }
  if (ends_.up_to(kEndsInOneOf - 1) != 0) return;
  for (std::uint64_t left = 1 + ends_.up_to(1); left > 0; --left) {
    const auto rank = static_cast<ph_rank>(ends_.up_to(program_.ranks - 1));
    add_somewhere(rank, cut());
  }
}

}  // namespace photon::simtest
