#include "questions.hpp"

namespace photon::perf {
namespace {

constexpr Question kQuestions[] = {
    {"limits", "what the machine can do without the library", 2, 0, ask_limits, false, true},
    {"notify-latency", "one way of a message without bytes", 2, 0, ask_notify_latency},
    {"put-latency", "one way of a put whose remote id triggers the reply", 2, 0, ask_put_latency,
     false, true},
    {"get-latency", "from the call to the bytes read", 2, 1, ask_get_latency, false, true},
    {"put-rate", "8-byte puts a second, both ids probed", 2, 0, ask_put_rate},
    {"put-bandwidth", "bytes a second, read by the receiver", 2, 1, ask_put_bandwidth, false, true},
    {"get-bandwidth", "bytes a second, read by the caller", 2, 1, ask_get_bandwidth, false, true},
    {"idle-peers", "what 16, 64 and 128 silent ranks add to put-latency", 2, 0, ask_idle_peers},
    {"first-message", "a message from a rank that was silent for long", 2, 0, ask_first_message},
    {"oversubscribe", "all pairs on few processors, and dependent rounds", 3, 0, ask_oversubscribe,
     true},
    {"waiting", "processor time of a rank asleep in ph_wait", 2, 0, ask_waiting},
    {"memory", "bytes a peer costs before and after first contact", 2, 0, ask_memory},
    {"registration", "registering, taking back and finding among many regions", 2, 0,
     ask_registration},
    {"atomic-latency", "a fetch-and-add until the value is there", 2, 0, ask_atomic_latency},
    {"atomic-rate", "fetch-and-adds a second", 2, 0, ask_atomic_rate},
    {"service-latency", "one way of a message to a service that answers it", 2, 0,
     ask_service_latency},
    {"service-rate", "messages a second to a handler", 2, 0, ask_service_rate},
    {"am-latency", "one way of an active message to a handler that reads it", 2, 1, ask_am_latency,
     false, true},
    {"am-rate", "active messages a second to a handler, each by itself and collected", 2, 0,
     ask_am_rate},
    {"am-bandwidth", "bytes a second that a target pulls to where its handler says", 2, 1,
     ask_am_bandwidth},
    {"am-pipeline", "a payload that is worked on as it comes, or when all is there", 2, 1,
     ask_am_pipeline},
    {"am-overlap", "handlers of a rank that computes, and what that loses", 2, 0, ask_am_overlap,
     false, false, false, true},
    {"am-quiesce", "until all ranks know that no message is under way", 2, 0, ask_am_quiesce, true},
    {"mailbox-latency", "one way of a message to a mailbox, posted again each time", 2, 1,
     ask_mailbox_latency, false, true},
    {"mailbox-rate", "messages a second to a mailbox, 64 a buffer", 2, 0, ask_mailbox_rate},
    {"mailbox-memory", "bytes an open mailbox costs, and a buffer posted to it", 2, 0,
     ask_mailbox_memory},
    {"mailbox-setup", "a message into memory that was never used before", 2, 16, ask_mailbox_setup},
    {"mailbox-incast", "all other ranks send to one mailbox", 2, 0, ask_mailbox_incast, true},
    {"mailbox-take-back", "until a buffer of a mailbox is its owner's again", 2, 0,
     ask_mailbox_take_back},
    {"mailbox-away", "messages to a receiver that makes no call meanwhile", 2, 0, ask_mailbox_away},
    {"vectored", "many blocks as one put, as single puts, and contiguous", 2, 0, ask_vectored},
    {"rendezvous-latency", "from the announcement of a buffer to the news that it is full", 2, 1,
     ask_rendezvous_latency},
    {"busy-receiver", "a put to a rank that computes between its probes", 2, 1, ask_busy_receiver},
    {"threads", "8-byte puts a second of several threads, on own lanes and on one", 2, 0,
     ask_threads},
    {"task-rate", "tasks a second of one PE, with and without priorities", 2, 0, ask_task_rate},
    {"task-switch", "a turn of a thread of tasks, and its making, running and freeing", 2, 0,
     ask_task_switch},
    {"task-pingpong", "one way of a message to a task, of another process or of a sibling PE", 2, 1,
     ask_task_pingpong},
    {"task-fanout", "until a message to all PEs, a list or a group was answered by all", 2, 1,
     ask_task_fanout, true},
    {"task-zero-copy", "one way of an array, as a buffer of tasks and packed into a message", 2, 1,
     ask_task_zero_copy, false, true, false, false, true},
    {"task-siblings", "the same between two PEs of one process", 2, 1, ask_task_siblings, false,
     true, false, false, true},
    {"task-registration", "a buffer made, sent once and given back, and one registered once", 2, 1,
     ask_task_registration, false, true, false, false, true},
    {"task-memory", "memory that grows while an array goes as a buffer or as a message", 2, 1,
     ask_task_memory, false, true, false, false, true},
    {"task-waiting", "processor time of PEs that have nothing to do", 2, 0, ask_task_waiting},
    {"task-ring", "a hop of a message round the PEs of all processes, on few processors", 3, 0,
     ask_task_ring, true},
    {"get-from-barrier", "a get whose owner is inside a barrier, without the kernel's copies", 2, 1,
     ask_get_from_barrier, false, true, false, false, true},
    {"ledger-full", "a sender that never stops, a receiver that sleeps", 2, 0, ask_ledger_full},
    {"overflow", "notifications to a rank that sleeps, from ranks that fall silent", 2, 0,
     ask_overflow, true},
    {"startup", "until a job of all ranks stands, and until neighbours have met", 2, 0, ask_startup,
     true},
    {"classic-latency", "put-latency of 8 bytes through the classic API and through ph_ calls", 2,
     0, ask_classic_latency},
    {"classic-rate", "put-rate through the classic API and through ph_ calls", 2, 0,
     ask_classic_rate},
    {"coll", "a collective operation of all ranks, by kind, size and call", 2, sizeof(double),
     ask_coll, true, true},
    {"coll-overlap", "what a caller sees of a collective operation behind other work", 2,
     sizeof(double), ask_coll_overlap, true, true, true},
    {"tune", "the fastest algorithm of each kind and size, as a table", 2, sizeof(double), ask_tune,
     true, true},
    {"stats-overhead", "puts with the counters off and on", 2, 0, ask_stats_overhead},
};

}  // namespace

std::span<const Question> questions() noexcept { return kQuestions; }

const Question* find_question(std::string_view name) noexcept {
  for (const auto& question : kQuestions) {
    if (question.name == name) return &question;
  }
  return nullptr;
}

}  // namespace photon::perf
