// The life of one rank of a program:
//
//   set up: register, exchange --> steps --> drain: until nothing is expected of anybody
//     --> flush --> all have flushed --> barrier --> nothing more comes --> finalize --> memory
//
// A rank that waits for others outside the library probes meanwhile, so it can hold up nobody.
// All returns at once after the first finding.
#include "simtest/runner.hpp"

#include <algorithm>
#include <array>

#include "simtest/poster.hpp"
#include "simtest/world.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint32_t kMostTries = 2000;            // of a call that says PH_AGAIN
constexpr std::uint64_t kLongestQuietNs = 20'000;     // between two looks for news
constexpr std::uint64_t kPatienceNs = 1'000'000'000;  // without any event, when all only probe
constexpr std::int64_t kFlushLimitUs = 10'000'000;
constexpr std::uint64_t kUntouched = 0x756e746f75636865;

class Runner {
 public:
  Runner(const Program& program, const World::Settings& settings, bool keep_history)
      : program_(program),
        history_(keep_history),
        oracle_(program, history_, [this] { return world_.now_ns(); }),
        seats_(program.ranks, Seat{Poster(program.ranks)}),
        world_(settings) {}

  Result run();

 private:
  // What a rank needs beside its small stack, and what outlives a fiber that never ends.
  struct Seat {
    Poster poster;
    const Step* step = nullptr;  // under way
    bool ended = false;
    const char* phase = "set-up";
    std::vector<std::byte> id_room = std::vector<std::byte>((kMostFound + 1) * PH_MAX_ID_BYTES);
    std::array<ph_completion, kMostFound + 1> found{};
  };
  // What the handler of a probe_each works on.
  struct Handling {
    Runner& runner;
    ph_rank rank;
    const Step& step;
    ph_query query;
    bool posted = false;
  };

  void body(ph_rank rank);
  bool set_up(ph_rank rank);
  void carry_out(ph_rank rank, const Step& step);
  void drain(ph_rank rank);
  void finish(ph_rank rank);
  void audit();
  void report_stuck();

  void post(ph_rank rank, const Step& step);
  ph_status attempt(Operation& op);
  void fence(ph_rank rank, ph_rank peer);
  ph_status flush(ph_rank rank, ph_rank peer, std::int64_t limit_us);
  void wait(ph_rank rank, const Step& step);
  void probe_each(ph_rank rank, const Step& step);
  static void handle(void* user, const ph_completion* one);
  void enroll(ph_rank rank);
  void retire(ph_rank rank);

  std::size_t take(ph_rank rank, ph_query query, std::size_t capacity);
  void take_or_pause(ph_rank rank, std::uint64_t& quiet_ns);
  template <class Call>
  ph_status insist(ph_rank rank, const char* what, Call call);
  // Whether the status is the one that has to be.
  bool expect(ph_rank rank, const char* what, ph_status status);

  ph_context* context(ph_rank rank) noexcept { return world_.context(rank); }
  ph_query query_of(ph_rank rank, const Step& step) noexcept {
    return {step.query_peer, step.kinds, seats_[rank].id_room.data()};
  }
  ph_query anything(ph_rank rank) noexcept {
    return {PH_ANY_RANK, PH_EITHER, seats_[rank].id_room.data()};
  }

  const Program& program_;
  History history_;
  Oracle oracle_;
  std::vector<Seat> seats_;
  std::uint32_t draining_ = 0;
  std::uint32_t flushed_ = 0;
  World world_;  // its contexts go before the memory they were shown
};

bool Runner::expect(ph_rank rank, const char* what, ph_status status) {
  if (status != PH_OK)
    oracle_.report(
        "status", "rank " + std::to_string(rank) + ": " + what + " said " + std::to_string(status));
  return !oracle_.failed();
}

std::size_t Runner::take(ph_rank rank, ph_query query, std::size_t capacity) {
  Seat& seat = seats_[rank];
  seat.found[capacity].id = kUntouched;
  std::size_t count = 0;
  if (!expect(rank, "probe", ph_probe(context(rank), query, seat.found.data(), capacity, &count)))
    return 0;
  if (count > capacity || seat.found[capacity].id != kUntouched)
    oracle_.report("count", "rank " + std::to_string(rank) + ": a probe for " +
                                std::to_string(capacity) + " gave more");
  for (std::size_t i = 0; i < count && !oracle_.failed(); ++i)
    oracle_.completed(rank, query, seat.found[i]);
  return count;
}

