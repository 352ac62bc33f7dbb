// Limits of bandwidths: streams of messages with kWindow in flight, read by their receiver.
#include <algorithm>
#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
#include "failure.hpp"
#include "limits.hpp"

namespace photon::perf {
namespace {

// Who sends: index 0 in puts, index 1 where the same stream stands for a get.
enum class Direction : std::uint8_t { put, get };

bool is_sender(const Team& team, Direction direction) noexcept {
  return (team.index() == 0) == (direction == Direction::put);
}

// Bytes a memcpy. One instruction that copies it all (rep movsb, which the C library prefers) is
// slower on some processors from about a megabyte on, by a tenth between near cores and by more
// between far ones; pieces that fit a cache are not. Each is a form of the limit.
constexpr std::size_t kWhole = SIZE_MAX;
constexpr std::size_t kPieces[] = {kWhole, 256 * 1024, 64 * 1024};

void copy_by(std::size_t piece_bytes, std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes; done += std::min(piece_bytes, bytes - done)) {
    std::memcpy(to + done, from + done, std::min(piece_bytes, bytes - done));
  }
}

SharedWord& messages_taken(Team& team) noexcept { return team.area().credit[0].line.flag; }
SharedWord& chunks_taken(Team& team) noexcept { return team.area().credit[1].line.flag; }

void reset_flags(Team& team) {
  if (team.index() == 0) {
    auto& area = team.area();
    for (auto& lone : area.credit) lone.line.flag.store_release(0);
    for (auto& lone : area.window_flags) lone.line.flag.store_release(0);
    for (auto& lone : area.chunk_flags) lone.line.flag.store_release(0);
  }
  team.barrier();
}

// `work` runs on both sides and returns when this side is done; index 0 returns when the receiver
// has read everything, so its time is the stream's.
template <class Work>
Outcome timed(Team& team, std::uint64_t count, Work work) {
  reset_flags(team);
  const auto start_ns = now_ns();
  work();
  const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
  team.barrier();
  Outcome outcome;
  if (team.index() == 0) outcome.per_second = static_cast<double>(count) * 1e9 / elapsed_ns;
  return outcome;
}

// Message i goes to slot i % kWindow by `copy(slot)`; the receiver reads it there by `read(slot)`.
template <class Copy, class Read>
Outcome window_stream(Team& team, const Buffers& buffers, std::uint64_t count, Copy copy,
                      Read read) {
  auto& taken = messages_taken(team);
  auto& flags = team.area().window_flags;
  return timed(team, count, [&] {
    if (team.index() == 0) {
      for (std::uint64_t i = 0; i < count; ++i) {
        if (i >= kWindow) spin_until_at_least<SpinForm::tight>(taken, i - kWindow + 1);
        copy(i % kWindow);
        flags[i % kWindow].line.flag.store_release(i + 1);
      }
      spin_until_at_least<SpinForm::tight>(taken, count);
      return;
    }
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      spin_until_equal<SpinForm::tight>(flags[i % kWindow].line.flag, i + 1);
      sum += read(i % kWindow);
      taken.store_release(i + 1);
    }
    expect_checksum(buffers, sum, count);
  });
}

Outcome mapped_stream(Team& team, const Buffers& buffers, std::size_t piece_bytes,
                      std::uint64_t count) {
  const auto size_bytes = buffers.size_bytes;
  std::array<std::byte*, kWindow> to = buffers.mapped_landing;
  std::array<std::byte*, kWindow> from = buffers.landing;
  for (std::size_t slot = 0; slot < kWindow && !buffers.is_mapped; ++slot) {
    to[slot] = from[slot] = team.data().data() + slot * size_bytes;
  }
  return window_stream(
      team, buffers, count,
      [&](std::size_t slot) { copy_by(piece_bytes, to[slot], buffers.source, size_bytes); },
      [&](std::size_t slot) { return checksum_of(from[slot], size_bytes); });
}

Outcome cma_stream(Team& team, const Buffers& buffers, std::uint64_t count) {
  return window_stream(
      team, buffers, count,
      [&](std::size_t slot) {
        if (!cma_write(buffers, slot)) throw Failure("process_vm_writev stopped working");
      },
      [&](std::size_t slot) { return checksum_of(buffers.landing[slot], buffers.size_bytes); });
}

// A ring that a core's own cache holds is handed over line by line, modified; one that it does not
// hold is met in the cache that cores share. Which is faster is the machine's choice.
constexpr std::size_t kDepths[] = {8, kChunks};

// One message through a ring of so many chunks; `next` counts on from message to message.
struct Chunks {
  std::size_t depth;
  std::uint64_t next = 0;
};

void push_chunks(Team& team, const Buffers& buffers, Chunks& chunks) {
  auto& area = team.area();
  auto& chunk = chunks.next;
  for (std::size_t offset = 0; offset < buffers.size_bytes; offset += kChunkBytes, ++chunk) {
    const auto slot = chunk % chunks.depth;
    const auto step = std::min(kChunkBytes, buffers.size_bytes - offset);
    if (chunk >= chunks.depth) {
      spin_until_at_least<SpinForm::tight>(chunks_taken(team), chunk - chunks.depth + 1);
    }
    std::memcpy(area.chunks[slot], buffers.source + offset, step);
    area.chunk_flags[slot].line.flag.store_release(chunk + 1);
  }
}

