// The echo service of a program: asked, told, heard, answered.
#include <algorithm>
#include <memory>
#include <utility>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

ph_status Runner::ask_once(ph_rank rank, ph_rank peer, std::uint64_t size_bytes) {
  const auto kind = size_bytes == 0 ? Echoed::Kind::ask : Echoed::Kind::body;
  Echoed& one = echoes_.begin(here(rank), peer, kind, size_bytes);
  const ph_status status =
      size_bytes == 0
          ? ph_echo(context(rank), peer, one.value())
          : ph_echo_body(context(rank), peer, {one.body.data(), size_bytes}, one.value());
  check_named(rank, peer, status);
  echoes_.posted(one, status);
  return status;
}

ph_status Runner::tell_once(ph_rank rank, ph_rank peer, const Step* act) {
  Echoed& one = echoes_.begin(here(rank), peer, Echoed::Kind::tell);
  one.act = act;
  const ph_status status = ph_echo_tell(context(rank), peer, one.value());
  check_named(rank, peer, status);
  echoes_.posted(one, status);
  return status;
}

// A step may ask for many: it sends as many as there is room for, unless it insists.
void Runner::say_echo(ph_rank rank, const Step& step) {
  for (std::uint64_t i = 0; i < step.operand && !oracle_.failed(); ++i) {
    const Step* const act = i == 0 && step.order != 0 ? &program_.acts[step.order - 1] : nullptr;
    const auto once = [&] {
      return step.verb == Verb::ask ? ask_once(rank, step.peer, step.size_bytes)
                                    : tell_once(rank, step.peer, act);
    };
    const ph_status status = step.requested ? insist(rank, "an echo", once) : once();
    if (status != PH_OK) return;
  }
}

// Takes at most `most` answers that have come.
std::size_t Runner::take_answers(ph_rank rank, std::size_t most) {
  for (std::size_t count = 0; count < most; ++count) {
    tell_later(rank);
    if (oracle_.failed()) return count;
    ph_echo_result result{};
    const ph_status status = ph_echo_answer(context(rank), &result);
    if (status == PH_AGAIN || !expect(rank, "echo_answer", status)) return count;
    echoes_.answered(here(rank), result);
  }
  return most;
}

void Runner::answer(ph_rank rank, const Step& step) {
  if (step.time_ns == 0) return static_cast<void>(take_answers(rank, step.capacity));
  tell_later(rank);
  ph_echo_result result{};
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  Oracle::Wait wait{"a wait for an answer", world_.now_ns(), limit_us};
  const std::uint64_t away_before_ns = away_ns(rank);
  seats_[rank].waits_for_answer = true;
  const ph_status status = ph_echo_wait(context(rank), &result, limit_us);
  seats_[rank].waits_for_answer = false;
  wait.stood_still_ns = away_ns(rank) - away_before_ns;
  oracle_.waited(rank, wait, status);
  if (status != PH_TIMEOUT && expect(rank, "echo_wait", status))
    echoes_.answered(here(rank), result);
}

void Runner::hush(ph_rank rank, const Step& step) {
  const std::uint64_t until_ns = world_.now_ns() + step.time_ns;
  while (world_.now_ns() < until_ns && !oracle_.failed())
    if (take_answers(rank, 1) == 0) world_.pause(200);
}

// Each call has a handler of its own, so that a value names the handler that heard it.
void Runner::listen(ph_rank rank, bool hears) {
  Hearing* hearing = nullptr;
  if (hears) hearing = &hearings_.emplace_back(Hearing{*this, here(rank), hearings_.size() + 1});
  echoes_.listening(here(rank), hears ? hearing->number : 0);
  expect(rank, "echo_listen",
         ph_echo_listen(context(rank), hears ? &Runner::on_heard : nullptr, hearing));
}

void Runner::on_heard(void* user, ph_rank from, std::uint64_t value) {
  const Hearing& hearing = *static_cast<const Hearing*>(user);
  hearing.runner.hear(hearing, from, value);
}

