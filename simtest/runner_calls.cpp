// The steps of a program: each call, its result, and what the oracle is told of it.
#include <algorithm>
#include <utility>

#include "simtest/program_am_text.hpp"
#include "simtest/runner_job.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint32_t kMostTries = 4000;  // of a call that says PH_AGAIN, while none succeeds
constexpr std::uint32_t kSoon = 64;         // from then on it is a wait for others
constexpr std::uint64_t kUntouched = 0x756e746f75636865;

}  // namespace

bool Runner::expect(ph_rank rank, const char* what, ph_status status, ph_status right) {
  if (status != right)
    oracle_.report("status", "rank " + std::to_string(rank) + ": " + what + " said " +
                                 std::to_string(status) + ", expected was " +
                                 std::to_string(right));
  return !oracle_.failed();
}

std::size_t Runner::probe(ph_rank rank, ph_query query, std::size_t capacity) {
  tell_later(rank);
  Seat& seat = seats_[rank];
  seat.found[capacity].id = kUntouched;
  seat.later_before = seat.later.size();
  std::size_t count = 0;
  if (!expect(rank, "probe", ph_probe(context(rank), query, seat.found.data(), capacity, &count)))
    return 0;
  if (count > capacity || seat.found[capacity].id != kUntouched)
    oracle_.report("count", "rank " + std::to_string(rank) + ": a probe for " +
                                std::to_string(capacity) + " gave more");
  return count;
}

void Runner::completed(ph_rank rank, const ph_query& query, const ph_completion& one) {
  if (joints_.completed(here(rank), one) || lending_.completed(here(rank), one) ||
      mail_.completed(here(rank), one) || mail_gets_.completed(here(rank), one) ||
      ams_.completed(here(rank), one))
    return;
  std::uint64_t others = 0;
  if (Oracle::is_nameless(one)) {
    // It may be of an active message, of a message to a mailbox, or of something else.
    others = ams_.count_nameless(here(rank), one) + mail_.count_nameless(here(rank), one);
    static_cast<void>(ams_.takes_nameless(here(rank), one));
    static_cast<void>(mail_.takes_nameless(here(rank), one));
  }
  oracle_.completed(here(rank), query, one, others);
}

void Runner::tell(ph_rank rank, const ph_query& query, std::size_t count) {
  for (std::size_t i = 0; i < count && !oracle_.failed(); ++i)
    completed(rank, query, seats_[rank].found[i]);
  tell_later(rank);
}

std::size_t Runner::take(ph_rank rank, ph_query query, std::size_t capacity) {
  const std::size_t count = probe(rank, query, capacity);
  tell(rank, query, count);
  return count;
}

bool Runner::went_through(ph_rank rank, const char* what, ph_rank peer, ph_status status) {
  check_named(rank, peer, status);
  if (oracle_.may_be_gone({peer, seats_[rank].lane}, status)) return false;
  if (oracle_.may_be_lost(rank, peer, status)) return false;
  return expect(rank, what, status);
}

// One look for news; the longer there were none, the longer the pause after it.
void Runner::take_or_pause(ph_rank rank, std::uint64_t& quiet_ns) {
  if (look(rank) != 0) {
    ++succeeded_count_;
    quiet_ns = 100;
    return;
  }
  world_.pause(quiet_ns);
  quiet_ns = std::min(quiet_ns + quiet_ns / 4, kLongestQuietNs);
}

// Until the call says something else than PH_AGAIN, taking completions as the promise wants it. A
// peer that is busy on another lane owes this one nothing until it waits: as long as anybody's
// calls succeed, or bring completions, of which there is an end, nobody starves.
ph_status Runner::insist(ph_rank rank, const char* what, const std::function<ph_status()>& call) {
  std::uint64_t quiet_ns = 100;
  std::uint64_t succeeded_count = succeeded_count_;
  std::uint32_t tries_in_vain = 0;
  for (std::uint32_t tries = 0;; ++tries) {
    const ph_status status = call();
    if (status != PH_AGAIN) ++succeeded_count_;
    if (status != PH_AGAIN || oracle_.failed()) return status;
    if (tries == kSoon) {
      open_unused(rank);
      joints_.want_all(rank);
    }
    if (tries >= kSoon && leaving_count_ != 0) close_mailboxes(rank);
    ++tries_in_vain;
    if (std::exchange(succeeded_count, succeeded_count_) != succeeded_count_) tries_in_vain = 0;
    // Whose completions are errors that nobody takes leaves when its time is over: a refusal of a
    // message to a mailbox finds no room among them.
    if (leaving_count_ != 0 && program_.mailboxes) tries_in_vain = 0;
    if (tries_in_vain == kMostTries)
      oracle_.report("starved", "rank " + std::to_string(rank) + ": " + what +
                                    " says PH_AGAIN for ever, though it probes");
    take_or_pause(rank, quiet_ns);
  }
}

