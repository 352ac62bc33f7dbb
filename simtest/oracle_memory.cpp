// What the oracle knows of bytes: what has landed, what must be there, what must not.
#include <algorithm>

#include "simtest/oracle.hpp"

namespace photon::simtest {

void Oracle::fenced(const Endpoint& from, ph_rank peer) {
  if (failed()) return;
  note(from, "fence " + std::to_string(peer));
  ++flow(from, peer).fences;
}

void Oracle::flushed(const Endpoint& from, ph_rank peer, std::uint64_t begun_at) {
  if (failed()) return;
  ++events_;
  note(from, "flushed " + (peer == PH_ANY_RANK ? "any" : std::to_string(peer)));
  for (ph_rank to = 0; to < ranks_; ++to) {
    const bool is_absent = is_leaving({to, from.lane}) || dead_[to] || is_lost(from.rank, to);
    if (peer == PH_ANY_RANK ? is_absent : to != peer) continue;
    ++flow(from, to).fences;
    std::vector<Operation*>& unlanded = flow(from, to).unlanded;
    const std::vector<Operation*> waited = unlanded;
    std::erase_if(unlanded, [&](const Operation* op) { return op->posted_at <= begun_at; });
    for (Operation* op : waited) {
      if (op->may_fail || op->posted_at > begun_at) continue;  // maybe refused, or not covered
      landed(*op);
    }
  }
}

// Later by what the conductor makes of it: how long the rank stood still is known, also in the
// middle of its copies; and of those that can go each may be drawn some times before it.
void Oracle::waited(ph_rank rank, const Wait& wait, ph_status status) {
  constexpr std::uint64_t kLateNs = 100'000;
  constexpr std::uint64_t kLateForEachRankNs = 25'000;
  const std::uint64_t lasted_ns = now_ns() - wait.begin_ns;
  const std::uint64_t limit_ns = static_cast<std::uint64_t>(wait.limit_us) * 1000;
  const char* wrong = nullptr;
  if (status == PH_TIMEOUT && lasted_ns < limit_ns) wrong = "said PH_TIMEOUT";
  const std::uint64_t late_ns = wait.stood_still_ns + kLateNs + ranks_ * kLateForEachRankNs;
  if (lasted_ns > limit_ns + late_ns) wrong = "went on";
  const std::uint64_t vain_ns = std::max(wait.begin_ns, wait.lost_ns);
  if (status == PH_TIMEOUT && now_ns() > vain_ns && now_ns() - vain_ns > late_ns)
    wrong = "slept on, its peer long known to be lost, and said PH_TIMEOUT";
  if (wrong == nullptr) return;
  report("time", "rank " + std::to_string(rank) + ": " + wait.what + " with a limit of " +
                     std::to_string(limit_ns) + " ns " + wrong + " after " +
                     std::to_string(lasted_ns) + " ns, of which it stood still " +
                     std::to_string(wait.stood_still_ns) + " ns");
}

void Oracle::enrolled(ph_rank rank, Area area, const ph_region& region) {
  if (failed()) return;
  ++events_;
  Lease& lease = memories_[rank].lease(area);
  note(rank, "enrolled " + name_of(area) + ", hold " + std::to_string(lease.holds + 1));
  if (lease.is_held() && region.key != lease.region.key)
    report("region", "rank " + std::to_string(rank) + ": " + name_of(area) +
                         " has another key when it is registered a second time");
  lease.granted(region);
}

void Oracle::doubt(const std::vector<Operation*>& under_way, Area area) {
  for (Operation* op : under_way) {
    if (op->step->area != area || op->size_bytes() == 0) continue;
    const bool was_pending = !op->complete();
    op->may_fail = true;
    if (was_pending && op->complete()) --pending_;
  }
}

// What is under way may be refused from here on, and what is posted will be.
void Oracle::retiring(ph_rank rank, Area area) {
  if (failed()) return;
  ++events_;
  note(rank, "retiring " + name_of(area));
  for (ph_rank from = 0; from < ranks_; ++from)
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      doubt(flow({from, lane}, rank).unlanded, area);
      doubt(flow({from, lane}, rank).reads, area);
    }
  memories_[rank].lease(area).revoking();
}

// From here on nobody may write there.
void Oracle::retired(ph_rank rank, Area area) {
  if (failed()) return;
  note(rank, "retired " + name_of(area));
  if (area == Area::extra) memories_[rank].reuse_extra();
}

