// The questions, one file each, and what they are given.
// Owner: main.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "pinning.hpp"
#include "report.hpp"
#include "shared_block.hpp"

namespace photon::perf {

class Job;
class Team;

struct Bench {
  Job& job;
  SharedBlock& block;
  const Processors& processors;
  const Options& options;
  Report& report;
};

// Every rank of the job calls it. On return the library is idle in this rank. Throws Failure.
using Ask = void (*)(Bench& bench);

struct Question {
  std::string_view name;
  std::string_view help;
  std::uint32_t ranks_min;
  std::uint64_t size_min_bytes;  // of a message
  Ask ask;
  bool crowded = false;       // ranks share cores while they are measured
  bool may_be_fresh = false;  // it knows --buffers fresh
  bool needs_progress_thread = false;
  bool needs_threaded_handlers = false;
  bool is_of_heap = false;  // unless the user says otherwise: --memory malloc --buffers fresh
};

std::span<const Question> questions() noexcept;
const Question* find_question(std::string_view name) noexcept;  // null: there is none

void ask_limits(Bench& bench);
void ask_notify_latency(Bench& bench);
void ask_put_latency(Bench& bench);
void ask_get_latency(Bench& bench);
void ask_put_rate(Bench& bench);
void ask_put_bandwidth(Bench& bench);
void ask_get_bandwidth(Bench& bench);
void ask_idle_peers(Bench& bench);
void ask_first_message(Bench& bench);
void ask_oversubscribe(Bench& bench);
void ask_waiting(Bench& bench);
void ask_memory(Bench& bench);
void ask_registration(Bench& bench);
void ask_atomic_latency(Bench& bench);
void ask_atomic_rate(Bench& bench);
void ask_mailbox_latency(Bench& bench);
void ask_mailbox_open(Bench& bench, Team& team);  // a part of mailbox-latency
void ask_mailbox_rate(Bench& bench);
void ask_mailbox_memory(Bench& bench);
void ask_mailbox_setup(Bench& bench);
void ask_mailbox_incast(Bench& bench);
void ask_mailbox_take_back(Bench& bench);
void ask_mailbox_away(Bench& bench);
void ask_service_latency(Bench& bench);
void ask_service_rate(Bench& bench);
void ask_am_latency(Bench& bench);
void ask_am_rate(Bench& bench);
void ask_am_bandwidth(Bench& bench);
void ask_am_pipeline(Bench& bench);
void ask_am_overlap(Bench& bench);
void ask_am_quiesce(Bench& bench);
void ask_vectored(Bench& bench);
void ask_rendezvous_latency(Bench& bench);
void ask_busy_receiver(Bench& bench);
void ask_ledger_full(Bench& bench);
void ask_overflow(Bench& bench);
void ask_stats_overhead(Bench& bench);
void ask_threads(Bench& bench);
void ask_task_rate(Bench& bench);
void ask_task_switch(Bench& bench);
void ask_task_pingpong(Bench& bench);
void ask_task_fanout(Bench& bench);
void ask_task_zero_copy(Bench& bench);
void ask_task_siblings(Bench& bench);
void ask_task_registration(Bench& bench);
void ask_task_memory(Bench& bench);
void ask_task_waiting(Bench& bench);
void ask_task_ring(Bench& bench);
void ask_get_from_barrier(Bench& bench);
void ask_startup(Bench& bench);
void ask_classic_latency(Bench& bench);
void ask_classic_rate(Bench& bench);
void ask_coll(Bench& bench);
void ask_coll_overlap(Bench& bench);
void ask_tune(Bench& bench);

}  // namespace photon::perf
