// Limits of large broadcasts and sums between two members: by every means, and with the fold in it.
#include <fmt/core.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "coll_rounds.hpp"
#include "copies.hpp"
#include "failure.hpp"
#include "limit_coll.hpp"
#include "limit_fold.hpp"
#include "means.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kPieceBytes = 256 << 10;  // of a copy by the kernel that is folded next

Outcome bcast_by(Team& team, CollData& data, const Buffers& buffers, const Means& means,
                 std::uint64_t count) {
  Channel channel(team, buffers, {0, 1, SpinForm::tight});
  auto& taken = channel.area().taken.line.flag;
  begin(team);
  return coll_rounds(team, data, count, [&](std::uint64_t number) {
    if (!channel.is_sender()) {
      means.receive(channel, number);
      return taken.store_release(number);
    }
    if (!means.is_buffered) spin_until_at_least<SpinForm::tight>(taken, number - 1);
    means.send(channel, number);
    if (means.is_fetched) spin_until_at_least<SpinForm::tight>(taken, number);
  });
}

// What both members of a sum do, and tell each other.
class SumOfTwo {
 public:
  SumOfTwo(Team& team, CollData& data, const Buffers& buffers)
      : data_(&data),
        buffers_(&buffers),
        mine_(&team.area().means[team.index()]),
        theirs_(&team.area().means[team.other()]),
        index_(team.index()) {}

  // out = both inputs, wherever the other one can be read.
  void fold(std::uint64_t first, std::uint64_t count, const double* other) const noexcept {
    add_(data_->out() + first, data_->in() + first, other, count);
  }
  // Tell the other member that so far this one's input may be read, and wait for the same.
  void meet(std::uint64_t number) const noexcept {
    mine_->arrived[0].line.flag.store_release(number);
    spin_until_at_least<SpinForm::tight>(theirs_->arrived[0].line.flag, number);
  }
  // The same of what each has folded.
  void meet_folded(std::uint64_t number) const noexcept {
    mine_->ready[0].line.flag.store_release(number);
    spin_until_at_least<SpinForm::tight>(theirs_->ready[0].line.flag, number);
  }
  // Neither reads the other's memory any more.
  void part(std::uint64_t number) const noexcept {
    theirs_->taken.line.flag.store_release(number);
    spin_until_at_least<SpinForm::tight>(mine_->taken.line.flag, number);
  }

  // Each reads all of the other's input.
  void pull_whole(std::uint64_t number) const noexcept {
    meet(number);
    fold(0, data_->count(), reinterpret_cast<const double*>(buffers_->mapped_source));
    part(number);
  }
  // Each folds a half, and copies what the other has folded.
  void pull_halves(std::uint64_t number) const noexcept {
    const auto half = data_->count() / 2;
    const auto own = index_ == 0 ? 0 : half;
    const auto other = half - own;
    const auto sizes = [&](std::uint64_t first) {
      return first == 0 ? half : data_->count() - half;
    };
    meet(number);
    fold(own, sizes(own), reinterpret_cast<const double*>(buffers_->mapped_source) + own);
    meet_folded(number);
    std::memcpy(data_->out() + other,
                reinterpret_cast<const double*>(buffers_->mapped_landing[0]) + other,
                sizes(other) * sizeof(double));
    part(number);
  }
  // The kernel copies a piece, which is folded out of a cache.
  void read_pieces(std::uint64_t number, std::byte* piece) const {
    meet(number);
    for (std::uint64_t done = 0; done < data_->size_bytes(); done += kPieceBytes) {
      const auto bytes = std::min(kPieceBytes, data_->size_bytes() - done);
      const iovec local{piece, bytes};
      const iovec remote{reinterpret_cast<void*>(buffers_->peer_source + done), bytes};
      if (process_vm_readv(buffers_->peer_pid, &local, 1, &remote, 1, 0) !=
          static_cast<ssize_t>(bytes))
        throw Failure("process_vm_readv stopped working");
      fold(done / sizeof(double), bytes / sizeof(double), reinterpret_cast<const double*>(piece));
    }
    part(number);
  }

 private:
  CollData* data_;
  const Buffers* buffers_;
  MeansArea* mine_;
  MeansArea* theirs_;
  std::uint32_t index_;
  AddDoubles add_ = widest_add();
};

// Chunks of the own input into the own ring; chunks of the other's are folded out of theirs, `lag`
// chunks behind, so that both sides copy at once.
struct FoldingRing {
  std::size_t ring_bytes;
  std::size_t chunk_bytes;
  std::uint64_t lag;
  CopyForm in;

  std::uint64_t depth() const noexcept { return ring_bytes / chunk_bytes; }
};

class RingOfTwo {
 public:
  RingOfTwo(Team& team, CollData& data, const Buffers& buffers, const FoldingRing& ring)
      : sum_(team, data, buffers),
        data_(&data),
        mine_(&team.area().means[team.index()]),
        theirs_(&team.area().means[team.other()]),
        ring_(ring) {}

  void operate() noexcept {
    const auto chunks = (data_->size_bytes() + ring_.chunk_bytes - 1) / ring_.chunk_bytes;
    for (std::uint64_t step = 0; step < chunks + ring_.lag; ++step) {
      if (step < chunks) push(step);
      if (step >= ring_.lag) pull(step - ring_.lag);
    }
    done_ += chunks;
  }