ph_status Runner::attempt(Operation& op) {
  Poster& poster = seats_[op.initiator].poster;
  oracle_.attempt(op);
  const Posting posting(seats_[op.initiator]);
  const ph_status status = poster.call(context(op.initiator), op, oracle_);
  check_named(op.initiator, op.target(), status);
  oracle_.posted(op, status);
  if (status == PH_OK && op.step->requested) keep(op);
  return status;
}

// So that what a NIC keeps of it is given back, be it in use or not.
void Runner::show_slab_anew(ph_rank rank) {
  ph_region& slab = seats_[rank].slab;
  const std::span<std::byte> bytes = oracle_.own_memory(rank).slab();
  expect(rank, "unregister", ph_unregister(context(rank), slab.key));
  expect(rank, "register",
         ph_register(context(rank), bytes.data(), bytes.size(), PH_ACCESS_READ, &slab));
}

void Runner::post(ph_rank rank, const Step& step) {
  constexpr std::uint32_t kPostsBetween = 32;
  Operation& op = oracle_.begin(here(rank), step);
  if (op.number % kPostsBetween == 0) show_slab_anew(rank);
  static_cast<void>(insist(rank, "an operation", [&] { return attempt(op); }));
}

void Runner::fence(ph_rank rank, ph_rank peer) {
  const ph_status status = insist(rank, "fence", [&] { return ph_fence(context(rank), peer); });
  if (went_through(rank, "fence", peer, status)) oracle_.fenced(here(rank), peer);
}

ph_status Runner::flush(ph_rank rank, ph_rank peer, std::int64_t limit_us) {
  const ph_status status = insist(rank, "flush", [&] { return flush_once(rank, peer, limit_us); });
  flush_ended(rank, peer, status);
  return status;
}

ph_status Runner::flush_once(ph_rank rank, ph_rank peer, std::int64_t limit_us) {
  Oracle::Wait wait{"flush", world_.now_ns(), limit_us};
  seats_[rank].flush_begun_at = oracle_.events_so_far();
  const std::uint64_t away_before_ns = away_ns(rank);
  const ph_status status = ph_flush(context(rank), peer, limit_us);
  wait.stood_still_ns = away_ns(rank) - away_before_ns;
  if (peer != PH_ANY_RANK) wait.lost_ns = world_.loss_known_ns(peer, rank);
  oracle_.waited(rank, wait, status);
  return status;
}

void Runner::flush_ended(ph_rank rank, ph_rank peer, ph_status status) {
  if (status == PH_TIMEOUT) return;
  if (went_through(rank, "flush", peer, status))
    return oracle_.flushed(here(rank), peer, seats_[rank].flush_begun_at);
  ph_error error{};
  ph_last_error(context(rank), &error);
  oracle_.flush_failed(here(rank), error);
}

ph_status Runner::wait_once(ph_rank rank, const ph_query& query, std::int64_t limit_us) {
  Oracle::Wait wait{"wait", world_.now_ns(), limit_us};
  const std::uint64_t away_before_ns = away_ns(rank);
  const ph_status status = ph_wait(context(rank), query, limit_us);
  wait.stood_still_ns = away_ns(rank) - away_before_ns;
  if (query.peer != PH_ANY_RANK) wait.lost_ns = world_.loss_known_ns(query.peer, rank);
  oracle_.waited(rank, wait, status);
  return status;
}

// Once: a wait is ended by it whatever comes, and the next is one like any other.
void Runner::wake(ph_rank rank) {
  constexpr std::int64_t kLongUs = 10'000'000;
  for (int i = 0; i < 2; ++i)
    if (!expect(rank, "wake", ph_wake(context(rank)))) return;
  expect(rank, "the wait after a wake",
         ph_wait(context(rank), {PH_ANY_RANK, PH_LOCAL, nullptr}, kLongUs));
}

