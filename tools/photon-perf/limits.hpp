// The limit programs: the same work as ours between the same processes on the same buffers, with
// nothing but flags and copies. Both members of a team call each in step; index 0 is the sender
// (and the caller of gets) and returns the figures.
// Owner: none.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contest.hpp"
#include "options.hpp"
#include "team.hpp"

namespace photon::perf {

// Memory of one row on this side, and where the peer has its own.
struct Buffers {
  // What this side sends, or lets be read. Fresh messages of a stream have a source each, one
  // behind the other; others share one.
  std::byte* source = nullptr;
  bool is_fresh = false;                      // sources are rewritten (contents.hpp)
  std::size_t source_stride = 0;              // from the source of one slot to the next
  std::array<std::byte*, kWindow> landing{};  // where messages land on this side
  std::uint64_t peer_source = 0;              // in the peer's addresses
  std::array<std::uint64_t, kWindow> peer_landing{};
  // The same two in this process, where the library has mapped them; the flag: on both sides.
  bool is_mapped = false;
  std::byte* mapped_source = nullptr;
  std::array<std::byte*, kWindow> mapped_landing{};
  pid_t peer_pid = 0;
  std::size_t size_bytes = 0;
  std::uint64_t peer_checksum = 0;  // of the peer's source: what this side must find if not fresh

  std::byte* source_at(std::size_t slot) const noexcept { return source + slot * source_stride; }
  std::byte* mapped_source_at(std::size_t slot) const noexcept {
    return mapped_source + slot * source_stride;
  }
};

// Fill the peer's half. Both members call it when their own half, contents included, stands, and
// when the library has connected them: it maps the peer's memory then.
void introduce(Team& team, Buffers& buffers);

// One way of a two-line ping-pong now, best spin form: the state of the machine.
double ping_pong_ns(Team& team, std::uint64_t round_trips);

// Latency of a message, one way: ping-pong with the bytes in the flag's line up to 32 bytes, else
// put+flag with copy-out.
std::vector<Entry> latency_limits(Team& team, const Buffers& buffers);
// The same and, from 512 bytes on, every means that there is for such memory (means.hpp).
std::vector<Entry> latency_limits(Team& team, const Buffers& buffers, MemoryKind kind);
// put+flag whose receiver reads where the bytes landed: less work than copy-out, for comparison.
std::vector<Entry> in_place_limits(Team& team, const Buffers& buffers);
// The next three work on the very buffers of ours, where the peer's are mapped here, else through
// the shared block, by every means (means.hpp).
//
// Latency of a get: the caller fetches and leaves a notice, or asks the owner for the bytes.
std::vector<Entry> get_latency_limits(Team& team, const Buffers& buffers, MemoryKind kind);
// Messages a second, read by the receiver.
std::vector<Entry> put_bandwidth_limits(Team& team, const Buffers& buffers, MemoryKind kind);
std::vector<Entry> get_bandwidth_limits(Team& team, const Buffers& buffers, MemoryKind kind);
// Records a second through a bare single-producer ring of 64-byte slots.
std::vector<Entry> rate_limits(Team& team);
// One process copying between its own warm buffers: no transfer between cores at all.
Entry local_copy(Team& team, const Buffers& buffers);

// Does process_vm_writev reach the peer here? Tried for real.
bool cma_works(Team& team, const Buffers& buffers);
// One such copy; false if the kernel refused.
bool cma_write(const Buffers& buffers, std::size_t slot) noexcept;
bool cma_read(const Buffers& buffers, std::size_t slot) noexcept;

}  // namespace photon::perf
