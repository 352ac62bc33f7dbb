// The table of settings.
#include <algorithm>
#include <limits>

#include "base/config.hpp"

namespace photon::base {
namespace {

constexpr const char* kOversubscribed[] = {"auto", "yes", "no"};
constexpr const char* kTransports[] = {"auto", "shm", "sim", "tcp", "mixed", "ofi"};
constexpr const char* kNetworks[] = {"tcp", "ofi"};
constexpr const char* kSourceCache[] = {"registered", "all"};
constexpr const char* kShmCma[] = {"auto", "off", "on"};
constexpr const char* kShmCopies[] = {"auto", "plain", "streamed", "staged"};
constexpr const char* kActiveMessages[] = {"polled", "threaded"};
constexpr const char* kSwitch[] = {"off", "on"};
constexpr const char* kSimProfiles[] = {"stream", "mapped", "rc", "srd", "unnamed"};
constexpr const char* kLogLevels[] = {"error", "warn", "info", "debug"};

// Algorithms by which each kind of collective operation may be done; those that the library has
// are compared with these in the tests.
constexpr const char* kCollBarrier[] = {"auto", "dissemination", "leaders"};
constexpr const char* kCollBcast[] = {
    "auto", "linear", "chain", "binomial", "knomial", "scatter_allgather", "circulant", "leaders"};
constexpr const char* kCollReduce[] = {"auto",     "linear",       "chain",
                                       "binomial", "rabenseifner", "leaders"};
constexpr const char* kCollAllreduce[] = {"auto",         "linear", "chain",  "recursive_doubling",
                                          "rabenseifner", "ring",   "direct", "leaders"};
constexpr const char* kCollScan[] = {"auto", "chain", "recursive_doubling"};
constexpr const char* kCollGather[] = {"auto", "linear", "binomial"};
constexpr const char* kCollGatherv[] = {"auto", "linear"};
constexpr const char* kCollAllgather[] = {"auto", "linear", "recursive_doubling", "ring", "bruck"};
constexpr const char* kCollAllgatherv[] = {"auto", "linear", "ring"};
constexpr const char* kCollAlltoall[] = {"auto", "linear", "bruck", "pairwise"};
constexpr const char* kCollAlltoallv[] = {"auto", "linear", "pairwise"};
constexpr const char* kCollReduceScatterBlock[] = {"auto", "rabenseifner", "ring", "pairwise",
                                                   "direct"};
constexpr const char* kCollReduceScatter[] = {"auto", "pairwise", "direct"};

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = kKi * kKi;
constexpr std::uint64_t kTi = kMi * kMi;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

constexpr Field named(std::string_view name, FieldMember member, const char* help) {
  Field field{.member = member, .help = help};
  std::copy(kVariablePrefix.begin(), kVariablePrefix.end(), field.environment);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    field.name[i] = c;
    field.environment[kVariablePrefix.size() + i] =
        c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return field;
}

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool power_of_two = false;
  std::uint64_t multiple_of = 1;
};

constexpr Field number(std::string_view name, std::uint64_t Config::*member, Range range,
                       const char* help) {
  Field field = named(name, member, help);
  field.min = range.min;
  field.max = range.max;
  field.power_of_two = range.power_of_two;
  field.multiple_of = range.multiple_of;
  return field;
}

constexpr Field choice(std::string_view name, FieldMember member,
                       std::span<const char* const> choices, const char* help) {
  Field field = named(name, member, help);
  field.choices = choices;
  return field;
}

constexpr Field text(std::string_view name, FieldMember member, const char* words,
                     const char* help) {
  Field field = named(name, member, help);
  field.words = words;
  return field;
}

constexpr Field algorithm(std::string_view name, Pick Config::*member,
                          std::span<const char* const> choices) {
  return choice(name, member, choices,
                "By which algorithm the collective operation of this name is done where that can; "
                "auto: as the table says. The same on all ranks.");
}

constexpr Field kFields[] = {
    number("max_cid_size", &Config::max_cid_size, {0, 1024},
           "Longest completion id, in bytes; the same on all ranks."),
    number("ledger_slots", &Config::ledger_slots, {2, 65536, true},
           "Notifications a peer may have under way to this rank before it must queue."),
    number("overflow_bytes", &Config::overflow_bytes, {4 * kKi, 64 * kKi* kMi, true},
           "Room in this rank's memory for notifications to one peer beyond ledger_slots, in bytes "
           "(16 for one of 8 bytes); pages are used only when touched, and given back."),
    number("overflow_total_bytes", &Config::overflow_total_bytes, {0, kTi},
           "Most bytes of all such room of one lane in use at a time; 0: none."),
    number("ring_lines", &Config::ring_lines, {64, 65536, true},
           "Lines of the record ring to each peer: 64 bytes, or 128 where ranks have own cores."),
    number("requests", &Config::requests, {16, kMi, true},
           "Operations of this rank under way or not yet probed; beyond that calls say PH_AGAIN."),
    number("packed_max", &Config::packed_max, {0, 1024},
           "Largest payload carried inside a record, in bytes."),
    number("bulk_bytes", &Config::bulk_bytes, {8 * kKi, 64 * kMi, true},
           "Bytes of the bulk ring to each peer, through which both sides copy; best twice an L2."),
    number("bulk_chunk", &Config::bulk_chunk, {kKi, 16 * kMi},
           "Bytes of one chunk in the bulk ring; at most a quarter of bulk_bytes."),
    number("mapped_min", &Config::mapped_min, {33, kAny},
           "Puts of at least this many bytes are copied straight to memory that is mapped here."),
    number("direct_min", &Config::direct_min, {0, kAny},
           "Puts of at least this many bytes are written straight to memory by NICs."),
    number("piece_bytes", &Config::piece_bytes, {256, 16 * kMi},
           "Most bytes one call copies itself; the rest is copied by later probes."),
    number(
        "posted_piece_bytes", &Config::posted_piece_bytes, {256, 16 * kMi},
        "Bytes of one piece of a put or get that the network moves; tcp copies a piece in one go, "
        "and streams the better the larger they are."),
    number("arena_bytes", &Config::arena_bytes, {kMi, kTi, false, 4 * kKi},
           "Address space for ph_alloc() memory, in bytes; pages are used only when touched."),
    number(
        "mailbox_carried_max", &Config::mailbox_carried_max, {64, kMi},
        "Largest message to a mailbox that is carried, in bytes; its receiver reads a larger one."),
    number("mailbox_early_bytes", &Config::mailbox_early_bytes, {kKi, kTi},
           "Most bytes of messages to mailboxes of one peer that are under way or that wait there "
           "for a buffer, and 64 more for each."),
    number("mailbox_early_total_bytes", &Config::mailbox_early_total_bytes, {0, kTi},
           "Most bytes of messages to mailboxes of this rank that wait for buffers, in all; a "
           "message beyond them is refused."),
    choice("mailbox_refusals", &Config::mailbox_refusals, kSwitch,
           "Whether the sender of a message to a mailbox that was never open here hears of it; "
           "off: the message is dropped and counted, and only a request ends with the refusal."),
    text("coll", &Config::coll, "the name of a provider, or default",
         "Who does the collective operations that he takes: a provider that the program has "
         "registered, or the library (default). The same on all ranks."),
    number("coll_window", &Config::coll_window, {1, 1024},
           "One-shot collective operations of one team that may be under way; the same on all "
           "ranks."),
    number("coll_early_bytes", &Config::coll_early_bytes, {4 * kKi, kMi},
           "Most bytes of collectives that one peer may send before this rank has begun them; "
           "what is more is announced and read later. The same on all ranks."),
    choice("coll_lines", &Config::coll_lines, kSwitch,
           "Whether small collectives of a team within one host go through lines in shared memory "
           "instead of messages; the same on all ranks."),
    text("coll_table", &Config::coll_table, "none, or the name of a file",
         "A table of algorithms of collective operations, as photon-perf tune writes it; what it "
         "does not say, and none: as is built in. The same on all ranks."),
    choice("coll_check", &Config::coll_check, kSwitch,
           "Whether members of a team compare every argument of each collective operation, counts "
           "of their own too; the same on all ranks."),
    algorithm("coll_barrier", &Config::coll_barrier, kCollBarrier),
    algorithm("coll_bcast", &Config::coll_bcast, kCollBcast),
    algorithm("coll_reduce", &Config::coll_reduce, kCollReduce),
    algorithm("coll_allreduce", &Config::coll_allreduce, kCollAllreduce),
    algorithm("coll_scan", &Config::coll_scan, kCollScan),
    algorithm("coll_exscan", &Config::coll_exscan, kCollScan),
    algorithm("coll_gather", &Config::coll_gather, kCollGather),
    algorithm("coll_gatherv", &Config::coll_gatherv, kCollGatherv),
    algorithm("coll_scatter", &Config::coll_scatter, kCollGather),
    algorithm("coll_scatterv", &Config::coll_scatterv, kCollGatherv),
    algorithm("coll_allgather", &Config::coll_allgather, kCollAllgather),
    algorithm("coll_allgatherv", &Config::coll_allgatherv, kCollAllgatherv),
    algorithm("coll_alltoall", &Config::coll_alltoall, kCollAlltoall),
    algorithm("coll_alltoallv", &Config::coll_alltoallv, kCollAlltoallv),
    algorithm("coll_reduce_scatter_block", &Config::coll_reduce_scatter_block,
              kCollReduceScatterBlock),
    algorithm("coll_reduce_scatter", &Config::coll_reduce_scatter, kCollReduceScatter),
    choice("am", &Config::am, kActiveMessages,
           "Where handlers of active messages run: in calls of the application, or in the progress "
           "thread as well, which is then on."),
    number("am_slots", &Config::am_slots, {4, 16384, true},
           "Active messages of one peer that may be at this rank without their header handler "
           "having returned; the same on all ranks."),
    number("am_queue_bytes", &Config::am_queue_bytes, {64 * kKi, kTi},
           "Most bytes of active messages that wait in this rank's memory for slots of their "
           "targets; half of them outside handlers."),
    number("am_record_max", &Config::am_record_max, {48, 1024},
           "Largest header and payload, in bytes, of an active message that stands in lines where "
           "these stand apart."),
    number("am_carried_max", &Config::am_carried_max, {kKi, kMi},
           "Largest payload of an active message, in bytes, that is copied to its target; a larger "
           "one the target reads. The same on all ranks."),
    number("am_aggregate_bytes", &Config::am_aggregate_bytes, {256, 64 * kKi},
           "Bytes of an aggregate of active messages, at most am_carried_max; the same on all "
           "ranks."),
    number("am_aggregate_us", &Config::am_aggregate_us, {0, 1000000},
           "Microseconds that an active message which may wait waits for others."),
    number("max_segments", &Config::max_segments, {1, 16 * kMi},
           "Segments, or blocks of a strided form, of one vectored operation."),
    number("max_regions", &Config::max_regions, {16, kMi, true},
           "Registrations that may exist at the same time."),
    number("max_lanes", &Config::max_lanes, {1, 256},
           "Lanes that a rank may have open at the same time, the context's own included; the same "
           "on all ranks."),
    choice(
        "source_cache", &Config::source_cache, kSourceCache,
        "Memory of this process that stays registered with a NIC between operations: "
        "what ph_register() or ph_alloc() covers, or all that any operation has used, if none of "
        "it is ever unmapped."),
    number("source_cache_bytes", &Config::source_cache_bytes, {16 * kKi, kTi},
           "Most bytes of this process's memory registered with a NIC at a time; one "
           "registration has at most a quarter."),
    number("source_cache_entries", &Config::source_cache_entries, {1, kMi},
           "Most registrations of this process's memory with a NIC at a time."),
    number("finalize_timeout_ms", &Config::finalize_timeout_ms, {0, 1000000000},
           "Longest that ph_finalize() waits for a peer that takes nothing of what was sent, in "
           "milliseconds."),
    number("unregister_timeout_ms", &Config::unregister_timeout_ms, {0, 1000000000},
           "Longest that ph_unregister() waits for copies under way, in milliseconds."),
    number("spin_us", &Config::spin_us, {0, 1000000},
           "How long ph_wait() spins before it sleeps, in microseconds, if a core is free; up to 8 "
           "times as long where waits were seen to end so soon."),
    choice(
        "progress_thread", &Config::progress_thread, kSwitch,
        "A thread for the context, and one for each of its lanes, that serves its peers while the "
        "application makes no calls; it sleeps when there is nothing to do."),
    number("progress_silence_us", &Config::progress_silence_us, {10, 1000000},
           "Microseconds without a turn of progress by the application after which the progress "
           "thread acts; it may take a millisecond longer, after a time of many calls."),
    choice("oversubscribed", &Config::oversubscribed, kOversubscribed,
           "Whether ranks and their lanes outnumber the cores, so that waiting must not spin."),
    choice("transport", &Config::transport, kTransports,
           "How peers are reached; mixed: shm for those of this host, network for all others; ofi: "
           "all by libfabric; auto takes shm if all ranks are on this host, else mixed, and "
           "the network where shared memory is refused."),
    choice("network", &Config::network, kNetworks,
           "How ranks of other hosts are reached where transport is mixed; ofi: by libfabric; the "
           "same on all ranks."),
    choice("shm_cma", &Config::shm_cma, kShmCma,
           "Copies between processes by the kernel; on: fail to start where that is forbidden."),
    choice(
        "shm_copies", &Config::shm_copies, kShmCopies,
        "How 2 KiB and more come to memory that a peer of this host reads: by ordinary stores, "
        "by non-temporal ones, which pass by the caches, or staged, through the bulk ring, where "
        "that is allowed; auto: what is the fastest for that peer and size, measured all the "
        "time."),
    text("tcp_interface", &Config::tcp_interface,
         "auto, the name of a network interface, or an IPv4 or IPv6 address of this host",
         "Where the tcp transport listens; auto: the loopback if all ranks are on this host, else "
         "all other interfaces that are up; peers try one after the other."),
    text("tcp_preferred", &Config::tcp_preferred,
         "none, or addresses of this host with a blank between each two",
         "Those that peers try first where tcp_interface is auto; photonrun says by which the "
         "launchers met."),
    number("tcp_silence_s", &Config::tcp_silence_s, {6, 3600},
           "A peer whose host has not answered the kernel for so long, though it was asked, or "
           "that gets nothing of what ofi sends it, is gone, in seconds; a stopped process's host "
           "answers. Nobody is dialed for longer."),
    text("ofi_provider", &Config::ofi_provider, "auto, or a provider as fi_info names it",
         "The provider of libfabric that transport ofi uses, the same on all ranks; auto: the "
         "first that will do."),
    text("ofi_domain", &Config::ofi_domain, "auto, or a domain as fi_info names it",
         "The NIC or interface that transport ofi uses."),
    number(
        "ofi_direct_least_bytes", &Config::ofi_direct_least_bytes, {0, kAny},
        "Least bytes of what libfabric moves to its place; 0: none, on all ranks or on no rank."),
    number("sim_seed", &Config::sim_seed, {0, kAny},
           "Seed of the sim transport; a run is a function of seed, settings and program."),
    number("sim_delay_ns", &Config::sim_delay_ns, {0, 1000000000},
           "Longest delay the sim transport adds to a message, in nanoseconds of its clock."),
    choice(
        "sim_profile", &Config::sim_profile, kSimProfiles,
        "The network that the sim transport is: messages in order only (stream), memory of peers "
        "touched directly (mapped), or writes by NICs: as InfiniBand orders them (rc), "
        "in no order (srd), in no order and unannounced (unnamed). Rank 0's counts."),
    choice("log", &Config::log, kLogLevels, "Least important messages written to stderr."),
    number("stats", &Config::stats, {0, 1},
           "1: count operations from the start, and write the counters to stderr at the end."),
};
static_assert(std::size(kFields) == kFieldsCount);

}  // namespace

std::span<const Field> fields() noexcept { return kFields; }

}  // namespace photon::base