// A wait that says yes promises that a probe finds something. Gives how many it found.
std::size_t Runner::wait(ph_rank rank, const Step& step) {
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  const ph_query query = query_of(rank, step);
  const std::uint64_t taken_by_handlers = seats_[rank].taken_by_handlers;
  const ph_status status = wait_once(rank, query, limit_us);
  if (status == PH_TIMEOUT || !went_through(rank, "wait", step.query_peer, status)) return 0;
  const std::size_t count = probe(rank, query, step.capacity);
  const bool is_promised = taken_by_handlers == seats_[rank].taken_by_handlers;
  if (count == 0 && is_promised && !oracle_.failed())
    oracle_.report("lost", "rank " + std::to_string(rank) + ": " + text_of(step) +
                               " said PH_OK, but the probe after it found nothing");
  return count;
}

void Runner::handle(void* user, const ph_completion* one) {
  Handling& handling = *static_cast<Handling*>(user);
  Oracle& oracle = handling.runner.oracle_;
  handling.runner.completed(handling.rank, handling.query, *one);
  if (handling.acted || oracle.failed()) return;
  handling.acted = true;
  handling.runner.act(handling);
}

// Inside a handler nothing is repeated: to take completions first would take those that stand
// behind what the handler has not seen yet.
void Runner::act(Handling& handling) {
  const ph_rank rank = handling.rank;
  const Step& step = handling.step;
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  ph_status status = PH_OK;
  switch (step.verb_in_handler) {
    case Verb::probe:
      return put_off(rank, query_of(rank, step), probe(rank, query_of(rank, step), step.capacity));
    case Verb::wait: return put_off(rank, query_of(rank, step), wait(rank, step));
    case Verb::fence:
      status = ph_fence(context(rank), step.peer);
      if (status != PH_AGAIN && went_through(rank, "fence", step.peer, status))
        oracle_.fenced(here(rank), step.peer);
      return;
    case Verb::flush:
      status = flush_once(rank, step.peer, limit_us);
      if (status != PH_AGAIN) flush_ended(rank, step.peer, status);
      return;
    default: static_cast<void>(attempt(oracle_.begin(here(rank), step)));  // PH_AGAIN: then not
  }
}

// What a probe in the handler gave stands behind what the handler is still to see: it is told last.
// Completions that handlers of the echo service took meanwhile keep their place before or behind
// it.
void Runner::put_off(ph_rank rank, const ph_query& query, std::size_t count) {
  Seat& seat = seats_[rank];
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(seat.later_before + i);
    seat.later.insert(seat.later.begin() + at,
                      [this, rank, query, lane = seat.lane, one = seat.found[i]] {
                        const Visit visit(seats_[rank], lane);
                        completed(rank, query, one);
                      });
  }
}

void Runner::probe_each(ph_rank rank, const Step& step) {
  ph_query query = query_of(rank, step);
  Handling handling{*this, rank, step, query};
  std::size_t count = 0;
  tell_later(rank);
  ++seats_[rank].inside_handlers;
  expect(rank, "probe_each",
         ph_probe_each(context(rank), query, &Runner::handle, &handling, &count));
  --seats_[rank].inside_handlers;
  tell_later(rank);
}

void Runner::enroll(ph_rank rank, Area area) {
  RankMemory& memory = oracle_.memory(rank);
  Lease& lease = memory.lease(area);
  if (lease.holds == (area == Area::extra ? kMostHolds : 1)) return;
  ph_region region{};
  if (area == Area::arena) {
    if (!expect(rank, "alloc", ph_alloc(context(rank), kLentBytes, &region))) return;
    lease.bytes = {reinterpret_cast<std::byte*>(region.address), kLentBytes};
    if (std::any_of(lease.bytes.begin(), lease.bytes.end(),
                    [](std::byte b) { return b != std::byte{}; }))
      oracle_.report("bytes", "rank " + std::to_string(rank) + ": memory of ph_alloc is not zero");
    maps_.allocated(rank, region);
    memory.refresh(area);
    return oracle_.enrolled(rank, area, region);
  }
  if (!lease.is_held()) {
    if (lease.generation != 0 && memory.reused_difference())
      return oracle_.report("guard", "rank " + std::to_string(rank) +
                                         ": extra was written after it was unregistered");
    memory.refresh(area);
  }
  if (expect(rank, "register",
             ph_register(context(rank), lease.bytes.data(), kLentBytes, PH_ACCESS_ALL, &region)))
    oracle_.enrolled(rank, area, region);
}