// A handler runs inside any call of its rank that makes progress.
void Runner::hear(const Hearing& hearing, ph_rank from, std::uint64_t value) {
  const ph_rank rank = hearing.at.rank;
  const std::uint64_t began_ns = world_.now_ns(), away_before_ns = away_ns(rank);
  const Echoed* const one = echoes_.heard(hearing.at, hearing.number, from, value);
  if (one != nullptr && one->act != nullptr && !one->may_drop) {
    Seat& seat = seats_[rank];
    const Visit visit(seat, hearing.at.lane);
    ph_error before{}, after{};
    ph_last_error(context(rank), &before);
    ++seat.inside_handlers;
    ++seat.heard_count;
    act_on_heard(rank, *one->act);
    --seat.inside_handlers;
    ph_last_error(context(rank), &after);
    if (!is_same(before, after)) lane_seat(rank).handlers_error = after;
    seat.heard_ns += world_.now_ns() - began_ns - (away_ns(rank) - away_before_ns);
  }
  echoes_.handled(hearing.at);
}

// The act is tried once. The completions that it takes stand behind those that the surrounding call
// gives its caller: the oracle is told of them later, and behind them of those that handlers of
// another service took at the end of the act's own call.
void Runner::act_on_heard(ph_rank rank, const Step& act) {
  Seat& seat = seats_[rank];
  const std::uint32_t lane = seat.lane;
  ph_status status = PH_OK;
  switch (act.verb) {
    case Verb::probe: {
      const auto id = std::make_shared<std::vector<std::byte>>(PH_MAX_ID_BYTES);
      const ph_query query{act.query_peer, PH_EITHER, id->data()};
      ph_completion one{};
      std::size_t count = 0;
      const auto place = static_cast<std::ptrdiff_t>(seat.later.size());
      if (!expect(rank, "probe", ph_probe(context(rank), query, &one, 1, &count)) || count == 0)
        return;
      ++seat.taken_by_handlers;
      one.outstanding = 0;  // it will have changed when the oracle is told
      seat.later.insert(seat.later.begin() + place, [this, rank, lane, query, one, id] {
        const Visit visit(seats_[rank], lane);
        completed(rank, query, one);
      });
      return;
    }
    case Verb::answer: {
      if (seat.waits_for_answer) return;  // which of the two comes first is not known then
      ph_echo_result result{};
      status = ph_echo_answer(context(rank), &result);
      if (status == PH_AGAIN || !expect(rank, "echo_answer", status)) return;
      seat.later.emplace_back([this, rank, lane, result] {
        echoes_.answered({rank, lane}, result);
      });
      return;
    }
    case Verb::wait:
      if (ams_.is_running(here(rank))) {  // this handler runs in a call of that one
        expect(rank, "wait below a handler of active messages",
               ph_wait(context(rank), anything(rank), 0), PH_ERR_STATE);
        return;
      }
      status = wait_once(rank, anything(rank), static_cast<std::int64_t>(act.time_ns / 1000));
      if (status != PH_TIMEOUT) went_through(rank, "wait", PH_ANY_RANK, status);
      return;
    case Verb::fence:
      status = ph_fence(context(rank), act.peer);
      if (status != PH_AGAIN && went_through(rank, "fence", act.peer, status))
        oracle_.fenced(here(rank), act.peer);
      return;
    case Verb::ask: return static_cast<void>(ask_once(rank, act.peer, act.size_bytes));
    case Verb::tell: return static_cast<void>(tell_once(rank, act.peer, nullptr));
    default: static_cast<void>(attempt(oracle_.begin(here(rank), act)));
  }
}

void Runner::tell_later(ph_rank rank) {
  Seat& seat = seats_[rank];
  if (seat.inside_handlers != 0 || seat.later.empty()) return;
  for (const auto& one : std::exchange(seat.later, {})) one();
}

}  // namespace photon::simtest
