#include "engine/parts/counters.hpp"

#include <iterator>

namespace photon::engine {

namespace {

constexpr CounterText kTexts[] = {
    {"puts", "Puts with bytes that were accepted."},
    {"notifications", "Puts without bytes that were accepted."},
    {"gets", "Gets that were accepted."},
    {"atomics", "Atomics that were accepted."},
    {"put_bytes", "Bytes of the puts."},
    {"get_bytes", "Bytes of the gets."},
    {"packed", "Puts and notifications that went inside a record."},
    {"bulk", "Puts that went through the bulk ring."},
    {"direct", "Puts that this rank copied to their place itself."},
    {"posted", "Puts that NICs moved."},
    {"overflowed", "Ids that found no ledger credit and went to the overflow."},
    {"get_direct", "Gets that this rank copied itself."},
    {"get_posted", "Gets that NICs moved."},
    {"get_served",
     "Gets that the owner of the memory was asked for; what the kernel then copied instead is in "
     "`kernel_bytes`."},
    {"copied_bytes", "Bytes copied to or from mapped memory."},
    {"kernel_bytes", "Bytes copied by the kernel (CMA)."},
    {"staged_bytes", "Bytes copied into the bulk ring, answers to gets included."},
    {"streamed_bytes", "Bytes of these two that non-temporal stores have copied."},
    {"queued", "Operations that could not be done at once."},
    {"line_stalls", "Tries to send a record that found the ring full."},
    {"ledger_stalls", "Tries to send an id that found no ledger credit."},
    {"bulk_stalls", "Tries to send a chunk that found the bulk ring full."},
    {"nic_stalls", "Tries to post a fragment that found the NIC's queue full."},
    {"kicks", "Times that the peer was told to look."},
    {"lines_sent", "64-byte lines of records sent."},
    {"lines_received", "64-byte lines of records received."},
    {"ids_probed", "Remote ids of the peer that were probed."},
    {"most_outstanding", "Most operations under way that a request was needed for."},
    {"most_waiting_ids", "Most remote ids of the peer that waited to be probed."},
    {"most_overflow_bytes", "Most bytes in use of the overflow to the peer."},
};
static_assert(std::size(kTexts) == kPeerCounts);

constexpr std::size_t kFirstMark = static_cast<std::size_t>(Count::most_outstanding);

}  // namespace

std::span<const CounterText, kPeerCounts> peer_counter_texts() noexcept { return kTexts; }

void PeerCounters::merge(const PeerCounters& other) noexcept {
  for (std::size_t i = 0; i < kPeerCounts; ++i)
    values[i] = i < kFirstMark ? values[i] + other.values[i] : std::max(values[i], other.values[i]);
}

}  // namespace photon::engine