void pull_chunks(Team& team, const Buffers& buffers, std::byte* landing, Chunks& chunks) {
  auto& area = team.area();
  auto& chunk = chunks.next;
  for (std::size_t offset = 0; offset < buffers.size_bytes; offset += kChunkBytes, ++chunk) {
    const auto slot = chunk % chunks.depth;
    const auto step = std::min(kChunkBytes, buffers.size_bytes - offset);
    spin_until_equal<SpinForm::tight>(area.chunk_flags[slot].line.flag, chunk + 1);
    std::memcpy(landing + offset, area.chunks[slot], step);
    chunks_taken(team).store_release(chunk + 1);
  }
}

// Both sides copy at once; the receiver reads a message when all of it is there.
Outcome two_copy_stream(Team& team, const Buffers& buffers, std::uint64_t count,
                        Direction direction, std::size_t depth) {
  auto& taken = messages_taken(team);
  return timed(team, count, [&] {
    Chunks chunks{depth};
    if (is_sender(team, direction)) {
      for (std::uint64_t i = 0; i < count; ++i) push_chunks(team, buffers, chunks);
      spin_until_at_least<SpinForm::tight>(taken, count);
      return;
    }
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto* const landing = buffers.landing[i % kWindow];
      pull_chunks(team, buffers, landing, chunks);
      sum += checksum_of(landing, buffers.size_bytes);
    }
    taken.store_release(count);
    expect_checksum(buffers, sum, count);
  });
}

std::vector<Entry> two_copy_limits(Team& team, const Buffers& buffers, Direction direction) {
  std::vector<Entry> entries;
  for (const auto depth : kDepths)
    entries.push_back(
        {"two-copy pipeline", [&team, &buffers, direction, depth](std::uint64_t count) {
           return two_copy_stream(team, buffers, count, direction, depth);
         }});
  return entries;
}

// The caller fetches and reads by `fetch(slot)` and leaves a notice; the owner watches notices.
template <class Fetch>
Outcome fetch_stream(Team& team, const Buffers& buffers, std::uint64_t count, Fetch fetch) {
  auto& notice = team.area().window_flags[0].line.flag;
  return timed(team, count, [&] {
    if (team.index() == 1) {
      spin_until_at_least<SpinForm::tight>(notice, count);
      return;
    }
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      fetch(i % kWindow);
      sum += checksum_of(buffers.landing[i % kWindow], buffers.size_bytes);
      notice.store_release(i + 1);
    }
    expect_checksum(buffers, sum, count);
  });
}

Outcome mapped_fetch(Team& team, const Buffers& buffers, std::size_t piece_bytes,
                     std::uint64_t count) {
  const auto* const shared = expose_source(team, buffers);
  return fetch_stream(team, buffers, count, [&](std::size_t slot) {
    copy_by(piece_bytes, buffers.landing[slot], shared, buffers.size_bytes);
  });
}

// One entry for each piece that is smaller than the message, and one for the whole.
template <class Stream>
std::vector<Entry> by_pieces(const char* name, const Buffers& buffers, Stream stream) {
  std::vector<Entry> entries;
  for (const auto piece_bytes : kPieces) {
    if (piece_bytes != kWhole && piece_bytes >= buffers.size_bytes) continue;
    entries.push_back({name, [=](std::uint64_t count) { return stream(piece_bytes, count); }});
  }
  return entries;
}

Outcome cma_fetch(Team& team, const Buffers& buffers, std::uint64_t count) {
  return fetch_stream(team, buffers, count, [&](std::size_t slot) {
    if (!cma_read(buffers, slot)) throw Failure("process_vm_readv stopped working");
  });
}

}  // namespace

std::vector<Entry> put_bandwidth_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  if (kind == MemoryKind::alloc) {
    return by_pieces("memcpy + flag", buffers, [&](std::size_t piece_bytes, std::uint64_t count) {
      return mapped_stream(team, buffers, piece_bytes, count);
    });
  }
  auto entries = two_copy_limits(team, buffers, Direction::put);
  if (cma_works(team, buffers)) {
    entries.push_back({"process_vm_writev",
                       [&](std::uint64_t count) { return cma_stream(team, buffers, count); }});
  }
  return entries;
}

std::vector<Entry> get_bandwidth_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  if (kind == MemoryKind::alloc) {
    return by_pieces("memcpy + notice", buffers, [&](std::size_t piece_bytes, std::uint64_t count) {
      return mapped_fetch(team, buffers, piece_bytes, count);
    });
  }
  auto entries = two_copy_limits(team, buffers, Direction::get);
  if (cma_works(team, buffers)) {
    entries.push_back(
        {"process_vm_readv", [&](std::uint64_t count) { return cma_fetch(team, buffers, count); }});
  }
  return entries;
}

Entry local_copy(Team& team, const Buffers& buffers) {
  return {"local warm memcpy", [&](std::uint64_t count) {
            return timed(team, count, [&] {
              if (team.index() != 0) return;
              for (std::uint64_t i = 0; i < count; ++i) {
                std::memcpy(buffers.landing[i % kWindow], buffers.source, buffers.size_bytes);
                keep_stores();
              }
            });
          }};
}

}  // namespace photon::perf