// `waits_for_nobody`: the runner knows that nothing is under way.
void Runner::retire(ph_rank rank, Area area, bool waits_for_nobody) {
  Lease& lease = oracle_.memory(rank).lease(area);
  if (!lease.is_held()) return refuse_retire(rank, area);
  const bool is_last = lease.holds == 1;
  if (is_last)
    oracle_.retiring(rank, area);
  else
    --lease.holds;
  const ph_status status = area == Area::arena ? ph_free(context(rank), lease.bytes.data())
                           : waits_for_nobody  ? ph_revoke(context(rank), lease.region.key)
                                               : ph_unregister(context(rank), lease.region.key);
  if (expect(rank, area == Area::arena ? "free" : "unregister", status) && is_last) {
    oracle_.retired(rank, area);
    if (area == Area::arena) maps_.freed(rank);
  }
}

void Runner::refuse_retire(ph_rank rank, Area area) {
  const Lease& lease = oracle_.memory(rank).lease(area);
  if (area == Area::arena)
    expect(rank, "free", ph_free(context(rank), lease.bytes.data()), PH_ERR_NOT_FOUND);
  else
    expect(rank, "unregister", ph_unregister(context(rank), lease.stale_key), PH_ERR_KEY);
}

void Runner::find_region(ph_rank rank, const Step& step) {
  RankMemory& memory = oracle_.memory(rank);
  const std::uint64_t key = memory.key_around(step.area, step.offset, step.size_bytes);
  ph_region region{};
  const ph_status status = ph_find_region(context(rank), memory.address(step.area, step.offset),
                                          step.size_bytes, &region);
  if (!expect(rank, "find_region", status, key == 0 ? PH_ERR_NOT_FOUND : PH_OK)) return;
  if (region.key != key)
    oracle_.report("region", "rank " + std::to_string(rank) + ": " + text_of(step) +
                                 " gave another region than the smallest around it");
}

void Runner::carry_out(ph_rank rank, const Step& step) {
  switch (step.verb) {
    case Verb::put:
    case Verb::put_u64:
    case Verb::notify:
    case Verb::get:
    case Verb::get_u64:
    case Verb::put_vector:
    case Verb::put_strided:
    case Verb::get_vector:
    case Verb::get_strided:
    case Verb::atomic: return post(rank, step);
    case Verb::fence: return fence(rank, step.peer);
    case Verb::flush:
      static_cast<void>(flush(rank, step.peer, static_cast<std::int64_t>(step.time_ns / 1000)));
      return;
    case Verb::probe: static_cast<void>(take(rank, query_of(rank, step), step.capacity)); return;
    case Verb::probe_each: return probe_each(rank, step);
    case Verb::wait: return tell(rank, query_of(rank, step), wait(rank, step));
    case Verb::test: return test(rank, step);
    case Verb::await: return await(rank, step);
    case Verb::cancel: return cancel(rank, step);
    case Verb::pause: return world_.pause(step.time_ns);
    case Verb::wake: return wake(rank);
    case Verb::enroll: return enroll(rank, step.area);
    case Verb::retire: return retire(rank, step.area);
    case Verb::find_region: return find_region(rank, step);
    case Verb::leave: return;  // body() sees to it
    case Verb::die: return die(rank, step);
    case Verb::announce: return announce(rank, step);
    case Verb::take: return take_loan(rank, step);
    case Verb::transfer: return transfer(rank, step);
    case Verb::finish: return finish_loan(rank, step);
    case Verb::recall: return recall(rank, step);
    case Verb::ask:
    case Verb::tell: return say_echo(rank, step);
    case Verb::answer: return answer(rank, step);
    case Verb::listen: return listen(rank, step.kinds != 0);
    case Verb::hush: return hush(rank, step);
    case Verb::lose_link: return lose_link(step);
    case Verb::cut: return world_.cut(step.group, step.time_ns);
    case Verb::contact: return contact(rank, step.peer);
    case Verb::revoke: return retire(rank, Area::extra, oracle_.may_revoke(rank));
    case Verb::map: return map(rank, step);
    case Verb::store: return maps_.store(rank, step);
    case Verb::load: return maps_.load(rank, step);
    case Verb::unmap: return unmap(rank, step);
    case Verb::lane_open: return open_lane(rank, step.lane);
    case Verb::lane_close: return close_lane(rank, step.lane);
    case Verb::lane_misuse: return misuse(rank, step);
    case Verb::coll_begin:
    case Verb::coll_run:
    case Verb::coll_await: return join_in(rank, step);
    default: return is_am(step.verb) ? active_message(rank, step) : mailbox(rank, step);
  }
}

}  // namespace photon::simtest