// Whether a put's bytes were written before those of another one to the same place.
bool Oracle::is_older(std::uint32_t number, const Operation& than) const {
  const Operation& other = operations_[number - 1];
  if (other.landed_at != 0 && other.landed_at < than.posted_at) return true;
  return other.initiator == than.initiator && other.lane == than.lane && other.fences < than.fences;
}

Operation& Oracle::begin_store(ph_rank rank, const Step& step) {
  constexpr std::uint32_t kNoLane = 0xffff'ffff;  // so that nothing is ordered by a fence
  return begin({rank, kNoLane}, step);
}

// The store takes no time. Gets may read it, also those of a rank that has not heard yet that the
// memory was freed: `may_fail` says so to check_read().
void Oracle::stored_in_freed(std::uint32_t number, std::uint32_t generation) {
  Operation& op = operations_[number - 1];
  op.posted_at = ++events_;
  op.landed_at = ++events_;
  op.may_fail = true;
  op.generation = generation;
}

void Oracle::stored(std::uint32_t number) {
  Operation& op = operations_[number - 1];
  Lease& lease = memories_[op.target()].lease(op.step->area);
  stored_in_freed(number, lease.generation);
  const std::uint64_t begin = op.step->offset;
  lease.writes.add(number, begin, op.size_bytes());
  lease.writes.supersede(begin, begin + op.size_bytes(),
                         [&](std::uint32_t other) { return is_older(other, op); });
}

// The bytes of a put are known to be at their place, for the first time.
void Oracle::landed(Operation& op) {
  if (op.landed_at != 0) return;
  op.landed_at = ++events_;
  std::erase(flow(op).unlanded, &op);
  if (op.size_bytes() == 0) return;
  const auto is_older_than_op = [&](std::uint32_t number) { return is_older(number, op); };
  RankMemory& memory = memories_[op.target()];
  const Area area = op.step->area;
  const std::uint64_t begin = op.step->offset;
  const bool is_there = !is_lent(area) || op.generation == memory.lease(area).generation;
  if (op.overlaps() && is_there)
    memory.writes(area).supersede(begin, begin + op.size_bytes(), is_older_than_op);
  check_landed(op);
}

// What must be at the place of a put that has landed, now or before.
void Oracle::check_landed(const Operation& op) {
  if (failed() || op.size_bytes() == 0) return;
  RankMemory& memory = memories_[op.target()];
  const Area area = op.step->area;
  if (area == Area::contended) return check_overlap(op, memory.writes(area), memory.contended());
  if (is_lent(area)) {
    Lease& lease = memory.lease(area);
    if (lease.is_held() && op.generation == lease.generation)
      check_overlap(op, lease.writes, lease.bytes);
    return;
  }
  const Rows rows = op.rows();
  for (std::uint64_t row = 0; row < rows.count() && !failed(); ++row) {
    const std::uint64_t first = rows.first(row);
    const std::uint64_t begin = rows.far_at(first);
    const auto bytes = memory.window().subspan(begin, rows.bytes(row));
    if (const auto at = Pattern(Purpose::source, op.number).difference(bytes, first))
      report("bytes", "byte " + std::to_string(first + *at) + " of " + op.text() +
                          " is not at its place, though the operation has landed");
    const std::uint64_t end = begin + rows.bytes(row);
    const bool is_last = row + 1 == rows.count();
    if (!is_last && memory.window_difference(end, end + op.step->far_gap_bytes))
      report("guard", "bytes between the segments of " + op.text() + " were written");
  }
}

void Oracle::check_overlap(const Operation& op, Overlap& writes, std::span<std::byte> memory) {
  const std::uint64_t begin = op.step->offset;
  if (const auto at = writes.first_wrong(memory, begin, begin + op.size_bytes()))
    report("bytes", "offset " + std::to_string(*at) +
                        " holds what no operation may have put there "
                        "last, though " +
                        op.text() + " has landed");
}

