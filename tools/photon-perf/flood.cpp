#include "flood.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace photon::perf {
namespace {

constexpr std::uint64_t kCreditBit = std::uint64_t{1} << 63;  // in an id: messages taken so far
constexpr std::uint64_t kCreditInterval_messages = Flood::kWindowMessages / 2;
constexpr int kEmptyProbes = 64;  // before ph_wait, which knows whether to spin, yield or sleep

}  // namespace

Flood::Flood(Job& job, Team& team)
    : job_(&job),
      inbox_(job),
      source_(job, MemoryKind::alloc, job.size() * kWindowMessages * sizeof(std::uint64_t)),
      landing_(job, MemoryKind::alloc, source_.size_bytes()),
      peer_landing_(job.size()) {
  team.exchange(landing_.region());
  for (ph_rank rank = 0; rank < job.size(); ++rank) {
    peer_landing_[rank] = team.card_of<ph_region>(rank);
  }
}

Flood::~Flood() = default;

std::uint64_t* Flood::word(const Memory& memory, ph_rank rank, std::uint64_t message) const {
  const auto index = rank * kWindowMessages + message % kWindowMessages;
  return reinterpret_cast<std::uint64_t*>(memory.data()) + index;
}

bool Flood::is_done(std::uint32_t members, std::uint64_t messages_each) const {
  for (ph_rank rank = 0; rank < members; ++rank) {
    const auto& pair = pairs_[rank];
    if (rank == job_->rank()) continue;
    if (pair.acknowledged < messages_each || pair.credited < messages_each) return false;
  }
  return inbox_.locals() >= locals_wanted_;
}

// Fill the window to `rank`; true if anything was posted.
bool Flood::send_to(ph_rank rank, std::uint64_t messages_each) {
  auto& pair = pairs_[rank];
  const auto end = std::min(messages_each, pair.acknowledged + kWindowMessages);
  const auto before = pair.posted;
  for (; pair.posted < end; ++pair.posted) {
    auto* const source = word(source_, rank, pair.posted);
    *source = pair.posted;
    // Landing places at the peer are by sender.
    const auto offset =
        (job_->rank() * kWindowMessages + pair.posted % kWindowMessages) * sizeof(std::uint64_t);
    const auto status = ph_put_u64(job_->context(), rank, {source, sizeof *source},
                                   ph_at(&peer_landing_[rank], offset), {pair.posted, pair.posted});
    if (status == PH_AGAIN) break;
    job_->check(status, "putting");
    ++locals_wanted_;
  }
  return pair.posted != before;
}

void Flood::credit(ph_rank rank, std::uint64_t messages_each) {
  auto& pair = pairs_[rank];
  const bool due = pair.taken - pair.credited >= kCreditInterval_messages ||
                   (pair.taken == messages_each && pair.credited != pair.taken);
  if (!due) return;
  const auto status = ph_notify(job_->context(), rank, kCreditBit | pair.taken);
  if (status == PH_AGAIN) return;
  job_->check(status, "notifying");
  pair.credited = pair.taken;
}

void Flood::take(const ph_completion& completion) {
  auto& pair = pairs_[completion.peer];
  if ((completion.id & kCreditBit) != 0) {
    pair.acknowledged = completion.id & ~kCreditBit;
    return;
  }
  const auto expected = pair.taken++;
  const auto found = *word(landing_, completion.peer, expected);
  if (completion.id == expected && found == expected) return;
  throw Failure(fmt::format("from rank {}: message {} was due, id {} with contents {} came",
                            completion.peer, expected, completion.id, found));
}

void Flood::run(std::uint32_t members, std::uint64_t messages_each) {
  pairs_.assign(job_->size(), {});
  locals_wanted_ = inbox_.locals();
  int empty = 0;
  while (!is_done(members, messages_each)) {
    bool busy = false;
    for (ph_rank rank = 0; rank < members; ++rank) {
      if (rank == job_->rank()) continue;
      busy |= send_to(rank, messages_each);
      credit(rank, messages_each);
    }
    busy |= inbox_.poll([&](const ph_completion& completion) { take(completion); }) > 0;
    if (busy) {
      empty = 0;
    } else if (++empty >= kEmptyProbes) {
      constexpr std::int64_t kNap_us = 100'000;
      const auto status = ph_wait(job_->context(), {PH_ANY_RANK, PH_EITHER, nullptr}, kNap_us);
      if (status != PH_TIMEOUT) job_->check(status, "waiting");
      if (status == PH_TIMEOUT) job_->check_peers();
      empty = 0;
    }
  }
}

}  // namespace photon::perf
