// Rendezvous of a program: announced, taken, put into and got from, finished, called back.
#include <algorithm>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

namespace {

// Others must find requests, too, where all of this wait for peers.
constexpr std::uint32_t kMostPending = 6;  // loans of a rank
constexpr std::size_t kMostAsked = 3;      // transfers of a rank with requests

}  // namespace

void Runner::announce(ph_rank rank, const Step& step) {
  if (lending_.pending_of(rank) >= kMostPending) return;
  Loan& loan = lending_.begin(here(rank), step);
  const std::uint64_t id = Lending::local_id(loan);
  ph_announce_args args{};
  args.size = sizeof args;
  args.kind = loan.kind();
  args.tag = step.operand;
  args.buffer = loan.bytes().data();
  args.size_bytes = step.size_bytes;
  args.local = {&id, sizeof id};
  args.flags = step.requested ? 0 : std::uint32_t{PH_NO_LCE};
  args.request = step.requested ? &loan.request : nullptr;
  const ph_status status = ph_announce(context(rank), loan.peer, &args);
  check_named(rank, loan.peer, status);
  lending_.announced(loan, status);
}

void Runner::take_loan(ph_rank rank, const Step& step) {
  const ph_match match{static_cast<ph_buffer_kind>(step.kinds), step.query_peer, step.operand,
                       step.compare};
  ph_buffer buffer{};
  ph_status status = PH_OK;
  if (step.time_ns == 0) {
    status = ph_test_buffer(context(rank), &match, &buffer);
  } else {
    const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
    Oracle::Wait wait{"a wait for a buffer", world_.now_ns(), limit_us};
    const std::uint64_t away_before_ns = away_ns(rank);
    status = ph_wait_buffer(context(rank), &match, &buffer, limit_us);
    wait.stood_still_ns = away_ns(rank) - away_before_ns;
    oracle_.waited(rank, wait, status);
  }
  if (status == PH_AGAIN || status == PH_TIMEOUT) return;
  if (went_through(rank, "the look for a buffer", match.rank, status))
    lending_.took(here(rank), match, buffer);
}

void Runner::transfer(ph_rank rank, const Step& step) {
  const std::vector<Loan*> taken = lending_.taken_by(here(rank));
  if (taken.empty() || lending_.asked_by(here(rank)).size() >= kMostAsked) return;
  Transfer* one = lending_.begin(*taken[step.offset % taken.size()], step);
  if (one == nullptr) return;
  const std::uint64_t local = Lending::local_id(*one), remote = Lending::remote_id(*one);
  ph_status status = PH_OK;
  const auto fill = [&](auto& args) {
    args.size = sizeof args;
    args.size_bytes = one->size_bytes;
    args.local = {&local, sizeof local};
    args.remote = {&remote, sizeof remote};
    args.flags = one->flags;
    args.request = one->requested ? &one->request : nullptr;
  };
  if (one->is_put()) {
    ph_put_args args{};
    fill(args);
    args.source = one->bytes().data();
    status = ph_put_buffer(context(rank), &one->loan->buffer, one->offset, &args);
  } else {
    ph_get_args args{};
    fill(args);
    args.destination = one->bytes().data();
    status = ph_get_buffer(context(rank), &one->loan->buffer, one->offset, &args);
  }
  check_named(rank, one->loan->owner, status);
  lending_.posted(*one, status);
}

void Runner::finish_loan(ph_rank rank, Loan& loan) {
  loan.finished = true;  // its owner may hear of it before the call returns
  const ph_status status = ph_finish(context(rank), &loan.buffer);
  check_named(rank, loan.owner, status);
  lending_.finished(loan, status);
}

void Runner::finish_loan(ph_rank rank, const Step& step) {
  const std::vector<Loan*> taken = lending_.taken_by(here(rank));
  if (!taken.empty()) finish_loan(rank, *taken[step.offset % taken.size()]);
}

void Runner::recall(ph_rank rank, const Step& step) {
  const std::vector<Loan*> lent = lending_.lent_by(here(rank));
  if (lent.empty()) return;
  Loan& loan = *lent[step.offset % lent.size()];
  ph_outcome outcome{};
  loan.recalled = true;
  if (!expect(rank, "cancel", ph_cancel(context(rank), &loan.request, &outcome))) return;
  lending_.recalled(loan, outcome);
}

// What is over by now.
std::size_t Runner::harvest_lending(ph_rank rank) {
  std::size_t count = 0;
  for (Loan* loan : lending_.lent_by(here(rank))) {
    const ph_status status = ph_test(context(rank), &loan->request, nullptr);
    if (status == PH_AGAIN) continue;
    lending_.over(*loan, status);
    ++count;
    ph_region left{};
    if (loan->kind() != PH_SEND_REQUEST && loan->step->size_bytes != 0)
      expect(rank, "find_region of what is over",
             ph_find_region(context(rank), loan->bytes().data(), 1, &left), PH_ERR_NOT_FOUND);
  }
  for (Transfer* one : lending_.asked_by(here(rank))) {
    const ph_status status = ph_test(context(rank), &one->request, nullptr);
    if (status == PH_AGAIN) continue;
    lending_.done(*one, status);
    ++count;
  }
  if (!seats_[rank].gives_back) return count;
  for (Loan* loan : lending_.taken_by(here(rank))) {
    finish_loan(rank, *loan);
    if (loan->finished) ++count;
  }
  for (const auto kind : {PH_RECV_BUFFER, PH_SEND_BUFFER, PH_SEND_REQUEST}) {
    const ph_match any{kind, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE};
    ph_buffer buffer{};
    const ph_status status = ph_test_buffer(context(rank), &any, &buffer);
    if (status == PH_AGAIN) continue;
    if (!expect(rank, "test_buffer", status)) return count;
    lending_.took(here(rank), any, buffer);
    ++count;
  }
  return count;
}

// Before a rank leaves that lends, or closes such a lane: its peers finish when they have done
// their steps.
void Runner::await_loans(const Endpoint& end) {
  const ph_rank rank = end.rank;
  open_unused(rank);
  seats_[rank].gives_back = true;
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed() && lending_.awaits_loans(end)) take_or_pause(rank, quiet_ns);
}

}  // namespace photon::simtest