void Oracle::check_destination(Operation& op) {
  const Pattern before(Purpose::landing, op.number);
  const std::span<const std::byte> buffer(op.buffer);
  const std::size_t behind = buffer.size() - Operation::kGuardBytes;
  if (before.difference(buffer.first(Operation::kGuardBytes)) ||
      before.difference(buffer.subspan(behind), behind))
    report("guard", "bytes around the destination of " + op.text() + " were written");
  const Rows rows = op.rows();
  const std::uint64_t gap = op.step->own_gap_bytes;
  for (std::uint64_t row = 0; gap != 0 && row + 1 < rows.count(); ++row) {
    const std::uint64_t at =
        Operation::kGuardBytes + rows.own_at(rows.first(row)) + rows.bytes(row);
    if (before.difference(buffer.subspan(at, gap), at))
      report("guard", "bytes between the destinations of " + op.text() + " were written");
  }
  if (failed() || op.error_seen || is_atomic(*op.step)) return;
  if (op.step->area != Area::library) return check_read(op);
  for (std::uint64_t row = 0; row < rows.count() && !failed(); ++row) {
    const std::uint64_t first = rows.first(row);
    const auto bytes = op.destination().subspan(rows.own_at(first), rows.bytes(row));
    if (const auto at =
            Pattern(Purpose::library, op.target()).difference(bytes, rows.far_at(first)))
      report("bytes", "byte " + std::to_string(first + *at) + " of " + op.text() +
                          " is not at its destination, though the data has landed");
  }
}

void Oracle::check_silent_gets(ph_rank rank) {
  for (Operation& op : operations_)
    // Those of a closed lane were looked at when it was, with what failed unheard.
    if (!failed() && op.accepted && op.initiator == rank && !op.is_closed && is_get(*op.step)) {
      // Those from a rank that left may have failed, and ph_finalize() keeps that to itself.
      if (op.has(PH_NO_LCE) && !op.target_left) check_destination(op);
    }
}

void Oracle::check_memory(ph_rank rank) {
  if (failed()) return;
  const std::string whose = "rank " + std::to_string(rank) + ": ";
  RankMemory& memory = memories_[rank];
  if (memory.is_sealed()) {
    if (memory.is_broken())
      report("guard", whose + "memory was written after ph_finalize() had returned");
    return;
  }
  const std::string damage = memory.damage();
  if (!damage.empty()) report("guard", whose + damage + ", was written");
  check_window(rank);
  check_words(rank);
  Overlap& writes = memory.writes(Area::contended);
  if (const auto at = writes.first_wrong(memory.contended(), 0, kContendedBytes))
    report("bytes", whose + "contended byte " + std::to_string(*at) +
                        " holds what no operation may have put there last");
  if (memory.lease(Area::extra).is_held()) return check_lease(rank, Area::extra);
  if (dead_[rank]) return;  // maybe while it took that back
  if (const auto at = memory.reused_difference())
    report("guard", whose + "byte " + std::to_string(*at) +
                        " of the extra region was written after it was unregistered");
}

void Oracle::check_lease(ph_rank rank, Area area) {
  Lease& lease = memories_[rank].lease(area);
  if (failed() || !lease.is_held()) return;
  if (const auto at = lease.writes.first_wrong(lease.bytes, 0, kLentBytes))
    report("bytes", "rank " + std::to_string(rank) + ": byte " + std::to_string(*at) + " of " +
                        name_of(area) + " holds what no operation may have put there last");
}

// Own ranges hold what was put there, and all between them holds the background.
void Oracle::check_window(ph_rank rank) {
  RankMemory& memory = memories_[rank];
  std::vector<const Operation*> puts;
  for (const Operation& op : operations_)
    if (op.accepted && (op.must_fail == PH_OK || op.step->is_partial()) && is_put(*op.step) &&
        op.target() == rank && op.step->area == Area::window && op.size_bytes() != 0)
      puts.push_back(&op);
  std::sort(puts.begin(), puts.end(), [](const Operation* a, const Operation* b) {
    return a->step->offset < b->step->offset;
  });
  std::uint64_t clean_from = kContendedBytes;
  const auto expect_clean = [&](std::uint64_t end) {
    if (const auto at = memory.window_difference(clean_from, end))
      report("guard", "rank " + std::to_string(rank) + ": byte " + std::to_string(*at) +
                          " of the window was written, though no operation goes there");
  };
  for (const Operation* op : puts) {
    expect_clean(op->step->offset);
    if ((op->target_left || op->initiator_died || op->must_fail != PH_OK) && op->landed_at == 0)
      check_mixed(*op);
    else
      check_landed(*op);
    clean_from = op->step->offset + op->rows().far_span();
  }
  expect_clean(memory.window().size() - kTailBytes);
}

}  // namespace photon::simtest
