// The memory that the ranks of one photon-perf run share without the library: set-up cards, a
// barrier, and the flags, slots and rings of the limit programs. Bulk data follows the struct.
// Invariant: flags that different sides write never share a line, nor a pair of lines (adjacent
// lines are fetched together on some machines), hence LoneLine.
// Owner: SharedBlock; offsets only, no pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "limit_atomics.hpp"

namespace photon::perf {

inline constexpr std::size_t kWindow = 4;            // messages in flight in bandwidth rows
inline constexpr std::size_t kRingSlots = 1024;      // of the bare ring; power of two
inline constexpr std::size_t kCreditInterval = 256;  // slots between two credits of the ring
inline constexpr std::size_t kRingBytes = std::size_t{4} << 20;  // of a two-copy ring, at most
inline constexpr std::size_t kRingChunks = 512;                  // the same in chunks
inline constexpr std::size_t kMaxTeam = 1024;   // ranks that may meet at one barrier
inline constexpr std::size_t kCardBytes = 256;  // what one rank tells the others at set-up
inline constexpr std::size_t kCollSpans = 100;  // samples that each rank keeps for the others

struct alignas(64) Line {
  SharedWord flag;
  std::uint64_t words[7];
};
static_assert(sizeof(Line) == 64);

struct alignas(256) LoneLine {
  Line line;
};

struct Meeting {  // one barrier and one agreed value
  LoneLine arrived;
  LoneLine generation;
  LoneLine agreed;
};

// What messages in one direction use, by whatever means they go.
struct MeansArea {
  LoneLine arrived[kWindow];  // the number of the message in that slot; the sender's
  LoneLine ready[kWindow];    // the source of that message is written; its owner's
  LoneLine asked;             // messages that their receiver wants; the receiver's
  LoneLine taken;             // messages read; the receiver's
  LoneLine drained;           // chunks copied out; the receiver's
  LoneLine rewriting_ns;      // time that the side which answers spent on its sources
  alignas(256) Line chunk_flags[kRingChunks];  // the sender's
  alignas(4096) std::byte ring[kRingBytes];
};

struct CollSpan {  // of one rank's part of a collective operation, or of several
  std::uint64_t start_ns;
  std::uint64_t end_ns;
};
struct alignas(256) CollSpans {
  CollSpan spans[kCollSpans];
};

struct LimitArea {
  Meeting meetings[2];          // of the pair, and of the whole job
  LoneLine ping[2];             // one flag line in each direction
  LoneLine credit;              // of slots
  LoneLine token;               // of the yield ring
  LoneLine go[2];               // start signals between ranks that sleep
  LoneLine first[2];            // a first message without the library, and its reply
  LoneLine apart[2];            // who shall speak up, and who only polls from now on
  LoneLine arrivals[kMaxTeam];  // rounds each rank has been told of
  alignas(64) std::byte cards[kMaxTeam][kCardBytes];
  Line slots[kRingSlots];
  MeansArea means[2];  // from index 0, from index 1
  CollSpans coll_spans[kMaxTeam];
};

}  // namespace photon::perf
