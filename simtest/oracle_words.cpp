// What the oracle makes of atomics: each is carried out once, whole, before anybody hears of it.
//
// Of a sum it knows what has been added. Of a trail each operation says which value it found, and
// so which it left: all of them together must lead from the first value to the last, each used
// once.
#include <algorithm>
#include <map>
#include <set>

#include "simtest/oracle.hpp"

namespace photon::simtest {

namespace {

std::uint32_t word_of(const Operation& op) noexcept {
  return static_cast<std::uint32_t>(op.step->offset / sizeof(std::uint64_t));
}

// What an operation leaves of a word that held `before`.
std::uint64_t after(const Step& step, std::uint64_t before) noexcept {
  switch (step.op) {
    case PH_OP_ADD: return before + step.operand;
    case PH_OP_SWAP: return step.operand;
    case PH_OP_COMPARE_SWAP: return before == step.compare ? step.operand : before;
    case PH_OP_MIN: return std::min(before, step.operand);
    case PH_OP_MAX: return std::max(before, step.operand);
    case PH_OP_AND: return before & step.operand;
    case PH_OP_OR: return before | step.operand;
    case PH_OP_XOR: return before ^ step.operand;
    default: return before;  // of collectives only
  }
}

bool is_of(const Operation& op, ph_rank rank, std::uint32_t word) noexcept {
  return is_atomic(*op.step) && op.accepted && op.must_fail == PH_OK && op.target() == rank &&
         word_of(op) == word;
}

// Whether nobody can know if it was carried out.
bool is_doubtful(const Operation& op) noexcept { return !op.local_seen && !op.remote_seen; }

// For certain: what a target that closed its lane has still done, it may have told nobody.
bool was_refused(const Operation& op) noexcept {
  return op.error_seen && is_doubtful(op) && !op.target_left;
}

std::string name_of_word(ph_rank rank, std::uint32_t word) {
  return "word " + std::to_string(word) + " of rank " + std::to_string(rank);
}

}  // namespace

std::uint64_t Oracle::fetched(Operation& op) {
  return Words::number_of(word_of(op), op.destination().data());
}

// One of its completions was probed.
void Oracle::check_changed(const Operation& op) {
  if (failed() || op.target_left) return;
  const std::uint32_t word = word_of(op);
  if (!Words::is_sum(word)) return;
  std::uint64_t least = 0;
  for (const Operation& one : operations_)
    if (is_of(one, op.target(), word) && !is_doubtful(one)) least += one.step->operand;
  const std::uint64_t now = memories_[op.target()].words().number(word);
  if (now < least)
    report("word", name_of_word(op.target(), word) + " is " + std::to_string(now) + " after " +
                       op.text() + ", at least " + std::to_string(least) + " was added");
}

void Oracle::check_sum(ph_rank rank, std::uint32_t word) {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::set<std::uint64_t> seen;
  std::map<std::pair<ph_rank, std::uint32_t>, std::uint64_t> latest;  // by initiator and lane
  const std::uint64_t now = memories_[rank].words().number(word);
  for (Operation& op : operations_) {
    if (!is_of(op, rank, word) || was_refused(op)) continue;
    most += op.step->operand;
    if (is_doubtful(op)) continue;
    least += op.step->operand;
    if (!op.step->fetches || !op.local_seen) continue;
    const std::uint64_t before = fetched(op);
    const auto [at, is_first] = latest.try_emplace({op.initiator, op.lane}, before);
    const bool is_late = !is_first && before <= at->second;
    at->second = before;
    if (!seen.insert(before).second || is_late || before + op.step->operand > now)
      return report("word", op.text() + " has fetched " + std::to_string(before) + " of " +
                                name_of_word(rank, word) + ", which is " + std::to_string(now) +
                                (is_late ? ": one posted before it has fetched more" : ""));
  }
  if (now < least || now > most)
    report("word", name_of_word(rank, word) + " is " + std::to_string(now) +
                       ", what was added makes " + std::to_string(least) + " to " +
                       std::to_string(most));
}

// A way that uses every operation once (Euler): as many lead to each value as away from it, but for
// the first and the last, and all values hang together.
void Oracle::check_trail(ph_rank rank, std::uint32_t word) {
  std::map<std::uint64_t, std::int64_t> balance;
  std::map<std::uint64_t, std::set<std::uint64_t>> beside;
  const std::uint64_t now = memories_[rank].words().number(word);
  --balance[0];
  ++balance[now];
  for (Operation& op : operations_) {
    if (!is_of(op, rank, word) || was_refused(op)) continue;
    if (!op.local_seen) return;  // what it has found is not known
    const std::uint64_t before = fetched(op);
    const std::uint64_t next = after(*op.step, before);
    ++balance[before];
    --balance[next];
    beside[before].insert(next);
    beside[next].insert(before);
  }
  std::set<std::uint64_t> reached;
  std::vector<std::uint64_t> open = {0};
  while (!open.empty()) {
    const std::uint64_t value = open.back();
    open.pop_back();
    if (!reached.insert(value).second) continue;
    for (const std::uint64_t next : beside[value]) open.push_back(next);
  }
  const bool is_even = std::all_of(balance.begin(), balance.end(),
                                   [](const auto& value) { return value.second == 0; });
  const bool hangs_together = std::all_of(
      beside.begin(), beside.end(), [&](const auto& one) { return reached.contains(one.first); });
  if (!is_even || !hangs_together)
    report("word", "what operations have found in " + name_of_word(rank, word) +
                       " does not lead from 0 to " + std::to_string(now));
}

void Oracle::check_words(ph_rank rank) {
  if (failed() || is_leaving(rank) || dead_[rank]) return;
  for (std::uint32_t word = 0; word < Words::kWords && !failed(); ++word)
    if (Words::is_sum(word))
      check_sum(rank, word);
    else
      check_trail(rank, word);
}

}  // namespace photon::simtest
