#include "task/run/crew.hpp"

#include <cstdio>
#include <exception>
#include <new>

namespace photon::task {

namespace {

constexpr std::int64_t kSliceUs = 1000;  // between two looks at what waits to be sent

}  // namespace

Crew::Crew(std::unique_ptr<Shared> shared, ph_context* context, bool is_own)
    : shared_(std::move(shared)), context_(context), is_own_(is_own), is_on_(gate_.get_future()) {
  shared_->crew = this;
  for (std::uint32_t rank = 0; rank < shared_->pes; ++rank) {
    pes_.push_back(std::make_unique<Pe>(*shared_, rank));
    shared_->all.push_back(pes_.back().get());
  }
}

Crew::~Crew() { static_cast<void>(close()); }

ph_status Crew::take(std::vector<ph_context*>& lanes) noexcept {
  for (std::uint32_t rank = 0; rank < shared_->pes; ++rank) {
    const ph_status status = pes_[rank]->machine().open(lanes[rank]);
    if (status != PH_OK) return status;
    shared_->shares[rank].open(lanes[rank]);
    lanes[rank] = nullptr;
  }
  return PH_OK;
}

ph_status Crew::launch(ph_task_main main, void* user) noexcept {
  pes_[0]->settle();
  try {
    for (std::uint32_t rank = 1; rank < shared_->pes; ++rank)
      threads_.emplace_back([this, rank, main, user] { work(*pes_[rank], main, user); });
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  } catch (const std::exception&) {
    return PH_ERR_SYSTEM;
  }
  return PH_OK;
}

void Crew::open_gate(bool is_on) {
  gate_.set_value(is_on);
  if (is_on) return;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Crew::work(Pe& pe, ph_task_main main, void* user) noexcept {
  pe.settle();
  if (!is_on_.get()) return;
  main(reinterpret_cast<ph_task_pe*>(&pe), user);
  leave(pe);
  drain(pe);
  meet(pe);
  meet(pe);
}

bool Crew::end_round() noexcept {
  if (present_ == 0 || present_ + excused_.size() != shared_->pes) return false;
  present_ = 0;
  ++round_;
  return true;
}

void Crew::wake_others(const Pe& pe) noexcept {
  for (const std::unique_ptr<Pe>& other : pes_)
    if (other.get() != &pe) other->machine().wake();
}

bool Crew::meet(Pe& pe) noexcept {
  std::uint64_t mine = 0;
  bool is_last = false;
  {
    const std::scoped_lock lock(mutex_);
    if (excused_.contains(pe.rank())) return false;
    mine = round_;
    ++present_;
    is_last = end_round();
  }
  if (is_last) {
    wake_others(pe);
    return true;
  }
  shared_->queue.begin_serving();
  while (round() == mine) pe.serve();
  shared_->wake(shared_->queue.end_serving());
  return true;
}

void Crew::excuse(Pe& pe) {
  bool is_last = false;
  {
    const std::scoped_lock lock(mutex_);
    if (excused_.insert(pe.rank()).second) is_last = end_round();
  }
  if (is_last) wake_others(pe);
}

ph_status Crew::agree(Pe& pe) noexcept {
  if (pe.is_in_task()) return pe.fail(PH_ERR_STATE, "ph_task_agree: called in a handler");
  if (!meet(pe)) return PH_OK;
  if (pe.rank() == 0) {
    verdict_ = {};
    compare_siblings(verdict_);
    compare_processes(pe, verdict_);
  }
  meet(pe);
  if (verdict_.status == PH_OK) return PH_OK;
  return pe.fail(verdict_.status, "ph_task_agree: %s", verdict_.text);
}

// All are in the meeting, so nobody registers meanwhile.
void Crew::compare_siblings(Verdict& verdict) noexcept {
  const std::vector<Handler>& first = pes_[0]->handlers();
  for (const std::unique_ptr<Pe>& pe : pes_) {
    const std::vector<Handler>& its = pe->handlers();
    std::size_t number = 0;
    while (number < its.size() && number < first.size() &&
           its[number].function == first[number].function)
      ++number;
    if (number == its.size() && number == first.size()) continue;
    verdict.status = PH_ERR_CONFIG;
    std::snprintf(verdict.text, sizeof verdict.text,
                  "PE %u has registered another handler %zu than PE %u: register the same ones in "
                  "the same order on all PEs",
                  pe->number(), number, pes_[0]->number());
    return;
  }
}

// The greatest number of handlers, the smallest one, and whether any process has found an error.
void Crew::compare_processes(Pe& pe, Verdict& verdict) noexcept {
  const auto count = static_cast<std::int64_t>(pe.handlers().size());
  const std::int64_t mine[3] = {count, -count, verdict.status == PH_OK ? 0 : 1};
  std::int64_t most[3] = {};
  ph_coll_args args{};
  args.kind = PH_COLL_ALLREDUCE;
  args.in = mine;
  args.out = most;
  args.count = 3;
  args.type = PH_INT64;
  args.op = PH_OP_MAX;
  const ph_status status = over_processes(pe, args);
  if (verdict.status != PH_OK) return;
  verdict.status = status;
  if (status != PH_OK) {
    std::snprintf(verdict.text, sizeof verdict.text, "%s", ph_status_text(status));
  } else if (most[0] != -most[1]) {
    verdict.status = PH_ERR_CONFIG;
    std::snprintf(verdict.text, sizeof verdict.text,
                  "processes have registered %lld to %lld handlers, this one %lld: register the "
                  "same ones in the same order on all PEs",
                  static_cast<long long>(-most[1]), static_cast<long long>(most[0]),
                  static_cast<long long>(count));
  } else if (most[2] != 0) {
    verdict.status = PH_ERR_CONFIG;
    std::snprintf(verdict.text, sizeof verdict.text,
                  "the PEs of another process differ in a handler");
  }
}

void Crew::leave(Pe& pe) noexcept {
  for (const auto part : pe.shared().on_leave)
    if (part != nullptr) part(pe);
}

// A collective operation of the PEs of rank 0, which serve their lanes meanwhile.
ph_status Crew::over_processes(Pe& pe, ph_coll_args& args) noexcept {
  ph_team* team = nullptr;
  ph_request request = PH_REQUEST_NONE;
  args.size = sizeof args;
  args.request = &request;
  ph_status status = ph_team_world(pe.machine().lane(), &team);
  if (status == PH_OK) status = ph_coll_begin(team, &args);
  while (status == PH_OK || status == PH_TIMEOUT) {
    status = ph_wait_request(pe.machine().lane(), &request, nullptr, kSliceUs);
    pe.machine().progress();
    if (status != PH_TIMEOUT) break;
  }
  return status;
}

// The status is under the lock: where a program ends, PEs may come to barriers of the process and
// of the job at once, and so one may read it while the first PE is in the next barrier of the job.
ph_status Crew::barrier(Pe& pe) noexcept {
  if (!meet(pe)) return PH_OK;
  if (pe.rank() == 0) {
    ph_coll_args args{};
    args.kind = PH_COLL_BARRIER;
    const ph_status status = over_processes(pe, args);
    const std::scoped_lock lock(mutex_);
    verdict_.status = status;
  }
  meet(pe);
  const std::scoped_lock lock(mutex_);
  return verdict_.status;
}

// Until all that this PE has sent has left, or its targets are lost, or the program has finalized
// the context under it.
void Crew::drain(Pe& pe) noexcept {
  const Machine& machine = pe.machine();
  shared_->queue.begin_serving();
  while ((machine.has_waiting() || machine.has_lent()) && !machine.is_ended()) pe.serve();
  shared_->wake(shared_->queue.end_serving());
}

// Until all processes that live have come: nobody leaves whom others still need.
void Crew::farewell(Pe& pe) noexcept {
  ph_team* team = nullptr;
  if (ph_team_world(pe.machine().lane(), &team) != PH_OK) return;
  std::uint64_t bits = 0;
  while (ph_team_agree(team, &bits, kSliceUs) == PH_TIMEOUT) pe.machine().progress();
}

void Crew::end(Pe& pe) noexcept {
  leave(pe);
  drain(pe);
  meet(pe);
  farewell(pe);
  meet(pe);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

ph_status Crew::close() noexcept {
  ph_status status = PH_OK;
  parts_.reset();
  for (const std::unique_ptr<Pe>& pe : pes_) {
    const ph_status one = pe->machine().close();
    if (status == PH_OK) status = one;
    shared_->shares[pe->rank()].open(context_);
  }
  pes_.clear();  // what their pools have of the context is given back
  if (context_ == nullptr || !is_own_) return status;
  const ph_status last = ph_finalize(context_);
  ph_context_destroy(context_);
  context_ = nullptr;
  return status == PH_OK ? last : status;
}

}  // namespace photon::task
