// What a rank does before and after its steps.
#include "simtest/runner.hpp"

#include <algorithm>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kPatienceNs = 1'000'000'000;  // without any event, when all only probe

}  // namespace

bool Runner::set_up(ph_rank rank) {
  RankMemory& memory = oracle_.memory(rank);
  ph_context* const mine = context(rank);
  const auto show = [&](std::span<std::byte> bytes, std::uint32_t access, ph_region& region) {
    expect(rank, "register", ph_register(mine, bytes.data(), bytes.size(), access, &region));
  };
  show(memory.window(), PH_ACCESS_ALL, memory.window_region);
  show(memory.window().subspan(kInnerOffset, kInnerBytes), PH_ACCESS_WRITE, memory.inner_region);
  show(memory.library(), PH_ACCESS_READ, memory.library_region);
  show(oracle_.own_memory(rank).slab(), PH_ACCESS_READ, seats_[rank].slab);
  show(memory.words().bytes(), PH_ACCESS_ALL, memory.words_region);
  if (program_.echoes) listen(rank, true);
  if (program_.ams) enroll_ams(rank);
  enroll(rank, Area::extra);
  enroll(rank, Area::arena);
  const Shown shown{memory.window_region, memory.inner_region, memory.library_region,
                    memory.words_region};
  return expect(rank, "allgather",
                ph_allgather(mine, &shown, seats_[rank].poster.shown().data(), sizeof shown));
}

// Until all ranks are here and everything that was accepted is complete.
void Runner::drain(ph_rank rank) {
  ++draining_;
  seats_[rank].gives_back = true;
  open_unused(rank);
  joints_.want_all(rank);
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed() &&
         (draining_ < program_.ranks || !oracle_.is_settled() || !lending_.is_settled() ||
          !echoes_.is_settled() || !ams_.is_settled() || !quiets_.is_settled() ||
          !mail_.is_settled() || !mail_gets_.is_settled() || !joints_.is_settled() ||
          world_.is_cut() || losses_ahead_ != 0)) {
    take_or_pause(rank, quiet_ns);
    if (draining_ == program_.ranks && world_.now_ns() > oracle_.last_event_ns() + kPatienceNs)
      report_pending();
  }
}

void Runner::report_pending() {
  lending_.report_pending();
  echoes_.report_pending();
  ams_.report_pending();
  quiets_.report_pending();
  mail_.report_pending();
  mail_gets_.report_pending();
  joints_.report_pending();
  oracle_.report_pending();
}

// It counts as drained and flushed when it is gone: until then the others serve it.
void Runner::leave(ph_rank rank) {
  await_loans(rank);
  take_before_leaving(rank);
  if (oracle_.failed()) return;
  lending_.gone(rank);
  echoes_.gone(rank, false);
  ams_.gone(rank, false);
  quiets_.gone(rank);
  mail_.gone(rank);
  mail_gets_.gone(rank);
  joints_.gone(rank);
  maps_.load_all(rank);
  maps_.gone(rank);
  oracle_.leaving(rank);
  ++leaving_count_;
  const ph_status status = ph_finalize(context(rank));
  --leaving_count_;
  oracle_.left(rank, status,
               lending_.explains(rank, status) || mail_.explains(rank, status) ||
                   ams_.explains(rank, status) || mail_gets_.explains(rank, status) ||
                   joints_.explains(rank, status));
  mail_.boxes().left(rank);
  joints_.left(rank);
  maps_.freed(rank);
  close_rest(rank, true);
  ++draining_;
  ++flushed_;
}

// A barrier of those that stay. False: after a finding.
bool Runner::meet(ph_rank rank) {
  if (has_collectives()) return expect(rank, "barrier", ph_barrier(context(rank)));
  const std::uint32_t mine = meetings_;
  if (++arrived_ == stayers_.size()) {
    arrived_ = 0;
    ++meetings_;
  }
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed() && meetings_ == mine) take_or_pause(rank, quiet_ns);
  return !oracle_.failed();
}