// One look for news; the longer there were none, the longer the pause after it.
void Runner::take_or_pause(ph_rank rank, std::uint64_t& quiet_ns) {
  if (take(rank, anything(rank), kMostFound) != 0) {
    quiet_ns = 100;
    return;
  }
  world_.pause(quiet_ns);
  quiet_ns = std::min(quiet_ns + quiet_ns / 4, kLongestQuietNs);
}

// Until the call says something else than PH_AGAIN, taking completions as the promise wants it.
template <class Call>
ph_status Runner::insist(ph_rank rank, const char* what, Call call) {
  std::uint64_t quiet_ns = 100;
  for (std::uint32_t tries = 0;; ++tries) {
    const ph_status status = call();
    if (status != PH_AGAIN || oracle_.failed()) return status;
    if (tries == kMostTries)
      oracle_.report("starved", "rank " + std::to_string(rank) + ": " + what +
                                    " says PH_AGAIN for ever, though it probes");
    take_or_pause(rank, quiet_ns);
  }
}

ph_status Runner::attempt(Operation& op) {
  Poster& poster = seats_[op.initiator].poster;
  oracle_.attempt(op);
  const ph_status status = poster.call(context(op.initiator), op, oracle_);
  oracle_.posted(op, status);
  return status;
}

void Runner::post(ph_rank rank, const Step& step) {
  Operation& op = oracle_.begin(rank, step);
  static_cast<void>(insist(rank, "an operation", [&] { return attempt(op); }));
}

void Runner::fence(ph_rank rank, ph_rank peer) {
  const ph_status status = insist(rank, "fence", [&] { return ph_fence(context(rank), peer); });
  if (expect(rank, "fence", status)) oracle_.fenced(rank, peer);
}

ph_status Runner::flush(ph_rank rank, ph_rank peer, std::int64_t limit_us) {
  const ph_status status =
      insist(rank, "flush", [&] { return ph_flush(context(rank), peer, limit_us); });
  if (status != PH_TIMEOUT && expect(rank, "flush", status)) oracle_.flushed(rank, peer);
  return status;
}

// A wait that says yes promises that a probe finds something.
void Runner::wait(ph_rank rank, const Step& step) {
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  const ph_query query = query_of(rank, step);
  const ph_status status = ph_wait(context(rank), query, limit_us);
  if (status == PH_TIMEOUT || !expect(rank, "wait", status)) return;
  if (take(rank, query, step.capacity) == 0 && !oracle_.failed())
    oracle_.report("lost", "rank " + std::to_string(rank) + ": " + text_of(step) +
                               " said PH_OK, but the probe after it found nothing");
}

void Runner::handle(void* user, const ph_completion* one) {
  Handling& handling = *static_cast<Handling*>(user);
  Oracle& oracle = handling.runner.oracle_;
  oracle.completed(handling.rank, handling.query, *one);
  if (handling.posted || oracle.failed()) return;
  handling.posted = true;
  Operation& op = oracle.begin(handling.rank, handling.step);
  static_cast<void>(handling.runner.attempt(op));  // PH_AGAIN: then not
}

void Runner::probe_each(ph_rank rank, const Step& step) {
  Handling handling{*this, rank, step, query_of(rank, step)};
  std::size_t count = 0;
  expect(rank, "probe_each",
         ph_probe_each(context(rank), handling.query, &Runner::handle, &handling, &count));
}

void Runner::enroll(ph_rank rank) {
  RankMemory& memory = oracle_.memory(rank);
  if (memory.is_enrolled()) return;
  if (memory.generation() != 0 && memory.retired_difference())
    return oracle_.report("guard", "rank " + std::to_string(rank) +
                                       ": the extra region was written after it was unregistered");
  memory.prepare_enroll();
  ph_region region{};
  const std::span<std::byte> extra = memory.extra();
  if (expect(rank, "register",
             ph_register(context(rank), extra.data(), extra.size(), PH_ACCESS_ALL, &region)))
    oracle_.enrolled(rank, region);
}

void Runner::retire(ph_rank rank) {
  const RankMemory& memory = oracle_.memory(rank);
  if (!memory.is_enrolled()) return;
  oracle_.retiring(rank);
  if (expect(rank, "unregister", ph_unregister(context(rank), memory.extra_region.key)))
    oracle_.retired(rank);
}