 private:
  std::size_t bytes_of(std::uint64_t chunk) const noexcept {
    return std::min(ring_.chunk_bytes, data_->size_bytes() - chunk * ring_.chunk_bytes);
  }
  void push(std::uint64_t chunk) noexcept {
    const auto number = done_ + chunk;
    const auto slot = number % ring_.depth();
    if (number >= ring_.depth()) {
      spin_until_at_least<SpinForm::tight>(mine_->drained.line.flag, number - ring_.depth() + 1);
    }
    ring_.in.copy(mine_->ring + slot * ring_.chunk_bytes,
                  reinterpret_cast<const std::byte*>(data_->in()) + chunk * ring_.chunk_bytes,
                  bytes_of(chunk));
    mine_->chunk_flags[slot].flag.store_release(number + 1);
  }
  void pull(std::uint64_t chunk) noexcept {
    const auto number = done_ + chunk;
    const auto slot = number % ring_.depth();
    spin_until_at_least<SpinForm::tight>(theirs_->chunk_flags[slot].flag, number + 1);
    sum_.fold(chunk * ring_.chunk_bytes / sizeof(double), bytes_of(chunk) / sizeof(double),
              reinterpret_cast<const double*>(theirs_->ring + slot * ring_.chunk_bytes));
    theirs_->drained.line.flag.store_release(number + 1);
  }

  SumOfTwo sum_;
  CollData* data_;
  MeansArea* mine_;
  MeansArea* theirs_;
  FoldingRing ring_;
  std::uint64_t done_ = 0;  // chunks of earlier operations
};

std::vector<FoldingRing> folding_rings(std::uint64_t size_bytes) {
  constexpr std::size_t kRingSizes[] = {256 << 10, 2 << 20};
  constexpr std::size_t kChunkSizes[] = {1 << 10, 8 << 10, 32 << 10, 64 << 10};
  std::vector<FoldingRing> rings;
  for (const auto ring_bytes : kRingSizes) {
    for (const auto chunk_bytes : kChunkSizes) {
      if (ring_bytes / chunk_bytes > kRingChunks) continue;
      if (chunk_bytes != kChunkSizes[0] && chunk_bytes > size_bytes) continue;
      if (chunk_bytes * 64 < size_bytes) continue;  // a flag for too little
      for (const std::uint64_t lag : {0, 1, 2}) {
        if (lag != 0 && chunk_bytes * lag >= size_bytes) continue;
        rings.push_back({ring_bytes, chunk_bytes, lag, store_forms().front()});
        rings.push_back({ring_bytes, chunk_bytes, lag, widest_non_temporal()});
      }
    }
  }
  return rings;
}

Entry ring_entry(Team& team, CollData& data, const Buffers& buffers, const FoldingRing& ring) {
  const auto name = fmt::format("ring {}K by {}K, lag {}, {} > fold", ring.ring_bytes >> 10,
                                ring.chunk_bytes >> 10, ring.lag, ring.in.name);
  return {name, [&team, &data, &buffers, ring](std::uint64_t count) {
            RingOfTwo both(team, data, buffers, ring);
            begin(team);
            return coll_rounds(team, data, count, [&](std::uint64_t) { both.operate(); });
          }};
}

template <class Way>
Entry sum_entry(Team& team, CollData& data, const Buffers& buffers, const char* name, Way way) {
  return {name, [&team, &data, &buffers, way](std::uint64_t count) {
            const SumOfTwo sum(team, data, buffers);
            begin(team);
            return coll_rounds(team, data, count, [&](std::uint64_t number) { way(sum, number); });
          }};
}

}  // namespace

Buffers coll_buffers(Team& team, const CollData& data) {
  Buffers buffers;
  buffers.size_bytes = data.size_bytes();
  buffers.source = reinterpret_cast<std::byte*>(data.in());
  buffers.landing.fill(reinterpret_cast<std::byte*>(data.out()));
  introduce(team, buffers);
  return buffers;
}

std::vector<Entry> coll_bcast_limits(Team& team, CollData& data, const Buffers& buffers,
                                     MemoryKind kind) {
  if (data.kind().kind != PH_COLL_BCAST || data.size_bytes() <= kCollLineBytes) return {};
  return entries_of(means_for(team, buffers, buffers.is_mapped ? kind : MemoryKind::malloc),
                    [&](const Means& means, std::uint64_t count) {
                      return bcast_by(team, data, buffers, means, count);
                    });
}

std::vector<Entry> coll_allreduce_limits(Team& team, CollData& data, const Buffers& buffers) {
  if (data.kind().kind != PH_COLL_ALLREDUCE || data.size_bytes() <= kCollLineBytes) return {};
  std::vector<Entry> entries;
  if (buffers.is_mapped) {
    entries.push_back(
        sum_entry(team, data, buffers, "pull + fold",
                  [](const SumOfTwo& sum, std::uint64_t number) { sum.pull_whole(number); }));
    entries.push_back(
        sum_entry(team, data, buffers, "pull + fold of half, pull of half",
                  [](const SumOfTwo& sum, std::uint64_t number) { sum.pull_halves(number); }));
  }
  for (const auto& ring : folding_rings(data.size_bytes()))
    entries.push_back(ring_entry(team, data, buffers, ring));
  if (!cma_works(team, buffers)) return entries;
  auto piece = std::make_shared<std::vector<std::byte>>(kPieceBytes);
  entries.push_back(sum_entry(team, data, buffers, "process_vm_readv + fold",
                              [piece](const SumOfTwo& sum, std::uint64_t number) {
                                sum.read_pieces(number, piece->data());
                              }));
  return entries;
}

}  // namespace photon::perf
