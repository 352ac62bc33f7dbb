#include "netsim/run/hosts.hpp"

#include <algorithm>

#include "netsim/clock/stamp.hpp"

namespace photon::netsim {
namespace {

// Payloads of a rank's events, in the order of one picosecond.
constexpr std::uint64_t kOver = 0;  // what it is busy with is over
constexpr std::uint64_t kLook = 1;  // there are notices
constexpr std::uint64_t kStart = 2;
constexpr std::uint64_t kWake = 3;                        // the motif asked for it
constexpr std::uint64_t kLocal = std::uint64_t{1} << 63;  // a message of a rank of its node

}  // namespace

Hosts::Hosts(HostSide& around, Motif& motif, const Placement& placement, Local local,
             NodeRange nodes)
    : around_(around), motif_(motif), placement_(placement), local_(local) {
  const auto places_before = [&placement](std::uint32_t node) {
    return std::min(placement.places(), std::uint64_t{node} * placement.slots());
  };
  first_place_ = places_before(nodes.first);
  states_.resize(places_before(nodes.end) - first_place_);
}

void Hosts::start() {
  for (std::uint64_t i = 0; i < states_.size(); ++i) {
    const std::uint32_t rank = placement_.rank_of(first_place_ + i);
    if (rank != kNoRank) around_.queue().push(Event::at(0, EventKind::host, rank, kStart));
  }
}

void Hosts::handle(std::uint32_t rank, std::uint64_t payload) {
  State& its = state(rank);
  if ((payload & kLocal) != 0) {
    Job job;
    job.kind = JobKind::message;
    job.peer = static_cast<std::uint32_t>(payload);
    job.tag = static_cast<std::uint16_t>(payload >> 32);
    job.is_local = true;
    add(its.notices, job);
  } else if (payload == kOver) {
    const std::uint32_t job = its.current;
    its.current = kNone;
    its.is_running = true;
    end(rank, job);
    its.is_running = false;
  } else if (payload == kLook) {
    its.is_woken = false;
  } else if (payload == kWake) {
    Job job;
    job.kind = JobKind::woken;
    add(its.notices, job);
  } else {
    its.is_running = true;
    motif_.start(rank, *this);
    its.is_running = false;
  }
  go_on(rank);
}

void Hosts::write(const nic::Rank& place, const nic::Notice& notice) {
  const std::uint32_t rank = placement_.rank_at(place);
  Job job;
  job.duration = notice.host_ps;
  job.peer = placement_.rank_at(notice.peer);
  job.posted_ns = notice.posted_ns;
  job.tag = notice.tag;
  job.kind = notice.kind == nic::NoticeKind::message ? JobKind::message : JobKind::sent;
  State& its = state(rank);
  add(its.notices, job);
  if (its.current != kNone || its.is_running || its.is_woken) return;
  its.is_woken = true;
  around_.queue().push(Event::at(now(), EventKind::host, rank, kLook));
}

void Hosts::send(std::uint32_t rank, const Message& message) {
  Job job;
  job.peer = message.peer;
  job.bytes = message.bytes;
  job.tag = message.tag;
  job.is_told = message.is_told;
  job.kind = JobKind::send;
  job.is_local = placement_.place_of(rank).node == placement_.place_of(message.peer).node;
  add(state(rank).commands, job);
}

void Hosts::compute(std::uint32_t rank, Time duration) {
  Job job;
  job.duration = duration;
  job.kind = JobKind::compute;
  add(state(rank).commands, job);
}

void Hosts::release(std::uint32_t rank, std::uint32_t peer) {
  if (placement_.place_of(rank).node == placement_.place_of(peer).node) return;
  Job job;
  job.peer = peer;
  job.kind = JobKind::release;
  add(state(rank).commands, job);
}

void Hosts::wake(std::uint32_t rank, Time time) {
  around_.queue().push(Event::at(std::max(time, now()), EventKind::host, rank, kWake));
}

void Hosts::finish(std::uint32_t rank) {
  Job job;
  job.kind = JobKind::finish;
  add(state(rank).commands, job);
}

Hosts::State& Hosts::state(std::uint32_t rank) {
  return states_[placement_.number_of(rank) - first_place_];
}

void Hosts::add(List& list, const Job& job) {
  const std::uint32_t index = jobs_.take();
  jobs_[index] = job;
  append(jobs_, list, index);
}

void Hosts::go_on(std::uint32_t rank) {
  State& its = state(rank);
  its.is_running = true;
  while (its.current == kNone) {
    List& list = its.commands.is_empty() ? its.notices : its.commands;
    if (list.is_empty()) break;
    const std::uint32_t job = take_first(jobs_, list);
    const Time duration = begin(rank, jobs_[job]);
    if (duration == 0) {
      end(rank, job);
      continue;
    }
    its.current = job;
    around_.queue().push(Event::at(now() + duration, EventKind::host, rank, kOver));
  }
  its.is_running = false;
}

// How long the rank is busy with it.
Time Hosts::begin(std::uint32_t rank, Job& job) {
  if (job.kind != JobKind::send) return job.duration;
  job.posted_ns = stamp_of(now());
  if (job.is_local) return copy_time(job.bytes);
  const nic::Rank own = placement_.place_of(rank);
  return around_.card(own.node).host_time(
      own.slot, {placement_.place_of(job.peer), job.bytes, job.posted_ns, job.tag, job.is_told});
}

void Hosts::end(std::uint32_t rank, std::uint32_t index) {
  const Job job = jobs_[index];
  jobs_.give_back(index);
  switch (job.kind) {
    case JobKind::send: return post(rank, job);
    case JobKind::compute: return motif_.on_computed(rank, *this);
    case JobKind::release: {
      const nic::Rank own = placement_.place_of(rank);
      return around_.card(own.node).on_buffer(own.slot, placement_.place_of(job.peer));
    }
    case JobKind::finish: return around_.finished(rank);
    case JobKind::message:
      if (!job.is_local && motif_.is_measured(job.tag))
        around_.took_message(now() / kPicosecondsPerNs - ns_of_stamp(job.posted_ns));
      return motif_.on_message(rank, job.peer, job.tag, *this);
    case JobKind::sent: return motif_.on_sent(rank, job.peer, job.tag, *this);
    case JobKind::woken: return motif_.on_woken(rank, *this);
  }
}

// Within a node the rank has copied the bytes itself, so that its source is free.
void Hosts::post(std::uint32_t rank, const Job& job) {
  const nic::Rank own = placement_.place_of(rank);
  if (!job.is_local) {
    posted_bytes_ += job.bytes;
    around_.card(own.node).on_post(
        own.slot, {placement_.place_of(job.peer), job.bytes, job.posted_ns, job.tag, job.is_told});
    return;
  }
  around_.queue().push(Event::at(now() + local_.latency, EventKind::host, job.peer,
                                 kLocal | std::uint64_t{job.tag} << 32 | rank));
  if (job.is_told) motif_.on_sent(rank, job.peer, job.tag, *this);
}

Time Hosts::copy_time(std::uint32_t bytes) const {
  return rounded_ps(bytes * 1000.0 / local_.GBps);
}

}  // namespace photon::netsim