void Runner::carry_out(ph_rank rank, const Step& step) {
  switch (step.verb) {
    case Verb::put:
    case Verb::put_u64:
    case Verb::notify:
    case Verb::get: return post(rank, step);
    case Verb::fence: return fence(rank, step.peer);
    case Verb::flush:
      static_cast<void>(flush(rank, step.peer, static_cast<std::int64_t>(step.time_ns / 1000)));
      return;
    case Verb::probe: static_cast<void>(take(rank, query_of(rank, step), step.capacity)); return;
    case Verb::probe_each: return probe_each(rank, step);
    case Verb::wait: return wait(rank, step);
    case Verb::pause: return world_.pause(step.time_ns);
    case Verb::enroll: return enroll(rank);
    case Verb::retire: return retire(rank);
  }
}

bool Runner::set_up(ph_rank rank) {
  RankMemory& memory = oracle_.memory(rank);
  ph_context* const mine = context(rank);
  const auto show = [&](std::span<std::byte> bytes, std::uint32_t access, ph_region& region) {
    expect(rank, "register", ph_register(mine, bytes.data(), bytes.size(), access, &region));
  };
  show(memory.window(), PH_ACCESS_WRITE, memory.window_region);
  show(memory.library(), PH_ACCESS_READ, memory.library_region);
  enroll(rank);
  const Shown shown{memory.window_region, memory.library_region};
  return expect(rank, "allgather",
                ph_allgather(mine, &shown, seats_[rank].poster.shown().data(), sizeof shown));
}

// Until all ranks are here and everything that was accepted is complete.
void Runner::drain(ph_rank rank) {
  ++draining_;
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed() && (draining_ < program_.ranks || !oracle_.is_settled())) {
    take_or_pause(rank, quiet_ns);
    if (draining_ == program_.ranks && world_.now_ns() > oracle_.last_event_ns() + kPatienceNs)
      oracle_.report_pending();
  }
}

void Runner::finish(ph_rank rank) {
  Seat& seat = seats_[rank];
  seat.phase = "the last flush";
  if (flush(rank, PH_ANY_RANK, kFlushLimitUs) == PH_TIMEOUT)
    oracle_.report("stuck", "rank " + std::to_string(rank) + ": the last flush does not end");
  ++flushed_;
  std::uint64_t quiet_ns = 100;
  // Refusals that nobody waited for are here by now; others still need us.
  while (!oracle_.failed() && (flushed_ < program_.ranks || quiet_ns == 100))
    take_or_pause(rank, quiet_ns);
  if (oracle_.failed()) return;
  seat.phase = "the barrier";
  if (!expect(rank, "barrier", ph_barrier(context(rank)))) return;
  world_.pause(kLongestQuietNs);
  static_cast<void>(take(rank, anything(rank), kMostFound));
  if (oracle_.failed()) return;
  if (rank == 0) audit();
  seat.phase = "the barrier after the audit";
  if (!expect(rank, "barrier", ph_barrier(context(rank)))) return;
  seat.phase = "finalize";
  if (!expect(rank, "finalize", ph_finalize(context(rank)))) return;
  history_.add(world_.now_ns(), rank, "finalized");
  oracle_.check_silent_gets(rank);
  oracle_.check_memory(rank);
}

// While the others wait at a barrier: what was given back is what is known of it.
void Runner::audit() {
  constexpr unsigned kMostLooks = 1000;
  for (unsigned looks = 0; !world_.is_quiet(); ++looks) {
    if (looks == kMostLooks) return oracle_.report("stuck", "the network does not become quiet");
    world_.pause(kLongestQuietNs);
    static_cast<void>(take(0, anything(0), kMostFound));  // what is on its way to us
  }
  if (const std::string what = world_.unbalanced_credits(); !what.empty())
    oracle_.report("credits", what);
}

void Runner::body(ph_rank rank) {
  Seat& seat = seats_[rank];
  if (!set_up(rank)) return;
  seat.phase = "its steps";
  for (const Step& step : program_.steps[rank]) {
    seat.step = &step;
    carry_out(rank, step);
    if (oracle_.failed()) return;
  }
  seat.step = nullptr;
  seat.phase = "the drain";
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

Result Runner::run() {
  world_.run(
      [this](ph_rank rank) {
        body(rank);
        seats_[rank].ended = true;
        if (oracle_.failed()) world_.give_up();
      },
      [this] { report_stuck(); });
  return {oracle_.finding(), history_.digest(), history_.events(), world_.now_ns(),
          history_.text()};
}

}  // namespace

Result run_program(const Program& program, std::uint64_t seed,
                   const transport::sim::SimNetwork::Settings& network, bool keep_history) {
  World::Settings settings;
  settings.seed = seed;
  settings.ranks = program.ranks;
  settings.options = program.options;
  settings.network = network;
  Runner runner(program, settings, keep_history);
  return runner.run();
}

}  // namespace photon::simtest
