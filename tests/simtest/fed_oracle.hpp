// An oracle of two ranks that is told of calls and completions by hand.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "simtest/oracle.hpp"

namespace photon::simtest {

inline Program two_ranks(const std::vector<std::uint32_t>& lanes) {
  Program program;
  program.ranks = 2;
  program.window_bytes = kContendedBytes + 4096 + kTailBytes;
  program.options = {{"max_cid_size", "64"}, {"ledger_slots", "4"}};
  program.lanes = lanes;
  program.steps.resize(2);
  return program;
}

inline Step put_to(ph_rank peer, Area area = Area::window, std::uint64_t offset = kContendedBytes,
                   std::uint64_t size_bytes = 16) {
  Step step;
  step.verb = Verb::put;
  step.peer = peer;
  step.area = area;
  step.offset = offset;
  step.size_bytes = size_bytes;
  return step;
}

inline Step get_from(ph_rank peer, Area area, std::uint64_t offset = 0,
                     std::uint64_t size_bytes = 16) {
  Step step = put_to(peer, area, offset, size_bytes);
  step.verb = Verb::get;
  return step;
}

inline ph_error error_of(ph_rank rank, ph_status status = PH_ERR_PEER) {
  ph_error error{};
  error.status = status;
  error.rank = rank;
  return error;
}

struct FedOracle {
  std::uint64_t now_ns = 0;
  Program program;
  History history{false};
  Oracle oracle{program, history, [this] { return now_ns; }};
  std::deque<Step> steps;  // the oracle keeps pointers to them

  // As after the set-up of a run.
  explicit FedOracle(const std::vector<std::uint32_t>& lanes = {}) : program(two_ranks(lanes)) {
    for (ph_rank rank = 0; rank < 2; ++rank) {
      oracle.memory(rank).refresh(Area::extra);
      oracle.enrolled(rank, Area::extra, {1, kLentBytes, extra_key});
    }
  }

  static constexpr std::uint64_t extra_key = 77;

  std::string finding() const { return oracle.finding() ? oracle.finding()->kind : ""; }

  Operation& post(const Endpoint& from, const Step& step, ph_status status = PH_OK) {
    Operation& op = oracle.begin(from, steps.emplace_back(step));
    oracle.attempt(op);
    oracle.posted(op, status);
    return op;
  }
  // The bytes of a put come to their place.
  void arrive(const Operation& op) {
    std::copy(op.buffer.begin(), op.buffer.end(),
              oracle.memory(op.target()).address(op.step->area, op.step->offset));
  }
  // A get reads what is there.
  void fetch(Operation& op) {
    const std::byte* from = oracle.memory(op.target()).address(op.step->area, op.step->offset);
    std::copy(from, from + op.size_bytes(), op.destination().begin());
  }
  // Probed on the lane of the operation, or another one.
  void local(const Operation& op, ph_status status = PH_OK, std::uint32_t lane = kItsOwn) {
    complete({op.initiator, lane == kItsOwn ? op.lane : lane}, op, PH_LOCAL, status);
  }
  void remote(const Operation& op, std::uint32_t lane = kItsOwn) {
    complete({op.target(), lane == kItsOwn ? op.lane : lane}, op, PH_REMOTE, PH_OK);
  }
  // An error that does not say whose it is; so many others may have failed so.
  void nameless(ph_rank rank, ph_rank peer, ph_status status, std::uint64_t others = 0) {
    oracle.completed(rank, {PH_ANY_RANK, PH_EITHER, nullptr},
                     {0, nullptr, 8, PH_LOCAL, peer, status, 0, 0}, others);
  }

 private:
  static constexpr std::uint32_t kItsOwn = 0xffffffff;

  void complete(const Endpoint& at, const Operation& op, std::uint32_t kind, ph_status status) {
    const std::uint32_t id_bytes =
        kind == PH_LOCAL ? op.step->local_id_bytes : op.step->remote_id_bytes;
    std::vector<std::byte> id(std::max<std::size_t>(8, id_bytes));
    write_id(op.number, kind, std::span(id).first(id_bytes));
    ph_completion one{};
    std::memcpy(&one.id, id.data(), sizeof one.id);
    one.id_size_bytes = id_bytes;
    one.long_id = id_bytes > 8 ? id.data() : nullptr;
    one.kind = kind;
    one.peer = kind == PH_LOCAL ? op.target() : op.initiator;
    one.status = status;
    oracle.completed(at, {PH_ANY_RANK, PH_EITHER, nullptr}, one);
  }
};

// Rank 1 is told the id of the second put only, after rank 0 was lost: that overtakes the first
// one, which only a put that may have lost a fragment leaves unblamed. `lose_and_arrive`: the
// second put's bytes come before or after the loss.
template <class Lose>
void expect_ids_in_order_but_for_fragments(const Lose& lose_and_arrive) {
  for (const bool counted : {false, true}) {
    for (const std::uint64_t size_bytes : {0u, 16u}) {
      FedOracle fed;
      if (counted) fed.oracle.count_fragments();
      fed.post(0, put_to(1, Area::window, kContendedBytes, size_bytes));
      Operation& second = fed.post(0, put_to(1, Area::window, kContendedBytes + 64));
      lose_and_arrive(fed, second);
      fed.remote(second);
      EXPECT_EQ(fed.finding(), counted && size_bytes != 0 ? "" : "order");
    }
  }
}

}  // namespace photon::simtest