void Runner::finish(ph_rank rank) {
  Seat& seat = seats_[rank];
  seat.phase = "the wait for those that are lost";
  await_lost(rank);
  if (oracle_.failed()) return;
  seat.phase = "the last flush";
  if (!flush_last(rank)) return;
  ++flushed_;
  std::uint64_t quiet_ns = 100;
  // Refusals that nobody waited for are here by now; others still need us.
  while (!oracle_.failed() && (flushed_ < program_.ranks || quiet_ns == 100))
    take_or_pause(rank, quiet_ns);
  if (oracle_.failed()) return;
  seat.phase = "the barrier";
  if (!meet(rank)) return;
  if (!has_collectives() || loses_links_) take_all(rank);
  take_late_refusals(rank);
  take_rest_of_ams(rank);
  world_.pause(kLongestQuietNs);
  take_everywhere(rank);
  check_contacts(rank);
  if (oracle_.failed()) return;
  seat.phase = "the audit";
  if ((!has_collectives() || loses_links_) && !meet(rank))
    return;  // what is still there was taken by all
  if (rank == stayers_.front() && !has_leavers_) audit(rank);
  seat.phase = "the barrier after the audit";
  if (oracle_.failed() || !meet(rank)) return;
  if (!has_leavers_) exchange_bursts(rank);
  if (oracle_.failed()) return;
  seat.phase = "the last barrier";
  if (!meet(rank)) return;
  oracle_.check_lease(rank, Area::arena);
  if (oracle_.failed()) return;
  seat.phase = "finalize";
  close_rest(rank, false);
  if (!oracle_.failed()) finalize(rank);
  if (oracle_.failed()) return;
  close_rest(rank, true);
  if (oracle_.failed()) return;
  oracle_.check_silent_gets(rank);
  oracle_.check_memory(rank);
}

// While the others wait at a barrier: what was given back is what is known of it.
void Runner::audit(ph_rank rank) {
  constexpr unsigned kMostLooks = 1000;
  for (unsigned looks = 0; !world_.is_quiet(); ++looks) {
    if (looks == kMostLooks) return oracle_.report("stuck", "the network does not become quiet");
    world_.pause(kLongestQuietNs);
    take_everywhere(rank);  // what is on its way to us
  }
  // Services finish arrived messages in turns: each rank makes its own progress, at the barrier.
  for (unsigned looks = 0; program_.echoes && !world_.leftovers().empty(); ++looks) {
    if (looks == kMostLooks) break;
    world_.pause(kLongestQuietNs);
    take_everywhere(rank);
  }
  if (const std::string what = world_.unbalanced_credits(); !what.empty())
    oracle_.report("credits", what);
  else if (const std::string left = world_.leftovers(); !left.empty())
    oracle_.report("held", left);
  sources_ = world_.sources();
}

void Runner::body(ph_rank rank) {
  Seat& seat = seats_[rank];
  if (!set_up(rank)) return;
  seat.phase = "its steps";
  for (const Step& step : program_.steps[rank]) {
    seat.step = &step;
    if (step.verb == Verb::leave) return leave(rank);
    const Visit visit(seat, lane_for(rank, step));
    carry_out(rank, step);
    tell_later(rank);
    if (oracle_.failed()) return;
  }
  seat.step = nullptr;
  seat.phase = "the drain";
  if (!stays(program_, rank)) return await_death(rank);
  drain(rank);
  if (!oracle_.failed()) finish(rank);
}

void Runner::report_stuck() {
  std::string text = "the job does not go on:";
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    const Seat& seat = seats_[rank];
    if (seat.ended) continue;
    text += " rank " + std::to_string(rank) + " is in " + seat.phase;
    if (seat.step != nullptr) text += " (" + text_of(*seat.step) + ")";
    text += ";";
  }
  oracle_.report("stuck", text);
}

// Nobody has touched what ranks that left had shown, and nothing is wrong in the memory of the
// dead.
void Runner::check_absent() {
  for (ph_rank rank = 0; rank < program_.ranks; ++rank)
    if (!stays(program_, rank)) oracle_.check_memory(rank);
}

Result Runner::run() {
  world_.run(
      [this](ph_rank rank) {
        body(rank);
        seats_[rank].ended = true;
        if (oracle_.failed()) world_.give_up();
      },
      [this] { report_stuck(); });
  check_absent();
  lending_.check_memory();
  ams_.check_landings();
  mail_.boxes().check_memory();
  mail_gets_.check_memory();
  joints_.check_memory();
  Result result{oracle_.finding(),       history_.digest(), history_.events(), world_.now_ns(),
                mail_.boxes().recalls(), history_.text(),   sources_};
  oracle_.report("over", "the bodies of the dead may end");
  world_.bury();
  return result;
}

namespace {

// Where our own NIC refuses memory such an operation fails in the middle, and nothing tells when:
// tests/unit/engine/alone_test.cpp has that.
Program without_alone(Program program) {
  for (auto& steps : program.steps)
    for (Step& step : steps) step.flags &= ~std::uint32_t{PH_ALONE};
  return program;
}

}  // namespace

Result run_program(const Program& program, std::uint64_t seed,
                   const transport::sim::SimNetwork::Settings& network, bool keep_history) {
  World::Settings settings;
  settings.seed = seed;
  settings.ranks = program.ranks;
  settings.options = program.options;
  settings.network = network;
  const Program run = network.locals_refused_percent == 0 ? program : without_alone(program);
  Runner runner(run, settings, keep_history);
  return runner.run();
}

}  // namespace photon::simtest
